"""The `fmt` command: programs in their one layout."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.answering import answer_each, default_limits
from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options.arguments import Define, Files, Force, MadeFile
from rdma_robust.errors import UsageError
from rdma_robust.frame import registry
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, Source, expand
from rdma_robust.frame.shell.output import StandardOutput, replace_file
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.orders.named_tables import moved
from rdma_robust.text import printable
from rdma_robust.value_ranges import one_value

Mode = Literal["print", "check", "write"]


def fmt_command(
    context: typer.Context,
    files: Files,
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if something would change.")] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Write the programs back instead of printing them.")] = False,
    expand_: Annotated[
        bool, typer.Option("--expand", help="Write out `for`, macros and families; what is left has none, and no comments.")
    ] = False,
    define: Define = None,
    output: MadeFile = None,
    force: Force = False,
) -> None:
    """Note in the context what is to be done."""
    if expand_ and (check or write):
        raise UsageError("--expand prints another program: it goes with --output only")
    if define and not expand_:
        raise UsageError("-D goes with --expand: the layout of a program does not depend on its constants")
    if check + write + (output is not None) > 1:
        raise UsageError("--check, --write and --output exclude one another")
    one_value(define or (), "fmt --expand")
    mode: Mode = "check" if check else "write" if write else "print"
    items = expand(files, suffixes=registry.folder_suffixes(), define=define)
    if output not in (None, "-") and len(items) > 1:
        raise UsageError(f"--output takes one program, and there are {len(items)}; --write writes all of them back")
    made_file(output, items, force=force, back="--write")
    context.obj.append(partial(run_fmt, items, mode, None if output == "-" else output, expanded=expand_))


def run_fmt(items: Sequence[Item], mode: Mode, path: str | None = None, *, expanded: bool = False) -> Exit:
    """Format every item; return the worst exit code, where NOT_ROBUST (1) is "would change" of the mode `check`.

    What is printed goes to the file `path`, if there is one, and is `expanded` if that is asked for.
    """

    def formatted(source: Source, old: str) -> Exit:
        front_end = registry.front_end_of(old, source.name)
        layout = front_end.written_out if expanded else front_end.formatted
        if layout is None:
            raise UsageError(front_end.no_layout or f"there is no layout for what the front end {front_end.name} reads")
        return _deliver(source, old, layout(old, source.name), mode, path)

    return answer_each(items, default_limits, formatted)


def _deliver(source: Source, old: str, new: str, mode: Mode, path: str | None) -> Exit:
    if mode == "print" and path is None:
        StandardOutput().write(new)
    elif mode == "print":
        replace_file(str(path), moved(new, source.name, str(path)))
    if mode == "check" and old != new:
        warn(f"{printable(source.name)}: would be reformatted")
        return Exit.NOT_ROBUST
    if mode == "write" and old != new:
        if source.path is None:
            raise UsageError("standard input cannot be written back; leave out --write")
        replace_file(source.path, new)
    return Exit.OK
