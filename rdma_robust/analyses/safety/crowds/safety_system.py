"""A program with crowds under SC as a counting system: the shared part is the control, the copies are the tokens.

Source: docs/safety-method.md, "Any number of threads". A goal is a control state: that of a fault is reached by the step
that meets it, that of a condition on copies by taking the copies it asks for, one after another, while the shared part
stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rdma_robust.analyses.safety.crowds.copy_steps import MOST_COUNTED, CopyStep, CopySteps, LocalPart, SharedPart
from rdma_robust.analyses.safety.crowds.instances import goal_in, of_copy
from rdma_robust.analyses.safety.goals import FaultGoal, StateGoal, met_by, watched_by_goals
from rdma_robust.counting.protocol import CountingMove
from rdma_robust.expr import Expr, names
from rdma_robust.language.check.targets import Atom, StateTarget
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.language.flow.copies import CopyRequest, alternatives, copies_of
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.machines.machine import Move as MachineMove


class BeforeStart(NamedTuple):
    """Before the named threads have taken their first register-only steps."""


class GoalReached(NamedTuple):
    """A goal, by its place, is reached."""

    goal: int


class CopyCount(NamedTuple):
    """Copies are being counted for an alternative of a goal: the numbers of them that are still wanted, by requirement."""

    alternative: int
    wanted: tuple[int, ...]
    shared: SharedPart


Control = BeforeStart | SharedPart | GoalReached | CopyCount


@dataclass(frozen=True, slots=True)
class Doing:
    """The label of a move of the system: a step of a thread of P(1), by its number; -1 for what is no step of the program.

    `shared` is the shared part after it, which the control state does not tell where something goes wrong in the step."""

    thread: int
    shared: SharedPart | None = None
    place: LocalPart | None = None


SystemMove = CountingMove[Control, LocalPart, Doing]


_Requirement = tuple[int, Callable[[SharedPart, LocalPart], bool], int]
"""A template, whether a copy of it meets the requirement, and how many must."""


@dataclass(frozen=True)
class _Alternative:
    """One alternative of a goal: whether the shared part fits, and what is required of copies."""

    goal: int
    fits: Callable[[SharedPart], bool]
    copies: tuple[_Requirement, ...]


class SafetySystem:
    """See :class:`rdma_robust.counting.protocol.CountingSystem`. Raises AbsenceError for a goal that is no coverability.

    Goals about final states are none that it has as targets: it only keeps what they look at.
    """

    def __init__(
        self,
        program: Program,
        goals: Sequence[StateGoal | FaultGoal],
        *,
        most: int = MOST_COUNTED,
        recv_depth: int = RECV_DEPTH,
    ) -> None:
        self.program = program
        self.goals = tuple(goals)
        look = watched_by_goals(*_watching(program, goals))
        self.steps = CopySteps(program, look, _needed(program, goals), most=most, recv_depth=recv_depth)
        self.fresh = self.steps.fresh()
        self.initial: Control = BeforeStart()
        self._faults = {g.fault: i for i, g in enumerate(self.goals) if isinstance(g, FaultGoal)}
        targets = {i: goal for i, goal in enumerate(self.goals) if isinstance(goal, StateGoal)}
        self._alternatives = [a for i, goal in targets.items() if not goal.final for a in self._of(i, goal.target)]
        counted = {each.thread for goal in targets.values() for _, each in goal.target.counts}
        self._counted = frozenset(k for k, t in enumerate(program.crowds) if t.name in counted)
        self._known: dict[tuple[Control, LocalPart | None], tuple[SystemMove, ...]] = {}
        self._fitting: dict[SharedPart, tuple[int, ...]] = {}

    def moves(self, control: Control, present: Collection[LocalPart]) -> Iterable[SystemMove]:
        match control:
            case BeforeStart():
                yield from self._start()
            case GoalReached():
                return
            case CopyCount():
                for local in dict.fromkeys((*present, *self.fresh)):
                    yield from self._counted_on(control, local)
            case SharedPart():
                yield from self._remembered(control, None)
                for local in dict.fromkeys((*present, *self.fresh)):
                    yield from self._remembered(control, local)

    def target(self, control: Control) -> int:
        match control:
            case GoalReached(goal):
                return goal
            case SharedPart():
                return next(
                    (self._alternatives[a].goal for a in self._fits(control) if not self._alternatives[a].copies), -1
                )
            case _:
                return -1

    def idle(self, control: Control, local: LocalPart) -> bool:  # noqa: ARG002 - of the protocol
        return local.template not in self._counted and self.steps.ended(local)

    def milestone(self, control: Control) -> int:  # noqa: ARG002 - of the protocol
        return 0

    def _start(self) -> Iterator[SystemMove]:
        for shared, faults in self.steps.initial:
            yield CountingMove(Doing(-1, shared), (), shared, ())
            for g in self._met(faults):
                yield CountingMove(Doing(-1, shared), (), GoalReached(g), ())
        for local in self.fresh:
            for g in self._met(self.steps.faults_of_start(local)):
                yield CountingMove(Doing(-1), (local,), GoalReached(g), ())

    def _met(self, faults: Iterable[Fault]) -> list[int]:
        return [self._faults[fault] for fault in faults if fault in self._faults]

    def _remembered(self, control: SharedPart, local: LocalPart | None) -> tuple[SystemMove, ...]:
        found = self._known.get((control, local))
        if found is None:
            found = self._known[control, local] = tuple(self._steps(control, local))
        return found

    def _steps(self, control: SharedPart, local: LocalPart | None) -> Iterator[SystemMove]:
        if local is None:
            for t in self.steps.named:
                for step in self.steps.of_named(control, t):
                    yield from self._made(t, (), step)
        else:
            yield from self._begun(control, local)
            for step in self.steps.of_copy(control, local):
                yield from self._made(self.steps.crowd[local.template], (local,), step)

    def _made(self, thread: int, takes: tuple[LocalPart, ...], step: CopyStep) -> Iterator[SystemMove]:
        doing = Doing(thread, step.shared, step.local)
        for g in self._met(step.faults):
            yield CountingMove(doing, takes, GoalReached(g), ())
        gives = () if step.local is None or self.idle(step.shared, step.local) else (step.local,)
        yield CountingMove(doing, takes, step.shared, gives)

    def _begun(self, control: SharedPart, local: LocalPart) -> Iterator[SystemMove]:
        """Yield the moves that take a first copy for an alternative."""
        for a in self._fits(control):
            copies = self._alternatives[a].copies
            if copies and self._meets(copies[0], control, local):
                yield self._taking(CopyCount(a, tuple(n for _, _, n in copies), control), local)

    def _counted_on(self, control: CopyCount, local: LocalPart) -> tuple[SystemMove, ...]:
        known = self._known.get((control, local))
        if known is None:
            copies = self._alternatives[control.alternative].copies
            wanted = any(n and self._meets(c, control.shared, local) for n, c in zip(control.wanted, copies, strict=True))
            known = self._known[control, local] = (self._taking(control, local),) if wanted else ()
        return known

    def _taking(self, control: CopyCount, local: LocalPart) -> SystemMove:
        """Return the move that takes a copy; it counts for every requirement that it meets."""
        copies = self._alternatives[control.alternative].copies
        met = (self._meets(each, control.shared, local) for each in copies)
        left = tuple([max(0, n - m) for n, m in zip(control.wanted, met, strict=True)])
        goal = self._alternatives[control.alternative].goal
        return CountingMove(Doing(-1), (local,), control._replace(wanted=left) if any(left) else GoalReached(goal), ())

    @staticmethod
    def _meets(requirement: _Requirement, shared: SharedPart, local: LocalPart) -> bool:
        return requirement[0] == local.template and requirement[1](shared, local)

    def _fits(self, shared: SharedPart) -> tuple[int, ...]:
        found = self._fitting.get(shared)
        if found is None:
            found = tuple(a for a, each in enumerate(self._alternatives) if each.fits(shared))
            self._fitting[shared] = found
        return found

    def _of(self, goal: int, target: StateTarget) -> Iterator[_Alternative]:
        for wanted in alternatives(target.condition, [name for name, _ in target.counts]):
            yield self._alternative(goal, target, wanted)

    def _alternative(self, goal: int, target: StateTarget, wanted: CopyRequest) -> _Alternative:
        counts = dict(target.counts)
        shared = self.test(wanted.shared, dict(target.atoms))
        copies = []
        for name, number in wanted.copies:
            k = next(k for k, t in enumerate(self.program.crowds) if t.name == counts[name].thread)
            test = self.test(*of_copy(counts[name], self.program, 1))
            copies.append((k, test, number))
        return _Alternative(goal, lambda control: shared(control, None), tuple(copies))

    def test(self, condition: Expr, atoms: dict[str, Atom]) -> Callable[[SharedPart, LocalPart | None], bool]:
        met = met_by(StateGoal(StateTarget("", condition, tuple(atoms.items()))), self.steps.machine)
        known: dict[tuple[SharedPart, LocalPart | None], bool] = {}

        def test(shared: SharedPart, local: LocalPart | None) -> bool:
            found = known.get((shared, local))
            if found is None:
                state = self.steps.state(shared, local)
                found = known[shared, local] = met(MachineMove(_NOTHING, state))
            return found

        return test


_NOTHING = Action(-1, Verb.START, None)


def _watching(program: Program, goals: Sequence[StateGoal | FaultGoal]) -> tuple[Program, list[StateGoal | FaultGoal]]:
    """Return P(1) and the goals about it: what they look at."""
    ones = {thread.name: 1 for thread in program.crowds}
    return copies_of(program, ones), [goal_in(goal, program, ones) for goal in goals]


def _needed(program: Program, goals: Sequence[StateGoal | FaultGoal]) -> frozenset[str]:
    """Return the names that the goals look at, as P(1) has them."""
    targets = [g.target for g in _watching(program, goals)[1] if isinstance(g, StateGoal)]
    return frozenset(name for target in targets for name in names(target.condition))
