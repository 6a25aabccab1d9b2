"""The options that all demos have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import typer

from rdma_robust.cli.options.arguments import Force, seconds
from rdma_robust.cli.options.option_sets import OptionSet

AUTO = "auto"


def _pace(value: str) -> str:
    """Check a pace. Raises BadParameter."""
    try:
        valid = value == AUTO or 0 <= float(value) < math.inf
    except ValueError:
        valid = False
    if not valid:
        raise typer.BadParameter(f"{AUTO} or a number of seconds, 0 or more, is needed")
    return value


MaybeFile = Annotated[str | None, typer.Argument(metavar="[FILE]", hidden=True)]
SearchTimeout = Annotated[
    float,
    typer.Option(metavar="SECONDS", callback=seconds, help="Time limit of each search; 0 for none."),
]


@dataclass(frozen=True)
class Showing(OptionSet):
    """How a walk-through is shown, and where its listings and its page go."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Save the generated program in FILE, or everything generated in the folder FILE/.",
        ),
    ] = None
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write the walk-through as a page, its runs to be stepped."),
    ] = None
    force: Force = False
    pace: Annotated[
        str,
        typer.Option(metavar="auto|SECONDS", callback=_pace, help="Pause between sections on a terminal; 0 for none."),
    ] = AUTO
    all_moves: Annotated[
        bool, typer.Option("--all-moves", help="Print every move of a run, not only those with a note.")
    ] = False

    @property
    def seconds(self) -> float | None:
        """Seconds between sections; None: as long as reading takes."""
        return None if self.pace == AUTO else float(self.pace)
