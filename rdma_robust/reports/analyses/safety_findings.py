"""The answers of `verify` and `reach` as other tools have them: findings, SARIF and JUnit."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding, problem_findings
from rdma_robust.frame.formats.junit import Case
from rdma_robust.reports.analyses.safety_record import SafetyRecord
from rdma_robust.reports.share.claim_findings import claim_cases, claim_findings


def safety_findings(record: SafetyRecord) -> Iterator[Finding]:
    """Yield what is to be looked at in the answers for one program."""
    undecided = record.reason if record.status == "unknown" and not record.findings else ""
    yield from problem_findings(record.file, (*record.errors, *record.warnings), record.error_kind, record.reason, undecided)
    yield from claim_findings(record.file, record.findings)


def safety_cases(record: SafetyRecord) -> Iterator[Case]:
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
