"""Fewer control states: what no thread can read any more is forgotten, as :mod:`settling` does for copies.

The value of a word is *unread* if no template reads it, and each named thread and the hero write it before they read it,
or do neither any more; its poison then is as well. What a word had before beta wrote it is read by a pivot of a class that
depends on a value, so such a word is kept as long as the class is ahead of its thread. Marks of a word are unread if no
thread comes to an access of it, those of a queue pair if its thread comes to no event of it, those of a thread at its end.
Each of these fields is looked at by such events only, so what can be reached is the same. Words with a part in messages
are kept: queues have values and marks of their own.

Once the cycle is closed taint has done its work: marks of it may be there again, of copies that were tainted before, but
nothing depends on them. What a pivot reads is looked at only where the pivot is put: of values with which the same events
of the class can happen one is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rdma_robust.expr import VALUE, Expr, evaluate, names
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.parts import NOBODY, WHOLE, Owned, Parts, State, of_cell, of_queue_pair, of_thread
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.marks import ALPHA_VALUE
from rdma_robust.robustness.messages import buffer_of
from rdma_robust.robustness.pivot_classes import CLASS
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
