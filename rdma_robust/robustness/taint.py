"""How taint spreads in phase 2: sc reaches an event from the pivot through its thread, its word, or what it has waited for.

Beside it poison: which words, and what is on its way between them, have a value that depends on the pivot.

Source: docs/theory-search.md, "The search"; docs/theory-atomics.md, "Remote atomics" and "Operands of atomics in memory".
"""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.counters.program import Assign, Require, Statement
from rdma_robust.expr import FALSE, Binary, Const, Expr, Ite, Name, conj, disj
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import edge_reads, has_bit, stores_carried, writes
from rdma_robust.robustness.marks import POISON_CARRIED, POISON_TAKEN, AccessMemory, copy_bit, marked_if, union
from rdma_robust.robustness.pivot_classes import Continuation, PivotClasses
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


@dataclass(frozen=True)
class Poison:
    """How values that depend on a writing pivot travel in beta, for an instrumentation with these classes: L and M1 for what
    is read and carried, M7 for operands of atomics in memory."""

    classes: PivotClasses
    seen: AccessMemory

    def variables(self) -> tuple[tuple[str, int], ...]:
        """The mark of operands that depend on the pivot, where there are operands, and how many bits it has."""
        frame = self.classes.frame
        return ((POISON_TAKEN, len(frame.graphs)),) if frame.taking_operands else ()

    def travelling(self, edge: EventEdge, bits: int) -> list[tuple[str, Expr]]:
        """How values that depend on a writing pivot travel through NIC reads and writes of beta."""
        if not any(c.writes for c in self.classes.tried):
            return []
        me = 1 << edge.thread
        cell = list(self.seen.poison.parts(bits))
        if edge.operand is not None:
            return [(POISON_TAKEN, union(Name(POISON_TAKEN), marked_if(has_bit(name, part), me))) for name, part in cell]
        if edge_reads(edge):
            carried = [(POISON_CARRIED, copy_bit(name, part, POISON_CARRIED, me)) for name, part in cell if edge.carries]
            return [*carried, *self._by_operands(edge, me, cell)]
        if stores_carried(edge):
            cleared = [] if edge.carries else [(POISON_CARRIED, Binary("&~", Name(POISON_CARRIED), Const(me)))]
            return [*cleared, *((n, copy_bit(POISON_CARRIED, me, n, part)) for n, part in cell)]
        return [(name, Binary("&~", Name(name), Const(part))) for name, part in cell if writes(edge)]

    def _by_operands(self, edge: EventEdge, me: int, cell: list[tuple[str, int]]) -> list[tuple[str, Expr]]:
        """How what an atomic of beta writes depends on a writing pivot by its operands (M7)."""
        if not any(map(self.classes.frame.bit, edge.operands)):
            return []
        written = cell if edge.writes else []
        depends = has_bit(POISON_TAKEN, me)
        spread = [(name, union(Name(name), marked_if(depends, part))) for name, part in written]
        return [*spread, (POISON_TAKEN, Binary("&~", Name(POISON_TAKEN), Const(me)))]
