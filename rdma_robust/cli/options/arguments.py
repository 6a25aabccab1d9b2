"""Arguments and options that several commands have, as types of parameters."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from rdma_robust.cli.options.defaults import MEMORY_HELP


def seconds(value: float) -> float:
    """Check a number of seconds. Raises BadParameter."""
    if math.isnan(value) or value < 0:
        raise typer.BadParameter("a number of seconds, 0 or more, is needed")
    return value


Files = Annotated[list[str], typer.Argument(metavar="FILE...", hidden=True)]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", callback=seconds, help="Time limit per program; 0 for none.", show_default="300")
]
MaxStates = Annotated[
    int, typer.Option(metavar="N", min=0, help="Stored states per search; 0 for no limit.", show_default="no limit")
]
Memory = Annotated[int | None, typer.Option(metavar="MIB", min=0, help=MEMORY_HELP, show_default=False)]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Decide N programs at a time. Default: one per processor.",
        show_default=False,
    ),
]
OrderedReads = Annotated[
    bool, typer.Option("--ordered-reads", help="Assume that the hardware keeps the order of two remote reads.")
]
Certificates = Annotated[
    str | None, typer.Option(metavar="DIR", help="Write a certificate of every verdict into DIR, for verify-certificate.")
]
AwaitLoops = Annotated[
    bool, typer.Option("--await-loops", help="Read loops without effect, as `while x != 1 {}`, as blocking reads.")
]
Tui = Annotated[bool, typer.Option("--tui", help="Explore in this terminal instead of the browser.")]
Port = Annotated[
    int, typer.Option(metavar="N", min=0, max=65_535, help="Port of the page.", show_default="any that is free")
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]
State = Annotated[
    str, typer.Option(metavar="STATE", help="Begin with a shared state: what follows # in a link.", show_default=False)
]
DecideTimeout = Annotated[
    float, typer.Option(metavar="SECONDS", callback=seconds, help="Time limit for deciding; 0 for none.", show_default="60")
]
Version = Annotated[bool, typer.Option("--version", help="Print the version and the search kernel in use, and exit.")]


def limit(value: float) -> float | None:
    """Return a limit as the options of deciding have it: None for none, which is 0 or infinity on the command line."""
    return None if value == 0 or math.isinf(value) else value
