"""The Karp-Miller search: all that is reachable, accelerated, largest markings first, with no target in mind.

Compiled as a whole where that is possible (`_net_forest.pyx`), since it stores many markings and thinks little about each.
Sources: Karp and Miller 1969; Finkel, Haddad and Khmelnitsky 2020 for what may be removed.
"""

from __future__ import annotations

from typing import Any

from rdma_robust.vass.net_engine import Covering, DownwardProof, Kernel, Search, Steps
from rdma_robust.vass.net_forward import Forward
from rdma_robust.vass.net_path import realise
from rdma_robust.vass.net_slice import Core

_ENDED = -2
_AT_ONCE = 2_000
"""Elementary operations in one step: some 2 ms."""


class Closure:
    """One Karp-Miller search of a compiled forest."""

    def __init__(self, core: Core, forest: Any) -> None:
        self._core = core
        self._forest = forest

    @property
    def stored(self) -> int:
        return int(self._forest.stored)

    @property
    def frontier(self) -> int:
        return int(self._forest.frontier)

    def steps(self) -> Steps:
        forest = self._forest
        while True:
            found, work = forest.work(_AT_ONCE)
            if found >= 0:
                return self._covering(found)
            if found == _ENDED:
                return DownwardProof(tuple(forest.marking(node) for node in forest.live_nodes()))
            yield work

    def _covering(self, node: int) -> Covering:
        target = self._forest.target

        def came(at: int) -> tuple[int, int, int]:
            parent, transition = self._forest.came(at)
            return parent, transition, 1

        return Covering(realise(self._core, node, self._core.targets[target], came, self._forest.cycles), target)


def closure(core: Core, kernel: Kernel) -> Search:
    """Return the Karp-Miller search of a core, in the implementation of the kernel."""
    if kernel.forest is None:
        return Forward(core, kernel, "largest", True)
    return Closure(core, kernel.forest(core))
