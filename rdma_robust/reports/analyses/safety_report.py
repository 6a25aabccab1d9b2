"""The reports of `reach` and `verify`: answers with their reasons and runs, as text and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from rdma_robust.analyses.safety.reach import Answer, Asked, Reached
from rdma_robust.analyses.safety.sequential import Run
from rdma_robust.analyses.safety.verify import Checked, Claim, Status, Verified
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import ModelName
from rdma_robust.reports.check.json_report import JsonObject, valid_unicode
from rdma_robust.reports.check.result import diagnostics
from rdma_robust.reports.share.exits import Exit
from rdma_robust.semantics.machines.machine import Verb, wording
from rdma_robust.semantics.machines.rdma import RdmaMachine, RdmaState
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.text import count, one_line, printable

REACH_FORMAT = "rdma-robust/reach"
VERIFY_FORMAT = "rdma-robust/verify"
VERSION = 1

REACH_EXITS = {Answer.UNREACHABLE: Exit.OK, Answer.REACHABLE: Exit.NOT_ROBUST, Answer.UNKNOWN: Exit.UNKNOWN}
VERIFY_EXITS = {Status.HOLDS: Exit.OK, Status.VIOLATED: Exit.NOT_ROBUST, Status.UNKNOWN: Exit.UNKNOWN}
MODELS: Mapping[ModelName, str] = {"sc": "SC", "rdma": "RDMA"}
WORDS = {Status.HOLDS: "holds", Status.VIOLATED: "VIOLATED", Status.UNKNOWN: "unknown"}


def reach_text(program: Program, target: str, model: ModelName, asked: Asked) -> list[str]:
    """Return the answer of `reach` as lines."""
    answer = asked.answers[0]
    word = answer.answer.value if answer.answer is Answer.UNREACHABLE else answer.answer.value.upper()
    lines = [f"{printable(program.file)}: {word} under {MODELS[model]}: {one_line(target, 200)}", f"  {answer.reason}"]
    if answer.run is not None:
        lines += ["", *_run(program, answer.run), *_checks(answer)]
    return lines


def verify_text(verified: Verified, explain: bool) -> list[str]:
    """Return the answers of `verify` as lines: a row for each claim, then, with `explain`, the runs."""
    file = printable(verified.program.file)
    if not verified.checked:
        return [f"{file}: nothing to verify: no assert, no outcome line, nothing that can go wrong"]
    numbers = [sum(c.status is status for c in verified.checked) for status in Status]
    hold = "holds" if numbers[0] == 1 else "hold"
    words = [f"{n} {word}" for n, word in zip(numbers, (hold, "violated", "unknown"), strict=True) if n]
    lines = [f"{file}: {count(len(verified.checked), 'claim')}: {', '.join(words)}"]
    places = [f"line {c.claim.span.line}" for c in verified.checked]
    texts = [_claim(c.claim) for c in verified.checked]
    for place, text, checked in zip(places, texts, verified.checked, strict=True):
        row = f"  {place:{max(map(len, places))}}  {text:{max(map(len, texts))}}  {WORDS[checked.status]:8}"
        lines.append(f"{row}  {checked.answer.reason}")
    for checked in verified.checked if explain else ():
        if checked.answer.run is not None:
            verb = "goes wrong" if not checked.claim.allowed else "happens"
            lines += ["", f"  line {checked.claim.span.line}: {_claim(checked.claim)}; it {verb} in this run:", ""]
            lines += [*_run(verified.program, checked.answer.run), *_checks(checked.answer)]
    return lines


def _claim(claim: Claim) -> str:
    text = one_line(claim.text, 70)
    if claim.kind == "outcome":
        return f"{text} : {'allowed' if claim.allowed else 'forbidden'} under {claim.model}"
    return text if claim.kind == "assertion" else f"no {claim.kind}: {text}"


def _run(program: Program, run: Run) -> Iterator[str]:
    """Yield a run as a table, and the state that it leads to."""
    steps = [(i, move.action) for i, move in enumerate(run) if move.action.verb is not Verb.START]
    rows = [(i, action.step.span.line if action.step else 0, *_worded(wording(program, action))) for i, action in steps]
    width = min(50, max((len(who) for _, _, who, _ in rows), default=0))
    if rows:
        yield "    step  line  statement"
    for i, line, who, what in rows:
        yield f"    {i:4}  {line or '':4}  {who:{width}}  {what}".rstrip()
    machine = RdmaMachine(program) if isinstance(run[-1].state, RdmaState) else ScMachine(program)
    yield "    in the end:" if rows else "    at the start:"
    for text in machine.describe(run[-1].state):
        yield f"      {printable(text)}"


def _worded(text: str) -> tuple[str, str]:
    who, _, what = text.partition(" | ")
    return one_line(who, 60), one_line(what, 100)


def _checks(answer: Reached) -> list[str]:
    by = "replayed by the machine, and by the axioms" if answer.run and isinstance(answer.run[-1].state, RdmaState) else ""
    return ["", f"    Checked: {by or 'replayed by the SC machine'}."]


def reach_object(
    program: Program,
    target: str,
    model: ModelName,
    asked: Asked,
    *,
    tool: Mapping[str, object],
    options: Mapping[str, object],
) -> JsonObject:
    """Return the answer as the object that `schema/reach.schema.json` describes."""
    answer = asked.answers[0]
    return {
        "format": REACH_FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "options": dict(options),
        "file": valid_unicode(program.file),
        "program": program.name,
        "target": valid_unicode(target),
        "model": model,
        **_answer_object(program, answer),
        **_sizes(asked),
        "warnings": [dataclasses.asdict(w) for w in diagnostics(program.warnings)],
        "exit_code": int(REACH_EXITS[answer.answer]),
        "time_s": round(asked.time_s, 6),
    }


def verify_object(verified: Verified, tool: Mapping[str, object], options: Mapping[str, object]) -> JsonObject:
    """Return the answers as the object that `schema/verify.schema.json` describes."""
    program = verified.program
    return {
        "format": VERIFY_FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "options": dict(options),
        "file": valid_unicode(program.file),
        "program": program.name,
        "status": verified.status.value,
        "claims": [_checked_object(program, checked) for checked in verified.checked],
        **_sizes(verified.asked),
        "warnings": [dataclasses.asdict(w) for w in diagnostics(program.warnings)],
        "exit_code": int(VERIFY_EXITS[verified.status]),
        "time_s": round(verified.asked.time_s, 6),
    }


def _checked_object(program: Program, checked: Checked) -> JsonObject:
    claim = checked.claim
    return {
        "line": claim.span.line,
        "kind": claim.kind,
        "text": valid_unicode(claim.text),
        "model": claim.model,
        "claims": "allowed" if claim.allowed else "forbidden",
        "status": checked.status.value,
        **_answer_object(program, checked.answer),
    }


def _answer_object(program: Program, answer: Reached) -> JsonObject:
    run = None if answer.run is None else [_move_object(program, i, answer.run) for i in range(len(answer.run))]
    return {
        "answer": answer.answer.value,
        "argument": answer.argument.value,
        "reason": answer.reason,
        "run": run,
    }


def _move_object(program: Program, number: int, run: Run) -> JsonObject:
    action = run[number].action
    return {
        "thread": None if action.thread < 0 else program.threads[action.thread].name,
        "line": None if action.step is None else action.step.span.line,
        "statement": None if action.step is None else valid_unicode(action.step.text),
        "does": action.verb.value,
        "read": action.read,
        "written": action.written,
        "faults": [fault.kind for fault in run[number].faults],
    }


def _sizes(asked: Asked) -> JsonObject:
    return {
        "robust": asked.robust,
        "states": {"sc": asked.sc_states, "rdma": asked.rdma_states, "robustness": asked.check_states},
    }
