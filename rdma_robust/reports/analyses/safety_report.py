"""The reports of `reach` and `verify`: answers with their reasons and runs, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.safety.crowds.instances import goal_in, of_any
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, SafeGoal, StateGoal
from rdma_robust.analyses.safety.hangs import hang_summary
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.analyses.safety.questions import Answer, Reached, ReachOutcome
from rdma_robust.analyses.safety.verify import Checked, Claim, Status, Verified
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import names
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import PAPER, Column, Columns, sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.language.check.targets import StateTarget, ThreadAtExit, ThreadAtLine, ThreadAtPoints
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import ModelName
from rdma_robust.outcome import Copies
from rdma_robust.reports.share.run_lines import safety_run_lines
from rdma_robust.reports.share.steps_table import (
    StepRow,
    folded_rows,
    gutter,
    line_text,
    note_of_places,
    table,
)
from rdma_robust.semantics.hang import Hang
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.machines.sc import ScState
from rdma_robust.semantics.what_matters import MachineRun
from rdma_robust.semantics.wording import deed, event_name, lane
from rdma_robust.text import count, filled, one_line, printable

INDENT = "  "


def claim_run_table(
    program: Program,
    run: Run,
    end: Sequence[str],
    goal: Goal,
    width: int | None,
    *,
    hang: Hang | None = None,
    full: bool = False,
) -> list[str]:
    """Return a run that reaches `goal`, as lines, and the state `end` that it leads to.

    A long run shows the steps that matter (:mod:`what_matters`); with `full` all, and the names of their events.
    """
    sc = isinstance(run[-1].state, ScState)
    moves = [(number, move.action) for number, move in enumerate(run) if move.action.verb is not Verb.START]
    rows = []
    places: list[tuple[str, ...]] = []
    for number, action in moves:
        name = event_name(action) if full else ""
        what = printable(deed(program, action, sc=sc)) + (f"  {name}" if name else "")
        places.append(() if action.step is None else action.step.span.places)
        rows.append(StepRow(number, (gutter(number, line_text(places[-1]), False, False), lane(program, action), what)))
    shown, note = folded_rows(rows, _mattering(program, run, goal, hang, sc), full=full)
    room = (width or PAPER) - len(INDENT)
    lanes = _lanes(program, [action for _, action in moves])
    lines = [f"{INDENT}{text}".rstrip() for text in table(lanes, shown, room, full=full)] if rows else []
    for remark in (note_of_places(places), note):
        lines += filled(remark, width or PAPER, INDENT * 2, INDENT * 2) if remark else []
    lines.append("    in the end:" if rows else "    at the start:")
    for text in end:
        lines += filled(printable(text), width or PAPER, " " * 6, "  ")
    return lines


def _lanes(program: Program, actions: Sequence[Action]) -> list[str]:
    """Return the lanes: those of one thread together, its CPU first; threads in the order of their first move."""
    threads = list(dict.fromkeys(action.thread for action in actions))
    rank = {lane(program, a): (threads.index(a.thread), " NIC to " in lane(program, a)) for a in actions}
    return sorted(rank, key=rank.__getitem__)


def _mattering(program: Program, run: Run, goal: Goal, hang: Hang | None, sc: bool) -> set[int]:
    """Return the moves that matter for reaching `goal`: those on which what it says of the last state depends."""
    known = MachineRun(program, [move.action for move in run], sc=sc)
    cells = {str(cell): number for cell, number in known.written.items()}
    threads = {thread.name: number for number, thread in enumerate(program.threads)}
    if isinstance(goal, FaultGoal):
        return known.matter([len(run) - 1])
    if isinstance(goal, StateGoal):
        used = set(names(goal.target.condition))
        atoms = [atom for name, atom in goal.target.atoms if name in used]
        named = {atom.thread for atom in atoms if isinstance(atom, ThreadAtExit | ThreadAtLine | ThreadAtPoints)}
        owned = [name.partition(".") for name in used]
        registers = [(threads[owner], register) for owner, _, register in owned if owner in threads]
        return known.matter(_last(known, named, threads) | {cells[name] for name in used if name in cells}, registers)
    waits = hang.waits if hang is not None else ()
    return known.matter(
        _last(known, {wait.thread for wait in waits}, threads)
        | {cells[name] for wait in waits for name in wait.cells if name in cells}
    )


def _last(known: MachineRun, named: Iterable[str], threads: dict[str, int]) -> set[int]:
    return {known.last[threads[name]] for name in named if threads.get(name) in known.last}


REACH_EXITS = {Answer.UNREACHABLE: Exit.OK, Answer.REACHABLE: Exit.NOT_ROBUST, Answer.UNKNOWN: Exit.UNKNOWN}
VERIFY_EXITS = {
    Status.HOLDS: Exit.OK,
    Status.UNREACHABLE: Exit.OK,
    Status.VIOLATED: Exit.NOT_ROBUST,
    Status.UNKNOWN: Exit.UNKNOWN,
}
MODELS: Mapping[ModelName, str] = {"sc": "SC", "rdma": "RDMA"}
WORDS = {
    Status.HOLDS: "holds",
    Status.VIOLATED: "VIOLATED",
    Status.UNKNOWN: "unknown",
    Status.UNREACHABLE: "UNREACHABLE",
}


def verify_exit(verified: Verified, *, strict: bool) -> Exit:
    """Return the exit code of `verify` for a program; with `strict` a claim that is about nothing counts as violated."""
    if strict and any(c.status is Status.UNREACHABLE for c in verified.checked):
        return Exit.NOT_ROBUST
    return VERIFY_EXITS[verified.status]


def reach_text(
    program: Program,
    target: StateTarget,
    model: ModelName,
    asked: ReachOutcome,
    width: int | None = None,
    *,
    full: bool = False,
) -> list[str]:
    """Return the answer of `reach` as lines, for a terminal of this `width`; with `full` every step of a long run."""
    answer = asked.answers[0]
    word = answer.answer.value if answer.answer is Answer.UNREACHABLE else answer.answer.value.upper()
    under = " ".join(part for part in (MODELS[model], of_any(program, answer.copies)) if part)
    lines = sentence(f"{printable(program.file)}: {word} under {under}: {one_line(target.text, 200)}", width)
    lines += sentence(answer.reason, width, "  ")
    if answer.run is not None:
        there, goal = program_of_run(program, answer), _goal_there(program, StateGoal(target), answer)
        lines += ["", *claim_run_table(there, answer.run, answer.end, goal, width, full=full)]
        lines += _checks(answer, width)
    return lines


def program_of_run(program: Program, answer: Reached) -> Program:
    """Return the program whose run an answer has: P(n) if it is about any number of copies."""
    return program if answer.copies is None else answer.copies.program


def _goal_there(program: Program, goal: Goal, answer: Reached) -> Goal:
    return goal if answer.copies is None else goal_in(goal, program, dict(answer.copies.numbers))


def verify_text(verified: Verified, explain: bool, width: int | None = None, *, full: bool = False) -> list[str]:
    """Return the answers of `verify` as lines for a terminal of this `width`: a row for each claim, then, with `explain`,
    the runs, with `full` every step of long ones."""
    file = printable(verified.program.file)
    if not verified.checked:
        return sentence(f"{file}: nothing to verify: no assert, no outcome line, nothing that can go wrong", width)
    numbers = [sum(c.status is status for c in verified.checked) for status in Status]
    hold = "holds" if numbers[0] == 1 else "hold"
    words = [f"{n} {word}" for n, word in zip(numbers, (hold, "violated", "unknown", "unreachable"), strict=True) if n]
    claimed = " ".join(part for part in (count(len(verified.checked), "claim"), of_any(verified.program)) if part)
    lines = sentence(f"{file}: {claimed}: {', '.join(words)}", width)
    rows = [(_where(c.claim), claim_text(c.claim), WORDS[c.status]) for c in verified.checked]
    widest = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    columns = Columns(
        (Column("line", widest[0]), Column("claim", widest[1], wraps=True), Column("", widest[2])), width, "  "
    )
    for row, checked in zip(rows, verified.checked, strict=True):
        lines += columns.row(row, reason_text(checked))
    for checked in verified.checked if explain else ():
        goal, hang, answer = checked.claim.goal, checked.hang, checked.answer
        if answer.run is not None and not isinstance(goal, SafeGoal):
            lines += ["", *_heading(checked, width), ""]
            there = program_of_run(verified.program, answer)
            goal = _goal_there(verified.program, goal, answer)
            lines += claim_run_table(there, answer.run, answer.end, goal, width, hang=hang, full=full)
            lines += _checks(answer, width)
        elif checked.model_run is not None:
            lines += ["", *_heading(checked, width), ""]
            lines += _model_run(verified.program, checked.model_run, width, full)
    return lines


def _model_run(program: Program, run: SafetyRun, width: int | None, full: bool) -> list[str]:
    lines = safety_run_lines(program, run, width, full=full)
    return [*lines, "", f"    Checked: replayed by the machine of model {run.model}."]


def _where(claim: Claim) -> str:
    return "" if claim.span == NO_SPAN else f"line {claim.span.where}"


def reason_text(checked: Checked) -> str:
    """Return why a claim has its status, on one line: of a hang who waits first."""
    found = "as expected; " if checked.expected else ""
    found += "" if checked.hang is None else f"{hang_summary(checked.hang)}; "
    return found + checked.answer.reason


def _heading(checked: Checked, width: int | None) -> list[str]:
    """What stands above the run of a claim: of a hang who waits where for what."""
    claim = checked.claim
    place = f"{where}: " if (where := _where(claim)) else ""
    if checked.hang is None:
        verb = "goes wrong" if not claim.allowed else "happens"
        return sentence(f"{place}{claim_text(claim)}; it {verb} in this run:", width, "  ")
    lines = sentence(f"{place}{claim_text(claim)}: {checked.hang.kind}; nothing changes any more:", width, "  ")
    for wait in checked.hang.waits:
        lines += sentence(wait.text, width, "    ")
    return [*lines, *sentence("It comes about in this run:", width, "  ")]


def claim_text(claim: Claim) -> str:
    """Return a claim as people read it, on one line."""
    text = one_line(claim.text, 70)
    if claim.kind in ("hang", "safe", "invariant", "violated"):
        return text
    if claim.kind == "outcome":
        return f"{text} : {'allowed' if claim.allowed else 'forbidden'} under {claim.model}"
    text = text if claim.kind == "assertion" else f"no {claim.kind}: {text}"
    return f"{text}, {one_line(claim.copy, 70)}" if claim.copy else text


def _checks(answer: Reached, width: int | None) -> list[str]:
    if not answer.run or isinstance(answer.run[-1].state, ScState):
        by = "replayed by the SC machine"
    elif answer.traced:
        by = "replayed by the machine, and by the axioms"
    else:
        by = "replayed by the machine; the axioms judge only runs in which all messages find buffers"
    return ["", *sentence(f"Checked: {by}.", width, "    ")]


def reach_object(program: Program, target: str, model: ModelName, asked: ReachOutcome) -> JsonObject:
    """Return what `schema/reach.schema.json` says of one program and of no other command."""
    return {
        "program": program.name,
        "target": valid_unicode(target),
        "model": model,
        **_answer_object(program, asked.answers[0]),
        **_sizes(asked),
    }


def verify_object(verified: Verified) -> JsonObject:
    """Return what `schema/verify.schema.json` says of one program and of no other command."""
    program = verified.program
    return {
        "program": program.name,
        "status": verified.status.value,
        "claims": [_checked_object(program, checked) for checked in verified.checked],
        **_sizes(verified.asked),
    }


def _checked_object(program: Program, checked: Checked) -> JsonObject:
    claim = checked.claim
    return {
        "line": None if claim.span == NO_SPAN else claim.span.line,
        "places": [] if claim.span == NO_SPAN else list(claim.span.places),
        "kind": claim.kind,
        "text": valid_unicode(claim.text),
        "model": claim.model,
        "claims": "allowed" if claim.allowed else "forbidden",
        "status": checked.status.value,
        "expected": checked.expected,
        "reached": checked.reached,
        "hang": None if checked.hang is None else hang_object(checked.hang),
        **_answer_object(program, checked.answer, checked.model_run),
    }


def hang_object(hang: Hang) -> JsonObject:
    """Return who waits where for what, as the schemas of `verify` and `check` describe it."""
    return {
        "kind": hang.kind,
        "lines": list(hang.lines),
        "waits": [
            {
                "thread": wait.thread,
                "line": wait.line,
                "column": wait.column,
                "statement": valid_unicode(wait.statement),
                "spins": wait.spins,
                "text": valid_unicode(wait.text),
                "cells": list(wait.cells),
                "remote": wait.remote,
                "posted": wait.posted,
                "polled": wait.polled,
                "places": list(wait.places),
            }
            for wait in hang.waits
        ],
    }


def _answer_object(program: Program, answer: Reached, model_run: SafetyRun | None = None) -> JsonObject:
    moves = answer.run if model_run is None else model_run.moves
    run = None if moves is None else [_move_object(program_of_run(program, answer), i, moves) for i in range(len(moves))]
    return {
        "answer": answer.answer.value,
        "argument": answer.argument.value,
        "reason": answer.reason,
        "run": run,
        **({"copies": copies_object(answer.copies)} if program.crowds else {}),
    }


def copies_object(copies: Copies | None) -> JsonObject | None:
    """Return how many copies of each template a run has, and whether no smaller number has one."""
    return None if copies is None else {"numbers": dict(copies.numbers), "least": copies.least}


def _move_object(program: Program, number: int, run: Run) -> JsonObject:
    action = run[number].action
    return {
        "thread": None if action.thread < 0 else program.threads[action.thread].name,
        "line": None if action.step is None else action.step.span.line,
        "places": [] if action.step is None else list(action.step.span.places),
        "statement": None if action.step is None else valid_unicode(action.step.text),
        "does": action.verb.value,
        "read": action.read,
        "written": action.written,
        "faults": [fault.kind for fault in run[number].faults],
    }


def no_answer(target: str | None, model: ModelName, status: str) -> JsonObject:
    """Return what stands for a program without an answer in place of :func:`verify_object` or, with a target, of
    :func:`reach_object`; `status` is `unknown` or `error`."""
    sizes = {"robust": None, "states": {"sc": 0, "rdma": 0, "robustness": 0}}
    if target is None:
        return {"program": None, "status": status, "claims": [], **sizes}
    argument = "limit" if status == "unknown" else None
    asked = {"target": valid_unicode(target), "model": model}
    return {"program": None, **asked, "answer": status, "argument": argument, "reason": "", "run": None, **sizes}


def _sizes(asked: ReachOutcome) -> JsonObject:
    return {
        "robust": asked.robust,
        "states": {"sc": asked.sc_states, "rdma": asked.rdma_states, "robustness": asked.check_states},
    }
