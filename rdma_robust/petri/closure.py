"""All that is reachable, with no target in mind: the Karp-Miller search, accelerated, largest markings first, or the
markings one by one of a net that is bounded for a reason that can be seen at once.

Compiled as a whole where that is possible (`kernel/_forest.pyx`), since it stores many markings and thinks little about
each.
Sources: Karp and Miller 1969; Finkel, Haddad and Khmelnitsky 2020 for what may be removed.
"""

from __future__ import annotations

from typing import Any

from rdma_robust.petri.boundedness import bounded
from rdma_robust.petri.engine import Covering, DownwardProof, Enumerated, Kernel, Search, Steps
from rdma_robust.petri.forward import Forward
from rdma_robust.petri.pumped_path import realise
from rdma_robust.petri.slice import Core

_ENDED = -2
_AT_ONCE = 2_000
"""Elementary operations in one step: some 2 ms."""
_PATIENCE = 200_000
"""Elementary operations, besides those for the size of the net, that others do before the markings are listed: most bounded
nets are proved safe by linear programs, and have too many markings."""
_LISTED = 20_000_000
"""Numbers of tokens in the markings of a proof, beyond which it would be too large for the memory and for a file."""


class Closure:
    """One search of a compiled forest; `one_by_one`, it lists the markings of a net that is seen to be bounded."""

    def __init__(self, core: Core, kernel: Kernel, *, one_by_one: bool) -> None:
        self._core = core
        self._kernel = kernel
        self._one_by_one = one_by_one
        self._forest: Any = kernel.forest(core)

    @property
    def stored(self) -> int:
        return int(self._forest.stored)

    @property
    def frontier(self) -> int:
        return int(self._forest.frontier)

    def steps(self) -> Steps:
        if self._one_by_one and bounded(self._core):
            self._forest = self._kernel.forest(self._core, True)
            yield _PATIENCE + 100 * sum(map(len, self._core.deltas)) + 200 * len(self._core.initial)
        forest = self._forest
        while True:
            found, work = forest.work(_AT_ONCE)
            if found >= 0:
                return self._covering(found)
            if found == _ENDED:
                live = forest.live_nodes()
                if len(live) * len(self._core.initial) > _LISTED:
                    return Enumerated(len(live))
                return DownwardProof(tuple(forest.marking(node) for node in live))
            yield work

    def _covering(self, node: int) -> Covering:
        target = self._forest.target

        def came(at: int) -> tuple[int, int, int]:
            parent, transition = self._forest.came(at)
            return parent, transition, 1

        return Covering(realise(self._core, node, self._core.targets[target], came, self._forest.cycles), target)


def closure(core: Core, kernel: Kernel, *, one_by_one: bool = False) -> Search:
    """Return the Karp-Miller search of a core, in the implementation of the kernel."""
    if kernel.forest is None:
        return Forward(core, kernel, "largest", True)
    return Closure(core, kernel, one_by_one=one_by_one)
