"""The `share` command: a program as a link to the playground."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.options import arguments
from rdma_robust.diagnose import Reporter
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Missing, expand, read_source
from rdma_robust.frame.shell.output import StandardOutput
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.language.syntax.ast import HardwareDeclaration, Ident
from rdma_robust.messages.language.recognised import is_messages
from rdma_robust.orders.named_tables import files_named
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
    """Print the link. Raises UsageError for a tab that there is not, an address with a fragment, a program too long, and one
    that names the file of an order table."""
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
    if kind == "rdma" and (table := _own_table(text, item.name)) is not None:
        raise UsageError(
            f"{printable(item.name)}: line {table.span.line} names the file {printable(table.text)}, which a link does not "
            "have: name a table of the tool or flags, fi(FLAG, ...), there to share the program"
        )
    fragment = fragment_of(SharedProgram(text, kind, tab or known[0]))
    StandardOutput().line(f"{base}#{fragment}")
    return Exit.OK


def _own_table(text: str, name: str) -> Ident | None:
    """Return the file of an order table that a program names; None for one that cannot be parsed, which the page says."""
    if not files_named(text, name):
        return None
    from rdma_robust.language.syntax.parse import parse_tree  # noqa: PLC0415 - few programs name one

    tree = parse_tree(text, Reporter(name, text))[0]
    lines = [] if tree is None else [item for item in tree.items if isinstance(item, HardwareDeclaration)]
    named = (each.value for line in lines for each in line.settings if each.value.text.startswith('"'))
    return next(named, None)
