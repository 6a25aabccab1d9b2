"""What somebody should look at in a message program or in contracts, as one line each: for people, editors and logs."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.frame.finding import FindingLine
from rdma_robust.reports.analyses.safety_lines import problem_lines
from rdma_robust.reports.messages.messages_sarif import Reported


def finding_lines_of(record: Reported) -> Iterator[FindingLine]:
    """Yield errors and warnings of a program, why it got no answer, if it got none, and its findings."""
    undecided = record.reason if record.error_kind is None and not record.answered else ""
    diagnostics = (*record.errors, *record.warnings)
    yield from problem_lines(record.file, diagnostics, record.error_kind, record.reason, undecided)
    for each in record.findings:
        yield FindingLine(record.file, each.line, each.column, each.level, each.code, each.text)
