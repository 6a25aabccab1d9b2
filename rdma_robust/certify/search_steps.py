"""The steps of the checker's search: what an event of a thread can become, with its effect on threads, memory and messages.

An event is one step, but for a remote atomic, whose read and write are one under sequential consistency: its two events have
a part each. A thread may also end between them (M4). The events at a barrier are one step: a round, of all of its threads.

Source: docs/theory-search.md, "The search"; docs/theory-deployed.md, "Store buffers" and "Barriers"; docs/deployed.md,
"Consistency".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rdma_robust.certify.hardware import WRITES, EventKind
from rdma_robust.certify.mailboxes import Mailboxes
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.remembered import (
    UNTAGGED,
    Buffer,
    Letter,
    Mail,
    Marks,
    PivotAccesses,
    Seen,
    Tag,
    TraceParts,
    Value,
    untainted,
)
from rdma_robust.certify.thread_events import LocalState, OperationStage, ThreadEvent, ThreadMove
from rdma_robust.certify.thread_reading import Ahead, ThreadReading
from rdma_robust.language.flow.cfg import Cell, Program


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A step: its event, where its thread is then, the cell that it writes and what, the messages then, and its part.

    `starts` is the class of pivots that it begins with, None if it begins with none. Of a locked section `stores` are the
    cells that it writes and what, of a round of a barrier `elsewhere` is where the other threads are then.
    """

    event: ThreadEvent
    after: LocalState
    writes: Cell | None
    written: Value
    mail: Mail
    placed: TraceParts
    starts: PivotAccesses | None = None
    stores: tuple[tuple[Cell, Value], ...] = ()
    elsewhere: tuple[tuple[int, LocalState], ...] = ()


@dataclass(frozen=True, slots=True)
class Around:
    """The surroundings of a thread on which its step depends: the marks, the value of the cell of its event, the
    messages, and the words on which a thread has ended between the events of a remote atomic."""

    marks: Marks | None
    value: Seen
    mail: Mail
    held: frozenset[Cell]


