"""Fewer local states of copies: what nobody can read any more is forgotten, and steps that nobody sees are taken at once.

A word that only one copy names is *dead* at a program point if the copy reads it no more before it writes it: then its
value and its poison are forgotten. A write with which beta starts for a pivot of the same copy counts as a read where the
value that the pivot reads matters: it reads what was there before. Its marks are forgotten where the copy does not access it
any more, those of a queue pair where no event of it can follow. The fields of a thread are read by events of that thread
only, so nothing changes; what a pivot may read is read by its event.

A *local* program point (:mod:`rdma_robust.counters.independence`) is passed at once if there is one step. That is right for
threads of which there are many as well: the hero stands in the instance for all other copies of a template, so it is with
all other threads that the steps there do not conflict. As long as no hero is chosen, a copy is not taken past an event that
can be a pivot, or start a search, as one of the hero's: then the copy can still become the hero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.counters.independence import LONGEST_CHAIN, independence
from rdma_robust.counters.lower import Chain
from rdma_robust.counters.vass import CounterEffect
from rdma_robust.errors import InternalError
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.parts import WHOLE, Owned, Parts, State, of_cell, of_queue_pair
from rdma_robust.robustness.crowds.unread import accessed_next, read_next
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.pivot_classes import opens


@dataclass(frozen=True)
class Settling:
    """For one instance. Without `active` nothing is forgotten or passed."""

    instance: TwoCopyInstance
    parts: Parts
    active: bool = True

    def passed(self, thread: int, state: State, *, chosen: bool) -> tuple[tuple[EventLabel, ...], State]:
        """Return the steps that the thread takes at once from here, and the state behind them. `chosen` says whether it is
        known who the hero is."""
        lowered = self.instance.lowered
        taken: list[EventLabel] = []
        nothing = CounterEffect((0,) * lowered.dimension, (0,) * lowered.dimension)
        while len(taken) < LONGEST_CHAIN and self.is_passed(thread, state[thread], chosen=chosen):
            following = lowered.successors(state, 1 << thread)
            if len(following) != 1 or lowered.effects[following[0][2]] != nothing or lowered.target(state) >= 0:
                break
            number, state, _ = following[0]
            event = single_label(lowered.labels[number])
            taken.append(event)
        return tuple(taken), state

    def is_passed(self, thread: int, point: int, *, chosen: bool) -> bool:
        """Whether the thread does not stay at a program point if there is one step from it."""
        local = self._local[thread]
        return point in local and (chosen or (thread, point) not in self._kept)

    @cached_property
    def _local(self) -> tuple[frozenset[int], ...]:
        """The local program points of each thread."""
        found = independence(self.instance.lowered.program) if self.active else None
        if found is None:
            return (frozenset(),) * len(self.instance.frame.graphs)
        return tuple(frozenset(at for at, place in places.items() if place.local) for places in found.places)

    @cached_property
    def _kept(self) -> frozenset[tuple[int, int]]:
        """The movers and program points at which a hero has something that another thread has not."""
        pivot, found = self.instance.pivot, set()
        for hero, mover in zip(self.instance.heroes, self.instance.movers, strict=True):
            mine = [c for c in self.instance.classes if c.thread == hero]
            found |= {(mover, edge.source) for c in mine for edge in pivot.classes.sites(c)}
            for edge in pivot.frame.graphs[hero].edges:
                if edge.stops or any(pivot.classes.may_start(edge, c) or opens(edge, c, pivot.frame) for c in mine):
                    found.add((mover, edge.source))
        return frozenset(found)

    def tidied(self, thread: int, held: tuple[int, ...]) -> tuple[int, ...]:
        """Return what the slots of a mover hold without what is dead."""
        if not (dead := self._dead[thread].get(held[0])):
            return held
        return tuple(dead.get(place, value) for place, value in enumerate(held))

    @cached_property
    def _dead(self) -> dict[int, dict[int, dict[int, int]]]:
        """By mover and program point the places of dead slots, with their first values."""
        if not self.active:
            return {mover: {} for mover in self.instance.movers}
        return {mover: self._dead_of(self.instance.frame.graphs[mover]) for mover in self.instance.movers}

    def _dead_of(self, graph: EventGraph) -> dict[int, dict[int, int]]:
        instance = self.instance
        found: dict[int, dict[int, int]] = {point: {} for point in graph.points}

        def forget(points: Iterable[int], of: Iterable[Owned]) -> None:
            places = self.parts.places(graph.thread, of)
            for point in points:
                found[point] |= places

        for cell in (c for c in instance.frame.cells if instance.owner(c) == graph.thread):
            poison = instance.pivot.seen.poison.parts(instance.frame.bit(cell))
            value: list[Owned] = [(str(cell), WHOLE, None), *((name, bits, None) for name, bits in poison)]
            forget(graph.points - read_next(graph, cell, self._freezing(graph)), value)
            forget(graph.points - accessed_next(graph, cell), of_cell(instance, cell))
        for qp in (qp for qp in instance.frame.types if qp[0] == graph.thread):
            used = graph.leading_to(e.source for e in graph.edges if e.remote == qp[1])
            forget(graph.points - used, of_queue_pair(instance, qp))
        return found

    def _freezing(self, graph: EventGraph) -> frozenset[int]:
        """The program points of a mover from which beta can start for a class of its hero that depends on a value."""
        hero = self.instance.heroes[self.instance.movers.index(graph.thread)]
        classes = self.instance.pivot.classes
        mine = [c for c in classes.value_dependent if c.thread == hero]
        edges = self.instance.frame.graphs[hero].edges
        return frozenset(e.source for e in edges if any(classes.may_start(e, c) for c in mine))


def single_label(label: EventLabel | Chain[EventLabel]) -> EventLabel:
    """The label of one step of the lowered instance. Raises InternalError for one of several."""
    if isinstance(label, Chain):
        raise InternalError("steps are taken at once by copies, not by the lowered program")
    return label
