"""Remote read-modify-writes in the pivot search.

Under sc an RMW that writes is one step, so it is one edge and one vertex of the cycle; in the RDMA order it is two events,
naR and naW, each with a part of its own. Beta before alpha is against R1, so it is in alpha, in beta, or *torn*: naR in
alpha, naW in beta. Where remote atomics exclude every access it is one event, and M3 to M5 are about nothing.

M1  An RMW of beta whose read is poisoned acts as in L. Its word stays poisoned, written or not, and so is its answer. With m
    its outcome may be the other one; the witness is executed with real values (:mod:`lift`).
M3  rao: the naR of an RMW that writes is forced by an naR of beta on its word. A pivot that is an naR is of a class of its
    own, for which such an RMW is never torn, and where one was torn, or stopped in alpha, its word has no such pivot.
M4  The events of a thread may end between naR and naW: an edge that *stops* is the read alone. Other RMWs of the word come
    after the write that is not there, so they are not possible any more. If the pivot is that write, they are forced into
    beta, and as the read belongs to the pivot's vertex, it *opens* the cycle: its word is read-tainted from there. The
    whole RMW may be the pivot as well.
M5  If the naW of a torn one is tainted and its naR conflicts with m, or is of m's thread, the cycle is closed.
M6  An access that conflicts with a writing pivot may go to beta although nothing forces it: an RMW may have to read m.
M7  A poisoned operand in memory poisons the word of an RMW of beta that writes, and not its answer (:mod:`taint`).
M8  A compare-and-swap that fails, and compares with an operand that a card or another thread writes, is taken for one that
    writes back what it has read, at once (:mod:`frame`).

Source: docs/theory-atomics.md, "Remote atomics".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from rdma_robust.counters.program import Assign, Body, Require, Statement, leaf, pc
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, Ite, Name, conj, disj, equals, names, negate
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame, PivotClass, edge_effect, has_bit, set_bit
from rdma_robust.robustness.marks import AccessMemory, MarkSet
from rdma_robust.robustness.pivot_classes import CLASS, PivotClasses, opens
from rdma_robust.robustness.rules import ForcingRules
from rdma_robust.semantics.trace import CPU_TYPES, EventType


def with_prefixes(frame: InstrumentationFrame) -> InstrumentationFrame:
    """Return the frame with, for every RMW that writes, an edge that stops behind its read, and one for its write there.

    Only pivots are taken from the second kind; no run has one.
    """
    if not any(e.may_tear for g in frame.graphs for e in g.edges):
        return frame
    return replace(frame, graphs=tuple(map(_with_prefixes, frame.graphs)))


def _with_prefixes(graph: EventGraph) -> EventGraph:
    fresh = max(graph.points) + 1
    found: list[EventEdge] = []
    for number, edge in enumerate((e for e in graph.edges if e.may_tear), fresh):
        bare = replace(edge, also=None, assigns=(), target=number)
        found.append(replace(bare, written=None, stops=True, completes=False, completing=False))
        found.append(replace(bare, type=edge.also, source=number, guard=TRUE, unsplit=None, carries=False, rmw=None))
    points = graph.points | {e.target for e in found}
    return replace(graph, edges=(*graph.edges, *found), points=points)


@dataclass(frozen=True)
class RemoteAtomics:
    """M3 to M6 for one program, as conditions and effects; nothing of it is there where the program has no RMW."""

    frame: InstrumentationFrame
    rules: ForcingRules
    classes: PivotClasses
    seen: AccessMemory

    @cached_property
    def words(self) -> dict[Cell, int]:
        """The words of RMWs that exclude each other only, numbered."""
        if self.frame.model.atomics != "hca":
            return {}
        edges = (e for g in self.frame.graphs for e in g.edges)
        return {c: i for i, c in enumerate(dict.fromkeys(e.cell for e in edges if e.type is EventType.NAR and e.cell))}

    @cached_property
    def in_beta(self) -> MarkSet:
        """The words with an naR in beta."""
        return MarkSet("atomic_in_beta", len(self.words))

    @cached_property
    def open(self) -> MarkSet:
        """The words with an RMW whose naR is in alpha and whose naW is not."""
        return MarkSet("atomic_open", len(self.words))

    def variables(self) -> tuple[tuple[str, int], ...]:
        """Return the variables and how many bits each has."""
        return (*self.in_beta.variables(), *self.open.variables()) if self.words else ()

    def _word(self, edge: EventEdge) -> int:
        number = None if edge.cell is None else self.words.get(edge.cell)
        return 0 if number is None else 1 << number

    @cached_property
    def _stops(self) -> dict[Cell, list[tuple[int, int]]]:
        """The threads and program points behind the reads that stop, by word."""
        found: dict[Cell, list[tuple[int, int]]] = {}
        for e in (e for g in self.frame.graphs for e in g.edges if e.stops and e.cell):
            assert e.cell is not None
            found.setdefault(e.cell, []).append((e.thread, e.target))
        return found

    def _stopped(self, edge: EventEdge) -> Iterator[tuple[int, Expr]]:
        """Threads with a test whether they stand behind a read of the word of an RMW that has stopped."""
        if edge.type is EventType.NAR and edge.cell is not None:
            for thread, point in self._stops.get(edge.cell, ()):
                if thread != edge.thread:
                    yield thread, equals(Name(pc(thread)), Const(point))

    def cuts(self, edge: EventEdge) -> Expr:
        """Whether the event, put into beta, is the read of a pivot that is its write: they are never taken apart."""
        return self._of_class(edge, edge.thread) if edge.stops else FALSE

    def enabled_first(self, edge: EventEdge) -> Expr:
        """Whether the event can be in phase 1, or the first of beta: rao is before the write of no RMW that has stopped."""
        return conj(*(negate(stopped) for _, stopped in self._stopped(edge)))

    def enabled(self, edge: EventEdge) -> Expr:
        """Whether the event can be in phase 2: as in phase 1, but for the pivot."""
        return conj(*(disj(negate(stopped), self._of_class(edge, thread)) for thread, stopped in self._stopped(edge)))

    def _of_class(self, edge: EventEdge, thread: int) -> Expr:
        """The pivot is a write of the edge's word by the thread."""
        wanted = [c for c in self.classes.tried if (c.thread, c.cell, c.writes) == (thread, edge.cell, True)]
        return self.classes.current_in(wanted, edge)

    def forces(self, edge: EventEdge) -> Expr:
        """M3 and M4 for the naR of the edge."""
        if edge.type is not EventType.NAR or not self.words:
            return FALSE
        behind = disj(*(conj(stopped, self._of_class(edge, thread)) for thread, stopped in self._stopped(edge)))
        writes = edge.writes or edge.stops
        return disj(behind, self.in_beta.meets(self._word(edge))) if writes else behind

    @cached_property
    def _may_flip(self) -> bool:
        """Whether what some RMW does depends on what it reads."""
        edges = (e for g in self.frame.graphs for e in g.edges)
        return any(e.rmw is not None and VALUE.name in names(e.rmw[0]) for e in edges)

    def chooses(self, edge: EventEdge) -> Expr:
        """M6: the event conflicts with a pivot that writes and may be in beta though nothing forces it."""
        if not self._may_flip or (edge.type in CPU_TYPES and edge.reads):
            return FALSE
        return self.classes.current_in([c for c in self.classes.touching(edge) if c.writes], edge)

    def _of_atomic_read(self, edge: EventEdge) -> Expr:
        """The pivot is an naR of the edge's word."""
        return self.classes.current_in([c for c in self.classes.touching(edge) if c.atomic], edge)

    def read_forced(self, edge: EventEdge, forced_write: Expr) -> Expr:
        """Whether the naR of an RMW that writes is in beta; `forced_write` is whether its naW is."""
        conflict = self.seen.accessed.meets(self.seen.marks.written(edge.cell))
        rules = disj(self.rules.oppo_forces(edge), conflict, self.forces(edge))
        return disj(rules, forced_write if edge.back else conj(forced_write, self._of_atomic_read(edge)))

    def torn_allowed(self, edge: EventEdge, forced_write: Expr) -> Expr:
        """Whether the naR of an RMW that writes may be in alpha with its naW in beta."""
        return conj(disj(forced_write, self.chooses(edge)), negate(self.read_forced(edge, forced_write)))

    def may_be_torn(self, edge: EventEdge, c: PivotClass) -> bool:
        """Whether with a pivot of the class the naR of the first event of beta, an RMW, may be in alpha."""
        return edge.may_tear and not c.atomic

    def may_be_whole(self, edge: EventEdge, c: PivotClass) -> bool:
        """Whether with a pivot of the class the naR of the first event of beta, if it is an RMW, may be in beta."""
        return not edge.may_tear or c.writes or c.atomic

    def torn(self, edge: EventEdge, allowed: Expr, taint: Expr, does: Iterable[Statement]) -> Iterator[Body[EventLabel]]:
        """The steps by which an RMW is torn where that is `allowed`, tainted if `taint` is non-zero or by the pivot."""
        meets = self.classes.current_in([c for c in self.classes.touching(edge) if not c.atomic], edge)
        enabled = Require(conj(allowed, self.enabled(edge)))
        tainted = Assign((("taint'", disj(taint, meets)),))
        for counted in self.torn_part(edge):
            yield leaf(EventLabel(edge, 1, None, True), enabled, tainted, *does, *counted)

    def meets_torn(self, edge: EventEdge) -> Expr:
        """M5: the pivot conflicts with the naR of an RMW that is torn."""
        return self.classes.current_in([c for c in self.classes.touching(edge) if c.writes], edge)

    def torn_part(self, edge: EventEdge) -> tuple[tuple[Statement, ...], ...]:
        """What a naW of the second part does to the set of types, and to completions where the operation completes with it,
        as alternatives."""
        return self.rules.second_part(replace(edge, type=edge.also, also=None))

    def after_alpha(self, edge: EventEdge, closed: Expr) -> tuple[tuple[str, Expr], ...]:
        """The marks behind an event of alpha: of a read that stops."""
        if not edge.stops:
            return ()
        mine = self._of_class(edge, edge.thread)
        read = self.seen.tainted.parts(self.frame.bit(edge.cell)) if mine != FALSE else ()
        opened = ((n, Ite(conj(mine, negate(closed)), Binary("|", Name(n), Const(part)), Name(n))) for n, part in read)
        return (*self._opened(edge), *opened)

    def after_first(self, edge: EventEdge) -> tuple[tuple[str, Expr], ...]:
        """The marks behind an event of phase 1."""
        return tuple(self._opened(edge)) if edge.stops else ()

    def _opened(self, edge: EventEdge) -> Iterator[tuple[str, Expr]]:
        return (set_bit(name, part) for name, part in self.open.parts(self._word(edge)))

    def after_torn(self, edge: EventEdge) -> tuple[tuple[str, Expr], ...]:
        """The marks behind an RMW that is torn."""
        accessed = self.seen.accessed.parts(self.seen.marks.written(edge.cell))
        clean = ((n, Binary("&~", Name(n), Const(part))) for n, part in self.seen.poison.parts(self.frame.bit(edge.cell)))
        return (*self._opened(edge), *(set_bit(name, part) for name, part in accessed), *clean)

    def after_beta(self, edge: EventEdge) -> tuple[tuple[str, Expr], ...]:
        """The marks behind an event of beta."""
        if edge.type is not EventType.NAR:
            return ()
        return tuple(set_bit(name, part) for name, part in self.in_beta.parts(self._word(edge)))

    def openings(self, edge: EventEdge) -> list[Body[EventLabel]]:
        """The event as the read of a pivot that is its write, and by which the cycle leaves it (M4)."""
        return [
            leaf(
                EventLabel(edge, 1, c),
                Require(self.enabled_first(edge)),
                *edge_effect(self.frame, edge),
                *self._opening(edge, c),
            )
            for c in self.classes.tried
            if opens(edge, c, self.frame)
        ]

    def _opening(self, edge: EventEdge, c: PivotClass) -> tuple[Statement, ...]:
        """What it means that the edge is the read of the pivot, a write: its word is tainted and, for beta, poisoned."""
        bit = self.frame.bit(edge.cell)
        marks = (*self.seen.poison.parts(bit), *self.seen.tainted.parts(bit))
        return (Assign(((CLASS, Const(self.classes.number(c))), *(set_bit(n, part) for n, part in marks))),)

    def keeps_out(self, edge: EventEdge) -> Expr:
        """Whether rao forbids the pivot at this edge, last of alpha (M3)."""
        return disj(*(has_bit(name, part) for name, part in self.pivot_bars(edge)))

    def pivot_bars(self, edge: EventEdge) -> tuple[tuple[str, int], ...]:
        """The marks of which one keeps the pivot at this edge out of alpha, by variable."""
        if edge.type is not EventType.NAR:
            return ()
        word = self._word(edge)
        return (*self.open.parts(word), *(self.in_beta.parts(word) if edge.stops else ()))
