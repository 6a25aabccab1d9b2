"""Goals under SC for any number of copies: coverability of the counting system, with the smallest number and a run of P(n).

Completions that a poll may take are counted up to a number, from which on they are "more" (:mod:`copy_steps`): that allows
more runs, so that what is unreachable is so. A run that was found is one of the SC machine of P(n), or is not believed: then
the number is raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from rdma_robust.analyses.safety.crowds.copy_steps import MOST_COUNTED
from rdma_robust.analyses.safety.crowds.instances import goal_in
from rdma_robust.analyses.safety.crowds.lifted import InstanceRun, lift_to_instance
from rdma_robust.analyses.safety.crowds.safety_system import SafetySystem
from rdma_robust.analyses.safety.goals import FaultGoal, StateGoal
from rdma_robust.analyses.safety.sequential import search_sequential
from rdma_robust.counting.named_run import name_copies
from rdma_robust.counting.omega_search import omega_search
from rdma_robust.counting.smallest import smallest
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Poll, Program, steps
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.options import RECV_DEPTH

_COUNTED: Final = (MOST_COUNTED, 8, 24)
"""Completions that are told apart, one after another."""

_LEAST: Final = 0.3
"""Of the time that is left, for the smallest number."""

_SMALL: Final = 300
"""Markings that are looked at for the smallest number before P(0), P(1) and so on are searched one by one."""


@dataclass(frozen=True)
class GoalInstance:
    """A run of P(n) to a goal; `least` if no P(n') with fewer copies has one."""

    lifted: InstanceRun
    least: bool


@dataclass(frozen=True)
class AnyNumber:
    """What is known of the goals, by their places: an instance, or why it is open; others are unreachable for every n.

    `states` are the markings of the largest search.
    """

    found: Mapping[int, GoalInstance]
    open: Mapping[int, str]
    states: int


def search_any_number(
    program: Program,
    goals: Sequence[StateGoal | FaultGoal],
    limits: Limits,
    progress: Progress = ignore,
    *,
    recv_depth: int = RECV_DEPTH,
) -> AnyNumber:
    """Look for every goal, none of them about final states, in all P(n) under sequential consistency.

    Raises AbsenceError for a goal that asks for the absence of copies, InternalError if the SC machine of P(n) cannot run
    what was found.
    """
    found: dict[int, GoalInstance] = {}
    unclear: dict[int, str] = {}
    left = list(range(len(goals)))
    states = 0
    for most in _COUNTED:
        again: dict[int, str] = {}
        while left:
            system = SafetySystem(program, [goals[i] for i in left], most=most, recv_depth=recv_depth)
            result = omega_search(system, limits, progress)
            states = max(states, result.states)
            if result.target < 0:
                if result.cut:
                    again |= dict.fromkeys(left, _cut(limits, result.cut, result.states))
                break
            number = left.pop(result.target)
            instance, why = _instance(program, goals[number], most, limits, recv_depth)
            if instance is None:
                again[number] = why
            else:
                found[number] = instance
        unclear, left = again, list(again)
        if not left or limits.exceeded() or not system.steps.inexact:
            break
    return AnyNumber(found, unclear, states)


def _instance(
    program: Program, goal: StateGoal | FaultGoal, most: int, limits: Limits, recv_depth: int
) -> tuple[GoalInstance | None, str]:
    """Return a run in P(n) to a goal that the system reaches, with the smallest n if that is found within limits.

    None if the SC machine has no such run, or if it is too long, with the reason.
    """
    system = SafetySystem(program, [goal], most=most, recv_depth=recv_depth)
    run = omega_search(system, limits).run
    if run is None:
        return None, "it can be reached with some number of copies, and no run of it was found that is short enough"
    if system.steps.inexact:
        # The smallest number of the system need not be that of the program.
        known = lift_to_instance(system, goal, name_copies(system, run), recv_depth)
        return (
            (None, _unpolled(system))
            if known is None
            else (_with_fewest(program, goal, 0, known, limits, recv_depth=recv_depth), "")
        )
    least = smallest(system, replace(limits.share(_LEAST), states=_SMALL), bound=run)
    assert least is not None
    assert least.run is not None
    known = lift_to_instance(system, goal, least.run, recv_depth)
    if known is None:
        raise InternalError("the SC machine cannot run what the search for any number of copies has found")
    if not least.cut and not system.steps.inexact:
        return GoalInstance(known, least=True), ""
    return _with_fewest(program, goal, least.least if least.cut else 0, known, limits, recv_depth=recv_depth), ""


def _with_fewest(
    program: Program, goal: StateGoal | FaultGoal, least: int, known: InstanceRun, limits: Limits, *, recv_depth: int
) -> GoalInstance:
    """Return the instance with the fewest copies, at least so many, or the known one if that is not found out."""
    fewer = numbers_from(program, least, sum(number for _, number in known.numbers) - 1)
    found, cut = _fewest(program, goal, fewer, limits.share(_LEAST), recv_depth)
    return found or GoalInstance(known, least=not cut)


def _fewest(
    program: Program, goal: StateGoal | FaultGoal, several: Iterable[dict[str, int]], limits: Limits, recv_depth: int
) -> tuple[GoalInstance | None, bool]:
    """Return the first instance of these numbers of copies that has the goal, by a search of each P(n), and whether a
    limit has ended that."""
    for numbers in several:
        there = copies_of(program, numbers)
        found = search_sequential(there, [goal_in(goal, program, numbers)], limits, recv_depth=recv_depth)
        if found.runs:
            return GoalInstance(InstanceRun(tuple(numbers.items()), there, found.runs[0]), least=True), False
        if found.cut:
            return None, True
    return None, False


def numbers_from(program: Program, least: int, most: int) -> Iterator[dict[str, int]]:
    """Yield the numbers of copies of the templates, by name, with so many in all: the fewest first."""
    names = [thread.name for thread in program.crowds]
    for total in range(least, most + 1):
        for numbers in product(range(total + 1), repeat=len(names) - 1):
            if (rest := total - sum(numbers)) >= 0:
                yield dict(zip(names, (rest, *numbers), strict=True))


def _cut(limits: Limits, cut: str, states: int) -> str:
    return f"reached {limits.said(cut)} after {states} markings of any number of copies under SC"


def _unpolled(system: SafetySystem) -> str:
    """Return that completions grow, with the lines of the polls that would have to count them."""
    lines = set()
    for t, qp in system.steps.inexact_at:
        remote = system.steps.machine.codes[t].remotes[qp]
        polls = (s for _, _, s in steps(system.steps.single.threads[t]) if isinstance(s.op, Poll) and s.op.node == remote)
        lines |= {step.span.line for step in polls}
    where = ", ".join(f"line {line}" for line in sorted(lines))
    return f"completions of one copy grow without bound, and the poll of {where or 'them'} would have to count them"
