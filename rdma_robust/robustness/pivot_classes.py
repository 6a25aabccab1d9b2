"""The pivot classes of a program: where they can be started, and tests for the current one.

How a search for violations may go on: everywhere. The reduction `relevance` says where that leads to no target.

Source: docs/theory-search.md, "The search": the plain search marks all that sc reaches from the pivot, and cuts only where
the pivot could no longer be in alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.counters.program import pc
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, Name, names
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.forwarding import keeps_pivot_out
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass, conflicts, edge_reads, writes
from rdma_robust.robustness.messages import buffer_of, takes_buffer
from rdma_robust.semantics.trace import CPU_TYPES, EventType

CLASS = "class"
"""The number of the current class; 0 in phase 1."""


Allowed = Callable[[EventEdge, PivotClass], bool]
"""Whether the event, which conflicts with pivots of the class, may be the first of beta after one of them."""


def class_of(edge: EventEdge, cell: Cell) -> PivotClass:
    """Return the class of the event of an edge, an access of the cell, as a pivot."""
    return PivotClass(edge.thread, cell, edge.writes, edge.type is EventType.NAR and not edge.writes)


def class_of_write(edge: EventEdge) -> PivotClass | None:
    """Return the class of the write behind a read that stops: as a pivot it is in alpha, and so is that read."""
    return PivotClass(edge.thread, edge.cell, True) if edge.stops and edge.cell is not None else None


def every_start(_edge: EventEdge, _c: PivotClass) -> bool:
    """Allow every start: what the plain instrumentation does."""
    return True


def classes_of(frame: InstrumentationFrame, allowed: Allowed) -> tuple[PivotClass, ...]:
    """Return every pivot class of the program that has a site, and an event that can be the first of beta after it.

    With locked sections of several locations there are CPUs only: then some pivot is a read (docs/theory-deployed.md,
    "Locked sections"), and no others are tried.
    """
    found: dict[PivotClass, None] = {}
    of_cell: dict[int, list[EventEdge]] = {}
    reads_only = has_sections(frame)
    for edge in (e for g in frame.graphs for e in g.edges):
        for cell, _, _ in edge.accesses or ((None, False, False),):
            of_cell.setdefault(frame.bit(cell), []).append(edge)
        if edge.cell is not None and frame.bit(edge.cell) and (edge.type is EventType.LR or not reads_only):
            found[class_of(edge, edge.cell)] = None
        if (cell := buffer_of(edge)) is not None:
            found[PivotClass(edge.thread, cell, False, receive=edge.connection)] = None
    messages = [e for g in frame.graphs for e in g.edges if takes_buffer(e)]
    poll = frame.limits.poll("filtering")
    return tuple(
        c
        for c in poll.each(found)
        if any(
            (can_start(e, c) and allowed(e, c)) or opens(e, c, frame)
            for e in (messages if c.receive else of_cell[frame.bit(c.cell)])
        )
    )


def has_sections(frame: InstrumentationFrame) -> bool:
    """Whether the program has locked sections of several locations."""
    return any(e.section for g in frame.graphs for e in g.edges)


def opens(edge: EventEdge, c: PivotClass, frame: InstrumentationFrame) -> bool:
    """Whether pivots of the class are the writes behind this edge, a read that stops, and other threads write the word too.

    Then the cycle may leave the pivot by its read, which is a part of it, to one of those writes in alpha.
    """
    if not edge.stops or class_of_write(edge) != c:
        return False
    others = (e for t, g in enumerate(frame.graphs) if t != c.thread for e in g.edges)
    return any(e.writes and e.cell == c.cell and e.also is None and e.type is not EventType.NAW for e in others)


def can_start(edge: EventEdge, c: PivotClass) -> bool:
    """Whether the edge's event can be the first of beta for a pivot of class `c`.

    A CPU event of the pivot's own thread would keep the pivot out of alpha; a CPU read would depend on its value. After a V
    comes the message that takes it.
    """
    if c.receive is not None:
        return takes_buffer(edge) and edge.connection == c.receive and edge.cell in (None, c.cell)
    if not conflicts(edge, c.cell, c.writes) or (edge.stops and class_of_write(edge) == c):
        return False
    return edge.type not in CPU_TYPES or not (edge.thread == c.thread or (c.writes and edge_reads(edge)))


@dataclass(frozen=True)
class PivotClasses:
    """The classes to try, and where `allowed` lets them start; class i of `tried` has number i + 1."""

    frame: InstrumentationFrame
    tried: tuple[PivotClass, ...]
    allowed: Allowed = every_start

    def touching(self, edge: EventEdge) -> Sequence[PivotClass]:
        """The classes with which the edge's event conflicts."""
        if edge.section:
            found = (each for bit, written in self._touched(edge) for each in self._of_cell.get(bit, ((), ()))[not written])
            return list({id(c): c for c in found}.values())
        every, writing = self._of_cell.get(self.frame.bit(edge.cell), ((), ()))
        return every if writes(edge) else writing

    def _touched(self, edge: EventEdge) -> list[tuple[int, bool]]:
        """The bits of the cells that other events conflict on, with whether the event writes them."""
        return [(bit, written) for cell, _, written in edge.accesses if (bit := self.frame.bit(cell))]

    def on_credit(self, edge: EventEdge) -> Sequence[PivotClass]:
        """The classes of V that the edge's event, if it is a message, can take on credit, as the first of beta."""
        if not takes_buffer(edge):
            return ()
        return [c for c in self.tried if c.receive and self.is_kept(edge, c) and self.may_start(edge, c)]

    @cached_property
    def _of_cell(self) -> dict[int, tuple[list[PivotClass], list[PivotClass]]]:
        """By the bit of the cell: the classes of the cell, and those that write it."""
        found: dict[int, tuple[list[PivotClass], list[PivotClass]]] = {}
        for c in (c for c in self.tried if c.receive is None):
            every, writing = found.setdefault(self.frame.bit(c.cell), ([], []))
            every.append(c)
            if c.writes:
                writing.append(c)
        return found

    @cached_property
    def ahead(self) -> dict[PivotClass, frozenset[int]]:
        """The program points of the pivot's thread from which it can still come to an event of the class."""
        return {c: self.frame.graphs[c.thread].leading_to(e.source for e in self.sites(c)) for c in self.tried}

    @cached_property
    def value_dependent(self) -> frozenset[PivotClass]:
        """Classes with a site whose guard depends on the value it reads."""
        return frozenset(c for c in self.tried if any(VALUE.name in names(e.possible) for e in self.sites(c)))

    def sites(self, c: PivotClass) -> list[EventEdge]:
        if c.receive is not None:
            edges = self.frame.graphs[c.thread].edges
            return [e for e in edges if e.connection == c.receive and buffer_of(e) == c.cell]
        return [e for e in self.frame.graphs[c.thread].edges if e.cell == c.cell and class_of(e, c.cell) == c]

    def may_start(self, edge: EventEdge, c: PivotClass) -> bool:
        """Whether the edge's event is tried as the first of beta for a pivot of class `c`."""
        return can_start(edge, c) and self.allowed(edge, c)

    def current_in(self, classes: Sequence[PivotClass], edge: EventEdge | None = None) -> Expr:
        """The current class is one of these, known to be one that the phase-2 steps of `edge` are for."""
        possible = self._all if edge is None else self._kept_numbers(edge)
        mask = possible if classes is self.tried else self._numbered(classes) & possible
        if mask in (0, possible):
            return TRUE if mask else FALSE
        return Binary("&", Binary(">>", Const(mask), Name(CLASS)), Const(1))

    def own(self, edge: EventEdge) -> Expr:
        """The event belongs to the pivot's thread."""
        return self.current_in([c for c in self.tried if c.thread in edge.threads], edge)

    def number(self, c: PivotClass) -> int:
        return self._numbers[id(c)]

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """By identity: each class is one object, and hashing its cell over and over is slow."""
        return {id(c): i for i, c in enumerate(self.tried, 1)}

    def _numbered(self, classes: Sequence[PivotClass]) -> int:
        return sum(1 << self._numbers[id(c)] for c in classes)

    @cached_property
    def _all(self) -> int:
        return self._numbered(self.tried)

    def is_kept(self, edge: EventEdge, c: PivotClass) -> bool:
        """An event of the class still lies ahead of the pivot's thread after the edge, if it is that thread's."""
        return bool(self._kept_numbers(edge) >> self.number(c) & 1)

    def current_kept(self, edge: EventEdge) -> Expr:
        """The current class is one that the phase-2 steps of `edge` are for: of no other class can a pivot follow."""
        mask = self._kept_numbers(edge)
        if mask in (0, self._all):
            return TRUE if mask else FALSE
        return Binary("&", Binary(">>", Const(mask), Name(CLASS)), Const(1))

    def _kept_numbers(self, edge: EventEdge) -> int:
        return self._kept_masks.get((edge.thread, edge.target), self._all)

    @cached_property
    def _kept_masks(self) -> dict[tuple[int, int], int]:
        """By thread and program point the numbers of the classes of which an event can follow, where that is not all."""
        found: dict[tuple[int, int], int] = {}
        for c in self.tried:
            for point in self.frame.graphs[c.thread].points - self.ahead[c]:
                found[c.thread, point] = found.get((c.thread, point), self._all) & ~(1 << self.number(c))
        return found

    def at(self, thread: int, points: frozenset[int]) -> Expr:
        """The thread is at one of these program points."""
        if not points or points == self.frame.graphs[thread].points:
            return TRUE if points else FALSE
        mask = sum(1 << p for p in points)
        return Binary("&", Binary(">>", Const(mask), Name(pc(thread))), Const(1))

    def ahead_now(self, edge: EventEdge, c: PivotClass) -> Expr:
        """Before the edge's event, the first of beta: the pivot's thread can still come to an event of the class."""
        return TRUE if edge.thread == c.thread else self.at(c.thread, self.ahead[c])


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
