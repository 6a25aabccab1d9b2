"""The checker's own rules for memory behind a card, beside those of :mod:`normal_form`: G1 and G2.

A read of a memory by a card lands every write to it that was issued before, through whatever queue pair (nfo). So such a
read of alpha comes before the issue of every write of beta to the memory, with all to which ib leads from it (G1), and
behind one of beta no write to the memory is issued that alpha is behind (G2). What comes behind is followed as far as it
is said here; what is forced is forced in every violation, so to follow less finds more that may be none.

Written from docs/theory-orders.md, "Memory behind a NIC".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from rdma_robust.certify.hardware import (
    CARD_READS,
    CPU,
    NIC_WRITES,
    REMOTE_WRITES,
    STORES,
    EventKind,
    Platform,
    issued_in_order,
    landed_in_order,
)
from rdma_robust.certify.remembered import (
    BESIDE,
    EMPTY_TRAIL,
    UNTAGGED,
    Marks,
    QueuePair,
    Tag,
    TraceParts,
    Trail,
    TrailName,
    WriteGroup,
)
from rdma_robust.certify.thread_events import Completion, ThreadEvent
from rdma_robust.certify.thread_reading import request_of
from rdma_robust.language.flow.cfg import Cell, Program, Write, steps

ISSUED, READ = "issued", "read"
"""What a trail begins with: the issue of a write of beta to the memory, or a read of it by a card in beta."""


def write_groups(program: Program) -> tuple[WriteGroup, ...]:
    """Return the groups of the program's writes of which polls are asked whether they have told."""
    found: set[WriteGroup] = set()
    for thread in program.threads:
        for _, _, step in steps(thread):
            if (request := request_of(step.op)) is not None:
                if request.reads is EventKind.ATOMIC_READS and request.source is not None:
                    found.add(WriteGroup(request.source.memory))
                answers = request.writes is EventKind.GET_WRITES
                where = "" if request.target is None else request.target.memory
                found |= {WriteGroup(where, answers)} if where or not answers else set()
    return tuple(sorted(found)) or (BESIDE,)


