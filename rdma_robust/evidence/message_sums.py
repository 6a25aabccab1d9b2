"""Multipliers for assertions about sums: simple ones, then those of a linear program; the checker sees whether they do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.messages.bounded_sums import Sum, SumMultipliers, summands
from rdma_robust.certify.messages.proved_formulas import DenialFormula
from rdma_robust.messages.engines.assignments import at_most

_LARGEST: Final = 2**40
"""Amounts that numbers of machines can add up."""


def sums(made: DenialFormula) -> list[JsonObject]:
    """Exclude assertions that no assignment of sends makes false; return what certificates have of them."""
    found: list[JsonObject] = []
    for number, mark in enumerate(made.formula.unfolded.marks):
        for each in _multipliers(made, number) if mark.kind == "assert" else ():
            if made.exclude(number, each):
                most, least = ({"receives": list(one.receives), "sends": list(one.sends)} for one in each)
                found.append({"mark": number, "most": most, "least": least})
                break
    return found


def _multipliers(made: DenialFormula, number: int) -> Iterator[tuple[SumMultipliers, SumMultipliers]]:
    mark = made.formula.unfolded.marks[number]
    for of, _ in summands(mark):
        if len(of.times) > 2 and made.bounds.waited(mark, of):
            for thorough in (False, True):
                most, least = (_best(made, each, thorough=thorough) for each in (of, of.negative()))
                if most is not None and least is not None:
                    yield most, least


def _best(made: DenialFormula, of: Sum, *, thorough: bool) -> SumMultipliers | None:
    receives, sends = sorted(of.times), made.bounds.sends(of)
    allowed = np.zeros((len(receives), len(sends)), np.bool_)
    amounts = np.zeros(allowed.shape, np.int64)
    columns = {send: column for column, send in enumerate(sends)}
    for row, receive in enumerate(receives):
        for send in made.formula.senders[receive]:
            amount = made.bounds.amount(of, receive, send)
            if amount is None or abs(amount) > _LARGEST:
                return None
            allowed[row, columns[send]], amounts[row, columns[send]] = True, amount
    if not allowed.any(axis=1).all():
        return None
    best = at_most(allowed, amounts, thorough=thorough)
    return SumMultipliers(best.rows, best.columns)
