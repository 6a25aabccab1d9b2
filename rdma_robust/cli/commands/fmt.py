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
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import MESSAGES_SUFFIX, SUFFIX, Item, Source, expand
from rdma_robust.frame.shell.output import StandardOutput, replace_file
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.language.value_ranges import one_value
from rdma_robust.messages.language.recognised import is_messages
from rdma_robust.text import printable

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
    items = expand(files, suffixes=(SUFFIX, MESSAGES_SUFFIX), define=define)
    if output not in (None, "-") and len(items) > 1:
        raise UsageError(f"--output takes one program, and there are {len(items)}; --write writes all of them back")
    made_file(output, items, force=force, back="--write")
    context.obj.append(partial(run_fmt, items, mode, None if output == "-" else output, expanded=expand_))


def run_fmt(items: Sequence[Item], mode: Mode, path: str | None = None, *, expanded: bool = False) -> Exit:
    """Format every item; return the worst exit code, where NOT_ROBUST (1) is "would change" of the mode `check`.

    What is printed goes to the file `path`, if there is one, and is `expanded` if that is asked for.
    """

    def formatted(source: Source, old: str) -> Exit:
        from rdma_robust.language.load import is_trencher, written_out_tree  # noqa: PLC0415
        from rdma_robust.language.syntax.formatter import (  # noqa: PLC0415 - after the reading, which may fail at once
            format_source,
            format_tree,
        )

        if is_messages(old, source.name):
            return _deliver(source, old, _of_messages(old, source.name, expanded=expanded), mode, path)
        if is_trencher(old, source.name):
            raise UsageError("a program of Trencher has no layout of ours; `rdma-robust import trencher` makes one that has")
        new = format_tree(written_out_tree(old, source.name)) if expanded else format_source(old, source.name)
        return _deliver(source, old, new, mode, path)

    return answer_each(items, default_limits, formatted)


def _of_messages(text: str, file: str, *, expanded: bool) -> str:
    """Return a program of `.mp` in its one layout, or written out."""
    if expanded:
        from rdma_robust.messages.language.load_messages import load_messages  # noqa: PLC0415 - few programs are such
        from rdma_robust.messages.language.messages_text import written_out  # noqa: PLC0415

        return written_out(load_messages(text, file))
    from rdma_robust.messages.language.message_printer import format_messages  # noqa: PLC0415

    return format_messages(text, file)


def _deliver(source: Source, old: str, new: str, mode: Mode, path: str | None) -> Exit:
    if mode == "print" and path is None:
        StandardOutput().write(new)
    elif mode == "print":
        replace_file(str(path), new)
    if mode == "check" and old != new:
        warn(f"{printable(source.name)}: would be reformatted")
        return Exit.NOT_ROBUST
    if mode == "write" and old != new:
        if source.path is None:
            raise UsageError("standard input cannot be written back; leave out --write")
        replace_file(source.path, new)
    return Exit.OK
