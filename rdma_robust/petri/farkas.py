"""Farkas' lemma in exact numbers, for what floating point cannot tell: the simplex method on a cone.

The y >= 0 with y A <= 0 in every row are a cone, so there is one with y gains > 0 iff that linear form is unbounded on it.
From y = 0 every step of the simplex method is degenerate until it finds a ray; with Bland's rule it ends.
Source: Bland 1977; Chvatal 1983, chapters 3 and 16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

Row = dict[int, Fraction]


def ray(
    rows: Iterable[Mapping[int, int]], gains: Mapping[int, int], patience: Callable[[int], bool]
) -> dict[int, int] | None:
    """Return y >= 0, in integers without a common factor, whose product with every row is at most 0 and with `gains` is
    positive; None if there is none, or if `patience` says no, which is asked before every step with the numbers looked at.

    Rows and gains have their numbers by the index of the variable.
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
