"""Counterexamples as clauses: which insertions leave a violating trace as it is.

A counterexample of the program with some insertions is taken without them: a trace of the program's own events with its
reads and writes, which is no trace of the program perhaps (its polls may take something else there), but the one that the
program with a set S of insertions has where its threads go the same way, as soon as the events of S are put in and
polls take what is outstanding then. That trace is violating iff it is RDMA-consistent: reads and writes
are what they were, so the sc cycle is.

**Extension.** Let G and T be sets of insertions, G within T. Put into the trace at every place that its threads come past
one get, one poll and one fence for each queue pair that T has such statements for, and let polls take

- of the operations of the program and the gets in G whatever is taken if all polls of T stand there, and
- a get that is not in G when it is taken with it and those in G as the only gets, and all polls of T.

If what comes out is consistent, every set S with G within S within T that stands (`counting`) leaves the program with a
violation. For S has at most the polls of T, and gets beyond G only delay what its polls take of the rest; so at
every point S has taken nothing that is not taken in the extended trace, whose order therefore contains that of S. What a
poll in S finds is there since S stands; where a poll of the program finds nothing with the polls of T and the gets in G
only, and was not the only way on, T does not count. So *a solution with all of G has an insertion outside
of T*. That the extended trace is consistent is tested, not argued: it goes through the axioms. The gets are ordered with the
NIC's reads and writes of other operations as the program orders them, or the other way round where that is possible: one
of both suffices.

More than 400 lines: the lemma is about one trace and what each statement does to it, which is built and judged here.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice
from rdma_robust.analyses.repair.replay import Skeleton
from rdma_robust.digraph import by_key
from rdma_robust.language.flow.cfg import Cell, Get, Step
from rdma_robust.model import Model
from rdma_robust.semantics.axioms import events_of, ib, ib_parts, inst, ob, observed_parts, oppo, same_qp, united
from rdma_robust.semantics.kinds import kind_of
from rdma_robust.semantics.order_table import behind_poll, nfo_between, nfo_pairs_of, visible_when_polled
from rdma_robust.semantics.reads_placed import way_of
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, Event, EventType, Relation, Trace
from rdma_robust.semantics.vertices import at_once

StatementKind = tuple[Barrier, str]
"""A kind of statements, of gets with the memory that they read."""

_Counts = Counter[tuple[int, str, StatementKind]]
"""How many statements there are, by place, node and kind."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """One thing on a queue pair: where a thread comes past a place with candidates, the indices of what is `made` there for
    each kind (of a get its write); else a poll or completion `event` of the program. An `mfence` has a slot of no queue
    pair.
    """

    place: int = -1
    made: Mapping[StatementKind, int] = field(default_factory=dict)
    event: Event | None = None

    @property
    def gets(self) -> list[tuple[tuple[int, str], int]]:
        """Where gets are and what they read, each with what is made."""
        return [((self.place, memory), index) for (kind, memory), index in self.made.items() if kind is Barrier.GET]

    @property
    def poll(self) -> int:
        return self.made.get((Barrier.POLL, ""), -1)


_WITHOUT_WORDS: Final = {
    **{Barrier.MFENCE: EventType.F, Barrier.POLL: EventType.P, Barrier.FLUSH: EventType.FL},
    **{Barrier.ORDER: EventType.NO, Barrier.RFENCE: EventType.NF},
}


@dataclass(frozen=True, slots=True)
class Limit:
    """All polls of one queue pair may stand, but take at most `most` operations of the program up to slot number `until`."""

    thread: int
    node: str
    most: int
    until: int


class Extension:
    """A counterexample with every statement of `universe` put in; what of it counts is told by :meth:`survives`."""

    def __init__(self, skeleton: Skeleton, universe: Sequence[InsertionChoice], model: Model) -> None:
        self.places = skeleton.places
        self._optional = skeleton.optional
        self._model = model
        self._old = skeleton.trace
        self._events = list(skeleton.trace.events)
        self._slots: dict[tuple[int, str], list[_Slot]] = {}
        at: dict[int, list[InsertionChoice]] = {}
        for choice in sorted(universe, key=lambda c: c.order):
            if not choice.copy:
                at.setdefault(choice.place, []).append(choice)
        for thread, items in enumerate(skeleton.threads):
            self._position = 0
            for item in items:
                if isinstance(item, Event):
                    event = self._add(thread, item)
                    if event.remote is not None and (event.completes or event.type is EventType.P):
                        self._slots.setdefault((thread, event.remote), []).append(_Slot(event=event))
                else:
                    self._pass(thread, item, at.get(item, ()))
        self._own = (1 << len(self._old.events)) - 1

    def _add(self, thread: int, event: Event) -> Event:
        index = len(self._events) if event.index < 0 else event.index
        made = replace(event, thread=thread, index=index, position=self._position)
        self._events[index : index + 1] = [made]
        self._position += 1
        return made

    def _pass(self, thread: int, place: int, at: Sequence[InsertionChoice]) -> None:
        """Put in what can stand at a place, in the order of the text."""
        made: dict[str, dict[StatementKind, int]] = {}
        for choice in at:
            node, memory = choice.node, choice.memory
            if choice.kind is Barrier.GET:
                op = Get(Cell(f"${thread}", f"$scrap {node}"), Cell(memory or node, "$probe", via=node if memory else ""))
                self._add(thread, Event(-1, EventType.NRR, remote=node, cell=op.source, read=0))
                event = Event(-1, EventType.NLW, remote=node, cell=op.target, written=0, step=Step(op))
            else:
                event = Event(-1, _WITHOUT_WORDS[choice.kind], remote=node or None)
            made.setdefault(node, {})[choice.kind, memory] = self._add(thread, event).index
        for node, each in made.items():
            self._slots.setdefault((thread, node), []).append(_Slot(place, each))

    def survives(self, most: Choices, least: Choices, limit: Limit | None = None) -> bool:
        """Whether every set that stands, has `least`, lies within `most`, and keeps `limit` leaves the violation (the
        extension lemma)."""
        counts, forced = _counts(most), _counts(least)
        taken = self._taken(counts, forced, limit)
        if taken is None:
            return False
        here = self._here(counts)
        if limit is not None:
            here |= sum(1 << s.poll for s in self._slots[limit.thread, limit.node] if s.poll >= 0)
        return self._acyclic(self._late, here, taken) or self._acyclic(self._early, here, taken)

    def trace(self, most: Choices, least: Choices) -> Trace | None:
        """Return the extended trace itself, None if a poll that was not the only way on finds nothing."""
        counts = _counts(most)
        taken = self._taken(counts, _counts(least))
        if taken is None:
            return None
        here = self._here(counts)
        whole = self._whole(early=False)
        kept = [e for e in whole.events if here >> e.index & 1]
        number = {e.index: i for i, e in enumerate(kept)}
        events = [replace(e, index=number[e.index]) for e in kept]
        polled = ((number[a], number[b]) for a, b in taken if a in number and b in number)
        return whole.over(events, number, pf=Relation.of(len(events), polled))

    def _here(self, counts: _Counts) -> int:
        """The events that count, as bits."""
        here = self._own
        for (_, node), slots in self._slots.items():
            for slot in slots:
                made = ((kind, index) for kind, index in slot.made.items() if counts[slot.place, node, kind])
                here |= sum(3 << index - 1 if kind is Barrier.GET else 1 << index for (kind, _), index in made)
        return here | self._inits

    def operations(self, thread: int, node: str) -> int:
        """Return how many operations of the program a poll of a queue pair can take; 0 where a limit does not apply, since
        no poll can be put in or one of the program was not the only way on."""
        slots = self._slots.get((thread, node), [])
        if any(s.event is not None and s.event.index in self._optional for s in slots) or all(s.poll < 0 for s in slots):
            return 0
        return sum(s.event is not None and s.event.completes for s in slots)

    @property
    def queue_pairs(self) -> list[tuple[int, str, int]]:
        """The queue pairs, each with the number of its slots: the passes of places, polls and operations."""
        return [(thread, node, len(slots)) for (thread, node), slots in self._slots.items()]

    def row(self, limit: Limit) -> tuple[dict[tuple[int, Barrier], int], int]:
        """Return what a set has to have so that operation number `limit.most` + 1 is taken before the limit: the sum of its
        polls less that of its gets, each as often as said for its place, must be at least a number.
        """
        weights: Counter[tuple[int, Barrier]] = Counter()
        needed, done = limit.most + 1, 0
        for number, slot in enumerate(self._slots[limit.thread, limit.node]):
            if slot.event is None:
                weights[slot.place, Barrier.GET] -= done <= limit.most
                weights[slot.place, Barrier.POLL] += number < limit.until
            elif slot.event.completes:
                done += 1
            else:
                needed -= number < limit.until
        return dict(weights), needed

    def _taken(
        self,
        counts: _Counts,
        forced: _Counts,
        limit: Limit | None = None,
    ) -> list[tuple[int, int]] | None:
        """Return which poll takes what first; None if a poll that was not the only way on finds nothing."""
        found: list[tuple[int, int]] = []
        for (thread, node), slots in self._slots.items():
            if limit is not None and (thread, node) == (limit.thread, limit.node):
                found += _limited(slots, {k for s in slots for k, _ in s.gets if counts[_get(k, node)]}, limit)
                continue
            gets = {key: forced[_get(key, node)] for s in slots for key, _ in s.gets}
            polls = {s.place: counts[s.place, node, (Barrier.POLL, "")] for s in slots}
            here = _queue(slots, gets, polls)
            busy = {poll for _, poll in here}
            if any(
                s.event is not None and s.event.type is EventType.P and s.event.index in self._optional - busy for s in slots
            ):
                return None
            found += ((a, b) for a, b in here if a >= 0)
            for key, number in gets.items():
                if not number and counts[_get(key, node)]:
                    own = {index for s in slots for other, index in s.gets if other == key}
                    found += ((a, b) for a, b in _queue(slots, {**gets, key: 1}, polls) if a in own)
        return found

    @cached_property
    def _inits(self) -> int:
        return sum(1 << e.index for e in self._whole(early=False).events if e.type is EventType.INIT)

    @cached_property
    def _late(self) -> list[int]:
        return self._rows(self._whole(early=False))

    @cached_property
    def _early(self) -> list[int]:
        return self._rows(self._whole(early=True))

    def _rows(self, trace: Trace) -> list[int]:
        """The graph of `consistent`, but for what polls take."""
        return _doubled(*_issued_and_observed(trace, self._model), inst(trace, self._model))

    def _acyclic(self, rows: list[int], here: int, taken: list[tuple[int, int]]) -> bool:
        rows, n = rows.copy(), len(rows) // 2
        for a, b in taken:
            told = (a, *self._quiet.get(a, ()))
            for request in told:
                rows[n + request] |= 1 << n + b
            for seen in (e for request in told for e in self._visible[request]):
                rows[seen] |= 1 << b
            for earlier, later in self._kept_behind(a, b):
                rows[earlier] |= later
        return _acyclic(rows, here | here << n)

    def _kept_behind(self, request: int, poll: int) -> Iterator[tuple[int, int]]:
        """Yield the events that a poll which takes a completion puts before later ones of their queue pair, with these as
        bits; none where completions give no order."""
        if self._by_default is None:
            return
        whole, kept = self._by_default
        same = same_qp(whole).rows[request] & ~events_of(whole, CPU_TYPES)
        for e in whole.events:
            if same >> e.index & 1 and (e.index == request or (e.index, request) in whole.po):
                yield e.index, kept.rows[e.index] & same & whole.po.rows[poll]

    @cached_property
    def _by_default(self) -> tuple[Trace, Relation] | None:
        """The trace with all events, and what the table keeps in order that holds behind polls."""
        ordered = behind_poll(self._model)
        whole = self._whole(early=False)
        return None if ordered is None else (whole, oppo(whole, ordered))

    @cached_property
    def _quiet(self) -> dict[int, tuple[int, ...]]:
        """The requests without a completion of which a poll tells that takes one."""
        found: dict[int, tuple[int, ...]] = {}
        here: dict[tuple[int, str | None], list[int]] = {}
        for e in sorted(self._events, key=lambda e: e.position):
            quiet = here.setdefault((e.thread, e.remote), [])
            if e.completes and quiet:
                found[e.index] = tuple(quiet)
            elif e.completing and e.unsignaled:
                quiet.append(e.index)
        return found

    @cached_property
    def _visible(self) -> list[list[int]]:
        """The events that have taken effect when a poll tells that a request has completed, by the request: itself perhaps,
        and the stores that have left the store buffer before it."""
        whole = self._whole(early=False)
        found = [[e.index] if visible_when_polled(e.type, self._model) else [] for e in whole.events]
        if self._model.cpu == "tso":
            for store, request in oppo(whole, self._model).restrict(events_of(whole, (EventType.LW,))):
                found[request].append(store)
        return found

    def _whole(self, *, early: bool) -> Trace:
        """The trace with all events, and no poll taking anything."""
        old, own = self._old, len(self._old.events)
        events = list(self._events)
        new = {c: len(events) + i for i, c in enumerate(dict.fromkeys(e.cell for e in events[own:] if e.cell is not None))}
        rf = [*old.rf, *((new[e.cell], e.index) for e in events[own:] if e.type is EventType.NRR and e.cell)]
        mo = [*old.mo]
        writes: dict[Cell | None, list[int]] = {cell: [index] for cell, index in new.items()}
        for e in (e for e in events[own:] if e.type is EventType.NLW):
            mo += ((w, e.index) for w in writes[e.cell])
            writes[e.cell].append(e.index)
        events += (Event(index, EventType.INIT, cell=c, written=c.init) for c, index in new.items())
        n, po = len(events), _program_order(events)
        same = {index: index for index in range(own)}
        made = self._old.over(events, same, po=po, rf=Relation.of(n, rf), mo=Relation.of(n, mo))
        known = Relation.of(n, [*old.nfo, *_new_nfo(events, own, po, self._model, early)])
        landed = _landed(replace(made, nfo=known), own, self._model, early)
        return replace(made, nfo=known | Relation.of(n, landed))


def _counts(chosen: Choices) -> _Counts:
    return Counter((c.place, c.node, (c.kind, c.memory)) for c in chosen)


def _get(key: tuple[int, str], node: str) -> tuple[int, str, StatementKind]:
    """The key by which gets are counted."""
    return key[0], node, (Barrier.GET, key[1])


def _queue(slots: Sequence[_Slot], gets: dict[tuple[int, str], int], polls: dict[int, int]) -> list[tuple[int, int]]:
    """Follow a queue pair with that many gets and polls at every place: which poll takes what, -1 for a get that is not the
    first of its kind at its place."""
    waiting: deque[int] = deque()
    found = []
    for slot in slots:
        poll, times = slot.poll, 0
        if slot.event is None:
            for key, index in slot.gets:
                waiting += [index, *[-1] * (gets[key] - 1)] if gets[key] else []
            times = polls[slot.place]
        elif slot.event.type is EventType.P:
            poll, times = slot.event.index, 1
        else:
            waiting.append(slot.event.index)
        for _ in range(min(times, len(waiting))):
            found.append((waiting.popleft(), poll))
    return found


def _limited(slots: Sequence[_Slot], gets: set[tuple[int, str]], limit: Limit) -> list[tuple[int, int]]:
    """Return what is taken, as early as possible: up to the limit the first operations and the gets before the next, then
    all."""
    waiting: list[tuple[int, bool]] = []
    found = []
    done = 0
    for number, slot in enumerate(slots):
        poll = slot.poll
        if slot.event is None:
            waiting += [(index, done <= limit.most) for key, index in slot.gets if key in gets]
        elif slot.event.completes:
            waiting.append((slot.event.index, done < limit.most))
            done += 1
        else:
            poll = slot.event.index
        if poll >= 0:
            everything = number >= limit.until
            found += [(item, poll) for item, early in waiting if early or everything]
            waiting = [(item, early) for item, early in waiting if not (early or everything)]
    return found


def _program_order(events: Sequence[Event]) -> Relation:
    """What `po_of_positions` returns, for long traces."""
    rows = [0] * len(events)
    later: dict[int, int] = {}
    for e in sorted(events, key=lambda e: -e.position):
        if e.thread >= 0:
            rows[e.index] = later.get(e.thread, 0)
            later[e.thread] = rows[e.index] | 1 << e.index
    return Relation(tuple(rows))


def _new_nfo(events: Sequence[Event], own: int, po: Relation, model: Model, early: bool) -> Iterator[tuple[int, int]]:
    """Order the NIC events of gets as the program does; if `early`, the card reads for puts before it writes for them."""
    pushed = bool(nfo_pairs_of(model))
    members = by_key(((e.thread, e.remote), e) for e in (events if pushed else ()))
    for e in events[own:] if pushed else ():
        for other in members[e.thread, e.remote]:
            if nfo_between(kind_of(e.type, e), kind_of(other.type, other), model):
                after = (e.index, other.index) in po and not (early and e.type is EventType.NLW)
                yield (e.index, other.index) if after else (other.index, e.index)


def _landed(trace: Trace, own: int, model: Model, early: bool) -> Iterator[tuple[int, int]]:
    """Order what gets read in memories behind cards and what other queue pairs write there: as the trace does, and where it
    leaves that open, all reads first, or if `early` the writes."""
    reads = [e for e in trace.events[own:] if e.type is EventType.NRR and e.cell is not None and e.cell.memory]
    if not reads or not nfo_pairs_of(model):
        return
    issued, observed, same = ib(trace, model), ob(trace, model), same_qp(trace)
    for read in reads:
        kind = kind_of(EventType.NRR, read)
        for e in trace.events:
            other = e.type in NIC_WRITE_TYPES and (e.index, read.index) not in same
            if other and nfo_between(kind, kind_of(e.type, e), model, of_one_pair=False):
                way = way_of(read.index, e.index, observed, issued)
                yield way or ((e.index, read.index) if early else (read.index, e.index))


def consistent(trace: Trace, model: Model) -> bool:
    """Whether a trace is RDMA-consistent: what `ob(trace).is_irreflexive()` tells, without closures, for long traces.

    The graph has the events twice. Edges of ob lie in the first copy; an edge of [Inst];ib goes over to the second,
    follows ib there and comes back. A cycle within the second copy is one of ib, and then there is one of ob (Theorem
    4.1).
    """
    n = len(trace.events)
    issued, observed = _issued_and_observed(trace, model)
    instant = inst(trace, model)
    return _acyclic(_doubled(issued, observed, instant), (1 << 2 * n) - 1)


def _issued_and_observed(trace: Trace, model: Model) -> tuple[Sequence[int], Sequence[int]]:
    """What ib and ob, but for [Inst];ib, are the closures of."""
    parts = ib_parts(trace, model), observed_parts(trace, model)
    issued, observed = (at_once(united(each), trace).rows for each in parts)
    return issued, observed


def _doubled(issued: Sequence[int], observed: Sequence[int], instant: int) -> list[int]:
    n = len(issued)
    first = [row | (issued[a] << n if instant >> a & 1 else 0) for a, row in enumerate(observed)]
    return [*first, *(row << n | 1 << a for a, row in enumerate(issued))]


def _acyclic(rows: Sequence[int], new: int) -> bool:
    """Whether a graph, given by a row of bits for each node, has no cycle within the nodes of `new`, by depth-first
    search."""
    open_ = 0
    while new:
        path = [new.bit_length() - 1]
        while path:
            node = path[-1]
            new &= ~(1 << node)
            open_ |= 1 << node
            if rows[node] & open_:
                return False
            if ahead := rows[node] & new:
                path.append(ahead.bit_length() - 1)
            else:
                open_ &= ~(1 << path.pop())
    return True
