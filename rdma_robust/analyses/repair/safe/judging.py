"""The judge of sets of waits: it proves programs with some of them until the time is over, and learns from their runs.

The clause of a run about all sets of waits: the spots at which a thread would have been kept.

Between two steps of a thread what it has under way only becomes less. So if a spot that the thread comes past has nothing to
wait for before the thread's next step, a wait there can be passed just then, and the run is one with that wait as well. The
others are the clause of the run: a set without any of them leaves the run, and is not safe.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.analyses.prove.path_replay import met_on
from rdma_robust.analyses.prove.safety_outcome import Safety, SafetyOutcome, SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim, safety_claims
from rdma_robust.analyses.repair.hitting import OutOfTimeError
from rdma_robust.analyses.repair.repairs import Barrier, Choices
from rdma_robust.analyses.repair.safe.fewest import WaitJudgement
from rdma_robust.analyses.repair.safe.rewriting import Rewriter
from rdma_robust.analyses.repair.safe.standing import WaitSpots, ends, started
from rdma_robust.errors import NO_SPAN, InternalError, LimitReached
from rdma_robust.language.flow.cfg import Program, Step, Thread
from rdma_robust.language.flow.claims import AnyModelName, PointAt
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.stepping import StepMachine, StepState

_OWN: Final = frozenset({Verb.ACCESS, Verb.ISSUE})
"""What a thread does itself; all else is done by what it has under way."""


def blame(spots: WaitSpots, chosen: Choices, run: SafetyRun, claim: SafetyClaim) -> Choices:
    """Return the clause of a run of the program with `chosen`, which violates `claim`."""
    walk = _Walk(spots, chosen)
    for move in run.moves[1:]:
        action = move.action
        if action.verb in _OWN:
            walk.step(action, move.state.threads[action.thread].point)
        walk.count(action)
    for _, atom in claim.atoms:
        thread = next(t for t, each in enumerate(spots.full.threads) if each.name == atom.thread)
        labels = dict(spots.full.threads[thread].labels)
        walk.stand(thread, labels[atom.label] if isinstance(atom, PointAt) else spots.full.threads[thread].exit)
    universe = {c.place: c for c in spots.universe}
    return frozenset(universe[k] for k in walk.kept if k in universe)


class _Walk:
    """Follows a run through the graphs of the full program; `kept` are the spots that would have kept a thread."""

    def __init__(self, spots: WaitSpots, chosen: Choices) -> None:
        self._spots = spots
        self._under_way: Counter[tuple[int, str]] = Counter()
        self._chosen = frozenset(c.place for c in chosen)
        self._here = [thread.entry for thread in spots.full.threads]
        self._ends = [ends(t, gone) for t, gone in zip(spots.full.threads, spots.gone(chosen), strict=True)]
        self.kept: set[int] = set()

    def step(self, action: Action, to: int) -> None:
        """Follow a step of a thread, to a point of the program with the chosen spots."""
        thread = action.thread
        for point in self._ahead(thread):
            for _, target, step in self._spots.out[thread].get(point, ()):
                if step == action.step and self._ends[thread][target] == to:
                    self._pass(thread, point)
                    self._here[thread] = target
                    return
        raise InternalError("a run is no path of the program with all waits")

    def stand(self, thread: int, point: int) -> None:
        """Bring a thread to a point that is the same as where it is in the program with the chosen spots, if it is."""
        if point in self._ahead(thread):
            self._pass(thread, point)
            self._here[thread] = point

    def count(self, action: Action) -> None:
        """Count what is under way after a move."""
        kind = Barrier.FLUSH if self._spots.model == "rma" else Barrier.MFENCE
        op = None if action.step is None else action.step.op
        what = None if op is None else started(op, kind)
        if action.verb is Verb.FLUSH:
            self._under_way[action.thread, ""] -= 1
        elif what is not None and action.verb in _OWN:
            self._under_way[action.thread, what] += 1
        elif what is not None and action.verb is Verb.NIC_WRITE:
            self._under_way[action.thread, what] -= 1

    def _ahead(self, thread: int) -> Iterator[int]:
        """Yield where a thread is, and the points behind the spots that follow and are not chosen."""
        point, at = self._here[thread], self._spots.at[thread]
        seen = {point}
        yield point
        while at.get(point, -1) not in (-1, *self._chosen):
            ((_, point, _),) = self._spots.out[thread][point]
            if point in seen:
                return
            seen.add(point)
            yield point

    def _pass(self, thread: int, point: int) -> None:
        """Note the spots on the way to a point that have something to wait for."""
        here, at = self._here[thread], self._spots.at[thread]
        while here != point:
            spot = at[here]
            if self._under_way[thread, self._spots.spots[spot].node] > 0:
                self.kept.add(spot)
            ((_, here, _),) = self._spots.out[thread][here]


Prove = Callable[[Program, Limits], SafetyOutcome]
"""Decides whether a program is safe under the model that is asked about."""

_FIRST_S: Final = 1.0
_TIMES: Final = 4
"""The seconds that one set may take at first, and how much longer with each more patience."""

_QUICK: Final = 0.75
"""The share of its time that a decision leaves at least if it ended for another reason: it tries several things in turn."""


@dataclass
class WaitDecisions:
    """Decides sets of waits. `checked` counts programs, `cycles` runs learnt from."""

    spots: WaitSpots
    rewriter: Rewriter
    prove: Prove
    limits: Limits
    await_loops: bool = False
    checked: int = 0
    cycles: int = 0

    def decide(self, chosen: Choices, limits: Limits | None = None) -> SafetyOutcome:
        """Decide the text with a set of waits, within all of the time that is left unless told otherwise. A run is told in
        the steps of the full program. Raises OutOfTimeError."""
        if self.limits.seconds_left() == 0:
            raise OutOfTimeError
        self.checked += 1
        model, name = self.spots.model, self.spots.program.file
        program = blocking(load_program(self.rewriter.text(chosen), name), self.await_loops)
        outcome = self.prove(without_allowed(program, model), limits or self.limits)
        if outcome.run is None or outcome.claim is None:
            return outcome
        twin = self.spots.having(chosen)
        claims = safety_claims(without_allowed(twin, model), model)
        return replace(outcome, run=told_in(outcome.run, program, twin), claim=claims[outcome.claim.number])

    def judge(self, chosen: Choices, patience: int) -> WaitJudgement:
        """Decide a set. Raises OutOfTimeError."""
        most = _FIRST_S * _TIMES**patience
        left = self.limits.seconds_left()
        if left is not None:
            most = min(most, left)
        limits = replace(self.limits, deadline=time.monotonic() + most, seconds=most)
        try:
            outcome = self.decide(chosen, limits)
        except LimitReached as reached:
            return WaitJudgement(Safety.UNKNOWN, patience=reached.limit == "time")
        if outcome.safety is not Safety.UNSAFE:
            return WaitJudgement(outcome.safety, patience=(limits.seconds_left() or 0) < _QUICK * most)
        self.cycles += 1
        return WaitJudgement(Safety.UNSAFE, self.clause(chosen, outcome))

    def clause(self, chosen: Choices, outcome: SafetyOutcome) -> Choices:
        """Return waits of which every safe set has one, since a run is left without them: at worst all but the chosen."""
        everything = frozenset(self.spots.universe)
        assert outcome.run is not None
        assert outcome.claim is not None
        found = blame(self.spots, chosen, outcome.run, outcome.claim)
        if has_run(self.spots, everything - found, outcome.run, outcome.claim):
            return found
        return everything - chosen


def without_allowed(program: Program, model: AnyModelName) -> Program:
    """Return a program without what it says to be possible, or says of other models: no wait is needed for that."""
    outcomes = (
        replace(o, claims=tuple(c for c in o.claims if c.model == model and not c.allowed)) for o in program.outcomes
    )
    return replace(program, outcomes=tuple(outcome for outcome in outcomes if outcome.claims))


# What the search for the fewest waits stands on: a clause is taken only if the set of everything outside of it was seen
# to have a run, which is one of the model's machine, with each wait just before the thread's next step. That shares
# nothing with how the clause was found (`blame`).


Waits = frozenset[Step]


def has_run(spots: WaitSpots, chosen: Choices, run: SafetyRun, claim: SafetyClaim) -> bool:
    """Return whether the program with `chosen` has a run with the same moves, but for waits, that violates `claim`."""
    program = spots.having(chosen)
    machine = stepwise_machine(program, spots.model)
    waits = frozenset(s for at, t in zip(spots.at, spots.full.threads, strict=True) for p, _, s in t.edges if p in at)
    reached = machine.initial()
    for move in run.moves[1:]:
        if move.action.step not in waits:
            states = dict.fromkeys(each.state for each in reached)
            reached = [after for state in states for after in _taken(machine, state, move.action, waits)]
    met = met_on(machine, claim)
    return any(met(end) for last in reached for end in (last, *_waited(machine, last, waits)))


def _taken(machine: StepMachine, state: StepState, action: Action, waits: Waits) -> Iterator[Move]:
    """Yield the ways to take the same move, behind the waits that its thread is at."""
    t = action.thread
    if action.verb in (Verb.ACCESS, Verb.ISSUE):
        *_, state = _waiting(machine, state, t, waits)
    drawn = () if action.read is None else (action.read,)
    for move in machine.moves_of(state, t, lambda _low, _high: drawn):
        if move.action == action:
            yield move


def _waiting(machine: StepMachine, state: StepState, t: int, waits: Waits) -> Iterator[StepState]:
    """Yield a state and those after thread `t` has passed the waits that it is at, one by one, as far as it can."""
    seen = set()
    while state not in seen:
        yield state
        seen.add(state)
        passed = (m for m in machine.moves_of(state, t, lambda _low, _high: ()) if m.action.step in waits)
        state = next((m.state for m in passed if m.action.verb is Verb.ACCESS), state)


def _waited(machine: StepMachine, last: Move, waits: Waits) -> Iterator[Move]:
    """Yield moves with the states after which some threads have passed waits that they are at."""
    states: list[StepState] = [last.state]
    for t in range(len(machine.codes)):
        states = [after for each in states for after in _waiting(machine, each, t, waits)]
    return (Move(last.action, state) for state in states)


# The graphs of a program read from a text with waits, and of the one made by leaving out waits of the full program, are
# alike, edge by edge in the order of the source, but for numbers of points and places in the text. So a run of the one,
# which was proven from its text, is told in points and steps of the other, which can be compared with other sets.


@dataclass(frozen=True)
class _Twin:
    """For one thread: the points and steps of the other program."""

    points: Mapping[int, int]
    steps: Mapping[Step, Step]


def told_in(run: SafetyRun, program: Program, other: Program) -> SafetyRun:
    """Return a run of `program` in the points and steps of `other`. Raises InternalError if they are not alike."""
    twins = [_twin(one, two) for one, two in zip(program.threads, other.threads, strict=True)]
    return replace(run, moves=tuple(_move(move, twins) for move in run.moves))


def _twin(one: Thread, two: Thread) -> _Twin:
    points = {one.entry: two.entry, one.exit: two.exit}
    steps: dict[Step, Step] = {}
    for (a, b, step), (c, d, like) in zip(one.edges, two.edges, strict=True):
        if points.setdefault(a, c) != c or points.setdefault(b, d) != d or not _alike(step, like):
            raise InternalError("a program with waits in its text is not the one with these waits")
        steps[step] = like
    if len(set(points.values())) != len(points) or [(n, points[p]) for n, p in one.labels] != list(two.labels):
        raise InternalError("a program with waits in its text has other points than the one with these waits")
    return _Twin(points, steps)


def _alike(one: Step, two: Step) -> bool:
    """Return whether two steps do the same; faults are at other places."""
    kinds = [None if step.fault is None else (step.fault.kind, step.fault.message) for step in (one, two)]
    plain = [replace(step, span=NO_SPAN, fault=None) for step in (one, two)]
    return plain[0] == plain[1] and kinds[0] == kinds[1]


def _move(move: Move, twins: list[_Twin]) -> Move:
    action: Action = move.action
    if action.step is not None:
        action = action._replace(step=twins[action.thread].steps[action.step])
    state: StepState = move.state
    threads = (s._replace(point=twin.points[s.point]) for s, twin in zip(state.threads, twins, strict=True))
    return Move(action, state._replace(threads=tuple(threads)))
