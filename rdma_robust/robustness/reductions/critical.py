"""The static filter: which pivots lie on a critical cycle, over program points instead of events.

Nodes are the accesses of the event graphs, each in alpha or in beta. A cycle of sc through a pivot m leaves m by an
access of beta that conflicts with m, follows program order and conflicts, and comes back to m by program order in m's
thread or by an access of alpha that conflicts with m. Conflicts run forward in alpha.m.beta, so only program order can
lead from beta to alpha or to m, and only along a *relaxable* edge: see :mod:`relaxation`. A class without such a walk
has no target, an access from which no walk goes on cannot be the first of beta, and taint that cannot go on is useless.

Two events of one thread on a cycle can be joined by program order, since apart from m the cycle runs forward in the order
L; so walks that come to no thread twice are enough (the critical cycles of Shasha and Snir).

A thread may stand for any number of copies of it, `many`, none of them the pivot's. A walk may come to it again, then to
another copy: it is its own neighbour by the words that the copies share, and each walk through copies that differ is one
through this thread, and the other way round, as nothing else tells two copies apart.

Soundness: by docs/theory.md, "The pivot refinement", a program that is not robust has a violating trace alpha.m.beta
whose cycle is alpha's and beta's order L but for m; the search starts at s, the L-first among the event e by which the
cycle leaves m and the writes to m's cell in beta. If s is not e, then m -> s -> e are conflicts, and the cycle can as
well leave m by s. Replacing each event by its access and program order in the trace by reachability gives a walk that
starts with s.

Source: Shasha and Snir 1988; docs/theory-search.md, "The static filter"; Appendix D.1 of the paper for the rules of
:mod:`relaxation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

from rdma_robust.digraph import by_key
from rdma_robust.limits import Poll
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass
from rdma_robust.robustness.messages import buffer_of, takes, takes_buffer
from rdma_robust.robustness.pivot_classes import class_of
from rdma_robust.robustness.reductions.relaxation import ThreadRelaxation
from rdma_robust.semantics.trace import EventType

_MOST_THREADS = 6
"""Threads up to which walks that come to a thread twice are left out; they are exponentially many sets of threads."""


Parts = tuple[int, int]
"""Sets of accesses, as bits: those in alpha, those in beta."""


@dataclass(frozen=True, slots=True)
class Useful:
    """For one class: the accesses (as sets of numbers) from which a walk goes on to the pivot.

    `entries` are those by which a walk may come to a thread, `exits` those by which it may leave another than the pivot's.
    """

    entries: Parts
    exits: Parts


@dataclass(frozen=True)
class CriticalCycles:
    """The conflict graph of a program and the walks through it. Event i of `events` is bit i of the sets below."""

    frame: InstrumentationFrame
    many: frozenset[int] = frozenset()
    """Threads that stand for any number of copies; words that only one thread names are those of each copy alone."""

    @cached_property
    def poll(self) -> Poll:
        return self.frame.limits.poll("filtering")

    @cached_property
    def events(self) -> tuple[EventEdge, ...]:
        return tuple(e for g in self.frame.graphs for e in g.edges)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """By identity: hashing an edge with all its expressions is slow, and the frame keeps every edge alive."""
        return {id(e): i for i, e in enumerate(self.events)}

    def number(self, edge: EventEdge) -> int:
        return self._numbers[id(edge)]

    @cached_property
    def accesses(self) -> int:
        """The accesses of cells that are written somewhere: only these conflict. With them messages, V, RP and barriers."""
        return _set(
            i for i, e in enumerate(self.events) if self.frame.touched_by(e) or (e.type and e.connection) or e.members
        )

    @cached_property
    def of_thread(self) -> tuple[int, ...]:
        """The accesses of each thread."""
        members = (_set(i for i, e in enumerate(self.events) if e.thread == t) for t in range(len(self.frame.graphs)))
        return tuple(each & self.accesses for each in members)

    @cached_property
    def ahead(self) -> tuple[dict[int, int], ...]:
        """For each thread and program point the accesses that can still follow."""
        found = []
        for graph in self.frame.graphs:
            at = dict.fromkeys(graph.points, 0)
            for edge in graph.edges:
                at[edge.source] |= 1 << self.number(edge) & self.accesses
            found.append(_gathered(graph, at, self.poll))
        return tuple(found)

    @cached_property
    def after(self) -> tuple[int, ...]:
        """For each event the accesses that can follow it in program order."""
        return tuple(self.ahead[e.thread][e.target] for e in self.events)

    @cached_property
    def overtaking(self) -> tuple[int, ...]:
        """For each event the accesses that may be in alpha, or the pivot, while it is before them and in beta."""
        relaxations = [ThreadRelaxation(g, self.frame.model, self.poll) for g in self.frame.graphs]
        found = (relaxations[e.thread].overtaking(e) for e in self.events)
        return tuple((_set(self.number(e) for e in edges) | self._torn(i)) & self.accesses for i, edges in enumerate(found))

    def _torn(self, number: int) -> int:
        """A remote read-modify-write whose write is in beta may be in alpha with its read, and is one vertex."""
        return self.events[number].may_tear << number

    @cached_property
    def conflicting(self) -> tuple[int, ...]:
        """For each event the accesses of other threads to which sc can lead from it: those that conflict with it, and those
        that wait for it."""
        meeting = (self._meeting(e) & ~self._apart(e) for e in self.poll.each(self.events))
        return tuple(each | waiting for each, waiting in zip(meeting, self._waiting_for, strict=True))

    def _meeting(self, e: EventEdge) -> int:
        """The accesses that conflict with an event, and the barriers that are one vertex with it."""
        if e.members:
            return _set(i for i, other in enumerate(self.events) if other.members == e.members)
        found = ((self.frame.bit(cell), written) for cell, _, written in e.accesses)
        return _union(self._of_cell.get(bit, (0, 0))[not written] for bit, written in found if bit)

    def _apart(self, edge: EventEdge) -> int:
        """The accesses of the thread of `edge`, unless another copy of it can make them on the same word."""
        mine = self.of_thread[edge.thread]
        if edge.thread not in self.many:
            return mine
        every = _union(self._of_cell.get(self.frame.bit(cell), (0, 0))[0] for cell, _, _ in edge.accesses)
        return 0 if every & ~mine else mine

    @cached_property
    def _led_from(self) -> tuple[int, ...]:
        """The other way round: for each event the accesses of other threads from which sc can lead to it."""
        pairs = zip(self.conflicting, self._waiting_for, self._waited_for, strict=True)
        return tuple(each & ~after | before for each, after, before in pairs)

    @cached_property
    def _waiting_for(self) -> tuple[int, ...]:
        """For each event the messages that can take it, if it is a V, and the RPs that can take it, if it is a message."""
        found = [0] * len(self.events)
        for i, after in enumerate(self.events):
            if after.connection is None or not (takes_buffer(after) or after.type is EventType.RP):
                continue
            for j, e in enumerate(self.events):
                if e.connection == after.connection and takes(after, e):
                    found[j] |= 1 << i
        return tuple(found)

    @cached_property
    def _waited_for(self) -> tuple[int, ...]:
        """The other way round: for each event those that it can wait for."""
        found = [0] * len(self.events)
        for i, waiting in enumerate(self._waiting_for):
            for j in _bits(waiting):
                found[j] |= 1 << i
        return tuple(found)

    @cached_property
    def _of_cell(self) -> dict[int, tuple[int, int]]:
        """By the bit of a cell: its accesses, and those that write."""
        found: dict[int, tuple[int, int]] = {}
        for i in _bits(self.accesses):
            for cell, _, writing in self.events[i].accesses:
                bit = self.frame.bit(cell)
                every, written = found.get(bit, (0, 0))
                found[bit] = (every | 1 << i, written | writing << i) if bit else (0, 0)
        return found

    def sites(self, c: PivotClass) -> int:
        """The accesses that can be a pivot of the class."""
        if c.receive is not None:
            numbered = ((i, self.events[i]) for i in _bits(self.of_thread[c.thread]))
            return _set(i for i, e in numbered if e.connection == c.receive and buffer_of(e) == c.cell)
        every, written = self._of_cell[self.frame.bit(c.cell)]
        found = self.of_thread[c.thread] & (written if c.writes else every & ~written) & ~self._sections
        return found if c.writes else _set(i for i in _bits(found) if class_of(self.events[i], c.cell) == c)

    @cached_property
    def _sections(self) -> int:
        return _set(i for i, e in enumerate(self.events) if e.section)

    def meeting(self, c: PivotClass) -> int:
        """The accesses of other threads that conflict with a pivot of the class, or that it can wait for."""
        if c.receive is not None:
            return 0
        conflicting = self._of_cell[self.frame.bit(c.cell)][not c.writes] & ~self.of_thread[c.thread]
        return conflicting | _union(self._waited_for[i] for i in _bits(self.sites(c)))

    def may_start(self, edge: EventEdge, c: PivotClass) -> bool:
        """Whether some walk leaves a pivot of the class by this access, which conflicts with it, in beta, and comes back."""
        return bool(self.useful(c).entries[1] >> self.number(edge) & 1)

    def useful(self, c: PivotClass) -> Useful:
        if c not in self._found:
            self._found[c] = self._useful(c)
        return self._found[c]

    @cached_property
    def _found(self) -> dict[PivotClass, Useful]:
        return {}

    def _useful(self, c: PivotClass) -> Useful:
        """Go backwards from the pivot, one thread at a time."""
        sites, meeting = self.sites(c), self.meeting(c)
        early = _set(i for i in _bits(self.of_thread[c.thread]) if self.after[i] & sites)
        late = _set(i for i in _bits(self.of_thread[c.thread]) if self.overtaking[i] & sites)
        entries, exits = (early, late), (0, 0)
        seen: dict[tuple[int, int], Parts] = {}
        todo: list[tuple[int, Parts]] = [(1 << c.thread, entries)]
        while todo:
            used, behind = todo.pop()
            self.poll.look()
            for thread, members in self.poll.each(enumerate(self.of_thread)):
                if used >> thread & 1:
                    continue
                alpha, beta = self._exits(members, behind)
                leaving = (alpha | meeting & members, beta)
                coming = self._entries(members, leaving)
                entries, exits = _join(entries, coming), _join(exits, leaving)
                once = len(self.of_thread) <= _MOST_THREADS and thread not in self.many
                now = used | 1 << thread if once else used
                old = seen.get((now, thread), (0, 0))
                new = seen[now, thread] = _join(old, coming)
                if new != old:
                    todo.append((now, new))
        return Useful(entries, exits)

    def _exits(self, members: int, behind: Parts) -> Parts:
        """Accesses among `members` from which a conflict leads to one of `behind`: never from beta to alpha, but for a
        message into a memory behind a card, which may be in beta while the RP that takes it is not."""
        unshown = _union(self._waited_for[i] for i in _bits(behind[0])) & self._unshown if self._unshown else 0
        beta = members & (self._conflicting_with(behind[1]) | unshown)
        return members & self._conflicting_with(behind[0] | behind[1]), beta

    def taken_unshown(self, number: int) -> int:
        """The RPs that may be in alpha while the message that they take, this event, is in beta."""
        return self._waiting_for[number] if self._unshown >> number & 1 else 0

    @cached_property
    def _unshown(self) -> int:
        """The messages into memories behind cards, of which receive completions do not tell that they are there."""
        if not self.frame.program.memories:
            return 0
        return _set(i for i, e in enumerate(self.events) if takes_buffer(e) and e.cell is not None and e.cell.memory)

    def _conflicting_with(self, accesses: int) -> int:
        """The accesses from which sc can lead to one of these in another thread; remembered, since few sets come up."""
        if accesses not in self._conflicts:
            self._conflicts[accesses] = _union(self._led_from[i] for i in _bits(accesses))
        return self._conflicts[accesses]

    @cached_property
    def _conflicts(self) -> dict[int, int]:
        return {}

    def _entries(self, members: int, exits: Parts) -> Parts:
        """Accesses among `members` that are exits or before one: from beta to alpha only along relaxable edges."""
        key = members, exits
        if key not in self._entered:
            alpha, beta = exits
            self._entered[key] = (
                _set(i for i in _bits(members) if (alpha | self._torn(i) & beta) >> i & 1 or self.after[i] & (alpha | beta)),
                _set(i for i in _bits(members) if beta >> i & 1 or self.after[i] & beta or self.overtaking[i] & alpha),
            )
        return self._entered[key]

    @cached_property
    def _entered(self) -> dict[tuple[int, Parts], Parts]:
        return {}


def _gathered(graph: EventGraph, at: Mapping[int, int], poll: Poll) -> dict[int, int]:
    """For every program point the union of `at` over the points that can be reached from it."""
    before = by_key((edge.target, edge.source) for edge in graph.edges)
    found = dict(at)
    todo = list(graph.points)
    while todo:
        poll()
        here = todo.pop()
        for point in before.get(here, ()):
            joined = found[point] | found[here]
            if joined != found[point]:
                found[point] = joined
                todo.append(point)
    return found


def _set(numbers: Iterable[int]) -> int:
    return _union(1 << number for number in numbers)


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _join(one: Parts, other: Parts) -> Parts:
    return one[0] | other[0], one[1] | other[1]


def _bits(numbers: int) -> Iterator[int]:
    while numbers:
        low = numbers & -numbers
        yield low.bit_length() - 1
        numbers ^= low
