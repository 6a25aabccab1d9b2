"""Relevance of marks of taint: those that can still close the cycle of a pivot class, by program points.

Take a violating trace and a cycle in it that comes to no thread twice (see :mod:`critical`). Behind each of its events
stands the next one: in the same thread, for which the thread's mark is needed until then, or in another thread, for which
the marks on the cell are needed. So marks that no walk continues need not be left, the mark of a thread can go when no
exit of a walk lies ahead of it, and where the cycle is not closed and no mark is left, no target can be reached. An event
of the pivot's own thread in beta that no event of the class may overtake keeps the pivot out of alpha.

Source: docs/reductions.md, "`relevance`: states that can still close the cycle".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rdma_robust.expr import TRUE, VALUE, Expr, disj, names, substitute
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.forwarding import keeps_pivot_out
from rdma_robust.robustness.frame import PivotClass, writes
from rdma_robust.robustness.pivot_classes import ALPHA, BETA, TORN, Continuation, opens
from rdma_robust.robustness.reductions.critical import CriticalCycles, Parts


@dataclass(frozen=True)
class Relevance(Continuation):
    """For each event the classes for which something is needed."""

    cycles: CriticalCycles

    @cached_property
    def _exits(self) -> list[tuple[PivotClass, Parts]]:
        return [(c, self.cycles.useful(c).exits) for c in self.classes.tried]

    @cached_property
    def _sites(self) -> list[tuple[PivotClass, int]]:
        return [(c, self.cycles.sites(c)) for c in self.classes.tried]

    def thread_mark(self, edge: EventEdge, part: int) -> list[PivotClass]:
        """Classes for which a walk can go on from the event, in this part, through a later event of its thread."""
        if edge.members:  # of the other threads nothing is known here
            return list(self.classes.tried)
        number = self.cycles.number(edge)
        after, overtaking = self.cycles.after[number], self.cycles.overtaking[number]
        if part != BETA:
            return [c for c, (alpha, beta) in self._exits if after & (alpha | beta)]
        return [c for c, (alpha, beta) in self._exits if after & beta | overtaking & alpha]

    def cell_marks(self, edge: EventEdge, part: int) -> list[PivotClass]:
        """Classes for which a walk can go on from the event, in this part, through a conflict."""
        number = self.cycles.number(edge)
        parts = (ALPHA, BETA) if part == TORN else (part,)
        return [c for c, exits in self._exits if any(exits[p] >> number & 1 for p in parts)]

    def spent(self, edge: EventEdge) -> list[PivotClass]:
        """Classes for which an exit of a walk lay ahead of the event's thread before it, but none does any more."""
        if edge.members:
            return []
        ahead = self.cycles.ahead[edge.thread]
        before, now = ahead[edge.source], ahead[edge.target]
        if before == now:
            return []
        return [c for c, (alpha, beta) in self._exits if before & (alpha | beta) and not now & (alpha | beta)]

    def keeps_pivot_out(self, edge: EventEdge) -> list[PivotClass]:
        """Classes of the event's thread of which no event may be the pivot once this one is in beta."""
        overtaking = self.cycles.overtaking[self.cycles.number(edge)]
        mine = ((c, sites) for c, sites in self._sites if c.thread in edge.threads)
        model = self.classes.frame.model
        return [c for c, sites in mine if keeps_pivot_out(edge, c, model) or not overtaking & sites]

    @property
    def needs_taint(self) -> bool:
        """Where the cycle is not closed and no mark is left, no target can be reached."""
        return True

    def start_ahead(self, edge: EventEdge) -> Expr:
        """Some thread can still come to an event that can be the first of beta: otherwise phase 1 need not go on.

        A program in which something can go wrong is searched to its end, to know whether it does.
        """
        if self._can_go_wrong or edge.target in self._start_points[edge.thread]:
            return TRUE
        return disj(*(self.classes.at(t, points) for t, points in enumerate(self._start_points) if t != edge.thread))

    def readable_now(self, edge: EventEdge, c: PivotClass) -> Expr:
        """Some event of the class can happen with what the cell holds, which the pivot reads if this event writes it."""
        guards = dict.fromkeys(e.possible for e in self.classes.sites(c)) if writes(edge) else {}
        if not guards or any(set(names(guard)) != {VALUE.name} for guard in guards):
            return TRUE
        return disj(*(substitute(guard, {VALUE.name: self.classes.frame.memory(c.cell)}) for guard in guards))

    @cached_property
    def _start_points(self) -> tuple[frozenset[int], ...]:
        """For each thread the program points ahead of which lies an event that can be the first of beta."""
        classes = self.classes
        return tuple(g.leading_to(e.source for e in g.edges if self._starts(e)) for g in classes.frame.graphs)

    def _starts(self, edge: EventEdge) -> bool:
        """Whether the event can be the first of beta, or the read of a pivot by which the cycle leaves it."""
        classes = self.classes
        if any(classes.may_start(edge, c) for c in classes.touching(edge)) or classes.on_credit(edge):
            return True
        return any(opens(edge, c, classes.frame) for c in (classes.tried if edge.stops else ()))

    @cached_property
    def _can_go_wrong(self) -> bool:
        return any(e.fault is not None for g in self.classes.frame.graphs for e in g.edges)
