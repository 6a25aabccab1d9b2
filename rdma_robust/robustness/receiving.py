"""Conditions of phase 2 on messages: the marks that are left in their queues, and pivots that are messages.

A pivot that is a message takes a V of alpha, from which sc leads to it. Which V that is, is known only where the pivot is
put: the one at the head of the queue. So the cycle is closed there, if that V is tainted.

A pivot can also be a V. Then the search starts at a message that finds no buffer, and takes the V on credit: it is the first
of beta, and no further V of its connection comes, until the V itself is put last into alpha. Such a message is one that
meets `rnr`: a search that finds no violation proves nothing then (S4), but more violations are found.

Source: docs/theory-deployed.md, "Messages" (S1 to S4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.counters.program import Assign, Statement
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Ite, Name, conj, disj, negate
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass, has_bit
from rdma_robust.robustness.marks import marked_if
from rdma_robust.robustness.messages import TAINTED, Messages, takes, takes_buffer
from rdma_robust.robustness.pivot_classes import Continuation, PivotClasses
from rdma_robust.robustness.rules import ForcingRules
from rdma_robust.semantics.trace import EventType

CLOSED = "closed"
"""Bit 0: the cycle is closed, whatever the pivot takes. Bit 1, where pivots can be messages: a tainted V of alpha was posted
that the pivot may take."""

_AWAITED = 2


@dataclass(frozen=True)
class ReceiveRules:
    """For an instrumentation with these classes, rules and ways to go on."""

    frame: InstrumentationFrame
    rules: ForcingRules
    classes: PivotClasses
    onward: Continuation

    @property
    def messages(self) -> Messages:
        return self.frame.messages

    @cached_property
    def by_message(self) -> Sequence[PivotClass]:
        """Classes of pivots that can be messages."""
        if not self.messages.channels:
            return ()
        return [c for c in self.classes.tried if any(map(takes_buffer, self.classes.sites(c)))]

    @property
    def closed(self) -> Expr:
        """The cycle is closed, whatever the pivot takes."""
        return has_bit(CLOSED, 1) if self.by_message else Name(CLOSED)

    def closed_by(self, site: EventEdge) -> Expr:
        """The cycle is closed if this event is the pivot."""
        return disj(self.closed, self.messages.marked(site, TAINTED))

    def now_closed(self, closed: Expr) -> Expr:
        """The new value of CLOSED."""
        return Binary("|", has_bit(CLOSED, _AWAITED), closed) if self.by_message else closed

    def forgotten(self, closed: Expr) -> tuple[Statement, ...]:
        """Forget the marks of taint where the cycle is closed."""
        gone = (Assign(((name, Binary("&~", Name(name), marked_if(closed, bits))),)) for name, bits in self.messages.taints)
        return tuple(gone)

    def tainted(self) -> tuple[Expr, ...]:
        """Each non-zero iff an entry of some queue is tainted."""
        return tuple(has_bit(name, bits) for name, bits in self.messages.taints)

    def marks(self, edge: EventEdge, part: int, taint: Expr) -> Expr:
        """The marks that the event leaves in its queue; `part` is 0 or 1, `taint` is non-zero if it is tainted."""
        if edge.connection is None:
            return Const(0)
        left = conj(taint, self.classes.current_in(self.onward.cell_marks(edge, part), edge))
        return self.rules.marks(edge, part, left)

    def awaited(self, edge: EventEdge, taint: Expr) -> tuple[Statement, ...]:
        """Remember that the event is a tainted V of alpha which the pivot may take."""
        if edge.type is not EventType.V:
            return ()
        may = self.classes.current_in([c for c in self.by_message if self._takes(c, edge)], edge)
        if conj(taint, may) == FALSE:
            return ()
        return (Assign(((CLOSED, Ite(conj(taint, may), Binary("|", Name(CLOSED), Const(_AWAITED)), Name(CLOSED))),)),)

    def allows(self, edge: EventEdge) -> Expr:
        """Whether the event is no V of a connection whose next V, taken on credit, is the pivot."""
        if edge.type is not EventType.V:
            return TRUE
        return negate(self.classes.current_in([c for c in self.classes.tried if c.receive == edge.connection], edge))

    def _takes(self, c: PivotClass, edge: EventEdge) -> bool:
        return any(site.connection == edge.connection and takes(site, edge) for site in self.classes.sites(c))
