"""A batch as SARIF: everything that somebody should look at, at the lines it is about."""

from __future__ import annotations

from rdma_robust.frame.formats.sarif import ScannedFile, sarif_log
from rdma_robust.reports.batch.batch_view import BatchReport
from rdma_robust.reports.batch.report_sections import sections_of
from rdma_robust.reports.check.check_findings import findings_of


def write_sarif(report: BatchReport) -> str:
    """Return the log."""
    files = [
        ScannedFile(
            entry.result.file,
            entry.text,
            list(findings_of(entry.result, report.expect, entry.claims.findings if entry.claims else ())),
        )
        for entry in report.entries
    ]
    files += [each for section in sections_of(report) for each in section.files]
    return sarif_log(files, report.summary.exit_code, report.tool, interrupted=report.summary.interrupted)
