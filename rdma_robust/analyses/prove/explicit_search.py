"""E0: all control states of a system in which nothing is wide, breadth first."""

from __future__ import annotations

from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Bad,
    Control,
    EngineResult,
    Region,
    Transition,
    TransitionSystem,
)
from rdma_robust.errors import InternalError
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
