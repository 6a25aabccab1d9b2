"""The code of a transition over zones: what is done to a matrix, in order, as numbers that two interpreters read.

A zone of `n` variables is a closed matrix with a row and a column for each and for the constant 0, which is row 0. Entry
(i, j) is the least c known with x_i - x_j <= c. The compiled kernel has the same numbers of operations; LAYOUT tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


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
