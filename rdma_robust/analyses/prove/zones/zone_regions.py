"""A zone as a conjunction that people and certificates read: no constraint that follows from others."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from rdma_robust.analyses.prove.proof_engine import Region
from rdma_robust.expr import Binary, Const, Expr, Name, Unary


def zone_region(names: Sequence[str], entries: Sequence[int | None]) -> Region:
    """Return the constraints of a closed matrix over variables, those left out that others imply.

    Rows at a fixed distance of each other are tied to the first of them, the constant 0 before all; of the first ones those
    bounds stay that are no sum of two others (Larsen, Larsson, Pettersson, Yi, RTSS 1997).
    """
    size = isqrt(len(entries))
    rows = [entries[i * size : (i + 1) * size] for i in range(size)]
    found: list[Expr] = []
    heads: list[int] = []
    for i in range(size):
        head = next((h for h in heads if _fixed(rows[i][h], rows[h][i])), None)
        if head is None:
            heads.append(i)
        else:
            found += [_constraint(names, i, head, rows[i][head]), _constraint(names, head, i, rows[head][i])]
    for i in heads:
        for j in heads:
            if i != j and rows[i][j] is not None and not _implied(rows, heads, i, j):
                found.append(_constraint(names, i, j, rows[i][j]))
    return tuple(found)


def _fixed(there: int | None, back: int | None) -> bool:
    return there is not None and back is not None and there + back == 0


def _implied(rows: Sequence[Sequence[int | None]], heads: Sequence[int], i: int, j: int) -> bool:
    direct = rows[i][j]
    assert direct is not None
    for k in heads:
        first, second = rows[i][k], rows[k][j]
        if k not in (i, j) and first is not None and second is not None and first + second <= direct:
            return True
    return False


def _constraint(names: Sequence[str], i: int, j: int, bound: int | None) -> Expr:
    assert bound is not None
    if j == 0:
        left: Expr = Name(names[i - 1])
    elif i == 0:
        left = Unary("-", Name(names[j - 1]))
    else:
        left = Binary("-", Name(names[i - 1]), Name(names[j - 1]))
    return Binary("<=", left, Const(bound))
