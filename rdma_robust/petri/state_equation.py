"""Pruning by the state equation: what no marking reachable in the rationals can cover; and by traps.

A marking m can be covered only if initial + C x >= m has a solution x >= 0, C the incidence matrix. By Farkas' lemma
there is none iff some y >= 0 has y C <= 0 (no transition increases the weighted sum y M) and y m > y initial. Such a y
is found in floating point and counts only after it has been turned into integers and both inequalities have been checked
exactly. What floating point cannot tell, the simplex method finds in fractions (:func:`ray`).
Source: Murata 1989; Blondin, Finkel, Haase and Haddad 2016; Geffroy, Leroux and Sutre 2016 (ICover).

A set S of places is a trap if every transition that takes a token from S leaves one: after it some place of S has a token,
one that it adds or one that it only reads. A trap that is marked initially stays marked, an inequality sum S >= 1 that no
linear combination of the state equation says. Source: Hack 1972; with linear programming, Esparza and Melzer 2000 and
Esparza, Ledesma-Garza, Majumdar, Meyer and Niksic 2014.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rdma_robust.petri.kernel.loops import Marking
from rdma_robust.petri.net import Vector
from rdma_robust.petri.slice import Core
from rdma_robust.solver_library import linear_solver

Row = dict[int, Fraction]


def ray(
    rows: Iterable[Mapping[int, int]], gains: Mapping[int, int], patience: Callable[[int], bool]
) -> dict[int, int] | None:
    """Return y >= 0, in integers without a common factor, whose product with every row is at most 0 and with `gains` is
    positive; None if there is none, or if `patience` says no, which is asked before every step with the numbers looked at.

    Rows and gains have their numbers by the index of the variable. Such y are a cone, on which `gains` is unbounded iff
    there is one; from y = 0 every step of the simplex method is degenerate until it finds a ray; by Bland's rule it ends.
    Source: Bland 1977; Chvatal 1983, chapters 3 and 16.
    """
    # The dictionary: a basic variable, below 0 for the slack of a row, as a combination of the others.
    basic: dict[int, Row] = {-1 - i: {j: Fraction(-a) for j, a in row.items() if a} for i, row in enumerate(rows)}
    objective: Row = {j: Fraction(g) for j, g in gains.items() if g}
    while entering := min((_order(j) for j, g in objective.items() if g > 0), default=None):
        enters = entering[1]
        if not patience(sum(map(len, basic.values()))):
            return None
        blocking = [_order(var) for var, row in basic.items() if row.get(enters, 0) < 0]
        if not blocking:
            found = {var: row[enters] for var, row in basic.items() if var >= 0 and row.get(enters)}
            if enters >= 0:
                found[enters] = Fraction(1)
            return _whole(found)
        leaves = min(blocking)[1]
        row = basic.pop(leaves)
        pivot = row.pop(enters)
        solved = {j: -a / pivot for j, a in row.items()}
        solved[leaves] = 1 / pivot
        for other in (*basic.values(), objective):
            if factor := other.pop(enters, None):
                _add(other, factor, solved)
        basic[enters] = solved
    return None


def _order(variable: int) -> tuple[int, int]:
    """Slacks after variables, each by number; the order of Bland's rule."""
    return (variable if variable >= 0 else (1 << 62) - variable, variable)


def _add(row: Row, factor: Fraction, other: Row) -> None:
    for j, a in other.items():
        value = row.get(j, 0) + factor * a
        if value:
            row[j] = Fraction(value)
        else:
            row.pop(j, None)


