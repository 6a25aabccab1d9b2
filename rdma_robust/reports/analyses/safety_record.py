"""What `verify` and `reach` say of one program: plain data that crosses processes, for every form of report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.analyses.safety.questions import ReachOutcome
from rdma_robust.analyses.safety.verify import Checked, Status, Verified
from rdma_robust.errors import NO_SPAN
from rdma_robust.frame.answer import DiagnosticView, Failure, JsonObject, diagnostics
from rdma_robust.frame.exits import Exit
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import ModelName
from rdma_robust.reports.analyses.safety_report import (
    REACH_EXITS,
    VERIFY_EXITS,
    claim_text,
    no_answer,
    program_of_run,
    reason_text,
    verify_exit,
)
from rdma_robust.reports.share.claim_findings import ClaimAnswer, StepView
from rdma_robust.reports.share.move_wording import deed_of, lane_of
from rdma_robust.semantics.machines.chosen import is_rdma
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.run_wording import deed, lane
from rdma_robust.text import printable


@dataclass(frozen=True, slots=True)
class SafetyRecord:
    """The answers for one program. `status` is the worst of its findings, `unknown`, or `error`, then with `error_kind`.

    `answer` has the members of its JSON object that are special to the command, `lines` its text, `source` the program.
    """

    file: str
    status: str
    exit_code: int
    reason: str = ""
    error_kind: str | None = None
    program: str | None = None
    findings: tuple[ClaimAnswer, ...] = ()
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    time_s: float = 0.0
    answer: JsonObject = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    source: str | None = None


def unanswered(failure: Failure, target: str | None, model: ModelName) -> SafetyRecord:
    """Return the record of a program that got no answer; `target` is that of
    `reach`, None for claims."""
    status = failure.verdict
    return SafetyRecord(
        failure.file,
        status,
        failure.exit_code,
        failure.reason,
        failure.error_kind,
        warnings=failure.warnings,
        errors=failure.errors,
        time_s=failure.time_s,
        answer=no_answer(target, model, status),
        lines=(f"{printable(failure.file)}: {'UNKNOWN' if status == 'unknown' else 'error'}: {printable(failure.reason)}",),
    )


def verified_record(verified: Verified, *, strict: bool) -> SafetyRecord:
    """Return the record of `verify`, without text and JSON."""
    program = verified.program
    return SafetyRecord(
        program.file,
        verified.status.value,
        verify_exit(verified, strict=strict),
        program=program.name,
        findings=tuple(_finding(program, checked, strict) for checked in verified.checked),
        warnings=diagnostics(program.warnings),
        time_s=round(verified.asked.time_s, 6),
    )


def reached_record(program: Program, target: str, model: ModelName, asked: ReachOutcome) -> SafetyRecord:
    """Return the record of `reach`, without text and JSON."""
    answer = asked.answers[0]
    code = REACH_EXITS[answer.answer]
    run = _steps(program_of_run(program, answer), answer.run)
    at = next((each for each in reversed(run) if each.line is not None), StepView("", None, None, ""))
    word = answer.answer.value
    finding = ClaimAnswer("target", target, model, at.line, at.column, word, answer.reason, code, (), run, at.file)
    return SafetyRecord(
        program.file,
        answer.answer.value,
        code,
        program=program.name,
        findings=(finding,),
        warnings=diagnostics(program.warnings),
        time_s=round(asked.time_s, 6),
    )


def _finding(program: Program, checked: Checked, strict: bool) -> ClaimAnswer:
    claim = checked.claim
    placed = claim.span != NO_SPAN
    waits = () if checked.hang is None else checked.hang.waits
    counts = strict and checked.status is Status.UNREACHABLE
    return ClaimAnswer(
        claim.kind,
        claim_text(claim),
        claim.model,
        claim.span.line if placed else None,
        claim.span.column if placed else None,
        checked.status.value,
        reason_text(checked),
        Exit.NOT_ROBUST if counts else Exit.OK if checked.expected else VERIFY_EXITS[checked.status],
        tuple(StepView(wait.thread, wait.line, wait.column, wait.text) for wait in waits),
        _run_of(program, checked) if checked.status is Status.VIOLATED else (),
        claim.span.elsewhere,
    )


def _run_of(program: Program, checked: Checked) -> tuple[StepView, ...]:
    if checked.model_run is not None:
        return _moves(program, checked.model_run)
    return _steps(program_of_run(program, checked.answer), checked.answer.run)


def _moves(program: Program, run: SafetyRun) -> tuple[StepView, ...]:
    found = []
    for action, _, _ in run.moves[1:]:
        span, thread = action.step.span if action.step else None, program.threads[action.thread].name
        line, column, file = (span.line, span.column, span.elsewhere) if span else (None, None, "")
        text = f"{lane_of(program, action)}: {deed_of(program, action, run.model)}"
        found.append(StepView(thread, line, column, text, file))
    return tuple(found)


def _steps(program: Program, run: Run | None) -> tuple[StepView, ...]:
    return tuple(_views(program, run or ()))


def _views(program: Program, run: Run) -> Iterable[StepView]:
    for move in run:
        action = move.action
        if action.verb is not Verb.START and action.step is not None:
            thread = program.threads[action.thread].name
            span = action.step.span
            what = deed(program, action, sc=not is_rdma(move.state))
            yield StepView(thread, span.line, span.column, f"{lane(program, action)}: {what}", span.elsewhere)