@dataclass(frozen=True, slots=True)
class CardMemoryRules:
    """G1 and G2 for each of the `memories` that a card reads. `own_stores` are the words that a thread stores to itself,
    which it may read out of its store buffer. Where completions give order, polls tell of the `groups` of writes, of each
    by itself."""

    memories: tuple[str, ...]
    own_stores: frozenset[tuple[int, Cell]]
    platform: Platform
    groups: tuple[WriteGroup, ...]

    @staticmethod
    def of(program: Program, platform: Platform) -> CardMemoryRules:
        """Return the rules for a program on this hardware: none of G1 and G2 where reads of cards land nothing."""
        groups = write_groups(program) if platform.completions_order else ()
        if not platform.reads_land:
            return CardMemoryRules((), frozenset(), platform, groups)
        of_threads = [(t, step.op) for t, thread in enumerate(program.threads) for _, _, step in steps(thread)]
        requests = [request for _, op in of_threads if (request := request_of(op)) is not None]
        read = {cell.node for r in requests for cell in (r.source if r.reads in CARD_READS else None, *r.operands) if cell}
        stores = (
            frozenset((t, op.cell) for t, op in of_threads if isinstance(op, Write)) if platform.buffered else frozenset()
        )
        return CardMemoryRules(tuple(m for m in program.memories if m in read), stores, platform, groups)

    @property
    def counters(self) -> int:
        """How many counts of completions there are for each queue pair: see `Limit` (:mod:`invariant_states`)."""
        return 2 + len(self.groups) + 2 * len(self.memories)

    # ---- what is forced

    def forced(self, marks: Marks, event: ThreadEvent) -> bool:
        """Whether in alpha the event of a card would land, or would be issued behind, what is in beta."""
        return any(self._lands(marks, event, memory) or self._held_back(marks, event, memory) for memory in self.memories)

    def held(self, marks: Marks, event: ThreadEvent) -> bool:
        """G2: the event is a write to a memory, and behind a read of it in beta, so that its issue is too."""
        trails = ((m, marks.trail((READ, m))) for m in self.memories if marks.trails)
        return any(_writes(event, memory) and self._reaches(trail, event) for memory, trail in trails)

    def told(self, marks: Marks, event: ThreadEvent, in_beta: bool) -> frozenset[str]:
        """The memories of which a message tells whoever takes its completion that a write of beta was issued there."""
        return frozenset(m for m in self.memories if event.is_message and self._told(marks, event, m, in_beta))

    def _told(self, marks: Marks, event: ThreadEvent, memory: str, in_beta: bool) -> bool:
        if in_beta and _writes(event, memory):
            return True
        writes = marks.trail((ISSUED, memory)).writes
        earlier = self._issued_behind(writes, event)
        if self.platform.promised:  # else a receive completion tells of no other request
            earlier = any((_queue(event), kind) in writes for kind in REMOTE_WRITES)
        return earlier or (not in_beta and self._behind_issue(marks, event, UNTAGGED, memory))

    def _lands(self, marks: Marks, event: ThreadEvent, memory: str) -> bool:
        """G1: the event reads the memory, behind the issue of a write of beta."""
        return _reads(event, memory) and self._behind_issue(marks, event, UNTAGGED, memory)

    def _behind_issue(self, marks: Marks, event: ThreadEvent, tag: Tag, memory: str) -> bool:
        trail = marks.trail((ISSUED, memory))
        told = event.kind is EventKind.RECEIVES and memory in tag.memories
        return told or self._reaches(trail, event) or self._issued_behind(trail.writes, event)

    def _held_back(self, marks: Marks, event: ThreadEvent, memory: str) -> bool:
        """G2: the event is issued behind a write of beta that is."""
        return self._issued_behind(marks.trail((READ, memory)).writes, event)

    def _issued_behind(self, writes: Iterable[tuple[QueuePair, EventKind]], event: ThreadEvent) -> bool:
        if event.remote is None or event.kind is EventKind.POLL:
            return False
        return any(
            other == _queue(event) and issued_in_order(kind, event.kind, True, self.platform, event.regions)
            for other, kind in writes
        )

    # ---- what comes behind

    def _reaches(self, trail: Trail, event: ThreadEvent) -> bool:
        """Whether ob leads to the event from the trail: by its thread, by its queue pair, or as it conflicts."""
        if trail == EMPTY_TRAIL:
            return False
        if not trail.threads.isdisjoint(event.threads) or self._through_words(trail, event):
            return True
        return event.remote is not None and any(
            other == _queue(event) and landed_in_order(kind, memory, event.kind, self.platform, event.regions)
            for other, kind, memory in trail.events
        )

    def _through_words(self, trail: Trail, event: ThreadEvent) -> bool:
        """A load may read what its own store buffer holds; and of an atomic in one event its read alone counts, as the
        pivot may come before what reads its word."""
        if event.kind is EventKind.LOCAL_READ and (event.thread, event.cell) in self.own_stores:
            return False
        if not trail.written.isdisjoint(event.read):
            return True
        return event.kind is not EventKind.ATOMIC and not (trail.read | trail.written).isdisjoint(event.written)

    def _joined(self, trail: Trail, event: ThreadEvent) -> Trail:
        """The trail with an event that it has reached."""
        trail = replace(trail, read=trail.read.union(event.read), written=trail.written.union(event.written))
        if event.kind not in CPU:
            mine = _queue(event), event.kind_in_beta(self.platform), event.regions.memory
            return replace(trail, events=trail.events | {mine})
        if self.platform.buffered and event.kind in STORES:
            return trail
        return replace(trail, threads=trail.threads.union(event.threads))

    def _completed(self, trail: Trail, event: ThreadEvent, tells: bool) -> tuple[Trail, int]:
        """The trail, and whether a completion is ahead of all that tell: of an event that `tells`, and of what was issued
        behind something instantaneous of the trail."""
        if event.completion is Completion.NONE:
            return trail, 0
        queue = _queue(event)
        at_once = ((other, kind) for other, kind, _ in trail.events if kind not in NIC_WRITES)
        if tells or queue in trail.tells or self._issued_behind(at_once, event):
            return replace(trail, tells=trail.tells | {queue}), 0
        return trail, int(event.completion is Completion.SIGNALED and event.thread not in trail.threads)

    # ---- what is remembered

    def passed(self, before: Marks, placed: TraceParts, event: ThreadEvent, tag: Tag = UNTAGGED) -> TraceParts:
        """Return a part with what an event that is no poll leaves behind on the trails."""
        if not self.memories or placed.marks is None:
            return placed
        changed: dict[TrailName, Trail] = {}
        counts: list[int] = []
        for memory in self.memories:
            follow = self._second_part if placed.in_beta else self._first_part
            for name, (trail, count) in follow(before, event, tag, memory):
                changed[name] = trail
                counts.append(count)
        left = replace(placed, marks=placed.marks.with_trails(changed))
        return replace(left, counts=(*placed.counts, *counts)) if placed.counts else left

    def _first_part(
        self, marks: Marks, event: ThreadEvent, tag: Tag, memory: str
    ) -> Iterator[tuple[TrailName, tuple[Trail, int]]]:
        issued, read = marks.trail((ISSUED, memory)), marks.trail((READ, memory))
        seen = self._behind_issue(marks, event, tag, memory)
        tells = (seen and event.kind not in NIC_WRITES) or self._issued_behind(issued.writes, event)
        after, count = self._completed(issued, event, tells)
        yield (ISSUED, memory), (self._joined(after, event) if seen else after, count)
        yield (READ, memory), self._completed(read, event, False)

    def _second_part(
        self, marks: Marks, event: ThreadEvent, _: Tag, memory: str
    ) -> Iterator[tuple[TrailName, tuple[Trail, int]]]:
        issued, read = marks.trail((ISSUED, memory)), marks.trail((READ, memory))
        writes, reached = _writes(event, memory), self._reaches(read, event)
        seen, held = reached or _reads(event, memory), writes and reached
        after, count = self._completed(issued, event, writes or self._issued_behind(issued.writes, event))
        yield (ISSUED, memory), (_writing(after, event) if writes else after, count)
        after, count = self._completed(read, event, (seen and event.kind not in NIC_WRITES) or held)
        after = self._joined(after, event) if seen else after
        yield (READ, memory), (_writing(after, event) if held else after, count)

    def polled(self, placed: TraceParts, event: ThreadEvent) -> Iterator[TraceParts]:
        """Yield what a poll can tell: it takes a completion ahead of all that tell, or its thread comes behind what they
        tell of. As with what is early, the second may always be."""
        if not self.memories or placed.marks is None:
            yield placed
            return
        marks, queue = placed.marks, _queue(event)
        ways: list[list[tuple[TrailName, Trail, int]]] = []
        for memory in self.memories:
            for name in ((ISSUED, memory), (READ, memory)):
                trail = marks.trail(name)
                if (name[0] == READ) is not placed.in_beta:
                    ways.append([(name, trail, 0 if placed.in_beta else -1)])
                elif event.thread in trail.threads:
                    ways.append([(name, trail, 0)])
                else:
                    told = [(name, self._joined(trail, event), 0)] if queue in trail.tells else []
                    ways.append([(name, trail, -1), *told])
        for way in product(*ways):
            changed = {name: trail for name, trail, _ in way}
            counts = (*placed.counts, *(count for _, _, count in way))
            yield replace(placed, marks=marks.with_trails(changed), counts=counts)


def _reads(event: ThreadEvent, memory: str) -> bool:
    """Whether the event is a read of the memory by a card, which lands what was issued to it."""
    return event.kind in CARD_READS and event.regions.memory == memory and not event.regions.own


def _writes(event: ThreadEvent, memory: str) -> bool:
    """Whether the event is a write of a card to the memory that reads land."""
    return event.kind in NIC_WRITES and event.regions.memory == memory and not event.regions.own


def _writing(trail: Trail, event: ThreadEvent) -> Trail:
    return replace(trail, writes=trail.writes | {(_queue(event), event.kind)})


def _queue(event: ThreadEvent) -> QueuePair:
    assert event.remote is not None
    return event.thread, event.remote
