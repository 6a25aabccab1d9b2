"""Whether a net has finitely many reachable markings for a reason that linear programming sees."""

from __future__ import annotations

import math

from rdma_robust.petri.slice import Core
from rdma_robust.solver_library import linear_solver

_COLUMNS = 3_000
"""Different effects of transitions up to which the program is solved, in some 50 ms."""
_LARGEST = 10**15
"""Changes beyond this are more than the solver takes."""
_PIVOTS = 10_000


def bounded(core: Core) -> bool:
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
