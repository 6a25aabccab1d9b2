"""E0, the explicit engines: all control states of a system in which nothing is wide, and all states of a program.

The second are searched packed and compiled, whatever values variables come to have; remote operations are left to others.

A bounded search on the model's machine: it finds real runs, and where nothing had to be cut it decides.

It knows nothing of reductions. Source: docs/theory-safety.md, "Engines".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.analyses.prove.numbered_program import FULL, numbered_program
from rdma_robust.analyses.prove.path_replay import constants_of, met_on
from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Bad,
    Control,
    EngineResult,
    Region,
    SafetyClaim,
    Transition,
    TransitionSystem,
)
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.kernel.packing import UnsupportedError
from rdma_robust.errors import InternalError
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.layers import by_layers
from rdma_robust.limits import NO_LIMITS, Limits, Progress, ignore
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.stepping import WHOLE, StepState, few


@dataclass(frozen=True, slots=True)
class Box:
    """The bounds of a search: values at most `values` beyond the program's constants, at most so many stores, like
    operations, or completions of one queue `under_way`."""

    values: int
    under_way: int


BOXES: Final = (Box(3, 1), Box(3, 2), Box(3, 3), Box(8, 8))
"""The searches, one after the other."""


@dataclass(frozen=True)
class Concrete:
    """The answer of a bounded search: a run for each claim that was shown to happen, by its number.

    `exhausted`: every state was seen, so that the other claims cannot happen. Else `cut` names the limit that ended the
    search, if one did. `states` are those of the largest search, `box` is the last that was searched to its end, if one was.
    """

    runs: Mapping[int, SafetyRun]
    exhausted: bool
    cut: str
    states: int
    box: Box | None


def concrete_search(
    program: Program,
    model: AnyModelName,
    claims: Sequence[SafetyClaim],
    limits: Limits = NO_LIMITS,
    progress: Progress = ignore,
    *,
    boxes: Sequence[Box] = BOXES,
    every: bool = False,
) -> Concrete:
    """Look on the machine of `model` for a run that shows what one of the `claims` is about, or with `every` for one each.

    Runs are the shortest within their box. The boxes are searched in turn until enough is found, nothing was left out, or a
    limit is reached.
    """
    runs: dict[int, SafetyRun] = {}
    done: Box | None = None
    most = 0
    for box in boxes:
        search = _Search(program, model, [c for c in claims if c.number not in runs], box, every)
        cut = search.run(limits, progress)
        runs |= search.runs
        most = max(most, len(search.before))
        exhausted = not cut and not search.left_out and not search.enough()
        if cut or exhausted or search.enough():
            return Concrete(runs, exhausted, cut, most, done)
        done = box
    return Concrete(runs, False, "", most, done)


class _Search:
    """One breadth-first search. `before` has how every state was come to; `left_out` if the box has ruled out a move."""

    def __init__(self, program: Program, model: AnyModelName, claims: Sequence[SafetyClaim], box: Box, every: bool) -> None:
        self.constants = sorted(set(constants_of(program, claims)))
        self.most = box.values + max(map(abs, self.constants), default=0)
        self.box = box
        self.every = every
        self.machine = stepwise_machine(program, model, self.choose)
        self.model: AnyModelName = model
        self.left = {c.number: met_on(self.machine, c) for c in claims}
        self.faulty = {c.number for c in claims if c.fault is not None}
        self.before: dict[StepState, tuple[StepState | None, Move]] = {}
        self.runs: dict[int, SafetyRun] = {}
        self.left_out = False

    def choose(self, low: int | None, high: int | None) -> Iterable[int]:
        """Return the values for a `nondet`: all of a small range, and those next to constants."""
        if low is not None and high is not None and high - low < WHOLE:
            return range(low, high + 1)
        self.left_out = True
        near = (c + d for c in self.constants for d in (-1, 0, 1))
        return sorted({*few(low, high), *near}, key=lambda value: (abs(value), value))

    def enough(self) -> bool:
        """Return whether a run was found for one claim, or with `every` for all."""
        return not self.left if self.every else bool(self.runs)

    def run(self, limits: Limits, progress: Progress) -> str:
        """Search, and return the name of the limit that ended it, or ''."""

        def begin(move: Move, layer: list[StepState]) -> None:
            self.arrive(None, move, layer)

        def expand(state: StepState, following: list[StepState]) -> None:
            for move in self.machine.successors(state):
                self.arrive(state, move, following)

        starts, stored = self.machine.initial(), self.before.__len__
        cut, _ = by_layers(starts, begin, expand, stored, limits, enough=self.enough, progress=progress)
        return cut

    def arrive(self, source: StepState | None, move: Move, layer: list[StepState]) -> None:
        state: StepState = move.state
        if not self.fits(state):
            self.left_out = True
            return
        new = state not in self.before
        if new:
            self.before[state] = (source, move)
            layer.append(state)
        shown = [n for n, met in self.left.items() if (move.faults if n in self.faulty else new) and met(move)]
        for number in shown:
            del self.left[number]
            self.runs[number] = SafetyRun.of(self.machine, self.model, (*self.way_to(source), move))

    def fits(self, state: StepState) -> bool:
        if self.machine.under_way(state) > self.box.under_way:
            return False
        most = self.most
        return all(-most <= value <= most for value in state.memory) and all(
            -most <= value <= most for thread in state.threads for value in thread.registers
        )

    def way_to(self, state: StepState | None) -> tuple[Move, ...]:
        moves = []
        while state is not None:
            state, move = self.before[state]
            moves.append(move)
        return tuple(reversed(moves))


_EVERYTHING: tuple[Region, ...] = ((),)


def explicit_search(system: TransitionSystem, limits: Limits, progress: Progress = ignore) -> EngineResult:
    """Search every reachable control state, up to the first that violates a claim or the first fault.

    Exact: a path found is one of the system, and without one the control states found are its inductive invariant. Raises
    InternalError if something is wide: control states say nothing of its value.
    """
    if system.wide:
        raise InternalError("the explicit search was given a system with variables without bound")
    return _ExplicitSearch(system, limits, progress).run()


class _ExplicitSearch:
    def __init__(self, system: TransitionSystem, limits: Limits, progress: Progress) -> None:
        self.system = system
        self.limits = limits
        self.progress = progress
        self.parents: dict[Control, tuple[Control, Transition] | None] = {}
        self.overflowed = False
        self.taken = 0

    def run(self) -> EngineResult:
        start = self.system.initial()
        self.parents[start] = None
        layer = [start]
        bad = self._violation(start)
        if bad is not None:
            return self._found(start, None, bad)
        reached = self.limits.watch()
        while layer:
            following: list[Control] = []
            for control in layer:
                found = self._expand(control, following)
                if found is not None:
                    return found
                cut = reached()
                if self.limits.states is not None and len(self.parents) > self.limits.states:
                    cut = "states"
                if cut:
                    return self._ended(cut)
            layer = following
            self.progress(len(self.parents), len(layer))
        return self._ended("")

    def _expand(self, control: Control, following: list[Control]) -> EngineResult | None:
        parents = self.parents
        for transition in self.system.successors(control):
            self.taken += 1
            if transition.fault is not None:
                return self._found(control, transition, None)
            to = transition.to
            if to not in parents:
                parents[to] = (control, transition)
                following.append(to)
                if self.system.overflowed(to):
                    self.overflowed = True
                bad = self._violation(to)
                if bad is not None:
                    return self._found(to, None, bad)
        return None

    def _violation(self, control: Control) -> Bad | None:
        for bad in self.system.violations(control):
            return bad
        return None

    def _found(self, control: Control, last: Transition | None, bad: Bad | None) -> EngineResult:
        path = [] if last is None else [last]
        before = self.parents[control]
        while before is not None:
            control, transition = before
            path.append(transition)
            before = self.parents[control]
        path.reverse()
        return self._answer(AbstractPath(tuple(path), bad), "")

    def _ended(self, cut: str) -> EngineResult:
        return self._answer(None, cut)

    def _answer(self, path: AbstractPath | None, cut: str) -> EngineResult:
        proven = path is None and not cut and not self.overflowed
        invariant = dict.fromkeys(self.parents, _EVERYTHING) if proven else None
        return EngineResult("explicit", path, invariant, self.overflowed, cut, len(self.parents), self.taken)


LOOK: Final = 1_000_000
"""States of a quick look, a third of a second: a program with values of no known size may have finitely many, or not."""

LOOK_SHARE: Final = 0.5
"""Of the time, for that look."""

UNKNOWN_HERE: Final = "a value without bound, or an operation that the compiled search does not know"


class CompiledEngine:
    """The compiled search as an engine, for buffers with room for so many stores; it looks at the program of a system only.

    A look at a program with wide variables is short, and made once; `whole` is the search without an end of its own.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._seen: EngineResult | None = None

    def __call__(self, system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
        if self._seen is None:
            if system.wide:
                states = LOOK if limits.states is None else min(LOOK, limits.states)
                limits = replace(limits.share(LOOK_SHARE), states=states)
            self._seen = self._searched(system, limits, progress)
        return self._seen

    def whole(self, system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
        """Search until everything is seen, or a limit reached."""
        if self._seen is None or self._seen.cut in ("time", "states"):
            self._seen = self._searched(system, limits, progress)
        return self._seen

    def _searched(self, system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
        found = compiled_search(system.program, system.model, system.claims, limits, progress, room=self.room)
        return found or EngineResult("explicit", None, None, False, UNKNOWN_HERE, 0, 0)


def compiled_search(
    program: Program,
    model: AnyModelName,
    claims: Sequence[SafetyClaim],
    limits: Limits,
    progress: Progress = ignore,
    *,
    room: int,
) -> EngineResult | None:
    """Search every state of `program` under `model`, buffers with room for so many stores, up to the first violation.

    None if the program has what this search does not know, a number grows beyond 62 bits, or there is no kernel. A path is
    one of the machine, move by move. There is no invariant: states are packed, and few ask for them.
    """
    if not driver.AVAILABLE:
        return None
    numbered = numbered_program(program, model, claims, max(1, room))
    if numbered is None:
        return None
    try:
        found = driver.search(numbered.counters, {}, limits, progress, engine="bfs", reduce=True)
    except UnsupportedError:
        return None
    result = found.result
    path = None if result.target < 0 else _path(numbered.claims[result.target], found.run)
    overflowed = any(each.to == FULL for each in found.fired)
    taken = frozenset((cause.thread, cause.step) for each in found.fired for cause in each.causes if cause.step is not None)
    return EngineResult("explicit", path, None, overflowed, result.cut, result.states, result.transitions, {}, taken)


def _path(claim: int | None, run: Sequence[Transition]) -> AbstractPath:
    """Return the moves of a run that violates a claim, or ends with a fault."""
    moves = tuple(each for each in run if each.causes)
    return AbstractPath(moves, None if claim is None else Bad(claim, TRUE))
