"""The `fmt` command: programs in their one layout."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.answering import answer_each, default_limits
from rdma_robust.cli.inputs import Item, Source, expand
from rdma_robust.cli.options.arguments import Files
from rdma_robust.cli.output import StandardOutput, replace_file
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import UsageError
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

Mode = Literal["print", "check", "write"]


def fmt_command(
    context: typer.Context,
    files: Files,
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if something would change.")] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Write the programs back instead of printing them.")] = False,
) -> None:
    """Note in the context what is to be done."""
    if check and write:
        raise UsageError("--check and --write exclude one another")
    mode: Mode = "check" if check else "write" if write else "print"
    context.obj.append(partial(run_fmt, expand(files), mode))


def run_fmt(items: Sequence[Item], mode: Mode) -> Exit:
    """Format every item; return the worst exit code, where NOT_ROBUST (1) is "would change" of the mode `check`."""

    def formatted(source: Source, old: str) -> Exit:
        from rdma_robust.language.syntax.formatter import format_source  # noqa: PLC0415 - after the reading, which may fail at once

        return _deliver(source, old, format_source(old, source.name), mode)

    return answer_each(items, default_limits, formatted)


def _deliver(source: Source, old: str, new: str, mode: Mode) -> Exit:
    if mode == "print":
        StandardOutput().write(new)
    if mode == "check" and old != new:
        warn(f"{printable(source.name)}: would be reformatted")
        return Exit.NOT_ROBUST
    if mode == "write" and old != new:
        if source.path is None:
            raise UsageError("standard input cannot be written back; leave out --write")
        replace_file(source.path, new)
    return Exit.OK
