"""Goals under SC for any number of copies: coverability of the counting system, with the smallest number and a run of P(n).

Completions that a poll may take are counted up to a number, from which on they are "more" (:mod:`copy_steps`): that allows
more runs, so that what is unreachable is so. A run that was found is one of the SC machine of P(n), or is not believed: then
the number is raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from rdma_robust.analyses.safety.crowds.copy_steps import MOST_COUNTED, LocalPart, SharedPart
from rdma_robust.analyses.safety.crowds.instances import goal_in
from rdma_robust.analyses.safety.crowds.safety_system import Control, Doing, SafetySystem
from rdma_robust.analyses.safety.goals import FaultGoal, StateGoal, met_by, watched_by_goals
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.analyses.safety.sequential import search_sequential
from rdma_robust.counting.omega_search import omega_search
from rdma_robust.counting.protocol import NamedRun, ProcessCopy, name_copies
from rdma_robust.counting.smallest import smallest
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Poll, Program, steps
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.machines.machine import MoveTrail

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
    """The answers for the goals, by their places: an instance, or why it is open; others are unreachable for every n.

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


@dataclass(frozen=True)
class InstanceRun:
    """P(n) by its numbers, and a run of its SC machine that meets the goal."""

    numbers: tuple[tuple[str, int], ...]
    program: Program
    run: Run


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of a thread of P(n); `copy` is which copy, None for a named thread."""

    doing: Doing
    copy: ProcessCopy | None


def lift_to_instance(
    system: SafetySystem,
    goal: StateGoal | FaultGoal,
    run: NamedRun[Control, LocalPart, Doing],
    recv_depth: int = RECV_DEPTH,
) -> InstanceRun | None:
    """Return the run in P(n) that a run of the system with finite numbers of tokens stands for, where n is what it takes.

    None if there is none, which can only be if the system was inexact about completions.
    """
    names = {t.name: number for t, number in zip(system.program.crowds, run.numbers, strict=True)}
    program = copies_of(system.program, names)
    there = goal_in(goal, system.program, names)
    look = watched_by_goals(program, [there])
    machine = sc_machine_of(program, look, recv_depth)
    parts = _Parts(system, program, run.numbers)
    met = met_by(there, machine)
    start = run.steps[0][0].label.shared if run.steps else None
    steps = [_Step(m.label, copies[0] if copies else None) for m, copies in run.steps if m.label.thread >= 0]
    fault = isinstance(goal, FaultGoal)
    ways = {m.state: MoveTrail(None, m) for m in machine.initial() if start is None or parts.shared(m.state) == start}
    if fault and not steps:
        ways = {state: way for state, way in ways.items() if met(way.move)}
    for number, step in enumerate(steps):
        last = number + 1 == len(steps)
        following: dict[Any, MoveTrail] = {}
        for state, way in ways.items():
            for move in machine.moves_of(state, parts.thread(step)):
                if parts.fits(move.state, step) and (not last or not fault or met(move)):
                    following.setdefault(move.state, MoveTrail(way, move))
        ways = following
    found = next((way for way in ways.values() if fault or met(way.move)), None)
    return None if found is None else InstanceRun(tuple(names.items()), program, found.run())


class _Parts:
    """Where in a state of P(n) the parts are that the system knows."""

    def __init__(self, system: SafetySystem, program: Program, numbers: tuple[int, ...]) -> None:
        self.steps = system.steps
        threads = {t.name: i for i, t in enumerate(program.threads)}
        cells = {str(cell): c for c, cell in enumerate(program.cells)}
        single = self.steps.single
        self._named = [threads[single.threads[t].name] for t in self.steps.named]
        common = [single.cells[c] for c in self.steps.common]  # P(n) has no constant of a put that no copy of it makes
        self._common = [(None if c.hidden and str(c) not in cells else cells[str(c)], c.init) for c in common]
        self._threads: dict[ProcessCopy, int] = {}
        self._private: dict[ProcessCopy, list[int]] = {}
        for k, template in enumerate(system.program.crowds):
            own = [str(single.cells[c]) for c in self.steps.private[k]]
            for number in range(1, numbers[k] + 1):
                self._threads[ProcessCopy(k, number)] = threads[f"{template.name}[{number}]"]
                self._private[ProcessCopy(k, number)] = [cells[name.replace("[1]", f"[{number}]", 1)] for name in own]

    def thread(self, step: _Step) -> int:
        """Return the number of the thread in P(n)."""
        if step.copy is not None:
            return self._threads[step.copy]
        return self._named[self.steps.named.index(step.doing.thread)]

    def fits(self, state: Any, step: _Step) -> bool:
        """Whether the shared part after a step, and the own part of the copy that made it, are as the system has them."""
        doing, copy = step.doing, step.copy
        if self.shared(state) != doing.shared:
            return False
        if copy is None or doing.place is None:
            return True
        place = self.steps.limited(self.steps.cleaned(self.steps.crowd[copy.template], state.threads[self._threads[copy]]))
        memory = tuple([state.memory[c] for c in self._private[copy]])
        return bool(place == doing.place.thread) and memory == doing.place.memory

    def shared(self, state: Any) -> SharedPart:
        """Return the shared part of a state of P(n)."""
        named = zip(self.steps.named, self._named, strict=True)
        threads = [self.steps.limited(self.steps.cleaned(t, state.threads[mine])) for t, mine in named]
        memory = [init if c is None else state.memory[c] for c, init in self._common]
        return SharedPart(tuple(threads), tuple(memory), tuple(state[2:]))
