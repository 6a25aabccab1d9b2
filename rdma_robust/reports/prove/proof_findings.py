"""The answers of `prove` as other tools have them: claims that are answered, findings, SARIF and JUnit."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding, problem_findings
from rdma_robust.frame.formats.junit import Case
from rdma_robust.reports.prove.proof_record import ModelRecord, PossibleView, ProofRecord, ProofRun
from rdma_robust.reports.share.claim_findings import ClaimAnswer, StepView, claim_cases, claim_findings


def answers_of(record: ProofRecord, expect: bool) -> Iterator[ClaimAnswer]:
    """Yield an answer for each model that did not refuse the program, as a claim; with `expect` what is expected counts."""
    for each in record.models:
        if each.verdict != "refused":
            yield _finding(each, expect)
            yield from (_possible(each, possible) for possible in each.possible)


def _finding(each: ModelRecord, expect: bool) -> ClaimAnswer:
    code = each.exit_of(expect)
    model, unsafe = each.model, each.verdict == "unsafe"
    if each.verdict == "unknown":
        return ClaimAnswer("safe", f"safe under {model}", model, None, None, "unknown", each.reason, int(Exit.UNKNOWN))
    if expect and each.as_expected is not True:
        wanted = "nothing is expected" if each.expected is None else f"{each.expected} is expected"
        reason = f"{wanted}, and the program is {each.verdict}: {each.reason}"
        text = f"{each.expected or each.verdict} under {model}"
        return ClaimAnswer(
            "safe", text, model, each.expected_line, None, "violated", reason, int(Exit.NOT_ROBUST), (), _run(each.run)
        )
    if not unsafe or code is Exit.OK:
        return ClaimAnswer("safe", f"{each.verdict} under {model}", model, each.expected_line, None, "holds", each.reason, 0)
    claim = each.claim
    kind, text = ("safe", f"safe under {model}") if claim is None else (claim.kind, f"{claim.text} (under {model})")
    line, column = (None, None) if claim is None else (claim.line, claim.column)
    return ClaimAnswer(kind, text, model, line, column, "violated", each.reason, int(Exit.NOT_ROBUST), (), _run(each.run))


def _possible(each: ModelRecord, view: PossibleView) -> ClaimAnswer:
    status = {True: "holds", False: "violated", None: "unknown"}[view.possible]
    code = {True: Exit.OK, False: Exit.NOT_ROBUST, None: Exit.UNKNOWN}[view.possible]
    text, claim = f"{view.claim.text} : allowed under {each.model}", view.claim
    return ClaimAnswer(claim.kind, text, each.model, claim.line, claim.column, status, view.reason, int(code))


def _run(run: ProofRun | None) -> tuple[StepView, ...]:
    moves = () if run is None else run.moves
    return tuple(
        StepView(each.thread or "", each.line, each.column, f"{each.where}: {each.text}") for each in moves if each.line
    )


def proof_findings(record: ProofRecord, expect: bool) -> Iterator[Finding]:
    """Yield what is to be looked at in the answers for one program."""
    reason = "" if record.models or record.verdict != "unknown" else record.reason
    yield from problem_findings(record.file, (*record.errors, *record.warnings), record.error_kind, record.reason, reason)
    yield from claim_findings(record.file, answers_of(record, expect))


def proof_cases(record: ProofRecord, expect: bool) -> Iterator[Case]:
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
