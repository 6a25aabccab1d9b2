"""Claims as SARIF 2.1.0: what is violated, hangs, is about nothing or undecided, each at its line, with the run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rdma_robust import TOOL
from rdma_robust.frame.answer import Counts
from rdma_robust.frame.exits import Exit
from rdma_robust.reports.analyses.claim_findings import Finding, StepView
from rdma_robust.reports.analyses.safety_record import SafetyRecord
from rdma_robust.reports.batch.sarif_log import Invocation, Json, ScannedFile, message, sarif_log

CODES: Final = {"violated": "RR016", "unreachable": "RR017", "unknown": "RR018", "reachable": "RR019"}


def write_claims_sarif(records: Sequence[SafetyRecord], counts: Counts) -> str:
    """Return the log of `verify` or `reach`."""
    files = [(record, _scanned(record)) for record in records]
    found = [result for record, file in files for result in _results(file, record)]
    problems = [f"{r.file}: {r.reason}" for r in records if r.error_kind in ("internal", "unreadable")]
    invocation = Invocation(counts.exit_code, counts.interrupted, problems)
    return sarif_log([file for _, file in files], found, invocation, TOOL)


def claim_results(file: ScannedFile, findings: Iterable[Finding]) -> Iterator[Json]:
    """Yield a result for every claim that somebody should look at, and for a target of `reach` that is reachable."""
    for finding in findings:
        said = what_to_say(finding)
        if said is not None:
            yield _result(file, said[0], finding, said[1])


def what_to_say(finding: Finding) -> tuple[str, str] | None:
    """Return the code and the words for a claim that somebody should look at, None for others."""
    match finding.status:
        case "holds":
            return None
        case "violated" if finding.exit_code == Exit.OK:  # an `expect` line says so
            return None
        case "unreachable" if finding.kind == "target":
            return None
        case "violated" if finding.kind == "hang":
            return CODES["violated"], f"The program hangs, and claims `{finding.text}`"
        case "violated":
            return CODES["violated"], f"Violated: {finding.text}"
        case "unreachable":
            return CODES["unreachable"], f"About nothing: {finding.text}"
        case "reachable":
            return CODES["reachable"], f"Reachable under {finding.model}: {finding.text}"
        case _:
            return CODES["unknown"], f"Undecided: {finding.text}"


def place_of(finding: Finding) -> tuple[int | None, int | None]:
    """Return the line and column of a claim; of what has none, those where the first thread waits."""
    waits = [wait for wait in finding.waits if wait.line is not None]
    if finding.line is None and waits:
        return waits[0].line, waits[0].column
    return finding.line, finding.column


def _scanned(record: SafetyRecord) -> ScannedFile:
    text = record.source
    sha256 = None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return ScannedFile(record.file, text, sha256)


def _results(file: ScannedFile, record: SafetyRecord) -> Iterator[Json]:
    if record.status == "unknown" and not record.findings:
        yield file.at("RR011", f"Undecided: {record.reason}.", 1)
    if record.error_kind == "invalid" and not record.errors:
        yield file.at("RR002", record.reason, 1)
    yield from (file.diagnostic(each) for each in (*record.errors, *record.warnings))
    yield from claim_results(file, record.findings)


def _result(file: ScannedFile, code: str, finding: Finding, says: str) -> Json:
    """At the line of the claim; what has none, where the first thread waits."""
    waits = [wait for wait in finding.waits if wait.line is not None]
    line, column = place_of(finding)
    result = file.result(code, f"{says}: {finding.reason}.", file.place(line or 1, column))
    if waits:
        result["relatedLocations"] = [_location(file, wait) | {"id": number} for number, wait in enumerate(waits, 1)]
    steps = [step for step in finding.run if step.line is not None]
    if steps:
        locations = [
            {"location": _location(file, step), "executionOrder": number, "importance": "important"}
            for number, step in enumerate(steps, 1)
        ]
        result["codeFlows"] = [
            {"message": message("The run that leads there"), "threadFlows": [{"id": "run", "locations": locations}]}
        ]
    return result


def _location(file: ScannedFile, step: StepView) -> Json:
    return file.place(step.line or 1, step.column) | {"message": message(step.text)}
