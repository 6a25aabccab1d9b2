"""E3: z3's spacer on one Horn clause per transition, one relation per control state, its answer checked.

The check that regions at control states are an inductive invariant, by the solver, transition by transition.

What a solver gives as a model of Horn clauses is not believed before (z3's issue 6716 is about wrong ones).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rdma_robust.analyses.prove.predicates.cube_oracle import predicate_instances
from rdma_robust.analyses.prove.predicates.paths import Derivation, HornClauses, PathFeasibility, Unreachable, can_be_taken
from rdma_robust.analyses.prove.predicates.solving import Formulas, UpdateCase, folded_names, ways_of
from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Bad,
    Control,
    EngineResult,
    Region,
    Suppose,
    Transition,
    TransitionSystem,
)
from rdma_robust.errors import LimitReached
from rdma_robust.expr import FALSE, TRUE, Const, Expr, conj, disj, names, negate, substitute
from rdma_robust.limits import Limits, Progress
from rdma_robust.solver_library import solver_library

Invariant = Mapping[Control, tuple[Region, ...]]


def invariant_flaw(
    system: TransitionSystem, invariant: Invariant, formulas: Formulas, poll: Callable[[], None], wait_ms: int = 10_000
) -> str:
    """Return '' if the invariant holds initially, is closed under all transitions and violates no claim that is not
    `allowed`, else what is wrong; also if the solver does not know. Raises LimitReached through `poll`.

    Where a variable is folded, all that it stands for must be in one region: of the regions after a transition only those
    count whose conditions on folded variables follow, and the other conditions of one of these must hold.
    """
    return _Check(system, invariant, formulas, wait_ms).run(poll)


class _Check:
    def __init__(self, system: TransitionSystem, invariant: Invariant, formulas: Formulas, wait_ms: int) -> None:
        self._system = system
        self._invariant = invariant
        self._formulas = formulas
        self._asked_for = {claim.number for claim in system.claims if not claim.allowed}
        self._folded = {
            name for control in invariant for each in system.successors(control) for name in folded_names(each.updates)
        }
        self._solver: Any = formulas.library.Solver()
        self._solver.set("timeout", wait_ms)

    def run(self, poll: Callable[[], None]) -> str:
        start = self._system.initial()
        values = {name: Const(value) for name, value in self._system.wide}
        if not any(self._valid(substitute(conj(*each), values)) for each in self._invariant.get(start, ())):
            return "the initial state is not in it"
        for control, regions in self._invariant.items():
            for region in regions:
                poll()
                if wrong := self._wrong(control, region):
                    return wrong
        return ""

    def _wrong(self, control: Control, region: Region) -> str:
        """What is wrong with one region of a control state."""
        if self._system.overflowed(control):
            return "a buffer overflows in it"
        for bad in self._system.violations(control):
            updates = (*bad.updates, Suppose(bad.condition))
            if bad.claim in self._asked_for and not all(self._goes_to(region, each, ()) for each in ways_of(updates)):
                return f"it does not exclude what claim {bad.claim} forbids"
        for transition in self._system.successors(control):
            after = () if transition.fault is not None else self._invariant.get(transition.to, ())
            if not all(self._goes_to(region, each, after) for each in ways_of(transition.updates)):
                return "a transition leads out of it"
        return ""

    def _goes_to(self, region: Region, way: UpdateCase, targets: Sequence[Region]) -> bool:
        """Whether every state of `region` in which a way can be gone leads into one of `targets`."""
        self._solver.push()
        try:
            for condition in (*(part for each in region for part in predicate_instances(each, way.copies)), way.guard):
                self._solver.add(self._formulas.condition(condition))
            ends: list[Expr] = []
            for target in targets:
                plain = [each for each in target if self._folded.isdisjoint(names(each))]
                about_all = [part for each in target if each not in plain for part in way.before(each)]
                # Plain conditions are the same whatever folded variables stand for.
                before = conj(*(part for each in plain for part in way.before(each)))
                if not about_all or self._valid(disj(negate(before), conj(*about_all))):
                    ends.append(before)
            return self._valid(disj(*ends))
        finally:
            self._solver.pop()

    def _valid(self, condition: Expr) -> bool:
        """Whether the solver finds no counterexample to a condition, under what is assumed."""
        z3 = self._formulas.library
        return bool(self._solver.check(z3.Not(self._formulas.condition(condition))) == z3.unsat)


_SOLVE_MS: Final = 60_000
"""For spacer, where the user gives no limit."""

_CHECK_MS: Final = 10_000
MOST_CONTROLS: Final = 20_000
"""No more control states than this are made relations of: making the clauses alone takes longer than anybody waits."""

NOT_FOUND_OUT: Final = "spacer did not find out"


@dataclass
class _ControlGraph:
    """The control states reachable if wide variables could have any values, with what leads where."""

    transitions: dict[Control, list[Transition]] = field(default_factory=dict)
    taken: int = 0
    cut: str = ""


def spacer_engine(system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
    """Search with spacer. Raises UsageError if z3 is missing."""
    started = time.monotonic()
    formulas = Formulas(solver_library("spacer"))
    explored = _explore(system, limits, progress)
    calls = 0
    found, path, overflowed = None, None, False
    cut = explored.cut
    if not cut:
        found = _Clauses(system, explored, formulas).solve(limits)
        calls += 1
        path, cut = _judged(system, found, formulas, limits)
        overflowed = path is not None and path.bad is None and path.transitions[-1].fault is None
    invariant: dict[Control, tuple[Region, ...]] | None = None
    if isinstance(found, Unreachable):
        invariant = {
            place: ((found.solution.get(place, TRUE),),)
            for place in explored.transitions
            if found.solution.get(place, TRUE) != FALSE
        }
        cut = _unproven(system, invariant, formulas, limits)
        invariant = None if cut else invariant
    counts = {
        "relations": len(explored.transitions),
        "solver_calls": calls,
        "seconds": round(time.monotonic() - started, 3),
    }
    path = None if overflowed else path
    return EngineResult("spacer", path, invariant, overflowed, cut, len(explored.transitions), explored.taken, counts)


def _explore(system: TransitionSystem, limits: Limits, progress: Progress) -> _ControlGraph:
    """Follow all transitions, whatever they suppose; not on from faults and overflows."""
    found = _ControlGraph()
    exceeded = limits.watch()
    start = system.initial()
    known, agenda = {start}, deque([start])
    while agenda:
        control = agenda.popleft()
        found.cut = exceeded()
        if not found.cut and len(known) > min(MOST_CONTROLS, limits.states or MOST_CONTROLS):
            found.cut = "states" if limits.states is not None and len(known) > limits.states else _too_many()
        if found.cut:
            return found
        progress(len(known), len(agenda))
        after = [] if system.overflowed(control) else system.successors(control)
        found.transitions[control] = after
        found.taken += len(after)
        for each in after:
            if each.fault is None and each.to not in known:
                known.add(each.to)
                agenda.append(each.to)
    return found


def _too_many() -> str:
    return f"{NOT_FOUND_OUT}: it is asked only about {MOST_CONTROLS} control states at most"


class _Clauses:
    """The clauses of a system."""

    def __init__(self, system: TransitionSystem, explored: _ControlGraph, formulas: Formulas) -> None:
        self._system = system
        self._steps: dict[int, tuple[Control, Transition | Bad | None]] = {}
        self._clauses = HornClauses(formulas)
        wide = [name for name, _ in system.wide]
        for control in explored.transitions:
            live = system.live(control)
            self._clauses.relation(control, [name for name in wide if name in live])
        self._clauses.fact(system.initial(), dict(system.wide))
        asked_for = {claim.number for claim in system.claims if not claim.allowed}
        for control, transitions in explored.transitions.items():
            if system.overflowed(control):
                self._steps[self._clauses.rule(control, (), None)] = (control, None)
            for bad in system.violations(control):
                if bad.claim in asked_for and bad.condition != FALSE:
                    updates = (*bad.updates, Suppose(bad.condition))
                    self._steps[self._clauses.rule(control, updates, None)] = (control, bad)
            for each in transitions:
                after = None if each.fault is not None else each.to
                self._steps[self._clauses.rule(control, each.updates, after)] = (control, each)

    def solve(self, limits: Limits) -> Unreachable | AbstractPath | None:
        """Return that nothing bad is reachable, a path to it, or None."""
        left = limits.seconds_left()
        answer = self._clauses.solve(_SOLVE_MS if left is None else int(1000 * left))
        return self._path(answer) if isinstance(answer, Derivation) else answer

    def _path(self, reached: Derivation) -> AbstractPath | None:
        """The path of the rules that spacer names, if they are one."""
        taken: list[Transition] = []
        at = self._system.initial()
        for number in reached.rules:
            control, step = self._steps[number]
            if control != at:
                return None
            if not isinstance(step, Transition):
                return AbstractPath(tuple(taken), step)
            taken.append(step)
            at = step.to
        return AbstractPath(tuple(taken), None) if taken and taken[-1].fault is not None else None


def _judged(
    system: TransitionSystem, found: Unreachable | AbstractPath | None, formulas: Formulas, limits: Limits
) -> tuple[AbstractPath | None, str]:
    """A path that can be taken, or what cuts the search short."""
    if isinstance(found, Unreachable):
        return None, ""
    if found is None:
        return None, limits.exceeded() or NOT_FOUND_OUT
    if can_be_taken(system, found, formulas, _CHECK_MS) is PathFeasibility.NO:
        return None, f"{NOT_FOUND_OUT}: the path that it gave cannot be taken"
    return found, ""


def _unproven(
    system: TransitionSystem, invariant: dict[Control, tuple[Region, ...]], formulas: Formulas, limits: Limits
) -> str:
    """What cuts the search short, if what spacer says is not inductive or that is not found out in time."""
    poll: Callable[[], None] = limits.poll("checking the invariant of spacer")
    try:
        wrong = invariant_flaw(system, invariant, formulas, poll, _CHECK_MS)
    except LimitReached as reached:
        return reached.limit
    return f"{NOT_FOUND_OUT}: what it gave is no proof, {wrong}" if wrong else ""
