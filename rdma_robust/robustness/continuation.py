"""How a search for violations may go on: everywhere. The reduction `relevance` says where that leads to no target.

Source: docs/theory.md, "The search": the plain search marks all that sc reaches from the pivot, and cuts only where the
pivot could no longer be in alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.expr import TRUE, Expr
from rdma_robust.robustness.event_graph import EventEdge
from rdma_robust.robustness.forwarding import keeps_pivot_out
from rdma_robust.robustness.frame import PivotClass
from rdma_robust.robustness.pivot_classes import PivotClasses

ALPHA, BETA, TORN = 0, 1, 2
"""The part of an event; TORN is that of a remote read-modify-write with its read in alpha and its write in beta."""


@dataclass(frozen=True)
class Continuation:
    """For each event what may follow; classes are those for which it may."""

    classes: PivotClasses

    @property
    def needs_taint(self) -> bool:
        """Whether states without taint in which the cycle is open are left out."""
        return False

    def start_ahead(self, _edge: EventEdge) -> Expr:
        """Whether phase 1 goes on after the event."""
        return TRUE

    def readable_now(self, _edge: EventEdge, _c: PivotClass) -> Expr:
        """Whether the event is tried as the first of beta of the class, with what the pivot's cell holds."""
        return TRUE

    def thread_mark(self, _edge: EventEdge, _part: int) -> Sequence[PivotClass]:
        """Classes for which a tainted event of this part taints its thread."""
        return self.classes.tried

    def cell_marks(self, _edge: EventEdge, _part: int) -> Sequence[PivotClass]:
        """Classes for which a tainted event of this part taints its cell."""
        return self.classes.tried

    def spent(self, _edge: EventEdge) -> Sequence[PivotClass]:
        """Classes for which the mark of the event's thread goes with this event."""
        return ()

    def keeps_pivot_out(self, edge: EventEdge) -> Sequence[PivotClass]:
        """Classes whose pivot could no longer be in alpha with this event in beta: a CPU event of the pivot's thread."""
        mine = (c for c in self.classes.tried if c.thread in edge.threads)
        return [c for c in mine if keeps_pivot_out(edge, c, self.classes.frame.model)]
