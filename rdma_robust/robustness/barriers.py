"""Barriers in counter programs: a round begins when all of its threads stand before it, and nothing happens until all have
left it, one after the other.

A round is one vertex of every relation (:mod:`vertices`), so its events are in one part and tainted together: what asks for
the thread of an event asks for all threads of the round. The first that leaves settles both for the others. The variable
says who is next; between rounds it is 0, so that a round is one step between states of the program.

Source: docs/theory-deployed.md, "Barriers".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.counters.program import pc
from rdma_robust.expr import TRUE, Const, Expr, Name, conj, disj, equals
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import EventGraph

LEAVING: Final = "leaving"
"""The number of the thread that leaves next, in a numbering of the threads of all barriers; 0 between rounds."""

Members = tuple[int, ...]


@dataclass(frozen=True)
class Barriers:
    """The barriers of a program, given by their threads."""

    graphs: Sequence[EventGraph]

    @cached_property
    def first(self) -> dict[Members, int]:
        """The number of each barrier's first thread; those of the others follow."""
        found: dict[Members, int] = {}
        free = 0
        for edge in (e for g in self.graphs for e in g.edges if e.members):
            if edge.members not in found:
                found[edge.members] = free
                free += len(edge.members)
        return found

    def variables(self) -> tuple[tuple[str, int], ...]:
        return ((LEAVING, 0),) if self.first else ()

    def sizes(self) -> tuple[tuple[str, int], ...]:
        """The bits of :meth:`variables`."""
        return tuple((name, sum(map(len, self.first)).bit_length()) for name, _ in self.variables())

    def enabled(self, edge: EventEdge) -> Expr:
        """What the event, or the pivot, of an edge waits for."""
        if not self.first:
            return TRUE
        place = edge.members.index(edge.thread) if edge.members else 0
        others = edge.members[1:] if not place else ()
        mine = equals(Name(LEAVING), Const(self.first[edge.members] + place if place else 0))
        return conj(mine, *(self._stands(other, edge.members) for other in others))

    def _stands(self, thread: int, members: Members) -> Expr:
        """The thread is at a barrier of these threads."""
        here = (e for e in self.graphs[thread].edges if e.members == members)
        return disj(*(conj(equals(Name(pc(thread)), Const(e.source)), e.guard) for e in here))

    def updates(self, edge: EventEdge) -> list[tuple[str, Expr]]:
        if not edge.members:
            return []
        place = edge.members.index(edge.thread) + 1
        more = place < len(edge.members)
        return [(LEAVING, Const(self.first[edge.members] + place if more else 0))] if len(edge.members) > 1 else []

    def footprint(self, edge: EventEdge) -> tuple[int, int]:
        """The barriers, as bits, that wait for the event, or for another that its thread can make instead; and the one to
        which it belongs."""
        waiting = sum(
            1 << number
            for number, members in enumerate(self.first)
            if not self._points.get((edge.thread, members), frozenset()).isdisjoint((edge.source, edge.target))
        )
        return waiting, 1 << list(self.first).index(edge.members) if edge.members else 0

    @cached_property
    def _points(self) -> dict[tuple[int, Members], frozenset[int]]:
        """Where each thread can stand at each barrier."""
        found: dict[tuple[int, Members], frozenset[int]] = {}
        for edge in (e for g in self.graphs for e in g.edges if e.members):
            key = edge.thread, edge.members
            found[key] = found.get(key, frozenset()) | {edge.source}
        return found
