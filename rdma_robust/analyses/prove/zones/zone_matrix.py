"""Zones as tuples of numbers, and the code of a transition over them: the definition of what the compiled kernel does.

A zone of `n` variables is a closed matrix with a row and a column for each and for the constant 0, which is row 0. Entry
(i, j) is the least c known with x_i - x_j <= c, and at most (i, k) + (k, j); the diagonal is 0. So a zone is included in
another iff no entry is larger, and the zone over fewer variables is the matrix without the rows. An empty zone is None.
Numbers may be of any size. The compiled kernel has the same numbers of operations; LAYOUT tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Literal


class ZoneOp(IntEnum):
    """Operations with their operands; i and j are rows, c is a number.

    BOUND i j c       suppose x_i - x_j <= c
    MOVE i j c        x_i := x_j + c, i not j
    SHIFT i c         x_i := x_i + c
    FORGET i          x_i is any number
    FOLD i j c        x_i, which stands for a set of numbers, from now on also stands for x_j + c, i not j
    COPY i j          x_i := one of the numbers that x_j stands for, i not j
    LINEAR i j c d n (a k) * n
                      suppose x_i - x_j <= floor((c + sum of a * x_k) / d), for what the zone knows of each x_k, d > 0
    """

    BOUND = 0
    MOVE = 1
    SHIFT = 2
    FORGET = 3
    FOLD = 4
    COPY = 5
    LINEAR = 6


@dataclass(frozen=True, slots=True)
class ZoneCode:
    """From a zone over some variables to one over others.

    `source` has for each row of the matrix to work on, but row 0, the row of the zone before, or -1 for a variable of which
    nothing is known; `target` the working rows of the zone after, row 0 left out. `clip` is the K of :func:`clipped` in
    zone_matrix.py; `forms` is the number of LINEAR operations, and `moved` the sum of all |c|: with them a kernel knows
    how large numbers can get.
    """

    clip: int
    rows: int
    source: tuple[int, ...]
    ops: tuple[int, ...]
    target: tuple[int, ...]
    forms: int = 0
    moved: int = 0

    @property
    def keeps(self) -> bool:
        """Whether the zone after is the zone before."""
        same = tuple(range(1, self.rows))
        return not self.ops and self.source == same and self.target == same


Entry = int | float
"""An integer, or infinity."""

Matrix = tuple[Entry, ...]
Work = list[list[Entry]]

INF: Final = math.inf

FORM_ROOM: Final = 4
"""A bound that comes from a sum of several variables is used between minus and plus this many times the clip."""


def plus(a: Entry, b: Entry) -> Entry:
    """Return a + b; integers may be too large for a float."""
    return INF if a is INF or b is INF else a + b


def of_values(values: Sequence[int], clip: int) -> Matrix:
    """Return the zone in which the variables have these values, clipped."""
    points = (0, *values)
    return clipped([[a - b for b in points] for a in points], clip)


def entries(zone: Matrix) -> list[int | None]:
    """Return the entries row by row, None for infinity."""
    return [None if entry is INF else int(entry) for entry in zone]


def included(small: Matrix, large: Matrix) -> bool:
    """Return whether every point of one zone is in the other, over the same variables."""
    return all(a <= b for a, b in zip(small, large, strict=True))


def smaller(zone: Matrix, kept: list[Matrix]) -> list[Matrix]:
    """Return the kept zones that a zone includes."""
    return [other for other in kept if included(other, zone)]


@dataclass(frozen=True, slots=True)
class compiled:  # noqa: N801 - a function to those who use it
    """Runs code on a zone and returns the zone after, None if it is empty, True if a kept one includes it."""

    code: ZoneCode

    def __call__(self, zone: Matrix, kept: Sequence[Matrix] = ()) -> Matrix | Literal[True] | None:
        """The zone is looked for before it is clipped as well: most often that is enough."""
        exact = run_zone_code(self.code, zone, exact=True)
        if exact is None:
            return None
        if any(included(exact, large) for large in kept):
            return True
        after = run_zone_code(self.code, zone)
        return True if after is not None and any(included(after, large) for large in kept) else after


def run_zone_code(code: ZoneCode, zone: Matrix, *, exact: bool = False) -> Matrix | None:
    """Return the zone after the code, clipped unless it is to be `exact`, None if it is empty."""
    if code.keeps:
        return zone
    work = _loaded(code, zone)
    numbers = iter(code.ops)
    for number in numbers:
        if not _OPERATIONS[number](work, numbers, code.clip):
            return None
    rows = (0, *code.target)
    after = [[work[i][j] for j in rows] for i in rows]
    return tuple(entry for row in after for entry in row) if exact else clipped(after, code.clip)


def _loaded(code: ZoneCode, zone: Matrix) -> Work:
    size = math.isqrt(len(zone))
    rows = (0, *code.source)
    known: Work = [[zone[a * size + b] if a >= 0 and b >= 0 else INF for b in rows] for a in rows]
    for i in range(code.rows):
        known[i][i] = 0
    return known


def clipped(work: Work, clip: int) -> Matrix:
    """Return the zone with bounds above K gone and bounds below -K raised to -K, closed again.

    Entries only grow before the matrix is closed, and closing keeps the set of points, so the result includes the zone. It
    ends every search: before it is closed again a clipped matrix of n rows has entries of -K..K and infinity, so there are
    at most (2K + 2)^(n * n) of them, and the closed matrix is a function of it.
    """
    changed = False
    for row in work:
        for j, entry in enumerate(row):
            if entry is not INF and not -clip <= entry <= clip:
                row[j] = INF if entry > clip else -clip
                changed = True
    if changed:
        _close(work)
    return tuple(entry for row in work for entry in row)


def _close(work: Work) -> None:
    """Shortest paths between all rows. There is no negative circle: the entries are those of a zone with points, raised."""
    for middle, via in enumerate(work):
        for row in work:
            first = row[middle]
            if first is not INF:
                for j, second in enumerate(via):
                    if (way := plus(first, second)) < row[j]:
                        row[j] = way


def _bounded(work: Work, i: int, j: int, c: Entry) -> bool:
    """Suppose x_i - x_j <= c and close, in n * n steps: a shortest path uses the new edge once. False: no point is left."""
    if work[i][j] <= c:
        return True
    if plus(work[j][i], c) < 0:
        return False
    after = work[j].copy()
    for row in work:
        first = plus(row[i], c)
        if first is not INF:
            for b, second in enumerate(after):
                if (way := plus(first, second)) < row[b]:
                    row[b] = way
    return True


def _bound(work: Work, numbers: Iterator[int], _clip: int) -> bool:
    return _bounded(work, next(numbers), next(numbers), next(numbers))


def _move(work: Work, numbers: Iterator[int], _clip: int) -> bool:
    i, j, c = next(numbers), next(numbers), next(numbers)
    for k, row in enumerate(work):
        work[i][k] = plus(work[j][k], c)
        row[i] = plus(row[j], -c)
    work[i][j], work[j][i], work[i][i] = c, -c, 0
    return True


def _shift(work: Work, numbers: Iterator[int], _clip: int) -> bool:
    i, c = next(numbers), next(numbers)
    for k, row in enumerate(work):
        work[i][k] = plus(work[i][k], c)
        row[i] = plus(row[i], -c)
    work[i][i] = 0
    return True


def _forget(work: Work, numbers: Iterator[int], _clip: int) -> bool:
    i = next(numbers)
    for k, row in enumerate(work):
        work[i][k] = row[i] = INF
    work[i][i] = 0
    return True


def _fold(work: Work, numbers: Iterator[int], _clip: int) -> bool:
    """The least zone that includes the one with x_i as it is and the one with x_i := x_j + c; the maximum of closed matrices
    is closed. What is known of x_i is known of each number that it stands for."""
    i, j, c = next(numbers), next(numbers), next(numbers)
    for k, row in enumerate(work):
        if k != i:
            work[i][k] = max(work[i][k], plus(work[j][k], c))
            row[i] = max(row[i], plus(row[j], -c))
    return True


def _copy(work: Work, numbers: Iterator[int], _clip: int) -> bool:
    """What is known of x_j is known of x_i, and of the two only what follows from that by way of others."""
    i, j = next(numbers), next(numbers)
    apart = INF
    for k, row in enumerate(work):
        if k not in (i, j):
            work[i][k], row[i] = work[j][k], row[j]
            apart = min(apart, plus(work[j][k], row[j]))
    work[i][j] = work[j][i] = apart
    work[i][i] = 0
    return True


def _linear(work: Work, numbers: Iterator[int], clip: int) -> bool:
    i, j, c, divisor, count = (next(numbers) for _ in range(5))
    form = [(next(numbers), next(numbers)) for _ in range(count)]
    most = upper(work, form)
    if most is INF:
        return True
    bound = (int(most) + c) // divisor
    room = FORM_ROOM * clip
    return bound > room or _bounded(work, i, j, max(bound, -room))


def upper(work: Work, form: Sequence[tuple[int, int]]) -> Entry:
    """Return a bound from above of the sum of a * x_k over the (a, k) of a form."""
    if len(form) == 2 and form[0][0] == 1 and form[1][0] == -1:
        return work[form[0][1]][form[1][1]]
    total: Entry = 0
    for a, k in form:
        entry = work[k][0] if a > 0 else work[0][k]
        if entry is INF:
            return INF
        total += abs(a) * entry
    return total


_OPERATIONS: Final[dict[int, Callable[[Work, Iterator[int], int], bool]]] = {
    ZoneOp.BOUND: _bound,
    ZoneOp.MOVE: _move,
    ZoneOp.SHIFT: _shift,
    ZoneOp.FORGET: _forget,
    ZoneOp.FOLD: _fold,
    ZoneOp.COPY: _copy,
    ZoneOp.LINEAR: _linear,
}
