"""The `export` command: one program in the language of another tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdma_robust.cli.answering import answer_item, default_limits, only
from rdma_robust.cli.inputs import Source
from rdma_robust.cli.output import output
from rdma_robust.cli.stderr import warn
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.exports import ExportOptions


def run_export(file: str, options: ExportOptions, to: str | None) -> Exit:
    """Write the program `file` to the file `to`, or to standard output; return the exit code."""
    item = only(file, "export")
    place = output(to)

    def exported(source: Source, text: str) -> Exit:
        from rdma_robust.exports import export_text  # noqa: PLC0415 - slow, and reading may have failed

        export = export_text(text, source.name, options)
        for remark in export.remarks:
            warn(f"{printable(source.name)}: {printable(remark)}")
        with place:
            place.line(export.text.rstrip("\n"))
        return Exit.OK

    return answer_item(item, default_limits(), exported)
