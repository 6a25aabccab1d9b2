"""The `fmt` command: programs in their one layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rdma_robust.cli.inputs import Item, Missing, Source, read_source
from rdma_robust.cli.output import StandardOutput, replace_file
from rdma_robust.cli.processes.decide_program import exit_of_error, message_of
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import UsageError
from rdma_robust.reports.share.exits import Exit, worst
from rdma_robust.text import printable

Mode = Literal["print", "check", "write"]


def run_fmt(items: Sequence[Item], mode: Mode) -> Exit:
    """Format every item; return the worst exit code, where NOT_ROBUST (1) is "would change" of the mode `check`."""
    return worst([_format(item, mode) for item in items])


def _format(item: Item, mode: Mode) -> Exit:
    if isinstance(item, Missing):
        warn(f"{printable(item.name)}: error: {item.reason}")
        return Exit.INVALID
    try:
        old = read_source(item)
        from rdma_robust.language.syntax.formatter import format_source  # noqa: PLC0415 - after the reading, which may fail at once

        return _deliver(item, old, format_source(old, item.name), mode)
    except BrokenPipeError:
        raise
    except Exception as error:
        warn(message_of(error, item.name))
        return exit_of_error(error)


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
