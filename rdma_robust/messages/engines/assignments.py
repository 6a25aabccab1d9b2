"""Assignments of different sends to receives, or a Hall violator; bounds on their sums by multipliers, with proofs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rdma_robust.messages.encoding.endpoint_pairs import Truths
from rdma_robust.messages.engines.receive_forms import Amounts
from rdma_robust.solver_library import linear_solver

_LARGEST_PROGRAM: Final = 60_000
"""Pairs of the largest linear program that is solved."""


@dataclass(frozen=True, slots=True)
class HallViolator:
    """So many `rows` may take only so few `columns`: all that they may take, and fewer than they are."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DualMultipliers:
    """Of rows and columns: each amount is at most that of its row and that of its column together, so all amounts of
    rows with different columns are at most the sum of all. Columns that may be left out have none below 0."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def bound(self) -> int:
        return sum(self.rows) + sum(self.columns)


def assignment(allowed: Truths) -> list[int] | HallViolator:
    """Return a column for each row, no column twice; or rows that have too few columns."""
    masks = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in allowed]
    column_of, row_of, used = [-1] * len(masks), dict[int, int](), 0
    for row in sorted(range(len(masks)), key=lambda row: masks[row].bit_count()):
        free = masks[row] & ~used
        found = _augmented(masks, row, used, column_of, row_of) if not free else _lowest(free)
        if isinstance(found, HallViolator):
            return found
        if free:
            column_of[row], row_of[found] = found, row
        used |= 1 << found
    return column_of


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _augmented(
    masks: Sequence[int], start: int, used: int, column_of: list[int], row_of: dict[int, int]
) -> int | HallViolator:
    """Change who has which column so that `start` has one too; return the column that is new in use."""
    came: dict[int, int] = {}
    seen, rows, todo = 0, [start], deque([start])
    while todo:
        row = todo.popleft()
        new = masks[row] & ~seen
        if free := new & ~used:
            last = column = _lowest(free)
            while True:
                previous = column_of[row]
                column_of[row], row_of[column] = column, row
                if row == start:
                    return last
                column, row = previous, came[previous]
        seen |= new
        while new:
            column = _lowest(new)
            new &= new - 1
            came[column] = row
            rows.append(row_of[column])
            todo.append(row_of[column])
    return HallViolator(tuple(sorted(rows)), tuple(sorted(came)))


def is_hall_violator(hall: HallViolator, allowed: Truths) -> bool:
    """Return whether this proves that not all rows can have different columns."""
    reached = set(np.flatnonzero(allowed[list(hall.rows)].any(axis=0)).tolist())
    return len(set(hall.rows)) == len(hall.rows) > len(set(hall.columns)) and reached <= set(hall.columns)


def at_most(allowed: Truths, amounts: Amounts, *, thorough: bool) -> DualMultipliers:
    """Return the multipliers with the lowest bound that are found; thorough is by a linear program.

    `amounts` are those of rows by columns. Every row takes some column; so do all columns if there are as many as rows.
    """
    taken: Truths = np.asarray(allowed.any(axis=0))
    every = _every(allowed)
    allowed, amounts = allowed[:, taken], amounts[:, taken]
    most = np.where(allowed, amounts, np.iinfo(np.int64).min).max(axis=0)
    guesses = [np.zeros_like(most), most, np.where(allowed, amounts, np.iinfo(np.int64).max).min(axis=0)]
    if thorough and allowed.sum() <= _LARGEST_PROGRAM:
        guesses.append(_solved(allowed, amounts, every))
    found = min((_completed(allowed, amounts, each, every) for each in guesses), key=lambda each: each.bound)
    columns = np.zeros(len(taken), np.int64)
    columns[taken] = found.columns
    return DualMultipliers(found.rows, tuple(columns.tolist()))


def _every(allowed: Truths) -> bool:
    """Return whether all columns that can be taken are taken if all rows take one."""
    return bool(allowed.shape[0] == allowed.any(axis=0).sum())


def proves_bound(found: DualMultipliers, allowed: Truths, amounts: Amounts) -> bool:
    """Return whether multipliers prove their bound."""
    rows, columns = np.array(found.rows, np.int64), np.array(found.columns, np.int64)
    enough = bool((~allowed | (amounts <= rows[:, None] + columns)).all())
    return enough and (_every(allowed) or bool((columns >= 0).all()))


def _completed(allowed: Truths, amounts: Amounts, columns: Amounts, every: bool) -> DualMultipliers:
    """Return the multipliers with these of columns: rows get the least that is enough. Nothing is rounded here."""
    if not every:
        columns = columns - min(0, int(columns.min(initial=0)))
    most = np.where(allowed, amounts - columns, np.iinfo(np.int64).min).max(axis=1)
    return DualMultipliers(tuple(most.tolist()), tuple(columns.tolist()))


def _solved(allowed: Truths, amounts: Amounts, every: bool) -> Amounts:
    """Return multipliers of columns that are likely the best: those of a linear program, integers but for rounding."""
    import highspy  # noqa: PLC0415 - 0.1 s; most goals need none

    rows, columns = np.nonzero(allowed)
    height, width = allowed.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(rows), height + width
    lp.col_cost_ = -amounts[rows, columns].astype(np.float64)
    lp.col_lower_ = np.zeros(len(rows))
    lp.col_upper_ = np.full(len(rows), highspy.kHighsInf)
    lp.row_lower_ = np.concatenate([np.ones(height), np.full(width, 1.0 if every else 0.0)])
    lp.row_upper_ = np.ones(height + width)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(0, 2 * len(rows) + 1, 2)
    lp.a_matrix_.index_ = np.stack([rows, height + columns], axis=1).ravel()
    lp.a_matrix_.value_ = np.ones(2 * len(rows))
    highs = linear_solver()
    highs.passModel(lp)
    highs.run()
    duals = np.array(highs.getSolution().row_dual, np.float64)
    if len(duals) != height + width or not np.isfinite(duals).all() or abs(duals).max(initial=0) > 2**52:
        return np.zeros(width, np.int64)
    return np.rint(-duals[height:]).astype(np.int64)
