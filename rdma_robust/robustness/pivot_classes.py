"""The pivot classes of a program: which are tried, where they can be started, and tests for the current one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.counters.program import pc
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, Name, conj, disj, names, substitute
from rdma_robust.robustness.event_graph import EventEdge
from rdma_robust.robustness.frame import Frame, PivotClass, conflicts, reads, writes
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.relevance import Relevance
from rdma_robust.robustness.reductions.symmetry import automorphisms, representatives
from rdma_robust.semantics.trace import CPU_TYPES

CLASS = "class"
"""The number of the current class; 0 in phase 1."""


@dataclass(frozen=True)
class PivotClasses:
    """The classes of the program in `frame` that `reductions` leave."""

    frame: Frame
    reductions: frozenset[str]
    only: int | None = None
    """The place among all classes of the one to try, None for every one of them: robustness/split.py tries them apart."""

    @cached_property
    def cycles(self) -> CriticalCycles:
        return CriticalCycles(self.frame)

    @cached_property
    def relevance(self) -> Relevance | None:
        return Relevance(self.cycles, self.classes) if "relevance" in self.reductions else None

    @cached_property
    def classes(self) -> tuple[PivotClass, ...]:
        """Every pivot class that has a site and a conflicting access elsewhere, or with the reduction `symmetry` one of each
        orbit; class i has number i + 1.
        """
        found: dict[PivotClass, None] = {}
        for graph in self.frame.graphs:
            for edge in graph.edges:
                if edge.cell is not None and self.frame.bit(edge.cell):
                    found[PivotClass(edge.thread, edge.cell, writes(edge))] = None
        of_cell: dict[int, list[EventEdge]] = {}
        for edge in (e for g in self.frame.graphs for e in g.edges):
            of_cell.setdefault(self.frame.bit(edge.cell), []).append(edge)
        classes = tuple(c for c in found if any(self.may_start(e, c) for e in of_cell[self.frame.bit(c.cell)]))
        if classes and "symmetry" in self.reductions:
            classes = representatives(classes, automorphisms(self.frame))
        return classes if self.only is None else classes[self.only : self.only + 1]

    def touching(self, edge: EventEdge) -> Sequence[PivotClass]:
        """The classes with which the edge's event conflicts."""
        every, writing = self._of_cell.get(self.frame.bit(edge.cell), ((), ()))
        return every if writes(edge) else writing

    @cached_property
    def _of_cell(self) -> dict[int, tuple[list[PivotClass], list[PivotClass]]]:
        """By the bit of the cell: the classes of the cell, and those that write it."""
        found: dict[int, tuple[list[PivotClass], list[PivotClass]]] = {}
        for c in self.classes:
            every, writing = found.setdefault(self.frame.bit(c.cell), ([], []))
            every.append(c)
            if c.writes:
                writing.append(c)
        return found

    @cached_property
    def ahead(self) -> dict[PivotClass, frozenset[int]]:
        """The program points of the pivot's thread from which it can still come to an event of the class."""
        return {c: self.frame.graphs[c.thread].leading_to(e.source for e in self.sites(c)) for c in self.classes}

    @cached_property
    def value_dependent(self) -> frozenset[PivotClass]:
        """Classes with a site whose guard depends on the value it reads."""
        return frozenset(c for c in self.classes if any(VALUE.name in names(e.possible) for e in self.sites(c)))

    def sites(self, c: PivotClass) -> list[EventEdge]:
        return [e for e in self.frame.graphs[c.thread].edges if e.cell == c.cell and writes(e) == c.writes]

    def may_start(self, edge: EventEdge, c: PivotClass) -> bool:
        """Whether the edge's event can be the first of beta for a pivot of class `c`.

        A CPU event of the pivot's own thread would keep the pivot out of alpha; a CPU read would depend on its value.
        """
        if not conflicts(edge, c.cell, c.writes):
            return False
        if edge.type in CPU_TYPES and (edge.thread == c.thread or (c.writes and reads(edge))):
            return False
        return "filter" not in self.reductions or self.cycles.may_start(edge, c)

    def current_in(self, classes: Sequence[PivotClass], edge: EventEdge | None = None) -> Expr:
        """The current class is one of these, known to be one that the phase-2 steps of `edge` are for."""
        possible = self._all if edge is None else self._kept_numbers(edge)
        mask = self._numbered(classes) & possible
        if mask in (0, possible):
            return TRUE if mask else FALSE
        return Binary("&", Binary(">>", Const(mask), Name(CLASS)), Const(1))

    def number(self, c: PivotClass) -> int:
        return self._numbers[id(c)]

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """By identity: each class is one object, and hashing its cell over and over is slow."""
        return {id(c): i for i, c in enumerate(self.classes, 1)}

    def _numbered(self, classes: Sequence[PivotClass]) -> int:
        return sum(1 << self._numbers[id(c)] for c in classes)

    @cached_property
    def _all(self) -> int:
        return self._numbered(self.classes)

    def is_kept(self, edge: EventEdge, c: PivotClass) -> bool:
        """An event of the class still lies ahead of the pivot's thread after the edge, if it is that thread's."""
        return edge.thread != c.thread or edge.target in self.ahead[c]

    def current_kept(self, edge: EventEdge) -> Expr:
        """The current class is one that the phase-2 steps of `edge` are for: of no other class can a pivot follow."""
        mask = self._kept_numbers(edge)
        if mask in (0, self._all):
            return TRUE if mask else FALSE
        return Binary("&", Binary(">>", Const(mask), Name(CLASS)), Const(1))

    def _kept_numbers(self, edge: EventEdge) -> int:
        place = edge.thread, edge.target
        if place not in self._kept_masks:
            lost = [c for c in self._of_thread.get(edge.thread, ()) if not self.is_kept(edge, c)]
            self._kept_masks[place] = self._all & ~self._numbered(lost)
        return self._kept_masks[place]

    @cached_property
    def _kept_masks(self) -> dict[tuple[int, int], int]:
        return {}

    @cached_property
    def _of_thread(self) -> dict[int, list[PivotClass]]:
        found: dict[int, list[PivotClass]] = {}
        for c in self.classes:
            found.setdefault(c.thread, []).append(c)
        return found

    @cached_property
    def _start_points(self) -> tuple[frozenset[int], ...]:
        """For each thread the program points ahead of which lies an event that can be the first of beta."""
        return tuple(
            g.leading_to(e.source for e in g.edges if any(self.may_start(e, c) for c in self.touching(e)))
            for g in self.frame.graphs
        )

    def start_ahead(self, edge: EventEdge) -> Expr:
        """Some thread can still come to an event that can be the first of beta: otherwise phase 1 need not go on.

        A program in which something can go wrong is searched to its end, to know whether it does.
        """
        if "relevance" not in self.reductions or self._can_go_wrong or edge.target in self._start_points[edge.thread]:
            return TRUE
        return disj(*(self.at(t, points) for t, points in enumerate(self._start_points) if t != edge.thread))

    @cached_property
    def _can_go_wrong(self) -> bool:
        return any(e.step.fault is not None for g in self.frame.graphs for e in g.edges)

    def at(self, thread: int, points: frozenset[int]) -> Expr:
        """The thread is at one of these program points."""
        if not points or points == self.frame.graphs[thread].points:
            return TRUE if points else FALSE
        mask = sum(1 << p for p in points)
        return Binary("&", Binary(">>", Const(mask), Name(pc(thread))), Const(1))

    def ahead_now(self, edge: EventEdge, c: PivotClass) -> Expr:
        """Before the edge's event, the first of beta: the pivot's thread can still come to an event of the class.

        If the event writes, the pivot reads what the cell holds now, so that value must be one for which it can happen.
        """
        here = TRUE if edge.thread == c.thread else self.at(c.thread, self.ahead[c])
        return conj(here, self._readable_now(c)) if writes(edge) and "relevance" in self.reductions else here

    def _readable_now(self, c: PivotClass) -> Expr:
        """Some event of the class can happen with what the cell holds."""
        guards = dict.fromkeys(e.possible for e in self.sites(c))
        if any(set(names(guard)) != {VALUE.name} for guard in guards):
            return TRUE
        return disj(*(substitute(guard, {VALUE.name: self.frame.memory(c.cell)}) for guard in guards))