def _whole(values: Mapping[int, Fraction]) -> dict[int, int]:
    scale = math.lcm(*(v.denominator for v in values.values()))
    whole = {j: int(v * scale) for j, v in values.items()}
    common = math.gcd(*whole.values()) or 1
    return {j: v // common for j, v in sorted(whole.items())}


class Traps:
    """Finds traps of a core."""

    def __init__(self, core: Core) -> None:
        self._initial = core.initial
        self._takes: list[tuple[int, ...]] = []
        self._leaves: list[tuple[int, ...]] = []
        self._leavers: list[list[int]] = [[] for _ in core.initial]
        self._takers: list[list[int]] = [[] for _ in core.initial]
        for t, (guard, delta) in enumerate(zip(core.guards, core.deltas, strict=True)):
            after = dict(guard)
            for p, change in delta:
                after[p] = after.get(p, 0) + change
            self._takes.append(tuple(p for p, change in delta if change < 0))
            self._leaves.append(tuple(p for p, tokens in after.items() if tokens > 0))
            for p in self._takes[-1]:
                self._takers[p].append(t)
            for p in self._leaves[-1]:
                self._leavers[p].append(t)
        self.size = sum(map(len, self._takes)) + sum(map(len, self._leaves))

    def largest(self, within: Iterable[int]) -> frozenset[int]:
        """Return the largest trap among the places of `within`, which may be empty."""
        inside = set(within)
        left = {t: 0 for p in inside for t in self._takers[p]}
        for p in inside:
            for t in self._leavers[p]:
                if t in left:
                    left[t] += 1
        waiting = [t for t, count in left.items() if not count]
        while waiting:
            t = waiting.pop()
            for p in self._takes[t]:
                if p in inside:
                    inside.remove(p)
                    for other in self._leavers[p]:
                        if other in left:
                            left[other] -= 1
                            if not left[other]:
                                waiting.append(other)
        return frozenset(inside)

    def marked(self, trap: Iterable[int]) -> bool:
        return any(self._initial[p] for p in trap)

    def small(self, trap: frozenset[int]) -> frozenset[int]:
        """Return a trap inside the initially marked `trap` that is initially marked and contains no other such trap."""
        for p in sorted(trap):
            if p in trap:
                smaller = self.largest(trap - {p})
                if self.marked(smaller):
                    trap = smaller
        return trap


_TOLERANCE = 1e-6
_DENOMINATORS = (1, 12, 360, 10_000, 1_000_000)
_EXACT = 1 << 30
"""Numbers of tokens beyond this are too large for the precision of floating point."""
_LARGEST = 10**15
"""Changes beyond this are more than the solver takes."""
_RAY_WORK = 1_000_000
"""Numbers that are looked at in an exact solution."""
_DEVEX = 1
_PIVOTS = 200_000
_TRIED_TRAPS = 400_000
"""Elementary operations that go to traps before their success decides."""
_SHRINK = 2_000_000
"""Elementary operations up to which a trap is made small."""


@dataclass(frozen=True, slots=True)
class LinearCut:
    """An inequality `weights . M <= bound` that every reachable marking keeps.

    The sum of `weights` and of k for each place of a trap, (trap, k) in `traps`, is increased by no transition, and
    initially at most `bound` plus the sum of the k; each trap always holds a token.
    """

    weights: Vector
    bound: int
    traps: tuple[tuple[int, int], ...] = ()


class StateEquation:
    """The state equation of a core as one linear program, solved again and again for different markings.

    The program is: minimise the sum of s >= 0 where C x + s >= m - initial, x >= 0, and for each trap found so far, with S
    its places, S C x + s >= 1 - S initial. Its dual maximises y (m - initial) + z (1 - S initial) where (y + z S) C <= 0,
    0 <= y, z <= 1. Only right-hand sides change and rows are added, so the last basis stays dual feasible.
    """

    def __init__(self, core: Core, deadline: float | None = None) -> None:
        self._core = core
        self._deadline = deadline
        self._columns = sorted(set(core.deltas))
        self._too_large = max(core.initial, default=0) > _EXACT or any(
            abs(change) > _LARGEST for column in self._columns for _, change in column
        )
        self._touching: list[list[int]] = [[] for _ in core.initial]
        for i, delta in enumerate(self._columns):
            for p, _ in delta:
                self._touching[p].append(i)
        self._solver: Any = None
        self._raised: list[int] = []
        self._finder: Traps | None = None
        self._with_traps = 0
        self.traps: list[tuple[int, ...]] = []
        self.work = 0
        """Elementary operations so far, by the number of pivots."""
        self.expected = 5 * sum(map(len, self._columns)) + 10 * len(core.initial)
        """A guess of what the first solution takes."""

    def separate(self, marking: Marking, traps: int = 0) -> LinearCut | None:
        """Return an inequality that every reachable marking keeps and `marking` exceeds, or None, after adding up to so
        many traps.

        None means that none was found, perhaps for want of time: it proves nothing. If all the traps were added, more of
        them may help.
        """
        known = len(self.traps)
        if self._too_large or any(abs(k - self._core.initial[p]) > _EXACT for p, k in marking):
            return self._by_ray(marking, range(len(self._core.initial) + known))
        while True:
            prices, solution = self._solve(marking)
            if prices:
                return self._rounded(marking, prices) or self._by_ray(marking, prices)
            if not solution or len(self.traps) == known + traps or not self._trap(solution):
                return None

    @property
    def traps_pay(self) -> bool:
        """Whether enough inequalities rest on traps for the number of traps."""
        size = self._finder.size if self._finder else 0
        return len(self.traps) * size < _TRIED_TRAPS + 4 * self._with_traps * size

    def _rounded(self, marking: Marking, prices: dict[int, float]) -> LinearCut | None:
        """Turn the duals of rows into an inequality in integers that is known to hold and to exclude `marking`."""
        cuts = (self._cut(marking, _integers(prices, denominator)) for denominator in _DENOMINATORS)
        return next((cut for cut in cuts if cut is not None), None)

    def _by_ray(self, marking: Marking, rows: Iterable[int]) -> LinearCut | None:
        """Look for an inequality with weights on the given rows only, in exact numbers, if the program is small."""
        places = len(self._core.initial)
        chosen = set(rows)
        effects: list[dict[int, int]] = [{p: c for p, c in column if p in chosen} for column in self._columns]
        gains = {p: int(k) - self._core.initial[p] for p, k in {**dict.fromkeys(range(places), 0), **dict(marking)}.items()}
        for row in chosen:
            if row >= places:
                trap = self.traps[row - places]
                gains[row] = 1 - sum(self._core.initial[p] for p in trap)
                for p in trap:
                    for i in self._touching[p]:
                        effects[i][row] = effects[i].get(row, 0) + dict(self._columns[i])[p]
        left = _RAY_WORK

        def patience(numbers: int) -> bool:
            nonlocal left
            left -= numbers
            self.work += 4 * numbers
            return left > 0 and (self._deadline is None or time.monotonic() < self._deadline)

        found = ray(effects, {row: gain for row, gain in gains.items() if row in chosen}, patience)
        return None if found is None else self._cut(marking, found)

    def _cut(self, marking: Marking, multipliers: dict[int, int]) -> LinearCut | None:
        """Return the inequality that multipliers of rows make, if it holds and excludes `marking`."""
        places = len(self._core.initial)
        weights = {row: w for row, w in multipliers.items() if row < places}
        traps = {row - places: w for row, w in multipliers.items() if row >= places}
        total = dict(weights)
        for trap, times in traps.items():
            for p in self.traps[trap]:
                total[p] = total.get(p, 0) + times
        if not weights or not self._never_increased(total):
            return None
        bound = sum(w * self._core.initial[p] for p, w in total.items()) - sum(traps.values())
        if sum(weights.get(p, 0) * k for p, k in marking) <= bound:
            return None
        self._with_traps += bool(traps)
        return LinearCut(tuple(sorted(weights.items())), bound, tuple(sorted(traps.items())))

    def _never_increased(self, weights: dict[int, int]) -> bool:
        rows = {i for p in weights for i in self._touching[p]}
        return all(sum(weights.get(p, 0) * change for p, change in self._columns[i]) <= 0 for i in rows)

    def _solve(self, marking: Marking) -> tuple[dict[int, float], list[float]]:
        """Solve for `marking`; return the positive row duals if the optimum is positive, else the marking of the solution.

        Both are empty where the program was not solved in time.
        """
        places = len(self._core.initial)
        if self._solver is None:
            self._solver = _program(self._columns, places)
            self._reset(range(places), {})
            self._raised = []
        values = dict(marking)
        self._reset(sorted({*self._raised, *values}), values)
        self._raised = list(values)
        highs = self._solver
        if self._deadline is not None:
            left = self._deadline - time.monotonic()
            highs.setOptionValue("time_limit", highs.getRunTime() + max(left, 0.01))
        highs.run()
        info = highs.getInfo()
        self.work += (1 + max(0, info.simplex_iteration_count)) * (50 + places // 80)
        if "kOptimal" not in str(highs.getModelStatus()):
            return {}, []
        solution = highs.getSolution()
        if info.objective_function_value < _TOLERANCE:
            return {}, [held + change for held, change in zip(self._core.initial, solution.row_value, strict=False)]
        return {row: y for row, y in enumerate(solution.row_dual) if y > _TOLERANCE}, []

    def _trap(self, solution: list[float]) -> bool:
        """Add a trap that is marked initially and empty in a solution; return whether there is one."""
        if self._finder is None:
            self._finder = Traps(self._core)
        finder = self._finder
        trap = finder.largest(p for p, tokens in enumerate(solution) if tokens < _TOLERANCE)
        self.work += finder.size
        if not finder.marked(trap):
            return False
        if len(trap) * finder.size < _SHRINK:
            self.work += len(trap) * finder.size
            trap = finder.small(trap)
        self._add_row(tuple(sorted(trap)))
        return True

    def _add_row(self, trap: tuple[int, ...]) -> None:
        import numpy as np  # noqa: PLC0415 -- as highspy

        effect: dict[int, int] = {}
        for p in trap:
            for i in self._touching[p]:
                effect[i] = effect.get(i, 0) + dict(self._columns[i])[p]
        entries = [(i, change) for i, change in sorted(effect.items()) if change]
        least = 1 - sum(self._core.initial[p] for p in trap)
        row = len(self._core.initial) + len(self.traps)
        self._solver.addRow(
            float(least),
            math.inf,
            len(entries),
            np.array([i for i, _ in entries], dtype=np.int32),
            np.array([change for _, change in entries], dtype=float),
        )
        self._solver.addCol(1.0, 0.0, math.inf, 1, np.array([row], dtype=np.int32), np.array([1.0]))
        self.traps.append(trap)

    def _reset(self, rows: Any, values: dict[int, float]) -> None:
        for p in rows:
            self._solver.changeRowBounds(p, float(values.get(p, 0) - self._core.initial[p]), math.inf)


def _program(columns: list[Vector], places: int) -> Any:
    """Return a solver that holds the program; the right-hand sides are still 0."""
    import highspy  # noqa: PLC0415 -- 0.1 s; nets that slicing decides do without
    import numpy as np  # noqa: PLC0415

    lp = highspy.HighsLp()
    lp.num_col_ = len(columns) + places
    lp.num_row_ = places
    lp.col_cost_ = np.array([0.0] * len(columns) + [1.0] * places)
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.full(lp.num_col_, highspy.kHighsInf)
    lp.row_lower_ = np.zeros(places)
    lp.row_upper_ = np.full(places, highspy.kHighsInf)
    entries = [*columns, *(((p, 1),) for p in range(places))]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(column) for column in entries)])
    lp.a_matrix_.index_ = np.array([p for column in entries for p, _ in column], dtype=np.int32)
    lp.a_matrix_.value_ = np.array([change for column in entries for _, change in column], dtype=float)
    highs = linear_solver()
    # One program follows the other, each nearly solved by the last basis: disturbed costs would lose that, some six times
    # the time. Without them simplex may stall, so its steps are bounded.
    highs.setOptionValue("dual_simplex_cost_perturbation_multiplier", 0.0)
    highs.setOptionValue("simplex_dual_edge_weight_strategy", _DEVEX)
    highs.setOptionValue("simplex_iteration_limit", _PIVOTS)
    highs.passModel(lp)
    return highs


def _integers(prices: dict[int, float], denominator: int) -> dict[int, int]:
    """Round to fractions with denominators up to `denominator`, and scale to integers without a common factor."""
    fractions = {p: Fraction(y).limit_denominator(denominator) for p, y in prices.items()}
    scale = math.lcm(*(f.denominator for f in fractions.values()))
    whole = {p: int(f * scale) for p, f in fractions.items() if f > 0}
    common = math.gcd(*whole.values()) or 1
    return {p: w // common for p, w in whole.items()}


class Cuts:
    """The inequalities that are known, by place."""

    def __init__(self, places: int) -> None:
        self.known: list[LinearCut] = []
        self._at: list[list[tuple[int, int]]] = [[] for _ in range(places)]

    def add(self, cut: LinearCut) -> None:
        for p, w in cut.weights:
            self._at[p].append((len(self.known), w))
        self.known.append(cut)

    def violated(self, marking: Marking) -> int:
        """Return the number of an inequality that `marking` violates, or -1."""
        sums: dict[int, float] = {}
        for p, k in marking:
            for cut, w in self._at[p]:
                total = sums[cut] = sums.get(cut, 0) + w * k
                if total > self.known[cut].bound:
                    return cut
        return -1
