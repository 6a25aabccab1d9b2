"""The `export` command: one program in the language of another tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdma_robust.cli.inputs import Missing, expand, read_source
from rdma_robust.cli.output import output
from rdma_robust.cli.processes.decide_program import exit_of_error, message_of
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import UsageError
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.exports import ExportOptions


def run_export(file: str, options: ExportOptions, to: str | None) -> Exit:
    """Write the program `file` to the file `to`, or to standard output; return the exit code."""
    items = expand([file])
    item = items[0]
    if isinstance(item, Missing):
        warn(f"{printable(item.name)}: error: {item.reason}")
        return Exit.INVALID
    if len(items) > 1:
        raise UsageError(f"export takes one program, and {printable(file)} stands for {len(items)}")
    place = output(to)
    try:
        text = read_source(item)
        from rdma_robust.exports import export_text  # noqa: PLC0415 - slow, and reading may have failed

        export = export_text(text, item.name, options)
    except Exception as error:
        warn(message_of(error, item.name))
        return exit_of_error(error)
    for remark in export.remarks:
        warn(f"{printable(item.name)}: {printable(remark)}")
    with place:
        place.line(export.text.rstrip("\n"))
    return Exit.OK
