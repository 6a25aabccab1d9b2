"""Minimum-cost hitting sets: the cheapest insertions that break every counterexample found so far.

Source: the implicit hitting set approach (Moreno-Centeno and Karp 2013); the integer programs are solved by HiGHS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rdma_robust.analyses.repair.repairs import Choice, Choices, Kind
from rdma_robust.errors import InternalError

_INCLUDES: Final = {Kind.DRAIN: (Kind.POLL, Kind.RFENCE, Kind.REFILL), Kind.REFILL: (Kind.RFENCE,)}
"""What an insertion makes needless at its place, so that no irreducible solution has both."""


class OutOfTimeError(Exception):
    """The time limit came before the solver's answer; it never leaves this room."""


class HittingSets:
    """A 0-1 program over `universe`, to which clauses are added. Of sets of the same cost the one with later places wins.

    All coefficients are integers, so an answer whose proven bound is less than half a unit away is exact.
    """

    def __init__(self, universe: Sequence[Choice], costs: Mapping[Choice, int]) -> None:
        import highspy  # noqa: PLC0415 - 0.1 s; robust programs do without

        self.universe = tuple(universe)
        self.cheapest_first = tuple(sorted(universe, key=costs.__getitem__))
        self._column = {choice: i for i, choice in enumerate(universe)}
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.0)):
            self._solver.setOptionValue(name, value)
        places = max((c.place for c in universe), default=0) + 1
        self._scale = places * len(universe) + 1
        for _choice in universe:
            self._solver.addVar(0.0, 1.0)
        for i, choice in enumerate(universe):
            self._solver.changeColCost(i, float(costs[choice] * self._scale + places - choice.place))
            self._solver.changeColIntegrality(i, highspy.HighsVarType.kInteger)
        self._infinity = highspy.kHighsInf
        self._infeasible = False
        for choice in universe:
            if choice.kind is Kind.POLL and choice.copy:
                self._row(0.0, [(replace(choice, copy=choice.copy - 1), 1.0), (choice, -1.0)])
            for kind in _INCLUDES.get(choice.kind, ()):
                other = Choice(choice.place, kind, choice.node)
                if other in self._column:
                    self.forbid(frozenset({choice, other}))

    def hit(self, choices: Iterable[Choice]) -> None:
        """At least one of these."""
        members = [(c, 1.0) for c in sorted(choices, key=self._column.__getitem__)]
        self._infeasible |= not members
        self._row(1.0, members)

    def forbid(self, choices: Choices) -> None:
        """Not all of these."""
        self._row(1.0 - len(choices), [(c, -1.0) for c in sorted(choices, key=self._column.__getitem__)])

    def exclude(self, chosen: Choices, among: Iterable[Choice]) -> None:
        """Not exactly these of `among`."""
        members = sorted(among, key=self._column.__getitem__)
        self._row(1.0 - len(chosen), [(c, -1.0 if c in chosen else 1.0) for c in members])

    def best(self, seconds: float | None) -> Choices | None:
        """Return a cheapest set that keeps all clauses, None if there is none. Raises OutOfTimeError after `seconds`."""
        if self._infeasible:
            return None
        if not self.universe:
            return frozenset()
        solver = self._solver
        if seconds is not None:
            solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.01))
        solver.run()
        status = str(solver.getModelStatus())
        if "kInfeasible" in status:
            return None
        if "kTimeLimit" in status:
            raise OutOfTimeError
        info = solver.getInfo()
        if "kOptimal" not in status or info.objective_function_value - info.mip_dual_bound > 0.5:
            raise InternalError(f"the solver ended with {status}")
        values = solver.getSolution().col_value
        return frozenset(c for c, value in zip(self.universe, values, strict=True) if value > 0.5)

    def _row(self, least: float, members: Sequence[tuple[Choice, float]]) -> None:
        if members:
            columns, values = [self._column[c] for c, _ in members], [v for _, v in members]
            self._solver.addRow(least, self._infinity, len(members), columns, values)
