"""The `share` command: a program as a link to the playground."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.options import arguments
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Missing, expand, read_source
from rdma_robust.frame.shell.output import StandardOutput
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.messages.language.recognised import is_messages
from rdma_robust.teaching.playground.page_questions import HOME, TABS, SharedProgram, fragment_of
from rdma_robust.text import printable


def share_command(
    context: typer.Context,
    file: arguments.File,
    *,
    base: Annotated[
        str, typer.Option(metavar="URL", help="Address of the playground.", show_default="that of `rdma-robust playground`")
    ] = HOME,
    tab: Annotated[
        str,
        typer.Option(
            metavar="TAB",
            help=f"The tab that is open: {', '.join(each.name for each in TABS)}.",
            show_default="verdict or messages",
        ),
    ] = "",
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_share, file, base, tab))


def run_share(file: str, base: str, tab: str) -> Exit:
    """Print the link. Raises UsageError for a tab that there is not, an address with a fragment, and a program too long."""
    items = expand([file], suffixes=(".rdma", ".mp"))
    if len(items) > 1:
        raise UsageError(f"share takes one program, and {printable(file)} stands for {len(items)}")
    item = items[0]
    if isinstance(item, Missing):
        warn(item.message())
        return Exit.INVALID
    if item.name.endswith(".c"):
        raise UsageError("a browser cannot read C: `rdma-robust import FILE.c -o FILE.rdma` writes a program; share that")
    if "#" in base or not base.startswith(("http://", "https://")):
        raise UsageError(f"--base {printable(base)}: an address that begins with http:// or https://, without #, is needed")
    text = read_source(item)
    kind = "mp" if is_messages(text, item.name) else "rdma"
    known = [each.name for each in TABS if getattr(each, kind)]
    if tab and tab not in known:
        raise UsageError(f"--tab {printable(tab)}: programs of this kind have the tabs {', '.join(known)}")
    fragment = fragment_of(SharedProgram(text, kind, tab or known[0]))
    StandardOutput().line(f"{base}#{fragment}")
    return Exit.OK
