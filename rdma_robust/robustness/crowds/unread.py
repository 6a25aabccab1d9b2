"""Fewer control states: what no thread can read any more is forgotten, as copies settle.

The value of a word is *unread* if no template reads it, and each named thread and the hero write it before they read it,
or do neither any more; its poison then is as well. What a word had before beta wrote it is read by a pivot of a class that
depends on a value, so such a word is kept as long as the class is ahead of its thread. Marks of a word are unread if no
thread comes to an access of it, those of a queue pair if its thread comes to no event of it, those of a thread at its end.
Each of these fields is looked at by such events only, so what can be reached is the same. Words with a part in messages
are kept: queues have values and marks of their own.

Once the cycle is closed taint has done its work: marks of it may be there again, of copies that were tainted before, but
nothing depends on them. What a pivot reads is looked at only where the pivot is put: of values with which the same events
of the class can happen one is kept.

Fewer local states of copies: what nobody can read any more is forgotten, and steps that nobody sees are taken at once.

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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rdma_robust.counters.independence import LONGEST_CHAIN, independence
from rdma_robust.counters.lower import Chain
from rdma_robust.counters.vass import CounterEffect
from rdma_robust.errors import InternalError
from rdma_robust.expr import VALUE, Expr, evaluate, names
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.robustness.crowds.instance import (
    NOBODY,
    WHOLE,
    Owned,
    Parts,
    State,
    TwoCopyInstance,
    of_cell,
    of_queue_pair,
    of_thread,
)
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.marks import ALPHA_VALUE
from rdma_robust.robustness.messages import buffer_of
from rdma_robust.robustness.pivot_classes import CLASS, opens
from rdma_robust.robustness.receiving import CLOSED

_TAINT: Final = "taint"
"""All marks of taint."""

_MOST_VALUES: Final = 64
"""Values that are compared with one that a pivot reads."""

Kept = tuple[int, int, int]
"""A field by its number, the bits of it that are kept, and what is set instead of the others."""


def read_next(graph: EventGraph, cell: Cell, freezing: Iterable[int] = ()) -> frozenset[int]:
    """Return the program points from which the thread can come to a read of the word before it writes it; all accesses at
    `freezing` read."""
    freezing = frozenset(freezing)
    touching = [(e, reads, writes) for e in graph.edges for c, reads, writes in e.accesses if c == cell]
    writing = {id(e) for e, _, writes in touching if writes}
    passing = tuple(e for e in graph.edges if id(e) not in writing)
    reading = (e.source for e, reads, _ in touching if reads or e.source in freezing)
    return replace(graph, edges=passing).leading_to(reading)


def accessed_next(graph: EventGraph, cell: Cell) -> frozenset[int]:
    """Return the program points from which the thread can come to an access of the word."""
    return graph.leading_to(e.source for e in graph.edges if any(c == cell for c, _, _ in e.accesses))


@dataclass(frozen=True)
class Unread:
    """For one instance. Without `active` nothing is forgotten."""

    instance: TwoCopyInstance
    parts: Parts
    active: bool = True
    _known: dict[tuple[int, ...], tuple[Kept, ...]] = field(default_factory=dict)
    _alike: dict[int, dict[int, int]] = field(default_factory=dict)

    def forgotten(self, state: State, hero: int) -> State:
        """Return a control state, with first values in the slots of movers, without what is unread."""
        if not self.active:
            return state
        members = self._members[hero]
        closed = bool(state[self._closed] & 1)
        key = closed, hero, *map(state.__getitem__, members)
        if key not in self._known:
            self._known[key] = self._unread(members, key[2:], closed=closed)
        changes = [
            (number, value)
            for number, bits, first in self._known[key]
            if (value := state[number] & bits | first) != state[number]
        ]
        if (value := self._like(state[self._class], state[self._frozen])) != state[self._frozen]:
            changes.append((self._frozen, value))
        if not changes:
            return state
        left = list(state)
        for number, value in changes:
            left[number] = value
        return tuple(left)

    def _like(self, number: int, value: int) -> int:
        """The least value with which the same pivots of the class of this number can happen, for one that a pivot reads."""
        known = self._alike.setdefault(number, {})
        if value not in known:
            guards = self._guards(number)
            here = [_holds(guard, value) for guard in guards]
            tried = range(self.instance.frame.value_range[0], value)[:_MOST_VALUES] if guards else ()
            same = (other for other in tried if [_holds(guard, other) for guard in guards] == here)
            known[value] = next(same, value)
        return known[value]

    def _guards(self, number: int) -> tuple[Expr, ...]:
        """When pivots of a class can happen; none if that does not depend on the value alone."""
        classes = self.instance.pivot.classes
        if not number or (c := classes.tried[number - 1]) not in classes.value_dependent:
            return ()
        guards = tuple(dict.fromkeys(e.possible for e in classes.sites(c)))
        return guards if all(set(names(guard)) <= {VALUE.name} for guard in guards) else ()

    def _unread(self, members: tuple[int, ...], points: tuple[int, ...], *, closed: bool) -> tuple[Kept, ...]:
        """The fields that are changed where these threads stand at these program points."""
        unread = {*self._items} if closed else {*self._items} - {_TAINT}
        for thread, point in zip(members, points, strict=True):
            unread -= self._read[thread].get(point, frozenset())
        found: dict[int, tuple[int, int]] = {}
        for item in unread:
            for number, bits in self._items[item]:
                kept, first = found.get(number, (-1, 0))
                found[number] = (0, self.parts.initial[number]) if bits == WHOLE else (kept & ~bits, first)
        return tuple((number, kept, first) for number, (kept, first) in sorted(found.items()))

    @cached_property
    def _class(self) -> int:
        return self.parts.fields.index(CLASS)

    @cached_property
    def _closed(self) -> int:
        return self.parts.fields.index(CLOSED)

    @cached_property
    def _frozen(self) -> int:
        return self.parts.fields.index(ALPHA_VALUE)

    @cached_property
    def _members(self) -> dict[int, tuple[int, ...]]:
        """By hero the threads that stand in the control state; program points are its first fields."""
        named = self.instance.named
        return {hero: (*named, *(() if hero == NOBODY else (hero,))) for hero in (NOBODY, *self.instance.heroes)}

    @cached_property
    def _items(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """What may be forgotten, by a name for it: fields, and bits of them."""
        number = {name: i for i, name in enumerate(self.parts.fields)}
        found = {}
        for item, owned in self._owned() if self.active else ():
            if fields := tuple((number[name], bits) for name, bits, _ in owned if name in number):
                found[item] = fields
        return found

    def _owned(self) -> Iterator[tuple[str, tuple[Owned, ...]]]:
        """Yield the names of what may be forgotten, each with its fields: nothing of movers, nor what they may read."""
        frame, pivot = self.instance.frame, self.instance.pivot
        yield _TAINT, tuple((name, WHOLE, None) for name, _ in pivot.seen.tainted.variables())
        for cell in self._cells:
            if not self._by_movers(cell, reading=True):
                poison = tuple((name, bits, None) for name, bits in pivot.seen.poison.parts(frame.bit(cell)))
                yield f"value {cell}", ((str(cell), WHOLE, None), *poison)
            if not self._by_movers(cell, reading=False):
                yield f"marks {cell}", tuple(of_cell(self.instance, cell))
        for thread in self._explicit:
            for qp in (qp for qp in frame.types if qp[0] == thread and thread not in self._messaging):
                yield f"queue pair {qp}", tuple(of_queue_pair(self.instance, qp))
            yield f"thread {thread}", tuple(of_thread(self.instance, thread))

    @cached_property
    def _read(self) -> dict[int, dict[int, frozenset[str]]]:
        """By explicit thread and program point what is read from there on."""
        frame, found = self.instance.frame, {}
        for thread in self._explicit:
            graph = frame.graphs[thread]
            places = {f"thread {thread}": graph.leading_to(e.source for e in graph.edges)}
            for cell in self._cells:
                places[f"value {cell}"] = read_next(graph, cell) | self._pivots(thread, cell)
                places[f"marks {cell}"] = accessed_next(graph, cell)
            for qp in (qp for qp in frame.types if qp[0] == thread):
                places[f"queue pair {qp}"] = graph.leading_to(e.source for e in graph.edges if e.remote == qp[1])
            found[thread] = {p: frozenset(i for i, points in places.items() if p in points) for p in graph.points}
        return found

    def _pivots(self, thread: int, cell: Cell) -> frozenset[int]:
        """The program points from which the thread can come to a pivot that depends on the value of the word."""
        classes = self.instance.pivot.classes
        mine = (classes.ahead[c] for c in classes.value_dependent if (c.thread, c.cell) == (thread, cell))
        return frozenset().union(*mine)

    @cached_property
    def _explicit(self) -> tuple[int, ...]:
        """Named threads and heroes."""
        return tuple(t for t in range(len(self.instance.frame.graphs)) if t not in self.instance.movers)

    @cached_property
    def _messaging(self) -> frozenset[int]:
        edges = (e for g in self.instance.frame.graphs for e in g.edges)
        return frozenset(thread for e in edges if e.connection is not None for thread in e.connection[:2])

    @cached_property
    def _cells(self) -> tuple[Cell, ...]:
        """The words that are looked at: no mover's own, and none with a part in messages."""
        instance = self.instance
        messages = [e for g in instance.frame.graphs for e in g.edges if e.connection is not None]
        posted = {cell for e in messages for cell in (e.cell, buffer_of(e))}
        return tuple(c for c in instance.frame.cells if instance.owner(c) not in instance.movers and c not in posted)

    def _by_movers(self, cell: Cell, *, reading: bool) -> bool:
        """Whether a copy of some template may access the word, or read it."""
        graphs = (self.instance.frame.graphs[mover] for mover in self.instance.movers)
        return any(c == cell and (reads or not reading) for g in graphs for e in g.edges for c, reads, _ in e.accesses)


def _holds(condition: Expr, value: int) -> bool | None:
    """Whether a condition holds for a value, None where it has none."""
    try:
        return bool(evaluate(condition, {VALUE.name: value}))
    except ZeroDivisionError:
        return None


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
