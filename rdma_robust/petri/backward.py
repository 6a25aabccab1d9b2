"""Backward coverability: the cones from which a target can be covered, without those that are proven unreachable.

The basis grows by predecessors until every predecessor of a member is above another member or violates one of the cuts,
inequalities that every reachable marking keeps. Sources: Abdulla, Cerans, Jonsson and Tsay 1996; pruning by the state
equation as in Geffroy, Leroux and Sutre 2016 (ICover), with each proof kept as a cut (Farkas' lemma) that prunes later
cones by a sum over their few places.
"""

from __future__ import annotations

import heapq

from rdma_robust.petri.engine import Covering, Finding, Kernel, Steps, UpwardProof
from rdma_robust.petri.exclusion import ExclusivePairs
from rdma_robust.petri.kernel.loops import Marking, as_vector
from rdma_robust.petri.slice import Core
from rdma_robust.petri.state_equation import Cuts, StateEquation

_TRIALS = 32
"""Cones that are tried with the linear program before its success decides how often it is asked."""
_SHARE = 300
"""Elementary operations that may go to the linear program for each cone that is expanded, whatever the success."""
_TRAPS = 3
"""Traps that may be added for the sake of one cone."""


class Backward:
    """One backward search. Without `equation` it prunes by domination and by the `cuts` it is given only.

    Once the table of `pairs` is known, it prunes by pairs of conditions that exclude each other as well.
    """

    def __init__(
        self, core: Core, kernel: Kernel, equation: StateEquation | None, cuts: Cuts, pairs: ExclusivePairs | None = None
    ) -> None:
        self._core = core
        self._firing = kernel.firing(core)
        self._equation = equation
        self._cuts = cuts
        self._pairs = pairs
        self._cones: list[Marking] = []
        self._came: list[tuple[int, int]] = []
        self._heap: list[tuple[float, int]] = []
        self._asked = self._pruned = self._skipped = self._expanded = 0
        self.basis = kernel.marking_set(len(core.initial))

    @property
    def stored(self) -> int:
        return len(self.basis)

    @property
    def frontier(self) -> int:
        return len(self._heap)

    def steps(self) -> Steps:
        for i, target in enumerate(self._core.targets):
            if found := self._add(target, -1 - i, -1):
                return found
        yield len(self._core.targets)
        while self._heap:
            _, number = heapq.heappop(self._heap)
            if not self.basis.has(number):
                continue
            cone = self._cones[number]
            work = self._equation.work if self._equation else 0
            if self._cuts.violated(cone) >= 0 or self._excluded(cone) or self._separated(cone):
                self.basis.remove(number)
                yield 1 + (self._equation.work - work if self._equation else 0)
                continue
            self._expanded += 1
            predecessors = self._firing.predecessors(cone)
            for transition, before in predecessors:
                if found := self._add(before, number, transition):
                    return found
            yield 1 + len(predecessors) * 20 + (self._equation.work - work if self._equation else 0)
        basis = tuple(as_vector(self._cones[n]) for n in self.basis.numbers())
        if self._pairs is not None:
            basis += yield from self._pairs.closed()
        return UpwardProof(
            basis,
            tuple(self._cuts.known),
            tuple(self._equation.traps) if self._equation else (),
        )

    def cone(self, number: int) -> Marking:
        return self._cones[number]

    def chain(self, number: int) -> tuple[tuple[int, ...], int]:
        """Return the transitions that lead from cone `number` into a target, and that target."""
        transitions = []
        while self._came[number][0] >= 0:
            number, transition = self._came[number]
            transitions.append(transition)
        return tuple(transitions), -1 - self._came[number][0]

    def _add(self, cone: Marking, successor: int, transition: int) -> Finding | None:
        """Add a cone to the basis unless it is pruned; return a covering if the initial marking is inside."""
        if self._cuts.violated(cone) >= 0 or self.basis.below(cone) >= 0 or self._excluded(cone):
            return None
        number = len(self._cones)
        self._cones.append(cone)
        self._came.append((successor, transition))
        if all(self._core.initial[p] >= k for p, k in cone):
            return Covering(*self.chain(number))
        for larger in self.basis.all_above(cone):
            self.basis.remove(larger)
        self.basis.add(number, cone)
        heapq.heappush(self._heap, (sum(k for _, k in cone), number))
        return None

    def _excluded(self, cone: Marking) -> bool:
        return self._pairs is not None and self._pairs.prunes(cone)

    def _separated(self, cone: Marking) -> bool:
        """Look for a cut that proves `cone` unreachable, as often as that has paid so far; keep it."""
        if self._equation is None:
            return False
        self._skipped += 1
        if (
            self._asked > _TRIALS
            and self._skipped * self._pruned * 20 < self._asked
            and self._equation.work > self._expanded * _SHARE
        ):
            return False
        self._skipped = 0
        self._asked += 1
        cut = self._equation.separate(cone, _TRAPS if self._equation.traps_pay else 0)
        if cut is None:
            return False
        self._pruned += 1
        self._cuts.add(cut)
        return True
