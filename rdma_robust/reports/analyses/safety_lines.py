"""Claims as one line each: violated, about nothing, undecided, at the line of the claim."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.errors import Severity
from rdma_robust.reports.analyses.safety_record import SafetyRecord
from rdma_robust.reports.analyses.safety_sarif import CODES, place_of, what_to_say
from rdma_robust.reports.check.check_findings import KINDS, from_diagnostics
from rdma_robust.reports.share.finding_lines import FindingLine


def claim_findings(record: SafetyRecord) -> Iterator[FindingLine]:
    """Yield what is to be looked at in the answers for one program."""
    file = record.file
    yield from from_diagnostics(file, (*record.errors, *record.warnings))
    if record.error_kind is not None and not record.errors:
        code = KINDS[record.error_kind]
        yield FindingLine(file, None, None, "error", code, record.reason)
    if record.status == "unknown" and not record.findings:
        yield FindingLine(file, None, None, "warning", "RR011", f"undecided: {record.reason}")
    for finding in record.findings:
        said = what_to_say(finding)
        if said is not None:
            code, words = said
            line, column = place_of(finding)
            severity: Severity = "error" if code == CODES["violated"] else "warning"
            text = f"{words[:1].lower()}{words[1:]}: {finding.reason}"
            yield FindingLine(file, line or 1, column or 1, severity, code, text)
