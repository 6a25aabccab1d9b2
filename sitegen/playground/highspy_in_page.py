"""`highspy` in the page: what integer programs of this package ask of it, answered by the HiGHS that the page has loaded.

A program is given to it in CPLEX's LP format, with whole numbers only, and solved without a gap.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import Any, Final

from rdma_robust.cli.page_worker import SolverNeededError

kHighsInf: Final = math.inf  # noqa: N816 - as HiGHS names it
_STATUS: Final = {"Optimal": "kOptimal", "Infeasible": "kInfeasible", "Time limit reached": "kTimeLimit"}
_GAPS: Final = ("mip_rel_gap", "mip_abs_gap")
_EXACT: Final = 2.0**53


class HighsVarType(Enum):
    """Kinds of columns that are asked for."""

    kInteger = "integer"  # noqa: N815


@dataclass
class Highs:
    """A 0-1 program, and its last answer. Raises SolverNeededError where the page has no HiGHS yet."""

    options: dict[str, Any] = field(default_factory=dict)
    costs: list[float] = field(default_factory=list)
    rows: list[tuple[float, tuple[int, ...], tuple[float, ...]]] = field(default_factory=list)
    answer: dict[str, Any] = field(default_factory=dict)
    spent: float = 0.0

    def __post_init__(self) -> None:
        solve_linear()

    def setOptionValue(self, name: str, value: Any) -> None:  # noqa: N802
        self.options[name] = value

    def addVar(self, lower: float, upper: float) -> None:  # noqa: N802
        assert (lower, upper) == (0.0, 1.0), "columns are 0 or 1"
        self.costs.append(0.0)

    def changeColCost(self, column: int, cost: float) -> None:  # noqa: N802
        self.costs[column] = cost

    def changeColIntegrality(self, column: int, kind: HighsVarType) -> None:  # noqa: N802
        assert kind is HighsVarType.kInteger
        assert column < len(self.costs)

    def getNumCol(self) -> int:  # noqa: N802
        return len(self.costs)

    def getRunTime(self) -> float:  # noqa: N802
        return self.spent

    def addRow(  # noqa: N802
        self, least: float, most: float, count: int, columns: Sequence[int], weights: Sequence[float]
    ) -> None:
        assert most == kHighsInf
        assert count == len(columns) == len(weights)
        self.rows.append((least, tuple(columns), tuple(weights)))

    def run(self) -> None:
        options: dict[str, Any] = {
            name: self.options[name] for name in ("mip_rel_gap", "mip_abs_gap") if name in self.options
        }
        if (limit := self.options.get("time_limit")) is not None:
            options["time_limit"] = max(0.01, limit - self.spent)
        begin = time.monotonic()
        self.answer = json.loads(solve_linear()(lp_text(self.costs, self.rows), json.dumps(options)))
        self.spent += time.monotonic() - begin

    def getModelStatus(self) -> str:  # noqa: N802
        status = str(self.answer["status"])
        return _STATUS.get(status, status)

    def getInfo(self) -> SimpleNamespace:  # noqa: N802
        """The bound is the value: without a gap, what is optimal is proven to be."""
        value = self.answer["objective"]
        return SimpleNamespace(objective_function_value=value, mip_dual_bound=value)

    def getSolution(self) -> SimpleNamespace:  # noqa: N802
        values = self.answer["values"]
        return SimpleNamespace(col_value=[values.get(f"x{number}", 0.0) for number in range(len(self.costs))])


def solve_linear() -> Any:
    """Return the page's function from texts of a program and of options to one. Raises SolverNeededError without it."""
    import js  # type: ignore[import-not-found]  # noqa: PLC0415 - only in the page

    if not hasattr(js, "solveLinear"):
        raise SolverNeededError
    return js.solveLinear


def lp_text(costs: Sequence[float], rows: Sequence[tuple[float, tuple[int, ...], tuple[float, ...]]]) -> str:
    """Return a 0-1 program in the LP format. Numbers are whole and exact, which is asserted."""
    lines = ["Minimize", " cost: " + (_sum(range(len(costs)), costs) or "0 x0"), "Subject To"]
    for number, (least, columns, weights) in enumerate(rows):
        lines.append(f" r{number}: {_sum(columns, weights)} >= {_whole(least)}")
    return "\n".join([*lines, "Binary", *(f" x{number}" for number in range(len(costs))), "End", ""])


def _sum(columns: Sequence[int], weights: Sequence[float]) -> str:
    return "\n ".join(f"{_whole(weight):+d} x{column}" for column, weight in zip(columns, weights, strict=True))


def _whole(number: float) -> int:
    assert number == int(number), "weights are whole"
    assert abs(number) < _EXACT, "weights are exact"
    return int(number)
