"""The `mcp` command: serve programs that use tools, over standard input and output."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Annotated

import typer

from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit

Folders = Annotated[
    list[str] | None,
    typer.Option(
        "--folder", metavar="DIR", help="A folder whose .rdma files may be read. Without one none is.", show_default=False
    ),
]


def mcp_command(context: typer.Context, *, folder: Folders = None) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_mcp, folder or []))


def run_mcp(folders: list[str]) -> Exit:
    """Serve until the client has gone. Raises UsageError without the package mcp, and for what is no folder."""
    if find_spec("mcp") is None:
        raise UsageError("mcp needs the package mcp, which is not installed here: pip install 'mcp>=2'")
    from rdma_robust.cli.mcp_server import serve_tools  # noqa: PLC0415 - an extra

    serve_tools(folders)
    return Exit.OK
