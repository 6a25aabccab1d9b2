"""Which orders of one thread's accesses the hardware keeps, and which polls and remote fences make it do so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from rdma_robust.analyses.explain.explanation import Keeping
from rdma_robust.model import Model
from rdma_robust.robustness.event_graph import EventEdge, EventGraph
from rdma_robust.robustness.forwarding import buffered
from rdma_robust.robustness.reductions.relaxation import ThreadRelaxation
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, Event, EventType

KEEPERS = (EventType.P, EventType.F, EventType.FL, *FENCE_TYPES)

WORK = 250_000
"""Edges looked at, about, to find out which polls and fences of a program keep an order: a few seconds. The pairs that are
left then are kept all the same."""

Place = tuple[int, int, str, str]
"""An access as the reader sees it: where its statement stands, CPU or the NIC's event type, and the cell."""

Statement = frozenset[int]
"""The edges of a poll or fence, by number."""


@dataclass
class WorkBudget:
    """What may still be spent."""

    left: int = WORK

    def spend(self, amount: int) -> bool:
        """Take `amount` away; return whether it was there."""
        self.left -= amount
        return self.left >= 0


@dataclass(frozen=True)
class ThreadOrders:
    """The orders of one thread's accesses, with all polls and fences or without some of them."""

    graph: EventGraph
    model: Model
    work: WorkBudget

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The polls and fences."""
        found: dict[tuple[int, int], set[int]] = {}
        for i, edge in enumerate(self.graph.edges):
            if edge.type in KEEPERS:
                found.setdefault((edge.step.span.start, edge.step.span.end), set()).add(i)
        return tuple(frozenset(found[place]) for place in sorted(found))

    @cached_property
    def candidates(self) -> dict[tuple[Place, Place], list[tuple[int, int]]]:
        """The pairs of places that may be reordered once all polls and fences are gone, with their edges."""
        found: dict[tuple[Place, Place], list[tuple[int, int]]] = {}
        everything: Statement = frozenset().union(*self.statements)
        for a, edge in enumerate(self.graph.edges):
            if is_visible_access(edge) and (edge.type not in CPU_TYPES or buffered(edge, self.model)):
                for b in sorted(self.overtaking(a, everything)):
                    found.setdefault((access_place(edge), access_place(self.graph.edges[b])), []).append((a, b))
        return {places: found[places] for places in sorted(found)}

    def overtaking(self, a: int, gone: Statement = frozenset()) -> frozenset[int]:
        """Return which accesses may take effect before access `a`, which is po-earlier, if the polls and fences in `gone`
        were not there."""
        if gone not in self._relaxations:
            edges = tuple(_erased(e) if i in gone else e for i, e in enumerate(self.graph.edges))
            relaxation = ThreadRelaxation(replace(self.graph, edges=edges), self.model)
            self._relaxations[gone] = relaxation, {id(e): i for i, e in enumerate(edges)}, {}
        relaxation, numbers, known = self._relaxations[gone]
        if a not in known:
            later = relaxation.overtaking(relaxation.graph.edges[a])
            known[a] = frozenset(numbers[id(b)] for b in later if is_visible_access(b))
        return known[a]

    @cached_property
    def _relaxations(self) -> dict[Statement, tuple[ThreadRelaxation, dict[int, int], dict[int, frozenset[int]]]]:
        return {}

    def keepers(self, instances: list[tuple[int, int]]) -> tuple[tuple[Statement, ...], Keeping]:
        """Return the polls and fences without any one of which the order is lost; if there are none, a smallest set without
        all of which it is lost; and if it takes too long to know, all of the queue pair."""

        def lost(gone: Iterable[Statement]) -> bool:
            without = frozenset().union(*gone)
            return any(b in self.overtaking(a, without) for a, b in instances)

        remote = self.graph.edges[instances[0][0]].remote
        # A poll of several queue pairs is one statement. What empties the store buffer has no queue pair, or any.
        mine = [s for s in self.statements if remote is None or any(self.graph.edges[i].remote == remote for i in s)]
        if not self.work.spend(len(mine) * len(self.graph.edges)):
            return tuple(mine), "some"
        single = tuple(s for s in mine if lost([s]))
        if single:
            return single, "together"
        if not self.work.spend(len(mine) * len(self.graph.edges)):
            return tuple(mine), "some"
        needed = mine
        for statement in mine:
            fewer = [s for s in needed if s != statement]
            needed = fewer if lost(fewer) else needed
        return tuple(needed), "each"


def access_place(edge: EventEdge | Event) -> Place:
    """Return where an access is, for the reader."""
    assert edge.type is not None and edge.step is not None
    kind = "CPU" if edge.type in CPU_TYPES else edge.type.value
    return edge.step.span.start, edge.step.span.end, kind, str(edge.cell)


def is_visible_access(edge: EventEdge) -> bool:
    """Whether the edge is an access that others could see: not one of a constant that a put carries."""
    return edge.cell is not None and not edge.cell.hidden


def _erased(edge: EventEdge) -> EventEdge:
    return replace(edge, type=None, remote=None)
