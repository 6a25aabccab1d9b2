"""Vacuous claims: what holds only because its line, or a final state, is never reached.

A statement is reached if it is next in some state, a final state if every thread has ended there and nothing is under way.
Both are decided as everything else is (:mod:`reach`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import Final

from rdma_robust.analyses.safety.goals import FaultGoal, Goal, StateGoal, faults_of
from rdma_robust.analyses.safety.questions import Answer, Reached
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import TRUE, Binary, Expr, Name, evaluate, names
from rdma_robust.language.check.targets import CopyCountAtom, StateTarget, ThreadAtPoints
from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.language.flow.exclusive import guard_conjuncts
from rdma_robust.limits import Limits
from rdma_robust.model import Model, ModelName
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.ends import every_execution_hangs
from rdma_robust.semantics.values import named_values

MOST_CASES: Final = 4096
"""Combinations of values that are tried to see whether an outcome can have values at all."""

NOT_KNOWN: Final = "it is not known whether it is about anything"

_STATES: Final = 20_000
"""States that are looked at to say that every execution hangs."""


@dataclass(frozen=True, slots=True)
class Vacuity:
    """The answer whether what a claim is about is reached, None if that is not known, and why it is not, or not known."""

    reached: bool | None
    reason: str = ""


def impossible_values(program: Program, condition: Expr) -> str:
    """Return why no state can meet the condition, as in "`T.r` is never anything but 0"; empty if that is not clear."""
    used = tuple(sorted(names(condition)))
    try:
        values = named_values(program)
    except SizeLimitError:
        return ""
    for part in reversed(tuple(guard_conjuncts(condition))):
        mine = tuple(name for name in used if name in names(part))
        if not mine or prod(len(values[name]) for name in mine) > MOST_CASES:
            continue
        if not any(_met(part, mine, each) for each in product(*(sorted(values[name]) for name in mine))):
            if isinstance(part, Binary) and part.op == "&&":
                return "its parts exclude one another"
            return "; ".join(f"`{name}` is never anything but {_set(sorted(values[name]))}" for name in mine)
    return ""


def _met(condition: Expr, used: tuple[str, ...], values: tuple[int, ...]) -> bool:
    return bool(evaluate(condition, dict(zip(used, values, strict=True))))


def _set(values: list[int]) -> str:
    shown = [str(value) for value in values[:8]] + ["..."] * (len(values) > 8)
    return ", ".join(shown)


def vacuities(
    program: Program,
    questions: list[tuple[Goal, ModelName]],
    limits: Limits,
    hardware: Model,
    robust: bool | None,
    *,
    recv_depth: int = RECV_DEPTH,
) -> list[Vacuity]:
    """Return for every goal, with its model, whether what a claim with that goal is about is reached.

    `robust` says whether the program is robust, if that is known.
    """
    places = {goal: _place(program, goal) for goal, _ in questions}
    wanted = tuple(dict.fromkeys(places[goal] for goal, _ in questions))
    ask = partial(answer_goals, program, limits=limits, hardware=hardware, recv_depth=recv_depth)
    sc = dict(zip(wanted, ask([(p, "sc") for p in wanted]).answers, strict=True))
    left = tuple(
        dict.fromkeys(
            places[g] for g, model in questions if model == "rdma" and sc[places[g]].answer is not Answer.REACHABLE
        )
    )
    asked = ask([(p, "rdma") for p in left], robust=robust) if left else None
    under_rdma = {} if asked is None else dict(zip(left, asked.answers, strict=True))
    robust = robust if asked is None or asked.robust is None else asked.robust
    ends = _Ends(program, limits)
    found = []
    for goal, model in questions:
        place = places[goal]
        here = under_rdma.get(place, sc[place]) if model == "rdma" else sc[place]
        found.append(_vacuity(_what(goal), here, ends if model == "sc" or robust else None))
    return found


class _Ends:
    """The words about executions that all hang; looked for when it is first asked for."""

    def __init__(self, program: Program, limits: Limits) -> None:
        self._program = program
        self._limits = limits
        self._said: str | None = None

    def said(self) -> str:
        """Return "every execution hangs at line 6" if that is so, else nothing."""
        if self._program.crowds:
            return ""
        if self._said is None:
            hanging = every_execution_hangs(self._program, self._limits.at_most(_STATES))
            lines = sorted({step.span.line for each in hanging for step in each.steps[:1]})
            self._said = f"every execution hangs at {', '.join(f'line {line}' for line in lines)}" if lines else ""
        return self._said


def _place(program: Program, goal: Goal) -> StateGoal:
    """Return the states without which a claim with this goal is about nothing."""
    if not isinstance(goal, FaultGoal):
        return StateGoal(StateTarget("the end", TRUE), final=True)
    for thread in program.threads:
        spans = {step.span for _, _, step in steps(thread) if goal.fault in faults_of(thread, step)}
        if spans:
            points = sorted({source for source, _, step in steps(thread) if step.span in spans})
            atoms = (("next", ThreadAtPoints(thread.name, tuple(points))),)
            if not thread.many:
                return StateGoal(StateTarget("next", Name("next"), atoms))
            copies = (("copies", CopyCountAtom(thread.name, Name("next"), atoms)),)
            return StateGoal(StateTarget("next", Binary(">=", Name("copies"), TRUE), (), copies))
    raise AssertionError("a fault is one of the program's")


def _what(goal: Goal) -> str:
    return f"line {goal.fault.span.where} is never reached" if isinstance(goal, FaultGoal) else "no final state is reached"


def _vacuity(what: str, here: Reached, ends: _Ends | None) -> Vacuity:
    if here.answer is Answer.REACHABLE:
        return Vacuity(True)
    if here.answer is Answer.UNKNOWN:
        return Vacuity(None, f"{NOT_KNOWN}: {here.reason}")
    return Vacuity(False, f"{what}: {(ends.said() if ends else '') or here.reason}")
