"""How values that depend on a writing pivot travel in beta: poison of words, and of what is on its way between them.

L and M1 for what is read and carried, M7 for operands of atomics in memory. Source: docs/theory.md, "The search",
"Remote atomics" and "Operands of atomics in memory".
"""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.expr import Binary, Const, Expr, Name
from rdma_robust.robustness.event_graph import EventEdge
from rdma_robust.robustness.frame import edge_reads, has_bit, stores_carried, writes
from rdma_robust.robustness.marks import POISON_CARRIED, POISON_TAKEN, AccessMemory, copy_bit, marked_if, union
from rdma_robust.robustness.pivot_classes import PivotClasses


@dataclass(frozen=True)
class Poison:
    """Of an instrumentation with these classes and marks."""

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