class SearchSteps(Mailboxes):
    """The steps of a program's search, under the rules of the normal form."""

    def __init__(self, program: Program, readings: Sequence[ThreadReading], rules: NormalFormRules) -> None:
        super().__init__(program)
        self.readings, self.rules = readings, rules
        self._pivots: dict[Cell, dict[PivotAccesses, None]] = {}
        for reading in readings:
            for access in reading.accesses():
                pivot = PivotAccesses(reading.number, access.cell, access.writes, access.atomic)
                self._pivots.setdefault(access.cell, {})[pivot] = None

    def held_by(self, thread: int, local: LocalState) -> Cell | None:
        """The word whose remote atomics wait for one of the thread that will never write (M4), None if there is none."""
        return self.readings[thread].stopped_at(local)

    def taken(self, move: ThreadMove, around: Around) -> Iterator[SearchStep]:
        """Yield what the event can become; nothing where it waits for another thread or the order is cut."""
        event = move.event
        if event.kind is EventKind.ATOMIC_WRITES:
            return  # It is the pivot.
        if event.kind is EventKind.ATOMIC_READS and self.rules.platform.ranked:
            if event.cell not in around.held:
                yield from self._atomic(move, around)
            return
        tag = UNTAGGED
        if event.is_message or event.kind is EventKind.RECEIVES:
            channel = around.mail[self.number_of(event)]
            waits_for: tuple[Buffer | Letter, ...] = channel.posted if event.is_message else channel.arrived
            if not waits_for or self.finds_no_buffer(event, around.mail):
                return
            tag = waits_for[0].tag
        event = self.resolved(event, around.mail)
        written = move.written if event.kind in WRITES and event.cell is not None else None
        for placed, starts in self._placed(event, around, tag):
            mail = self._delivered(event, move.written, around.mail, placed)
            stores = tuple(zip(event.written, move.stores, strict=True)) if event.words else ()
            writes = event.cell if event.kind in WRITES else None
            elsewhere = tuple(zip(event.others, move.elsewhere, strict=True))
            yield SearchStep(event, move.after, writes, written, mail, placed, starts, stores, elsewhere)

    def violates(self, marks: Marks, ahead: Ahead, value: Value, mail: Mail) -> bool:
        """Whether a step of the pivot's thread is a pivot that can be put last into alpha, so that a violation is found.

        `value` is what the pivot's cell holds for it. A remote atomic may be the pivot as a whole; so may be its read
        alone, or its write alone behind a read of its own (M4).
        """
        pivot = marks.pivot
        reading = self.readings[pivot.thread]
        for move in reading.moves(ahead, value if ahead.reads == pivot.cell else None):
            event = self.resolved(move.event, mail)
            tag = UNTAGGED
            if event.is_message and not self.finds_no_buffer(event, mail):
                tag = mail[self.number_of(event)].posted[0].tag
            if not (marks.closed or tag.tainted) or tag.beta:
                continue
            if self.rules.may_be_pivot(marks, event):
                return True
            if event.swaps and pivot.writes and self._whole(marks, move):
                return True
        return False

    def _whole(self, marks: Marks, move: ThreadMove) -> bool:
        """Whether both events of a remote atomic can be put last into alpha."""
        write = self.readings[move.event.thread].second_half(move).event
        fits = self.rules.fits_last(marks, move.event) and self.rules.may_be_pivot(marks, write)
        return fits and not marks.split and not marks.half

    def _placed(self, event: ThreadEvent, around: Around, tag: Tag) -> Iterator[tuple[TraceParts, PivotAccesses | None]]:
        if around.marks is not None:
            yield from ((placed, None) for placed in self.rules.placed(around.marks, event, around.value, tag))
            return
        yield self.rules.in_sequence(event), None
        for pivot in self._classes(event):
            first = self.rules.first_of_beta(event, pivot, around.value)
            if first is not None:
                yield _excluding(first, pivot, around.held), pivot

    def _classes(self, event: ThreadEvent) -> Iterator[PivotAccesses]:
        touched = dict.fromkeys((*event.read, *event.written))
        yield from dict.fromkeys(p for cell in touched if cell in self.rules.shared for p in self._pivots.get(cell, ()))

    def _delivered(self, event: ThreadEvent, written: Value, mail: Mail, placed: TraceParts) -> Mail:
        """The messages after the event; once the cycle is closed, their taint is forgotten as well."""
        mail = self.mail_after(event, written, mail, placed.tag)
        return untainted(mail) if placed.marks is not None and placed.marks.closed else mail

    def _atomic(self, move: ThreadMove, around: Around) -> Iterator[SearchStep]:
        """A remote atomic: its read where it does not write, else both, or the read as the last event of its thread."""
        if not move.event.swaps:
            for placed, starts in self._placed(move.event, around, UNTAGGED):
                yield self._made(move, placed, around, starts)
            return
        write = self.readings[move.event.thread].second_half(move)
        if move.event.at_once:
            yield from self._at_once(move.event, write, around)
            return
        stopped = replace(move, after=replace(move.after, stage=OperationStage.STOPPED, carried=None, operands=()))
        if around.marks is None:
            yield from self._first_atomic(move, write, stopped, around)
        else:
            yield from self._later_atomic(move, write, stopped, around, around.marks)

    def _at_once(self, read: ThreadEvent, write: ThreadMove, around: Around) -> Iterator[SearchStep]:
        """A compare-and-swap that fails and is taken as one that writes what it has read: both of its events together."""
        if around.marks is None:
            yield self._made(write, self.rules.in_sequence(write.event), around, None)
            for pivot in self._classes(read):
                yield from self._both_in_beta(self.rules.before_beta(pivot), read, write, around, pivot)
            return
        for first in self.rules.placed(around.marks, read, around.value):
            assert first.marks is not None
            for second in self.rules.placed(first.marks, write.event, around.value):
                if first.in_beta or second.in_beta:
                    yield from self._both_in_beta(around.marks, read, write, around, None)
                else:
                    yield self._made(write, second, around, None)

    def _both_in_beta(
        self, marks: Marks, read: ThreadEvent, write: ThreadMove, around: Around, starts: PivotAccesses | None
    ) -> Iterator[SearchStep]:
        first = self.rules.written_behind(marks, read, around.value)
        second = (
            None
            if first is None or first.marks is None
            else self.rules.written_behind(first.marks, write.event, around.value)
        )
        if second is not None:
            yield self._made(write, second if starts is None else _excluding(second, starts, around.held), around, starts)

    def _first_atomic(
        self, move: ThreadMove, write: ThreadMove, stopped: ThreadMove, around: Around
    ) -> Iterator[SearchStep]:
        """Before the first event of beta, or as that."""
        read = move.event
        yield self._made(write, self.rules.in_sequence(write.event), around, None)
        yield self._made(stopped, self.rules.in_sequence(read), around, None)
        for pivot in self._classes(read):
            both = self.rules.first_of_beta(read, pivot, around.value)
            if both is not None and both.marks is not None:
                second = self.rules.written_behind(both.marks, write.event, around.value)
                if second is not None:
                    yield self._made(write, _excluding(second, pivot, around.held), around, pivot)
            apart = self.rules.first_of_beta(write.event, pivot, around.value)
            if apart is not None and apart.marks is not None:
                marks = self._apart(self.rules.before_beta(pivot), apart.marks, read)
                yield self._made(write, _excluding(replace(apart, marks=marks), pivot, around.held), around, pivot)
            if pivot.thread == read.thread and pivot.writes:
                begun = self.rules.begun(self.rules.before_beta(pivot), read)
                assert begun is not None
                yield self._made(move, begun, around, pivot)

    def _later_atomic(
        self, move: ThreadMove, write: ThreadMove, stopped: ThreadMove, around: Around, marks: Marks
    ) -> Iterator[SearchStep]:
        pivot, read = marks.pivot, move.event
        if pivot.thread == read.thread and pivot.writes and pivot.cell == read.cell:
            begun = self.rules.begun(marks, read)
            if begun is not None:
                yield self._made(move, begun, around, None)
        for first in self.rules.placed(marks, read, around.value):
            assert first.marks is not None
            if pivot.thread != read.thread:
                ended = first.marks if first.in_beta else self.rules.apart(marks, first.marks, read)
                yield self._made(stopped, replace(first, marks=ended), around, None)
            if first.in_beta:
                second = self.rules.written_behind(first.marks, write.event, around.value)
                if second is not None:
                    yield self._made(write, second, around, None)
                continue
            for second in self.rules.placed(first.marks, write.event, around.value):
                if second.in_beta:
                    assert second.marks is not None
                    second = replace(second, marks=self._apart(marks, second.marks, read))
                yield self._made(write, second, around, None)

    def _apart(self, before: Marks, after: Marks, read: ThreadEvent) -> Marks:
        return self.rules.closing(self.rules.apart(before, after, read), read)

    def _made(self, move: ThreadMove, placed: TraceParts, around: Around, starts: PivotAccesses | None) -> SearchStep:
        """A step of a remote atomic whose last event, of those made, is that of the move."""
        writes = move.event.cell if move.event.kind in WRITES else None
        mail = self._delivered(move.event, move.written, around.mail, placed)
        return SearchStep(move.event, move.after, writes, move.written, mail, placed, starts)


def _excluding(placed: TraceParts, pivot: PivotAccesses, held: frozenset[Cell]) -> TraceParts:
    """A thread that has ended between the events of a remote atomic on the pivot's cell keeps the pivot from being one."""
    if pivot.cell not in held or placed.marks is None:
        return placed
    return replace(placed, marks=replace(placed.marks, split=True))
