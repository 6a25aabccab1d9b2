"""That a claim is false, as clauses: what a proof has to refute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.unfolding import WaitingProcess

SafeClaim = Literal["holds", "deadlock-free"]


def deny(formula: MatchFormula, claim: SafeClaim, compatible: Sequence[Sequence[int]]) -> None:
    """Add clauses that some run gets to a cut, or breaks the claim. `compatible[R]` are the sends that R may accept."""
    beyond = [formula.done(mark) for mark in formula.unfolded.marks if mark.kind == "cut"]
    if claim == "holds":
        false = [formula.done(mark) for mark in formula.unfolded.marks if mark.kind in ("assert", "fault")]
        formula.formula.add(*beyond, *false)
    else:
        formula.formula.add(*beyond, _deadlock(formula, compatible))


def _deadlock(formula: MatchFormula, compatible: Sequence[Sequence[int]]) -> int:
    """Return the literal of a deadlock: clauses say what follows from it."""
    clauses = formula.formula
    deadlock, stuck = clauses.new(), []
    for process, events in enumerate(formula.unfolded.events):
        places = []
        daemon = formula.unfolded.program.processes[process].daemon
        for event in events:
            if isinstance(event, WaitingProcess) and formula.may_hold(event):
                here = _held_up(formula, event)
                places.append(here)
                sends = [formula.truth(on) for issue, on in event.others if issue.kind == "send"]
                if not event.others:
                    sends = [1] if event.kind == "send" else []
                stuck.append(here if not daemon else clauses.all_of((here, clauses.any_of(sends))))
        clauses.add(-deadlock, *places, formula.reached[process][len(events)])
    clauses.add(-deadlock, *stuck)
    for mark in formula.unfolded.marks:
        if mark.kind in ("assume", "fault"):
            clauses.add(-deadlock, -formula.done(mark))
    _nothing_to_match(formula, deadlock, compatible)
    return deadlock


def _held_up(formula: MatchFormula, wait: WaitingProcess) -> int:
    """Return the literal that a process is before a wait, and nothing that lets it go on is matched or complete at once."""
    if wait.tests:
        return -1
    lacking = [-formula.passes(wait)]
    for issue, on in wait.others:
        lacking.append(-formula.formula.all_of((formula.truth(on), formula.passes(issue))))
    passed = formula.reached[wait.process][wait.place + 1]
    return formula.formula.all_of((formula.done(wait), -passed, *lacking))


def _nothing_to_match(formula: MatchFormula, deadlock: int, compatible: Sequence[Sequence[int]]) -> None:
    """Where nothing can go on no two operations that are issued and go together are both unmatched."""
    for number, sends in enumerate(compatible):
        receive = formula.unfolded.receives[number]
        for nth in sends:
            send = formula.unfolded.sends[nth]
            fits = formula.truth(formula.accepts(receive, send))
            issued = (-formula.done(receive), -formula.done(send))
            formula.formula.add(-deadlock, *issued, -fits, formula.received[number], formula.sent[nth])
