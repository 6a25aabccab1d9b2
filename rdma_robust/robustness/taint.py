"""How taint spreads in phase 2: sc reaches an event from the pivot through its thread, its word, or what it has waited for.

Source: docs/theory.md, "The search".
"""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.counters.program import Assign, Require, Statement
from rdma_robust.expr import FALSE, Binary, Const, Expr, Ite, Name, conj, disj
from rdma_robust.robustness.continuation import Continuation
from rdma_robust.robustness.event_graph import EventEdge
from rdma_robust.robustness.marks import AccessMemory, marked_if, union
from rdma_robust.robustness.pivot_classes import PivotClasses
from rdma_robust.robustness.receiving import CLOSED, ReceiveRules


@dataclass(frozen=True)
class Taint:
    """For an instrumentation with these classes and ways to go on."""

    classes: PivotClasses
    seen: AccessMemory
    onward: Continuation
    receiving: ReceiveRules

    def spreading(self, edge: EventEdge, part: int, taint: Expr, closing: Expr) -> tuple[Statement, ...]:
        """Record that the event is tainted if `taint` is non-zero, and that it closes the cycle if `closing` is as well.

        Once the cycle is closed, taint has done its work and is forgotten.
        """
        some = disj(self.receiving.closed, self.seen.tainted.some(), *self.receiving.tainted())
        needed = (Require(some),) if self.onward.needs_taint else ()
        spent = self.classes.current_in(self.onward.spent(edge), edge)
        spread = self._spread(edge, part, taint, spent)
        if conj(taint, closing) == FALSE:
            return (Assign(tuple(spread.items())), *needed)
        closed = Name("closed'")
        marks = {name: spread.get(name, Name(name)) for name, _ in self.seen.tainted.variables()}
        return (
            Assign((("closed'", Ite(disj(self.receiving.closed, conj(taint, closing)), Const(1), Const(0))),)),
            Assign(
                (
                    (CLOSED, self.receiving.now_closed(closed)),
                    *((name, Ite(closed, Const(0), value)) for name, value in marks.items()),
                )
            ),
            *self.receiving.forgotten(closed),
            *needed,
        )

    def _spread(self, edge: EventEdge, part: int, taint: Expr, spent: Expr) -> dict[str, Expr]:
        """The marks of taint after the event, where they can change; without that of its thread if `spent` is non-zero."""
        thread, cell = self.seen.marks.threads(edge), self.seen.marks.left_by(edge)
        through_thread = self.classes.current_in(self.onward.thread_mark(edge, part), edge)
        through_cell = self.classes.current_in(self.onward.cell_marks(edge, part), edge)
        marks, gone = dict(self.seen.tainted.parts(thread | cell)), dict(self.seen.tainted.parts(thread))
        cells = dict(self.seen.tainted.parts(cell))
        spread: dict[str, Expr] = {}
        for name in marks:
            left = union(marked_if(through_thread, gone.get(name, 0)), marked_if(through_cell, cells.get(name, 0)))
            spread[name] = Ite(taint, Binary("|", Name(name), left), Name(name))
            if name in gone and spent != FALSE:
                spread[name] = Binary("&~", spread[name], marked_if(spent, gone[name]))
        return spread
