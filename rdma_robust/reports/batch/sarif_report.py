"""A batch as SARIF: everything that somebody should look at, at the lines it is about."""

from __future__ import annotations

from rdma_robust.frame.formats.sarif import ScannedFile, sarif_log
from rdma_robust.frame.formats.section import scanned_files
from rdma_robust.reports.batch.batch_view import BatchReport
from rdma_robust.reports.check.check_findings import findings_of
from rdma_robust.reports.messages.file_record import FileRecord, reported_findings


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
    others: list[FileRecord] = [*report.messages, *report.contracts]
    files += [ScannedFile(each.file, each.source, list(reported_findings(each))) for each in others]
    files += [scanned for section in report.sections for scanned in scanned_files(section)]
    return sarif_log(files, report.summary.exit_code, report.tool, interrupted=report.summary.interrupted)
