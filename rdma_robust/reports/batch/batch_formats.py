"""The forms of a batch report: what writes each, and what a file of it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from rdma_robust import TOOL
from rdma_robust.text import sha256

if TYPE_CHECKING:
    from rdma_robust.frame.question import Section
    from rdma_robust.reports.batch.batch_view import BatchReport


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A form of report: the writer by module and function, since most runs need one of them, and the name of its file."""

    module: str
    function: str
    file: str

    def write(self, report: BatchReport) -> str:
        """Return the report in this form."""
        writer: Callable[[BatchReport], str] = getattr(
            import_module(f"rdma_robust.reports.batch.{self.module}"), self.function
        )
        return writer(report)


FORMS: Final[Mapping[str, ReportForm]] = {
    "html": ReportForm("html_report", "write_html", "report.html"),
    "md": ReportForm("batch_markdown", "write_markdown", "report.md"),
    "json": ReportForm("batch_exchange", "write_json", "report.json"),
    "jsonl": ReportForm("batch_exchange", "write_jsonl", "report.jsonl"),
    "csv": ReportForm("batch_exchange", "write_csv", "report.csv"),
    "junit": ReportForm("batch_exchange", "write_junit", "report.junit.xml"),
    "sarif": ReportForm("batch_exchange", "write_sarif", "report.sarif"),
}


def report_of_check(section: Section[Any, Any]) -> BatchReport:
    """Return the answers of `check` as the forms for other tools are written from them."""
    from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry  # noqa: PLC0415

    entries = [ReportEntry(a.record, a.text, None if a.text is None else sha256(a.text)) for a in section.answers]
    return BatchReport(entries, section.counts, section.asking.expect, TOOL, section.asking.described())
