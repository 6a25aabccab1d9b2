"""The checker's own normal form: which part an event goes to after a pivot, and what has to be remembered for that.

A violation of a program has a pivot m and an SC order of its other events, in which each belongs to alpha, before m in the
RDMA order, or to beta, after it. The order begins with an access that conflicts with m, the first of beta; from there an
event goes to beta iff it is forced by what is in beta. A robust program has no such order that leads back to m.

Written from normal-form.md, part 2, and docs/theory.md (Lemma 3: the rules; Corollary 4: the counting of polls;
Theorem 7: no access but the first of beta has a choice; Theorem 8: this search finds every violation). It shares no
code with the instrumentations of the robustness room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from rdma_robust.certify.hardware import CPU, NIC_WRITES, READS, WRITES, Kind, observed_in_order
from rdma_robust.certify.thread_reading import Event, Value
from rdma_robust.language.flow.cfg import Cell

QueuePair = tuple[int, str]
"""A thread's number and the remote node."""

Member = TypeVar("Member")


@dataclass(frozen=True, slots=True)
class Pivot:
    """A class of pivots: accesses of `cell` by `thread` that write it, or that only read it."""

    thread: int
    cell: Cell
    writes: bool


@dataclass(frozen=True, slots=True)
class Marks:
    """What is remembered of the events since the first of beta.

    `beta` has, for each queue pair, the kinds of its NIC events in beta, `cpu` the threads with a CPU event there,
    `forced` the queue pairs on which some completion forces its poll into beta, `overtaken` those on which a fence of
    alpha came after the local write of a get in beta. `read` and `written` are cells that beta has accessed,
    `poisoned` those whose value depends on the pivot, `poison_carried` threads whose NIC carries such a value. Taint
    means reached from the pivot by sc: threads, and cells that tainted events have read or written. Once `closed`, sc
    leads back to the pivot, and taint is forgotten. `alpha_value` is what the pivot's cell held before beta first
    wrote it, None where that is unknown or has not happened.
    """

    pivot: Pivot
    beta: frozenset[tuple[QueuePair, Kind]] = frozenset()
    cpu: frozenset[int] = frozenset()
    forced: frozenset[QueuePair] = frozenset()
    overtaken: frozenset[QueuePair] = frozenset()
    read: frozenset[Cell] = frozenset()
    written: frozenset[Cell] = frozenset()
    poisoned: frozenset[Cell] = frozenset()
    poison_carried: frozenset[int] = frozenset()
    tainted_threads: frozenset[int] = frozenset()
    tainted_reads: frozenset[Cell] = frozenset()
    tainted_writes: frozenset[Cell] = frozenset()
    closed: bool = False
    alpha_value: Value = None

    def without_value(self) -> Marks:
        """The same marks with the pivot's value left open."""
        return self if self.alpha_value is None else replace(self, alpha_value=None)


@dataclass(frozen=True, slots=True)
class Placed:
    """An event put into a part: the marks after it, and its effect on the completions of its queue pair.

    `unpolled` and `early` are added to what is not polled yet, and to those of them before the first that forces its
    poll; where negative, there must be as many.
    """

    marks: Marks | None
    unpolled: int = 0
    early: int = 0


