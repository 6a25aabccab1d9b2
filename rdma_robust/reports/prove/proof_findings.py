"""The answers of `prove` as claims for other tools: lines for editors and logs, SARIF and JUnit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from rdma_robust import TOOL
from rdma_robust.frame.answer import Counts
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import FindingLine
from rdma_robust.reports.analyses.claim_findings import Finding, StepView
from rdma_robust.reports.analyses.safety_junit import claim_cases
from rdma_robust.reports.analyses.safety_lines import claim_lines, problem_lines
from rdma_robust.reports.analyses.safety_sarif import claim_results
from rdma_robust.reports.batch.junit_xml import Case, junit_document
from rdma_robust.reports.batch.sarif_log import Invocation, Json, ScannedFile, sarif_log
from rdma_robust.reports.prove.proof_record import ModelRecord, PossibleView, ProofRecord, RunView


def findings_of(record: ProofRecord, expect: bool) -> Iterator[Finding]:
    """Yield an answer for each model that did not refuse the program, as a claim; with `expect` what is expected counts."""
    for each in record.models:
        if each.verdict != "refused":
            yield _finding(each, expect)
            yield from (_possible(each, possible) for possible in each.possible)


def _finding(each: ModelRecord, expect: bool) -> Finding:
    code = each.exit_of(expect)
    model, unsafe = each.model, each.verdict == "unsafe"
    if each.verdict == "unknown":
        return Finding("safe", f"safe under {model}", model, None, None, "unknown", each.reason, int(Exit.UNKNOWN))
    if expect and each.as_expected is not True:
        wanted = "nothing is expected" if each.expected is None else f"{each.expected} is expected"
        reason = f"{wanted}, and the program is {each.verdict}: {each.reason}"
        text = f"{each.expected or each.verdict} under {model}"
        return Finding(
            "safe", text, model, each.expected_line, None, "violated", reason, int(Exit.NOT_ROBUST), (), _run(each.run)
        )
    if not unsafe or code is Exit.OK:
        return Finding("safe", f"{each.verdict} under {model}", model, each.expected_line, None, "holds", each.reason, 0)
    claim = each.claim
    kind, text = ("safe", f"safe under {model}") if claim is None else (claim.kind, f"{claim.text} (under {model})")
    line, column = (None, None) if claim is None else (claim.line, claim.column)
    return Finding(kind, text, model, line, column, "violated", each.reason, int(Exit.NOT_ROBUST), (), _run(each.run))


def _possible(each: ModelRecord, view: PossibleView) -> Finding:
    status = {True: "holds", False: "violated", None: "unknown"}[view.possible]
    code = {True: Exit.OK, False: Exit.NOT_ROBUST, None: Exit.UNKNOWN}[view.possible]
    text, claim = f"{view.claim.text} : allowed under {each.model}", view.claim
    return Finding(claim.kind, text, each.model, claim.line, claim.column, status, view.reason, int(code))


def _run(run: RunView | None) -> tuple[StepView, ...]:
    moves = () if run is None else run.moves
    return tuple(
        StepView(each.thread or "", each.line, each.column, f"{each.where}: {each.text}") for each in moves if each.line
    )


def proof_lines(record: ProofRecord, expect: bool) -> Iterator[FindingLine]:
    """Yield what is to be looked at in the answers for one program."""
    reason = "" if record.models or record.verdict != "unknown" else record.reason
    yield from problem_lines(record.file, (*record.errors, *record.warnings), record.error_kind, record.reason, reason)
    yield from claim_lines(record.file, findings_of(record, expect))


def proof_junit(records: Sequence[ProofRecord], expect: bool) -> str:
    """Return the answers as JUnit XML: a suite for each program, a test for each model, skipped where that refuses it."""
    return junit_document({record.file: list(_cases(record, expect)) for record in records})


def _cases(record: ProofRecord, expect: bool) -> Iterator[Case]:
    classname = f"rdma-robust.{record.file}"
    if not record.models:
        says = f"{record.verdict}: {record.reason}"
        yield Case(record.file, classname, record.time_s, "error", record.error_kind or record.verdict, says)
    for each in record.models:
        name = f"{each.model}: "
        if each.verdict == "refused":
            yield Case(f"{name}refused", classname, 0.0, "skipped", "refused", each.reason)
            continue
        found = [_finding(each, expect), *(_possible(each, possible) for possible in each.possible)]
        yield from claim_cases(found, classname, name)


def proof_sarif(records: Sequence[ProofRecord], expect: bool, counts: Counts) -> str:
    """Return the answers as a SARIF log: what is unsafe or undecided, at the line of its claim, with the run."""
    files = [(record, ScannedFile(record.file, record.source, _sha256(record.source))) for record in records]
    found = [result for record, file in files for result in _results(file, record, expect)]
    problems = [f"{r.file}: {r.reason}" for r in records if r.error_kind in ("internal", "unreadable")]
    invocation = Invocation(int(counts.exit_code), counts.interrupted, problems)
    return sarif_log([file for _, file in files], found, invocation, TOOL)


def _results(file: ScannedFile, record: ProofRecord, expect: bool) -> Iterator[Json]:
    if record.verdict == "unknown" and not record.models:
        yield file.at("RR011", f"Undecided: {record.reason}.", 1)
    if record.error_kind == "invalid" and not record.errors:
        yield file.at("RR002", record.reason, 1)
    yield from (file.diagnostic(each) for each in (*record.errors, *record.warnings))
    yield from claim_results(file, findings_of(record, expect))


def _sha256(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
