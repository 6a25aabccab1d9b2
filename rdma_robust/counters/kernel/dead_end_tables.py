"""The test for dead ends as the tables that the compiled kernel reads."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from rdma_robust.counters.dead_ends import WIDTH, DeadEnds, Guard, Marks

Tables = tuple["array[int]", "array[int]", "array[int]", "array[int]", "array[int]", "array[int]"]


def dead_end_tables(ends: DeadEnds, fields: Sequence[str]) -> Tables:
    """Return header, moves, pairs, pivots, guards of pivots, and rows, for control states with these fields.

    Header: the fields `current`, `closed`, `left` and `frozen`, then for each process the pairs (first, end) of its taint.
    Pairs: (field, bits). Moves and pivots: the columns that _kernel.pyx names. Guards: (move, least, allowed). Rows are sets
    of moves in words of 64 bits: `overtaking`, `after`, `conflicting` of every move, then `sites`, `meeting` of every pivot.
    """
    column = {name: i for i, name in enumerate(fields)}
    pairs: list[int] = []
    words = -(-len(ends.moves) // WIDTH)

    def end(marks: Marks = ()) -> int:
        for name, bits in marks:
            pairs.extend((column[name], bits))
        return len(pairs) // 2

    def row(moves: int) -> list[int]:
        return [moves >> WIDTH * k & (1 << WIDTH) - 1 for k in range(words)]

    header = [column[name] for name in (ends.current, ends.closed, ends.left, ends.frozen)]
    for marks in ends.tainted:
        header += [end(), end(marks)]
    moves: list[int] = []
    rows: list[int] = []
    for m in ends.moves:
        moves += [m.process, m.source, m.target, end(), end(m.order), end(m.access), end(m.taints), m.passes]
        moves += [-1 if m.cell is None else column[m.cell], m.guard is not None, *_signed(m.guard), m.writes, m.counts, -1]
        rows += [*row(m.overtaking), *row(m.after), *row(m.conflicting)]
    pivots: list[int] = []
    guards: list[int] = []
    for p in ends.pivots:
        first = len(guards) // 3
        for site, guard in p.guard.items():
            guards += [site, *_signed(guard)]
        pivots += [p.process, column[p.cell], end(), end(p.written), first, len(guards) // 3]
        rows += [*row(p.sites), *row(p.meeting)]
    return _numbers(header), _numbers(moves), _numbers(pairs), _numbers(pivots), _numbers(guards), array("Q", rows)


def _numbers(values: Sequence[int]) -> array[int]:
    return array("q", values)


def _signed(guard: Guard | None) -> tuple[int, int]:
    if guard is None:
        return 0, 0
    return guard.least, guard.allowed - (1 << WIDTH) if guard.allowed >> WIDTH - 1 else guard.allowed
