"""The `explain-code` command: what the code of a message means."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust.diagnose import did_you_mean
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import StandardOutput
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.text import one_line

WIDTH: Final = 80
"""Of text that goes to no terminal."""


def explain_code_command(
    context: typer.Context, code: Annotated[str | None, typer.Argument(metavar="[CODE]", hidden=True)] = None
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_explain_code, code))


def run_explain_code(asked: str | None) -> Exit:
    """Print what the code `asked` means, or all codes; return the exit code. Raises UsageError for an unknown one."""
    from rdma_robust.codes.known_codes import codes  # noqa: PLC0415 - the messages of the other commands need only names
    from rdma_robust.reports.share.code_text import explained, listed  # noqa: PLC0415

    known = codes()
    if asked is None:
        StandardOutput().write(listed(known.values()) + "\n")
        return Exit.OK
    name = asked.upper() if asked[:2].upper() == "RR" else f"RR{asked}"
    if name not in known:
        hint = did_you_mean(name, known) or "without an argument the command lists them all"
        raise UsageError(f"no message has the code {one_line(asked)!r}; {hint}")
    StandardOutput().say(explained(known[name], width_of_output() or WIDTH))
    return Exit.OK