def in_sequence(event: Event) -> Placed:
    """Place an event before the first one of beta: the program runs under sequential consistency."""
    change = 1 if event.kind in NIC_WRITES else -1 if event.kind is Kind.POLL else 0
    return Placed(None, change, change)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of the normal form. Cells that are not in `shared` are never written. Completions are counted on the
    queue pairs of `counted` only. On those of `watched` it is remembered whether a fence overtook a local write; on
    those of `unwatched` it would matter as well, and both may be."""

    shared: frozenset[Cell]
    counted: frozenset[QueuePair]
    watched: frozenset[QueuePair]
    unwatched: frozenset[QueuePair]
    ordered_reads: bool

    def first_of_beta(self, event: Event, pivot: Pivot, value: Value) -> Placed | None:
        """Return the event as the first of beta after a pivot of that class, None where it cannot be.

        `value` is what the cell holds before it. A CPU event of the pivot's thread would keep the pivot out of alpha;
        a CPU read would read what the pivot writes.
        """
        if not self._meets(event, pivot):
            return None
        if event.kind in CPU and (event.thread == pivot.thread or (pivot.writes and event.kind in READS)):
            return None
        poisoned = frozenset({pivot.cell}) if pivot.writes else frozenset()
        return self._in_beta(Marks(pivot, poisoned=poisoned), event, value)

    def placed(self, marks: Marks, event: Event, value: Value) -> Iterator[Placed]:
        """Yield what can become of an event after the first of beta: one possibility, or none where the order is cut.

        A poll that nothing else forces goes to beta where no early completion is left for it; as counters are never
        tested for zero, it may always.
        """
        forced = self._forced(marks, event)
        if forced is not True:
            yield self._in_alpha(marks, event)
        if forced is not False or event.kind is Kind.POLL:
            beta = self._in_beta(marks, event, value)
            if beta is not None:
                yield beta

    def may_be_pivot(self, marks: Marks, event: Event) -> bool:
        """Return whether the event is of the pivot's class and may be put last into alpha, so that a violation is
        found if its step is enabled and the marks are closed."""
        pivot = marks.pivot
        same = event.thread == pivot.thread and event.cell == pivot.cell and (event.kind in WRITES) == pivot.writes
        return same and (event.kind in CPU or self._forced_by_queue(marks, event) is not True)

    def _meets(self, event: Event, pivot: Pivot) -> bool:
        """The event conflicts with the pivot."""
        return event.cell == pivot.cell and (pivot.writes or event.kind in WRITES)

    def _forced(self, marks: Marks, event: Event) -> bool | None:
        """Whether in alpha the event would break a rule against what is in beta; None if that is not known."""
        if event.thread in marks.cpu:
            return True
        if event.cell in marks.written or (event.kind in WRITES and event.cell in marks.read):
            return True
        return False if event.kind in CPU else self._forced_by_queue(marks, event)

    def _forced_by_queue(self, marks: Marks, event: Event) -> bool | None:
        """The part of the rules that is about the event's own queue pair."""
        queue = _queue(event)
        for other, kind in marks.beta:
            if other == queue and observed_in_order(kind, event.kind, True, self.ordered_reads):
                return True
        if event.kind is not Kind.PUT_READS:
            return False
        if queue in self.unwatched and (queue, Kind.GET_WRITES) in marks.beta:
            return None
        return queue in marks.overtaken

    def _in_alpha(self, marks: Marks, event: Event) -> Placed:
        tainted = self._reached(marks, event)
        closes = tainted and (event.thread == marks.pivot.thread or self._meets(event, marks.pivot))
        after = self._spread(marks, event, tainted, closes)
        if event.kind is Kind.POLL:
            return Placed(after, -1, -1)
        if event.kind in CPU:
            return Placed(after)
        queue = _queue(event)
        if event.kind is Kind.FENCE and (queue, Kind.GET_WRITES) in marks.beta and queue in self.watched:
            after = replace(after, overtaken=after.overtaken | {queue})
        return self._completing(after, event)

    def _in_beta(self, marks: Marks, event: Event, value: Value) -> Placed | None:
        """Place the event in beta; None where then the pivot could not be in alpha, or a CPU would have read its value."""
        if event.kind in CPU and event.thread == marks.pivot.thread:
            return None
        if event.kind in CPU and event.kind in READS and event.cell in marks.poisoned:
            return None
        tainted = self._reached(marks, event) or self._meets(event, marks.pivot)
        after = self._accessed(self._poison(marks, event), event, value)
        after = self._spread(after, event, tainted, tainted and event.thread == marks.pivot.thread)
        if event.kind in CPU:
            after = replace(after, cpu=after.cpu | {event.thread})
            return Placed(after, -1 if event.kind is Kind.POLL else 0)
        queue = _queue(event)
        forces = event.kind is Kind.GET_WRITES or (
            event.kind is Kind.PUT_WRITES and ((queue, Kind.PUT_READS) in marks.beta or (queue, Kind.FENCE) in marks.beta)
        )
        if forces and queue in self.counted:
            after = replace(after, forced=after.forced | {queue})
        return self._completing(replace(after, beta=after.beta | {(queue, event.kind)}), event)

    def _completing(self, after: Marks, event: Event) -> Placed:
        """Count the completion that a NIC write makes; it is early unless one that forces its poll comes first, or it
        does."""
        if event.kind not in NIC_WRITES:
            return Placed(after)
        return Placed(after, 1, 0 if _queue(event) in after.forced else 1)

    def _accessed(self, marks: Marks, event: Event, value: Value) -> Marks:
        """Remember the access of an event of beta, and what the pivot would find if it is the first to write its cell."""
        if event.cell is None or event.cell not in self.shared:
            return marks
        if event.kind in READS:
            marks = replace(marks, read=marks.read | {event.cell})
        if event.kind in WRITES:
            if event.cell == marks.pivot.cell and event.cell not in marks.written:
                marks = replace(marks, alpha_value=value)
            marks = replace(marks, written=marks.written | {event.cell})
        return marks

    def _poison(self, marks: Marks, event: Event) -> Marks:
        """Let values that depend on the pivot travel with an event of beta."""
        if event.cell is None:
            return marks
        if event.kind in (Kind.PUT_READS, Kind.GET_READS):
            carries = event.cell in marks.poisoned
            return replace(marks, poison_carried=_with(marks.poison_carried, event.thread, carries))
        if event.kind in NIC_WRITES:
            stores = event.thread in marks.poison_carried
            carried = marks.poison_carried - {event.thread}
            return replace(marks, poison_carried=carried, poisoned=_with(marks.poisoned, event.cell, stores))
        if event.kind is Kind.LOCAL_WRITE:
            return replace(marks, poisoned=marks.poisoned - {event.cell})
        return marks

    def _reached(self, marks: Marks, event: Event) -> bool:
        """Whether sc leads from the pivot to the event, through its thread or its cell."""
        through_cell = event.cell in marks.tainted_writes or (event.kind in WRITES and event.cell in marks.tainted_reads)
        return event.thread in marks.tainted_threads or through_cell

    def _spread(self, marks: Marks, event: Event, tainted: bool, closes: bool) -> Marks:
        if closes and not marks.closed:
            nothing: frozenset[Cell] = frozenset()
            marks = replace(marks, closed=True, tainted_threads=frozenset(), tainted_reads=nothing, tainted_writes=nothing)
        if not tainted or marks.closed:
            return marks
        accessed = frozenset({event.cell} & self.shared) if event.cell is not None else frozenset()
        return replace(
            marks,
            tainted_threads=marks.tainted_threads | {event.thread},
            tainted_reads=marks.tainted_reads | (accessed if event.kind in READS else frozenset()),
            tainted_writes=marks.tainted_writes | (accessed if event.kind in WRITES else frozenset()),
        )


def _queue(event: Event) -> QueuePair:
    assert event.remote is not None
    return event.thread, event.remote


def _with(members: frozenset[Member], one: Member, belongs: bool) -> frozenset[Member]:
    return members | {one} if belongs else members - {one}
