"""Store buffers in the pivot search: reads that take a store of their own thread which is in beta already.

T1 is in :mod:`rules`. T2: where the L-last write of a word is a beta store of the reading thread, the read may be in alpha
although it conflicts with that store: it *forwards*, which is no ob edge. Such a read of the pivot's word comes after the
pivot, by way of the store, never before it. T3: a store of the pivot's thread in beta keeps it out of alpha, unless the
pivot is a read of another word: stores, CAS and NIC events may not overtake a store, and no pivot needs to forward.

Why the read needs no other rule: the L-last write of its word is of beta, so every write between the store and the read in
L would be one of beta as well (F4). The store is not poisoned, nor is what is read. Reads of the thread in beta force all
that follows, so a read that is forced anyway does not ask.

Source: docs/theory-deployed.md, "Store buffers", T2 and T3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rdma_robust.expr import FALSE, Binary, Const, Expr, Ite, Name, conj, negate
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.model import Model
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass, has_bit, writes
from rdma_robust.robustness.marks import MarkSet
from rdma_robust.robustness.rules import CPU_BETA, ForcingRules, buffers_stores
from rdma_robust.semantics.trace import CPU_TYPES, STORE_TYPES, EventType


def buffered(edge: EventEdge, model: Model) -> bool:
    """Whether the event waits in a store buffer."""
    return edge.type in STORE_TYPES and buffers_stores(model)


def keeps_pivot_out(edge: EventEdge, c: PivotClass, model: Model) -> bool:
    """Whether with this event of the pivot's own thread in beta no pivot of the class can be in alpha (T3)."""
    if not buffered(edge, model):
        return edge.type in CPU_TYPES
    return c.writes or c.cell == edge.cell


@dataclass(frozen=True)
class StoreBuffers:
    """T2 and T3 for one program. Without store buffers, or where no thread reads what it has stored, there are no marks."""

    frame: InstrumentationFrame
    rules: ForcingRules

    @cached_property
    def pairs(self) -> dict[tuple[int, Cell], int]:
        """The threads and cells for which a read may forward, numbered."""
        found: dict[tuple[int, Cell], int] = {}
        for thread in sorted(self.rules.buffering):
            edges = self.frame.graphs[thread].edges
            for cell in self.frame.cells:
                ahead = self._reads_ahead(thread, cell)
                if any(e.type is EventType.LW and e.cell == cell and e.target in ahead for e in edges):
                    found[thread, cell] = len(found)
        return found

    def _reads_ahead(self, thread: int, cell: Cell) -> frozenset[int]:
        graph = self.frame.graphs[thread]
        return graph.leading_to({e.source for e in graph.edges if e.type is EventType.LR and e.cell == cell})

    @cached_property
    def marks(self) -> MarkSet:
        """The pairs of which the thread's store in beta is the L-last write of the cell."""
        return MarkSet("forwarding", len(self.pairs))

    def variables(self) -> tuple[tuple[str, int], ...]:
        """Return the variables and how many bits each has."""
        return self.marks.variables() if self.pairs else ()

    def _pair(self, edge: EventEdge) -> int:
        number = None if edge.cell is None else self.pairs.get((edge.thread, edge.cell))
        return 0 if number is None else 1 << number

    def forwards(self, edge: EventEdge) -> Expr:
        """T2: the event is a read that takes a beta store of its own thread."""
        return self.marks.meets(self._pair(edge)) if edge.type is EventType.LR else FALSE

    def forces(self, edge: EventEdge, conflict: Expr) -> Expr:
        """Whether that it conflicts with an event of beta forces the event into beta, `conflict` if it does."""
        return conj(conflict, negate(self.forwards(edge)))

    def is_before_pivot(self, edge: EventEdge, conflict: Expr) -> Expr:
        """Whether sc leads from the event, in alpha, to the pivot that it may conflict with, `conflict` if it does."""
        return conj(conflict, negate(self.forwards(edge)))

    def after_beta_write(self, edge: EventEdge) -> list[tuple[str, Expr]]:
        """The marks behind an event of beta that writes."""
        if not self.pairs or not writes(edge):
            return []
        written = {cell for cell, _, writing in edge.accesses if writing}
        of_cell = sum(1 << number for (_, cell), number in self.pairs.items() if cell in written)
        mine = self._pair(edge) if edge.type is EventType.LW else 0
        updates: list[tuple[str, Expr]] = []
        for name, bits in self.marks.parts(of_cell):
            cleared: Expr = Binary("&~", Name(name), Const(bits))
            own = dict(self.marks.parts(mine)).get(name, 0)
            if own:
                kept = Ite(has_bit(CPU_BETA, 1 << edge.thread), Const(0), Const(own))
                cleared = Binary("|", cleared, kept)
            updates.append((name, cleared))
        return updates
