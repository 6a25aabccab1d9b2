"""All that is reachable, with no target in mind: the Karp-Miller search, accelerated, largest markings first, or the
markings one by one of a net that is bounded for a reason that can be seen at once.

Compiled as a whole where that is possible (`kernel/_forest.pyx`), since it stores many markings and thinks little about
each.
Sources: Karp and Miller 1969; Finkel, Haddad and Khmelnitsky 2020 for what may be removed.
"""

from __future__ import annotations

import math
from typing import Any

from rdma_robust.petri.engine import Covering, DownwardProof, EngineSearch, FullEnumeration, Kernel, Steps
from rdma_robust.petri.forward import Forward, run_into_cone
from rdma_robust.petri.slice import Core
from rdma_robust.solver_library import linear_solver

_COLUMNS = 3_000
"""Different effects of transitions up to which the program is solved, in some 50 ms."""
_LARGEST = 10**15
"""Changes beyond this are more than the solver takes."""
_PIVOTS = 10_000


def is_structurally_bounded(core: Core) -> bool:
    """Whether positive weights of all places were found of which no transition increases the sum.

    Found in floating point and not checked: a hint for the choice of a search, on which no verdict rests. Source: Murata
    1989, structural boundedness.
    """
    columns = sorted({delta for delta in core.deltas if delta})
    if len(columns) > _COLUMNS or any(all(change > 0 for _, change in column) for column in columns):
        return False
    if any(abs(change) > _LARGEST for column in columns for _, change in column):
        return False
    import highspy  # noqa: PLC0415 -- 0.1 s; nets that slicing decides do without
    import numpy as np  # noqa: PLC0415

    places = len(core.initial)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = places, len(columns)
    lp.col_cost_ = np.ones(places)
    lp.col_lower_ = np.ones(places)
    lp.col_upper_ = np.full(places, highspy.kHighsInf)
    lp.row_lower_ = np.full(len(columns), -math.inf)
    lp.row_upper_ = np.zeros(len(columns))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(column) for column in columns)])
    lp.a_matrix_.index_ = np.array([p for column in columns for p, _ in column], dtype=np.int32)
    lp.a_matrix_.value_ = np.array([change for column in columns for _, change in column], dtype=float)
    highs = linear_solver()
    highs.setOptionValue("simplex_iteration_limit", _PIVOTS)
    highs.passModel(lp)
    highs.run()
    return "kOptimal" in str(highs.getModelStatus())


_ENDED = -2
_AT_ONCE = 2_000
"""Elementary operations in one step: some 2 ms."""
_PATIENCE = 200_000
"""Elementary operations, besides those for the size of the net, that others do before the markings are listed: most bounded
nets are proved safe by linear programs, and have too many markings."""
_LISTED = 20_000_000
"""Numbers of tokens in the markings of a proof, beyond which it would be too large for the memory and for a file."""


class ReachableSet:
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
        if self._one_by_one and is_structurally_bounded(self._core):
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
                    return FullEnumeration(len(live))
                return DownwardProof(tuple(forest.marking(node) for node in live))
            yield work

    def _covering(self, node: int) -> Covering:
        target = self._forest.target

        def came(at: int) -> tuple[int, int, int]:
            parent, transition = self._forest.came(at)
            return parent, transition, 1

        return Covering(run_into_cone(self._core, node, self._core.targets[target], came, self._forest.cycles), target)


def reachable_set(core: Core, kernel: Kernel, *, one_by_one: bool = False) -> EngineSearch:
    """Return the Karp-Miller search of a core, in the implementation of the kernel."""
    if kernel.forest is None:
        return Forward(core, kernel, "largest", True)
    return ReachableSet(core, kernel, one_by_one=one_by_one)
