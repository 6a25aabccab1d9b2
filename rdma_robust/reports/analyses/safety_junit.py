"""Claims as JUnit XML: a program is a suite and a claim a test, a failure if it is violated, an error if it is undecided.

A claim that is about nothing is skipped, with `--strict` a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rdma_robust.frame.exits import Exit
from rdma_robust.reports.analyses.claim_findings import Finding
from rdma_robust.reports.analyses.safety_record import SafetyRecord
from rdma_robust.reports.batch.junit_xml import Case, Kind, junit_document


def write_claims_junit(records: Iterable[SafetyRecord]) -> str:
    """Return the document of `verify` or `reach`."""
    return junit_document({record.file: list(_cases(record)) for record in records})


def claim_cases(findings: Iterable[Finding], classname: str, prefix: str = "") -> Iterator[Case]:
    """Yield a test for every claim; their time is that of their program."""
    for finding in findings:
        place = "" if finding.line is None else f"line {finding.line}: "
        name = f"{prefix}{place}{finding.text}"
        says = f"{finding.status}: {finding.reason}"
        if finding.exit_code != Exit.OK:
            kind: Kind = "failure" if finding.exit_code == Exit.NOT_ROBUST else "error"
            yield Case(name, classname, 0.0, kind, finding.status, says, _details(finding))
        elif finding.status == "unreachable" and finding.kind != "target":
            yield Case(name, classname, 0.0, "skipped", finding.status, says)
        else:
            yield Case(name, classname, 0.0, text=says)


def _cases(record: SafetyRecord) -> Iterator[Case]:
    """Yield the tests of a program; one without answers, or that claims nothing, is a test of its own."""
    classname = f"rdma-robust.{record.file}"
    places = [f"{record.file}:{d.line}:{d.column}: {d.severity}: {d.message}" for d in (*record.errors, *record.warnings)]
    details = "\n".join(places)
    if record.findings:
        yield Case(record.file, classname, record.time_s, text=details)
        yield from claim_cases(record.findings, classname)
    elif record.exit_code == Exit.OK:
        yield Case(record.file, classname, record.time_s, text="\n".join([*record.lines, *places]))
    else:
        says = f"{record.status}: {record.reason}"
        yield Case(record.file, classname, record.time_s, "error", record.error_kind or record.status, says, details)


def _details(finding: Finding) -> str:
    waits = [wait.text for wait in finding.waits]
    steps = [f"line {step.line}: {step.text}" for step in finding.run]
    return "\n".join([finding.reason, *waits, *(["", "the run:", *steps] if steps else [])])
