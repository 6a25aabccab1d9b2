"""Records of answers of `verify` and `reach` about one program: plain data that crosses processes, for every form of
report."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.analyses.safety.questions import ReachOutcome
from rdma_robust.analyses.safety.verify import Checked, Status, Verified
from rdma_robust.errors import NO_SPAN
from rdma_robust.frame.answer import Counts, DiagnosticView, Failure, JsonObject, diagnostics
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding, problem_findings
from rdma_robust.frame.formats.answer_table import AnswerParagraphs
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.junit import Case
from rdma_robust.frame.question import Layout, Section, View
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
from rdma_robust.reports.share.claim_findings import ClaimAnswer, StepView, claim_cases, claim_findings
from rdma_robust.reports.share.run_lines import deed_of, lane_of
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.sc import ScState
from rdma_robust.semantics.wording import deed, lane
from rdma_robust.text import count, printable


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
    word = "UNKNOWN" if status == "unknown" else "error"
    lines = (f"{printable(failure.file)}: {word}: {printable(failure.reason)}",)
    return failure.record(SafetyRecord, answer=no_answer(target, model, status), lines=lines)


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
            what = deed(program, action, sc=isinstance(move.state, ScState))
            yield StepView(thread, span.line, span.column, f"{lane(program, action)}: {what}", span.elsewhere)


VERIFY_WORDS: Final = ("holds", "violated", "unknown", "unreachable")
"""The answers that a claim can have."""
REACH_WORDS: Final = ("reachable", "unreachable", "unknown")
"""The answers that a target can have."""


@dataclass(frozen=True)
class SafetyView(View[SafetyRecord]):
    """The answers of `verify` or `reach`, which has these `words` for a claim or a target."""

    words: tuple[str, ...]

    def text(self, layout: Layout) -> AnswerParagraphs[SafetyRecord]:
        return AnswerParagraphs(
            layout, lambda record, _: list(record.lines), self._said, lambda record: record.exit_code == Exit.OK
        )

    def _said(self, counts: Counts) -> str:
        said = [(counts[word], "hold" if word == "holds" and counts[word] > 1 else word) for word in self.words]
        told = ", ".join(f"{number} {word}" for number, word in said if number)
        line = count(counts.done, "program")
        if self.words is VERIFY_WORDS:
            line += f", {count(sum(counts[word] for word in self.words), 'claim')}"
        line += f": {told}" if told else ""
        undecided = f"{counts['undecided']} undecided" if counts["undecided"] else ""
        wrong = count(counts["error"], "error") if counts["error"] else ""
        return line + "".join(f"; {each}" for each in (undecided, wrong) if each)

    def objects(self, record: SafetyRecord) -> Sequence[JsonObject]:
        said = {"reason": record.reason} if "reason" not in record.answer or record.reason else {}
        return (
            {
                "file": valid_unicode(record.file),
                **record.answer,
                **said,
                "error_kind": record.error_kind,
                "warnings": [dataclasses.asdict(each) for each in record.warnings],
                "errors": [dataclasses.asdict(each) for each in record.errors],
                "exit_code": int(record.exit_code),
                "time_s": record.time_s,
            },
        )

    def numbers(self, records: Sequence[SafetyRecord]) -> Mapping[str, int]:
        found = Counter(each.status for record in records for each in record.findings)
        without = Counter(record.status for record in records if not record.findings)
        none = {"undecided": without["unknown"], "error": without["error"]}
        return {word: found[word] for word in self.words} | none

    def exit_of(self, record: SafetyRecord) -> Exit:
        return Exit(record.exit_code)

    def findings(self, record: SafetyRecord) -> Iterable[Finding]:
        return safety_findings(record)

    def cases(self, section: Section[Any, SafetyRecord]) -> Mapping[str, Sequence[Case]]:
        return {record.file: list(safety_cases(record)) for record in section.records}

    def more(self, section: Section[Any, SafetyRecord]) -> Mapping[str, object]:
        """Return the members of the only program, which stand beside `results` too, where readers of one look for them."""
        return self.objects(section.records[0])[0] if section.counts.requested == 1 and section.answers else {}


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
