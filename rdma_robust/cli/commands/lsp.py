"""The `lsp` command: serve an editor over standard input and output."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Annotated

import typer

from rdma_robust.cli.options.arguments import seconds
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit

Stdio = Annotated[
    bool, typer.Option("--stdio", help="Speak over standard input and output, as it always does; editors like to say so.")
]
VerdictTimeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", callback=seconds, help="Time limit of a verdict; 0 for none.")
]


def lsp_command(context: typer.Context, *, stdio: Stdio = True, timeout: VerdictTimeout = 10) -> None:
    """Note in the context what is to be done."""
    del stdio
    context.obj.append(partial(run_lsp, timeout))


def run_lsp(timeout: float) -> Exit:
    """Serve until the editor has gone. Raises UsageError without pygls."""
    if find_spec("pygls") is None:
        raise UsageError("lsp needs pygls, which is not installed here: pip install pygls")
    from rdma_robust.editing.language_server import make_server  # noqa: PLC0415 - slow, and an extra

    make_server(timeout).start_io()
    return Exit.OK
