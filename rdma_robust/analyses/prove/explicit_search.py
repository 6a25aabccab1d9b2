"""E0, the explicit engines: all control states of a system in which nothing is wide, and all states of a program.

The second are searched packed and compiled, whatever values variables come to have; remote operations are left to others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rdma_robust.analyses.prove.numbered_program import FULL, numbered_program
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
from rdma_robust.limits import Limits, Progress, ignore

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
