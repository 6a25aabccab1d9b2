"""Arguments of the `hardware` commands, and how they write what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import layout
from rdma_robust.frame.shell.output import output

TableArgument = Annotated[str, typer.Argument(metavar="NAME|FILE", show_default=False)]


def write_tables(lines: Sequence[str], told: JsonObject, form: str, to: str | None) -> Exit:
    """Write what is said of tables, as lines or as JSON; return the exit code. Raises UsageError."""
    with output(to) as place:
        if form == "text":
            place.say("\n".join(lines))
        else:
            place.line(layout(told))
    return Exit.OK
