"""Which marks of taint can still close the cycle of a pivot class, by program points.

Take a violating trace and a cycle in it that comes to no thread twice (see :mod:`critical`). Behind each of its events
stands the next one: in the same thread, for which the thread's mark is needed until then, or in another thread, for which
the marks on the cell are needed. So marks that no walk continues need not be left, the mark of a thread can go when no
exit of a walk lies ahead of it, and where the cycle is not closed and no mark is left, no target can be reached. An event
of the pivot's own thread in beta that no event of the class may overtake keeps the pivot out of alpha.

Source: normal-form.md, part 4 ("cutting phase-2 states from which taint can no longer reach the pivot").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.robustness.event_graph import EventEdge
from rdma_robust.robustness.frame import PivotClass
from rdma_robust.robustness.reductions.critical import CriticalCycles, Parts
from rdma_robust.semantics.trace import CPU_TYPES

ALPHA, BETA = 0, 1


@dataclass(frozen=True)
class Relevance:
    """For each event the classes for which something is needed."""

    cycles: CriticalCycles
    classes: Sequence[PivotClass]

    @cached_property
    def _exits(self) -> list[tuple[PivotClass, Parts]]:
        return [(c, self.cycles.useful(c).exits) for c in self.classes]

    @cached_property
    def _sites(self) -> list[tuple[PivotClass, int]]:
        return [(c, self.cycles.sites(c)) for c in self.classes]

    def thread_mark(self, edge: EventEdge, part: int) -> list[PivotClass]:
        """Classes for which a walk can go on from the event, in this part, through a later event of its thread."""
        number = self.cycles.number(edge)
        after, overtaking = self.cycles.after[number], self.cycles.overtaking[number]
        if part == ALPHA:
            return [c for c, (alpha, beta) in self._exits if after & (alpha | beta)]
        return [c for c, (alpha, beta) in self._exits if after & beta | overtaking & alpha]

    def cell_marks(self, edge: EventEdge, part: int) -> list[PivotClass]:
        """Classes for which a walk can go on from the event, in this part, through a conflict."""
        number = self.cycles.number(edge)
        return [c for c, exits in self._exits if exits[part] >> number & 1]

    def spent(self, edge: EventEdge) -> list[PivotClass]:
        """Classes for which an exit of a walk lay ahead of the event's thread before it, but none does any more."""
        ahead = self.cycles.ahead[edge.thread]
        before, now = ahead[edge.source], ahead[edge.target]
        if before == now:
            return []
        return [c for c, (alpha, beta) in self._exits if before & (alpha | beta) and not now & (alpha | beta)]

    def keeps_pivot_out(self, edge: EventEdge) -> list[PivotClass]:
        """Classes of the event's thread of which no event may be the pivot once this one is in beta."""
        overtaking = self.cycles.overtaking[self.cycles.number(edge)]
        mine = ((c, sites) for c, sites in self._sites if c.thread == edge.thread)
        return [c for c, sites in mine if edge.type in CPU_TYPES or not overtaking & sites]
