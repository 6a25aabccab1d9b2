"""The portfolio: engines for safe and for unsafe nets that take turns, and can go on apart from each other."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from rdma_robust.limits import Limits
from rdma_robust.petri.engine import EngineSearch, Finding, Kernel, LinearProof, Steps, UpwardProof
from rdma_robust.petri.exclusion import Backward, ExclusivePairs
from rdma_robust.petri.forward import Forward, reachable_set
from rdma_robust.petri.kernel.loops import Marking
from rdma_robust.petri.slice import Core
from rdma_robust.petri.state_equation import Cuts, LinearCut, StateEquation

_HEAD_START = 5_000
"""Elementary operations that the directed search does before the Karp-Miller search begins: some plans."""
_PAIRS_START = 50_000
"""Elementary operations that others do before pairs of conditions are looked at: some 50 ms."""
_TRAPS = 400
"""Traps that are added at most for the sake of a target."""


class RootEquation:
    """The state equation alone: tries to separate every target from the initial marking, if wanted with traps."""

    def __init__(self, core: Core, cuts: Cuts, equation: StateEquation, *, traps: bool) -> None:
        self._core = core
        self._cuts = cuts
        self._equation = equation
        self._traps = traps
        self.frontier = len(core.targets)

    @property
    def stored(self) -> int:
        return len(self._cuts.known)

    def steps(self) -> Steps:
        used = []
        for target in self._core.targets:
            number = self._cuts.violated(target)
            if number >= 0:
                used.append(self._cuts.known[number])
            else:
                cut = yield from self._separate(target)
                if cut is None:
                    return None
                self._cuts.add(cut)
                used.append(cut)
            self.frontier -= 1
            yield 1
        if any(cut.traps for cut in used):
            return UpwardProof((), tuple(dict.fromkeys(used)), tuple(self._equation.traps))
        return LinearProof(tuple(cut.weights for cut in used))

    def _separate(self, target: Marking) -> Generator[int, None, LinearCut | None]:
        """Look for an inequality that excludes a target, one trap more after each turn."""
        for _ in range(_TRAPS if self._traps else 1):
            work, known = self._equation.work, len(self._equation.traps)
            cut = self._equation.separate(target, int(self._traps))
            yield self._equation.work - work
            if cut is not None or len(self._equation.traps) == known:
                return cut
        return None


@dataclass(slots=True, eq=False)
class Side:
    """One of several searches that take turns: the engine at work now, its steps, and what they have cost."""

    engine: str
    steps: Steps
    spent: int


class Turns:
    """Searches that take turns: the one that has done least works next. Those that end without an answer drop out.

    `answered` names the engine that had the answer, once there is one.
    """

    def __init__(self, searches: Sequence[EngineSearch], sides: Sequence[Side]) -> None:
        self._searches = tuple(searches)
        self._sides = list(sides)
        self.answered = ""

    @property
    def stored(self) -> int:
        return sum(search.stored for search in self._searches)

    @property
    def frontier(self) -> int:
        return sum(search.frontier for search in self._searches)

    def steps(self) -> Steps:
        while self._sides:
            side = min(self._sides, key=lambda each: each.spent)
            try:
                work = next(side.steps)
            except StopIteration as end:
                finding: Finding | None = end.value
                if finding is not None:
                    self.answered = side.engine
                    return finding
                self._sides.remove(side)
                continue
            side.spent += work
            yield work
        return None


class Portfolio(Turns):
    """Five sides: the state equation and then the backward search; directed forward search, which uses the cones of the
    backward search and starts, with what the first linear program may take; Karp-Miller search; traps at the targets; and
    pairs of conditions that exclude each other, which may end all of it to begin again without dead transitions (`reduce`).
    """

    def __init__(self, core: Core, kernel: Kernel, limits: Limits, *, reduce: bool = True) -> None:
        cuts = Cuts(len(core.initial))
        equation = StateEquation(core, limits.deadline)
        root = RootEquation(core, cuts, equation, traps=False)
        pairs = ExclusivePairs(core, kernel, reduce=reduce)
        backward = Backward(core, kernel, equation, cuts, pairs)
        self._backward = backward
        forward = Forward(core, kernel, "plan", True, self._meet)
        everything = reachable_set(core, kernel, one_by_one=True)
        traps = RootEquation(core, cuts, equation, traps=True)
        expected = equation.expected

        def safe() -> Steps:
            proof = yield from root.steps()
            if proof is None:
                back.engine = "backward"
                proof = yield from backward.steps()
            return proof

        back = Side("state-equation", safe(), expected)
        self._forth = (Side("forward", forward.steps(), 0), Side("karp-miller", everything.steps(), _HEAD_START))
        others = Side("state-equation", traps.steps(), 2 * expected), Side("pairs", pairs.steps(), _PAIRS_START)
        super().__init__((backward, forward, everything), (back, *self._forth, *others))

    def halves(self) -> tuple[Turns, Turns]:
        """Return what is left of the sides that find proofs of safety by cones, and of those that go forward.

        They share what they know up to now, so at most one of them may go on in this process.
        """
        backward, forward, everything = self._searches
        forth = [side for side in self._sides if side in self._forth]
        back = [side for side in self._sides if side not in self._forth]
        return Turns((backward,), back), Turns((forward, everything), forth)

    def _meet(self, marking: Marking) -> tuple[Marking, tuple[int, ...], int] | None:
        number = self._backward.basis.below(marking)
        return None if number < 0 else (self._backward.cone(number), *self._backward.chain(number))
