"""The checker's own normal form: which part an event goes to after a pivot, and what has to be remembered for that.

A violation of a program has a pivot m and an SC order of its other events, in which each belongs to alpha, before m in the
RDMA order, or to beta, after it. The order begins with an access that conflicts with m, the first of beta; from there an
event goes to beta iff it is forced by what is in beta. A robust program has no such order that leads back to m.

Written from docs/theory.md, "The lemmas" (Lemma 3: the rules; Corollary 4: the counting of polls) and "The pivot refinement"
(Theorem 7: no access but the first of beta has a choice); docs/theory-search.md, "The search" (Theorem 8: it finds every
violation); docs/theory-deployed.md, "Store buffers" (T1 to T3), "Messages" (S1 to S3), "Completions" and "Barriers", whose
rounds are one event of all threads; docs/theory-atomics.md, "Remote atomics" (M1 to M8); and docs/theory-orders.md, "Weaker
orders". "Memory behind a NIC" is in :mod:`card_memories`. It
shares no code with the instrumentations.

More than 400 lines: the rules are one argument, read beside Lemma 3 and Theorem 7 from top to bottom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from rdma_robust.certify.card_memories import CardMemoryRules
from rdma_robust.certify.hardware import (
    CARD_READS,
    CPU,
    MESSAGES,
    NIC_WRITES,
    READS,
    STORES,
    WRITES,
    EventKind,
    Platform,
    issued_in_order,
    landed_in_order,
    observed_behind_poll,
    observed_in_order,
    told_by_receive,
)
from rdma_robust.certify.remembered import UNTAGGED, Marks, PivotAccesses, QueuePair, Seen, Tag, TraceParts, WriteGroup
from rdma_robust.certify.thread_events import Completion, ThreadEvent
from rdma_robust.language.flow.cfg import Cell

Member = TypeVar("Member")


@dataclass(frozen=True, slots=True)
class NormalFormRules:
    """The rules of the normal form. Cells that are not in `shared` are never written. Completions are counted on the
    queue pairs of `counted` only. On those of `watched` it is remembered whether a fence overtook a local write; on
    those of `unwatched` it would matter as well, and both may be. With `choices` accesses that conflict with the pivot
    choose their part: the program has remote atomics."""

    shared: frozenset[Cell]
    counted: frozenset[QueuePair]
    watched: frozenset[QueuePair]
    unwatched: frozenset[QueuePair]
    platform: Platform
    memories: CardMemoryRules
    choices: bool = False

    @property
    def counters(self) -> int:
        """How many counts of completions there are for each queue pair: see `Limit` (:mod:`invariant_states`)."""
        return self.memories.counters

    def in_sequence(self, event: ThreadEvent) -> TraceParts:
        """Place an event before the first one of beta: the program runs under sequential consistency."""
        change = 1 if event.completion is Completion.SIGNALED else -1 if event.kind is EventKind.POLL else 0
        return TraceParts(None, (change,) * self.counters)

    def first_of_beta(self, event: ThreadEvent, pivot: PivotAccesses, value: Seen) -> TraceParts | None:
        """Return the event as the first of beta after a pivot of that class, None where it cannot be.

        `value` is what the cell holds before it. A CPU event of the pivot's thread would keep the pivot out of alpha;
        a CPU read would read what the pivot writes.
        """
        if not self._is_about(event, pivot):
            return None
        if event.kind in CPU and (event.thread == pivot.thread or (pivot.writes and event.kind in READS)):
            return None
        return self._in_beta(self.before_beta(pivot), event, value, UNTAGGED)

    def before_beta(self, pivot: PivotAccesses) -> Marks:
        """The marks of a class of pivots before anything is in beta."""
        return Marks(pivot, poisoned=frozenset({pivot.cell}) if pivot.writes else frozenset())

    def placed(self, marks: Marks, event: ThreadEvent, value: Seen, tag: Tag = UNTAGGED) -> Iterator[TraceParts]:
        """Yield what can become of an event after the first of beta: one possibility, or none where the order is cut.

        `tag` is that of what the event waits for: of the buffer that a message finds, of the message that is received. A
        poll that nothing else forces goes to beta where no early completion is left for it; as counters are never
        tested for zero, it may always. With `choices`, accesses that conflict with the pivot may go to beta (M6).
        """
        forced = tag.beta or self._forced(marks, event)
        if forced is not True:
            placed = self._in_alpha(marks, event, tag)
            yield from self._told(placed, event) if event.kind is EventKind.POLL else (placed,)
        chooses = self.choices and self._is_about(event, marks.pivot)
        if forced is not False or event.kind is EventKind.POLL or chooses:
            beta = self._in_beta(marks, event, value, tag)
            if beta is not None:
                yield from self.memories.polled(beta, event) if event.kind is EventKind.POLL else (beta,)

    def written_behind(self, marks: Marks, event: ThreadEvent, value: Seen) -> TraceParts | None:
        """Place an event of a remote atomic in beta: its write, where its read, for which that waits, is."""
        return self._in_beta(marks, event, value, Tag(True, False))

    def apart(self, before: Marks, after: Marks, event: ThreadEvent) -> Marks:
        """Return `after` where the read of a remote atomic is in alpha, and its write `event` in beta or never made.

        They are one vertex of sc: if the pivot writes their word, the read comes before it and the write after (M5). An
        atomic of a NIC that is the pivot would have to come before the write and behind the read (M3).
        """
        if event.cell != before.pivot.cell or not self.platform.ranked:
            return after
        return replace(after, split=True)

    def closing(self, marks: Marks, event: ThreadEvent) -> Marks:
        """The marks with the cycle closed, if the pivot writes the cell of `event`."""
        return self._spread(marks, event, True, True) if self._meets(event, marks.pivot) else marks

    def begun(self, marks: Marks, event: ThreadEvent) -> TraceParts | None:
        """Place the read of the remote atomic whose write is the pivot; None where it cannot be in alpha (M4).

        They are one vertex of sc, so what writes the word from now on is reached from the pivot.
        """
        if self._forced(marks, event) is True or event.cell is None:
            return None
        placed = self._in_alpha(marks, event, UNTAGGED)
        assert placed.marks is not None
        after = replace(placed.marks, half=True)
        if not after.closed:
            after = replace(after, tainted_reads=after.tainted_reads | {event.cell})
        return replace(placed, marks=after)

    def may_be_pivot(self, marks: Marks, event: ThreadEvent) -> bool:
        """Return whether the event is of the pivot's class and may be put last into alpha, so that a violation is
        found if its step is enabled and the marks are closed."""
        pivot = marks.pivot
        same = event.thread == pivot.thread and event.cell == pivot.cell and (event.kind in WRITES) == pivot.writes
        if not same or event.at_once or (event.kind is EventKind.ATOMIC_READS) != pivot.atomic:
            return False
        if pivot.atomic and self.platform.ranked and (marks.split or (event.swaps and event.cell in marks.atomics)):
            return False
        return self.fits_last(marks, event)

    def fits_last(self, marks: Marks, event: ThreadEvent) -> bool:
        """Whether an event of the pivot's thread may be put last into alpha, for what its thread has in beta."""
        if event.thread in marks.stores and self._drains(event):
            return False
        return event.kind in CPU or self._forced_by_queue(marks, event) is not True

    def _meets(self, event: ThreadEvent, pivot: PivotAccesses) -> bool:
        """The event conflicts with the pivot."""
        return pivot.cell in event.written or (pivot.writes and pivot.cell in event.read)

    def _is_about(self, event: ThreadEvent, pivot: PivotAccesses) -> bool:
        """The event comes before or after the pivot for what both access: it conflicts with it, or reads for an atomic that
        writes what another one, the pivot, reads (M3)."""
        ranked = pivot.atomic and self.platform.ranked and event.swaps and event.cell == pivot.cell
        return ranked or self._meets(event, pivot)

    def _drains(self, event: ThreadEvent) -> bool:
        """The event waits for the store buffer of its thread (T1)."""
        return observed_in_order(EventKind.LOCAL_WRITE, event.kind, False, self.platform)

    def _forwards(self, marks: Marks, event: ThreadEvent) -> bool:
        """The CPU reads what its own store buffer holds (T2)."""
        return event.kind is EventKind.LOCAL_READ and (event.cell, event.thread) in marks.forwarding

    def _forced(self, marks: Marks, event: ThreadEvent) -> bool | None:
        """Whether in alpha the event would break a rule against what is in beta; None if that is not known."""
        mine = event.threads
        if not marks.cpu.isdisjoint(mine) or (not marks.stores.isdisjoint(mine) and self._drains(event)):
            return True
        if not marks.written.isdisjoint((*event.read, *event.written)) and not self._forwards(marks, event):
            return True
        if not marks.read.isdisjoint(event.written):
            return True
        if event.kind is EventKind.ATOMIC_READS and self._forced_by_rank(marks, event):
            return True
        return False if event.remote is None else self._forced_by_queue(marks, event)

    def _forced_by_rank(self, marks: Marks, event: ThreadEvent) -> bool:
        """The order of atomics of NICs on one word puts the event behind one of beta (M3), or the pivot (M4)."""
        if not self.platform.ranked:
            return False
        return (event.swaps and event.cell in marks.atomics) or (marks.half and event.cell == marks.pivot.cell)

    def _forced_by_queue(self, marks: Marks, event: ThreadEvent) -> bool | None:
        """The part of the rules that is about the event's own queue pair."""
        queue = _queue(event)
        words = event.regions._replace(same=(queue, event.cell) in marks.on_words)
        for kind, memory in self._kinds_of(marks, queue):
            if landed_in_order(kind, memory, event.kind, self.platform, words):
                return True
        if self.memories.forced(marks, event):
            return True
        if (event.kind in NIC_WRITES or event.takes) and self._has_read(marks, queue):
            return True
        if queue in marks.awaited and self._awaits(marks, event):
            return True
        if event.kind is EventKind.FENCE:
            return False
        if (settled := self._settled_forces(marks, event)) is not False:
            return settled
        words = event.regions
        if event.kind is not EventKind.PUT_READS or not self.platform.answers_pushed or words.own or words.memory:
            return False
        if queue in self.unwatched and (queue, EventKind.GET_WRITES) in marks.beta:
            return None
        return queue in marks.overtaken

    def _awaits(self, marks: Marks, event: ThreadEvent) -> bool:
        """Whether the event is issued behind whichever message of beta has found a buffer that was posted there (S5)."""
        kinds = [kind for kind, _ in self._kinds_of(marks, _queue(event)) if kind in MESSAGES]
        return all(issued_in_order(kind, event.kind, True, self.platform, event.regions) for kind in kinds)

    def _kinds_of(self, marks: Marks, queue: QueuePair) -> Iterator[tuple[EventKind, str]]:
        """Yield the kinds of the queue pair's events in beta, and the memories behind cards that they are in."""
        yield from ((kind, "") for other, kind in marks.beta if other == queue)
        yield from ((kind, memory) for other, kind, memory in marks.behind if other == queue)

    def _has_read(self, marks: Marks, queue: QueuePair) -> bool:
        """The read of the request under way is in beta, where the network keeps nothing between two requests."""
        return any(other == queue and kind in CARD_READS for other, kind in marks.under_way)

    def _in_alpha(self, marks: Marks, event: ThreadEvent, tag: Tag) -> TraceParts:
        tainted = tag.tainted or self._reached(marks, event)
        before_pivot = self._meets(event, marks.pivot) and not self._forwards(marks, event)
        closes = tainted and (marks.pivot.thread in event.threads or before_pivot)
        after = self._spread(marks, event, tainted, closes)
        if event.kind is EventKind.POLL:
            return TraceParts(after, (-1, -1, *(-1 for _ in self.memories.groups)))
        behind = Tag(
            event.is_message and self._behind_beta(marks, event),
            tainted and not after.closed,
            self.memories.told(marks, event, False),
        )
        if event.kind in CPU:
            return self.memories.passed(marks, TraceParts(after, tag=behind), event, tag)
        queue = _queue(event)
        if event.kind is EventKind.FENCE and (queue, EventKind.GET_WRITES) in marks.beta and queue in self.watched:
            after = replace(after, overtaken=after.overtaken | {queue})
        placed = replace(self._completing(self._going_on(after, event, False), event), tag=behind)
        return self.memories.passed(marks, placed, event, tag)

    def _going_on(self, marks: Marks, event: ThreadEvent, in_beta: bool) -> Marks:
        """Remember what is in beta of the request under way, which ends with what completes."""
        if not self.platform.request_may_tear or event.kind is EventKind.FENCE:
            return marks
        queue, mine = _queue(event), marks.under_way
        if event.completion is not Completion.NONE:
            mine = frozenset(each for each in mine if each[0] != queue)
        elif in_beta and (event.kind in CARD_READS or (event.kind is EventKind.PUT_WRITES and not event.regions.memory)):
            mine |= {(queue, event.kind)}
        return marks if mine == marks.under_way else replace(marks, under_way=mine)

    def _told(self, placed: TraceParts, event: ThreadEvent) -> Iterator[TraceParts]:
        """Yield what a poll of alpha can tell of each group of writes: it takes a completion before that of the first one of
        beta, or may tell of it. As with what is early, the second may always be."""
        marks, queue, groups = placed.marks, _queue(event), self.memories.groups
        assert marks is not None
        for tells in product(*(self._may_tell(marks, queue, group) for group in groups)):
            told = {(queue, group) for group, does in zip(groups, tells, strict=True) if does and queue in self.counted}
            counts = (*placed.counts[:2], *(0 if does else -1 for does in tells))
            yield from self.memories.polled(
                replace(placed, marks=replace(marks, settled=marks.settled | told), counts=counts), event
            )

    def _may_tell(self, marks: Marks, queue: QueuePair, group: WriteGroup) -> Iterator[bool]:
        if (queue, group) not in marks.settled:
            yield False
        if self._written_behind(marks, queue, group):
            yield True

    def _written_behind(self, marks: Marks, queue: QueuePair, group: WriteGroup) -> tuple[EventKind, ...]:
        """The kinds of the queue pair's writes of the group that are in beta."""
        there = {kind for kind, memory in self._kinds_of(marks, queue) if memory == group.memory}
        return tuple(kind for kind in group.kinds if kind in there)

    def _settled_forces(self, marks: Marks, event: ThreadEvent) -> bool | None:
        """Whether the event may overtake a write of beta by the table, but not behind the poll that told of one of its
        group, which is in the same memory. Behind remote writes an answer is asked nothing: the read of its operation is
        forced first."""
        queue, group = _queue(event), WriteGroup(event.regions.memory, event.kind is EventKind.GET_WRITES)
        if group not in self.memories.groups or not any(
            observed_behind_poll(written, event.kind, self.platform, event.regions)
            for written in self._written_behind(marks, queue, group)
        ):
            return False
        return (queue, group) in marks.settled if queue in self.counted else None

    def _behind_beta(self, marks: Marks, event: ThreadEvent) -> bool:
        """What takes the message's completion comes after something of beta that its queue pair, or its request, has
        written."""
        queue, own = _queue(event), (_queue(event), EventKind.PUT_WRITES)
        told = any(other == queue and told_by_receive(kind, self.platform) for other, kind in marks.beta)
        return told or own in marks.under_way

    def _in_beta(self, marks: Marks, event: ThreadEvent, value: Seen, tag: Tag) -> TraceParts | None:
        """Place the event in beta; None where then the pivot could not be in alpha, or a CPU would have read its value."""
        if event.kind in CPU and marks.pivot.thread in event.threads and not self._may_wait(marks, event):
            return None
        if event.kind in CPU and not marks.poisoned.isdisjoint(event.read):
            return None
        tainted = tag.tainted or self._reached(marks, event) or self._meets(event, marks.pivot)
        after = self._accessed(self._poison(marks, event), event, value)
        after = self._spread(after, event, tainted, tainted and marks.pivot.thread in event.threads)
        if event.kind in CPU:
            taken = (-1, 0, *(0 for _ in self.memories.groups)) if event.kind is EventKind.POLL else ()
            placed = TraceParts(
                self._cpu_in_beta(after, event), taken, Tag(True, tainted and not after.closed), in_beta=True
            )
            return placed if event.kind is EventKind.POLL else self.memories.passed(marks, placed, event)
        behind = Tag(self._shown(marks, event, tag), tainted and not after.closed, self.memories.told(marks, event, True))
        queue = _queue(event)
        if self._forces(marks, event, tag) and queue in self.counted:
            after = replace(after, forced=after.forced | {queue})
        if event.is_message and tag.beta:
            after = replace(after, awaited=after.awaited | {queue})
        if event.kind is EventKind.ATOMIC_READS and self.platform.ranked and event.cell is not None:
            after = replace(after, atomics=after.atomics | {event.cell})
        if event.kind in self.platform.looks_at_words and event.cell is not None:
            after = replace(after, on_words=after.on_words | {(queue, event.cell)})
        after = self._going_on(after, event, True)
        if event.regions.memory:
            after = replace(after, behind=after.behind | {(queue, event.kind_in_beta(self.platform), event.regions.memory)})
        else:
            after = replace(after, beta=after.beta | {(queue, event.kind_in_beta(self.platform))})
        placed = replace(self._completing(after, event), tag=behind, in_beta=True)
        return self.memories.passed(marks, placed, event)

    def _may_wait(self, marks: Marks, event: ThreadEvent) -> bool:
        """A store of the pivot's thread may wait in its buffer while the pivot, a read, overtakes it (T3)."""
        pivot = marks.pivot
        reads = not pivot.writes and not pivot.atomic
        return self.platform.buffered and event.kind in STORES and reads and event.cell != pivot.cell

    def _cpu_in_beta(self, marks: Marks, event: ThreadEvent) -> Marks:
        if self.platform.buffered and event.kind in STORES:
            return replace(marks, stores=marks.stores | {event.thread})
        return replace(marks, cpu=marks.cpu.union(event.threads))

    def _forces(self, marks: Marks, event: ThreadEvent, tag: Tag) -> bool:
        """Whether polls of what has completed with the event, an NIC write in beta, have to be in beta.

        A get has written then, if beside the card, and an atomic without an answer has read; of anything else the poll tells
        that it was issued: after instantaneous events of beta on the queue pair, after what was in the store buffer before,
        and after the buffer that a message has found (S2). So it does of an atomic's write, also of its read.
        """
        if event.completion is Completion.NONE:
            return False
        shown = self.platform.visible_when_polled(event.kind) and not event.regions.memory
        if shown or tag.beta or event.thread in marks.stores:
            return True
        return self._issued_after_beta(marks, event)

    def _issued_after_beta(self, marks: Marks, event: ThreadEvent) -> bool:
        """The event is issued when it is made, or after something of beta that is, so that what tells of its issue is after
        beta."""
        queue = _queue(event)
        if self.platform.instantaneous(event.kind) or self._has_read(marks, queue):
            return True
        return any(
            self.platform.instantaneous(kind) and issued_in_order(kind, event.kind, True, self.platform, event.regions)
            for kind, _ in self._kinds_of(marks, queue)
        )

    def _shown(self, marks: Marks, event: ThreadEvent, tag: Tag) -> bool:
        """What waits for an event of beta is after beta. Of a message into a memory behind a card a receive completion tells
        that it was issued."""
        if not (event.is_message and event.regions.memory):
            return True
        told = tag.beta or self._behind_beta(marks, event) or self.memories.held(marks, event)
        return told or self._issued_after_beta(marks, event)

    def _completing(self, after: Marks, event: ThreadEvent) -> TraceParts:
        """Count the completion that an event makes, if a poll can take it; it is early unless one that forces its poll
        comes first, or it does."""
        if event.completion is not Completion.SIGNALED:
            return TraceParts(after)
        queue = _queue(event)
        ahead = (int(not self._written_behind(after, queue, group)) for group in self.memories.groups)
        return TraceParts(after, (1, int(queue not in after.forced), *ahead))

    def _accessed(self, marks: Marks, event: ThreadEvent, value: Seen) -> Marks:
        """Remember the access of an event of beta, and what the pivot would find if it is the first to write its cell."""
        read, written = self.shared.intersection(event.read), self.shared.intersection(event.written)
        if marks.pivot.cell in written - marks.written:
            here = value[event.read.index(marks.pivot.cell)] if isinstance(value, tuple) else value
            marks = replace(marks, alpha_value=here)
        if read or written:
            marks = replace(marks, read=marks.read | read, written=marks.written | written)
        if written and self.platform.buffered:
            others = frozenset((cell, t) for cell, t in marks.forwarding if cell not in written)
            mine = {(cell, event.thread) for cell in written if event.kind is EventKind.LOCAL_WRITE}
            marks = replace(marks, forwarding=others | mine)
        return marks

    def _poison(self, marks: Marks, event: ThreadEvent) -> Marks:
        """Let values that depend on the pivot travel with an event of beta.

        A remote atomic that reads such a value leaves its word with one, whether it writes there or not (M1); one that has
        taken such an operand if it writes there (M7).
        """
        if event.cell is None or (event.operand and event.cell not in marks.poisoned):
            return marks
        if event.operand:
            return replace(marks, poison_taken=marks.poison_taken | {event.thread})
        if event.kind in CARD_READS:
            carries = event.cell in marks.poisoned and event.completion is Completion.NONE
            after = replace(marks, poison_carried=_with(marks.poison_carried, event.thread, carries))
            return after if event.swaps else self._taking(after, event)
        if event.kind in NIC_WRITES:
            stores = event.thread in marks.poison_carried
            answers = event.kind is EventKind.ATOMIC_WRITES and event.completion is Completion.NONE
            carried = marks.poison_carried if answers else marks.poison_carried - {event.thread}
            after = replace(marks, poison_carried=carried, poisoned=_with(marks.poisoned, event.cell, stores))
            return self._taking(after, event)
        if event.kind is EventKind.LOCAL_WRITE:
            return replace(marks, poisoned=marks.poisoned - {event.cell})
        return marks

    def _taking(self, marks: Marks, event: ThreadEvent) -> Marks:
        """What is remembered of a poisoned operand goes into the word that the atomic writes, and ends there (M7)."""
        if event.thread not in marks.poison_taken:
            return marks
        poisoned = marks.poisoned | {event.cell} if event.kind in WRITES and event.cell is not None else marks.poisoned
        return replace(marks, poisoned=poisoned, poison_taken=marks.poison_taken - {event.thread})

    def _reached(self, marks: Marks, event: ThreadEvent) -> bool:
        """Whether sc leads from the pivot to the event, through its thread or its cell."""
        before_writes = not marks.tainted_reads.isdisjoint(event.written)
        through_cell = before_writes or not marks.tainted_writes.isdisjoint((*event.read, *event.written))
        return not marks.tainted_threads.isdisjoint(event.threads) or through_cell

    def _spread(self, marks: Marks, event: ThreadEvent, tainted: bool, closes: bool) -> Marks:
        if closes and not marks.closed:
            nothing: frozenset[Cell] = frozenset()
            marks = replace(marks, closed=True, tainted_threads=frozenset(), tainted_reads=nothing, tainted_writes=nothing)
        if not tainted or marks.closed:
            return marks
        return replace(
            marks,
            tainted_threads=marks.tainted_threads.union(event.threads),
            tainted_reads=marks.tainted_reads | self.shared.intersection(event.read),
            tainted_writes=marks.tainted_writes | self.shared.intersection(event.written),
        )


def _queue(event: ThreadEvent) -> QueuePair:
    assert event.remote is not None
    return event.thread, event.remote


def _with(members: frozenset[Member], one: Member, belongs: bool) -> frozenset[Member]:
    return members | {one} if belongs else members - {one}
