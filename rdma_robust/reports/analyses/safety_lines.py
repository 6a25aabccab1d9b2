"""Claims as one line each: violated, about nothing, undecided, at the line of the claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rdma_robust.errors import Severity
from rdma_robust.frame.answer import DiagnosticView
from rdma_robust.frame.finding import FindingLine
from rdma_robust.reports.analyses.claim_findings import Finding
from rdma_robust.reports.analyses.safety_record import SafetyRecord
from rdma_robust.reports.analyses.safety_sarif import CODES, place_of, what_to_say
from rdma_robust.reports.check.check_findings import KINDS, from_diagnostics


def claim_findings(record: SafetyRecord) -> Iterator[FindingLine]:
    """Yield what is to be looked at in the answers for one program."""
    undecided = record.reason if record.status == "unknown" and not record.findings else ""
    yield from problem_lines(record.file, (*record.errors, *record.warnings), record.error_kind, record.reason, undecided)
    yield from claim_lines(record.file, record.findings)


def problem_lines(
    file: str, found: Iterable[DiagnosticView], error_kind: str | None, reason: str, undecided: str
) -> Iterator[FindingLine]:
    """Yield the errors and warnings of a program, what else is wrong with it, and why it got no answer, if it got none."""
    diagnostics = tuple(found)
    yield from from_diagnostics(file, diagnostics)
    if error_kind is not None and not any(each.severity == "error" for each in diagnostics):
        code = KINDS[error_kind]
        yield FindingLine(file, None, None, "error", code, reason)
    if undecided:
        yield FindingLine(file, None, None, "warning", "RR011", f"undecided: {undecided}")


def claim_lines(file: str, findings: Iterable[Finding]) -> Iterator[FindingLine]:
    """Yield the claims that somebody should look at."""
    for finding in findings:
        said = what_to_say(finding)
        if said is not None:
            code, words = said
            line, column = place_of(finding)
            severity: Severity = "error" if code == CODES["violated"] else "warning"
            text = f"{words[:1].lower()}{words[1:]}: {finding.reason}"
            yield FindingLine(file, line or 1, column or 1, severity, code, text)
