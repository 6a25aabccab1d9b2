"""The options that all demos have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import typer

from rdma_robust.cli.options.arguments import seconds

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Showing:
    """How a walk-through is shown: the file or folder for its listings, that of the page, whether they may be replaced,
    seconds between sections (None: as long as reading takes), and whether every move of a run is printed."""

    output: str | None
    html: str | None
    force: bool
    pace: float | None
    all_moves: bool


def pace(value: str) -> str:
    """Check a pace. Raises BadParameter."""
    try:
        valid = value == AUTO or 0 <= float(value) < math.inf
    except ValueError:
        valid = False
    if not valid:
        raise typer.BadParameter(f"{AUTO} or a number of seconds, 0 or more, is needed")
    return value


MaybeFile = Annotated[str | None, typer.Argument(metavar="[FILE]", hidden=True)]
Save = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Save the generated program in FILE, or everything generated in the folder FILE/.",
    ),
]
Html = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write the walk-through as a page, its runs to be stepped.")
]
SearchTimeout = Annotated[
    float,
    typer.Option(metavar="SECONDS", callback=seconds, help="Time limit of each search; 0 for none."),
]
Pace = Annotated[
    str,
    typer.Option(metavar="auto|SECONDS", callback=pace, help="Pause between sections on a terminal; 0 for none."),
]
AllMoves = Annotated[bool, typer.Option("--all-moves", help="Print every move of a run, not only those with a note.")]


def showing(output: str | None, html: str | None, force: bool, pace: str, all_moves: bool) -> Showing:
    """Return the options of a demo as one value."""
    return Showing(output, html, force, None if pace == AUTO else float(pace), all_moves)
