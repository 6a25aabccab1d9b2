"""`start` and `join` as the design says them: edges between events of CPUs, without the words that stand for them.

A start and the first event of the thread, and the last event of a thread and a join, are fences here that nothing is read
or written by; the first of each pair is before the second in ib, ob and sc, as a receive is before its message (sm).
"""

from __future__ import annotations

from dataclasses import replace

from tests.support.naive_axioms import Link, Naive
from tests.support.naive_runs import Ev


class NaiveLifetimes(Naive):
    """What the axioms say of a program with such edges."""

    def matched(self, threads: list[list[Ev]]) -> tuple[list[list[Ev]], list[Link], list[Link]] | None:
        """As for messages; None also if a thread begins, or is joined, without having been started or having ended."""
        made: dict[object, tuple[int, int]] = {}
        waiting: list[tuple[object, tuple[int, int]]] = []
        for t, mine in enumerate(threads):
            for k, e in enumerate(mine):
                if e.cell is None or not e.cell.moment:
                    continue
                if e.written is None:
                    waiting.append((e.cell, (t, e.position)))
                else:
                    made[e.cell] = (t, e.position)
                mine[k] = replace(e, kind="F", cell=None, read=None, written=None)
        if any(cell not in made for cell, _ in waiting):
            return None
        found = super().matched(threads)
        if found is None:
            return None
        placed, sm, rpf = found
        return placed, [*sm, *((made[cell], at) for cell, at in waiting)], rpf
