"""The checker's own rules for what happens after an access of a run, event by event.

Source: docs/races.md, "What races", in the relations of :mod:`consistency` (`order_for_races`), whose edges all lead forward
in a run. Of events that the chosen access happens before, marked ones, is remembered what edges to later events ask for.

An event is marked if the chosen access happens before it, and issued besides if an instantaneous marked event is it or is
before it in ib. A marked event that is instantaneous is issued.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rdma_robust.certify.hardware import (
    CARD_READS,
    CPU,
    NIC_WRITES,
    STORES,
    EventKind,
    EventWords,
    Platform,
    goes_another_way,
    issued_in_order,
    observed_behind_poll,
    observed_in_order,
    of_variant,
    told_by_receive,
)
from rdma_robust.certify.race_accesses import RaceAccess, RaceAccesses, alike
from rdma_robust.certify.remembered import QueuePair, Tag
from rdma_robust.certify.thread_events import Completion, ThreadEvent
from rdma_robust.language.flow.cfg import Cell, Step

NEVER: Final = -1
"""The number of completions up to one that tells of an event, where nobody asks for it."""

MARKED: Final = Tag(beta=True)
"""What a receive has that was posted by a marked event, and a message whose completion tells of one."""
UNMARKED: Final = Tag()


class MarkedEvent(NamedTuple):
    """Marked events of a thread: queue pair, kind, the memory behind a card that they are in, if they are in one, the cell
    where the order of a network asks for it, and whether they are issued. `ahead` completions of the queue pair are to be
    polled until one is of a request that is not before them; 0 if one was."""

    thread: int
    remote: str | None
    kind: EventKind
    memory: str
    cell: Cell | None
    issued: bool
    ahead: int = NEVER


class MarkedWord(NamedTuple):
    """A cell whose last write is marked and synchronises, with what does so, whether that is issued, and the thread of whose
    store buffer it may come, -1 if of none."""

    cell: Cell
    synchronises: str
    issued: bool
    store_of: int


@dataclass(frozen=True, slots=True)
class ChosenMarks:
    """The memory of a run since an access was `chosen`.

    All further events of the threads in `covered` are marked. `told` has queue pairs with a completion that tells of a
    marked event, and how many are polled up to it, `quiet` those whose next completion will, as requests before it do.
    `read` are the threads whose card has made a marked read of the request that it is at, `operands` those of which it has
    taken a marked operand, and `data` those whose last event is a marked write of a request that a message ends.
    """

    chosen: RaceAccess
    covered: frozenset[int] = frozenset()
    events: frozenset[MarkedEvent] = frozenset()
    words: frozenset[MarkedWord] = frozenset()
    told: frozenset[tuple[QueuePair, int]] = frozenset()
    quiet: frozenset[QueuePair] = frozenset()
    read: frozenset[int] = frozenset()
    operands: frozenset[int] = frozenset()
    data: frozenset[int] = frozenset()


class AtEvent(NamedTuple):
    """The next event of a run: with its step, the completions of its queue pair that wait for a poll, whether such a poll
    may come, and the tag of what it waits for, of the receive that a message takes or of the message that is received."""

    event: ThreadEvent
    step: Step
    unpolled: int
    polled: bool
    tag: Tag


class MarkedBy(NamedTuple):
    """The marks after an event, whether it is marked itself, and the tag of what it posts or sends."""

    marks: ChosenMarks
    marked: bool
    tag: Tag


@dataclass(frozen=True)
class RaceRules:
    """How marks go on, on a platform."""

    platform: Platform
    accesses: RaceAccesses

    def begun(self, access: RaceAccess, here: AtEvent) -> MarkedBy:
        """Return what is remembered once an access of an event is chosen."""
        return self._noted(ChosenMarks(access), here, True, self.platform.instantaneous(here.event.kind))

    def after(self, marks: ChosenMarks, here: AtEvent) -> MarkedBy:
        """Return what is remembered after the next event."""
        marked, issued = self._level(marks, here)
        return self._noted(
            marks, here, marked or issued, issued or (marked and self.platform.instantaneous(here.event.kind))
        )

    def _level(self, marks: ChosenMarks, here: AtEvent) -> tuple[bool, bool]:
        """Whether an edge of the order comes from a marked event, and one of ib from an issued one."""
        event = here.event
        queue = (event.thread, event.remote or "")
        at_once = (
            not marks.covered.isdisjoint(event.threads)
            or here.tag.beta
            or (event.kind in NIC_WRITES and event.thread in marks.read)
            or (event.kind in (EventKind.ATOMIC_READS, EventKind.ATOMIC) and event.thread in marks.operands)
            or (event.kind is EventKind.POLL and (queue, 1) in marks.told)
        )
        if at_once:
            return True, True
        edges = [*self._from_events(marks, event), *self._from_words(marks, here)]
        return any(marked for marked, _ in edges), any(issued for _, issued in edges)

    def _from_events(self, marks: ChosenMarks, event: ThreadEvent) -> Iterator[tuple[bool, bool]]:
        """What the program order that is kept gives to an event, from each marked one."""
        regions = event.regions
        for one in marks.events:
            if one.thread not in event.threads:
                continue
            same = one.remote is not None and one.remote == event.remote
            words = regions._replace(same=one.cell is not None and one.cell == event.cell)
            kept = observed_in_order(one.kind, event.kind, same, self.platform, words)
            if one.ahead == 0 and same and event.kind not in CPU:
                kept = kept or observed_behind_poll(one.kind, event.kind, self.platform, regions)
            apart = goes_another_way(one.kind, EventWords(memory=one.memory), event.kind, words)
            yield kept and not apart, one.issued and issued_in_order(one.kind, event.kind, same, self.platform, words)

    def _from_words(self, marks: ChosenMarks, here: AtEvent) -> Iterator[tuple[bool, bool]]:
        """What reads-from gives to a read of a word that synchronises; none is observed that a store buffer forwards."""
        event = here.event
        for word in marks.words:
            mine = word.cell in event.read and self.accesses.kind(event.kind, word.cell, here.step)
            if mine and alike(word.synchronises, mine):
                forwarded = word.store_of == event.thread and event.kind is EventKind.LOCAL_READ
                yield not forwarded, word.issued

    def _noted(self, marks: ChosenMarks, here: AtEvent, marked: bool, issued: bool) -> MarkedBy:
        """Remember an event, marked and issued or not."""
        event, tag = here.event, UNMARKED
        if event.kind is EventKind.POLL:
            marks = self._polled(marks, (event.thread, event.remote or ""))
        if event.kind is EventKind.POSTS_BUFFER and marked:
            tag = MARKED
        if event.is_message and self._told_by_message(marks, event, marked, issued):
            tag = MARKED
        if event.completion is not Completion.NONE and here.polled:
            marks = self._completed(marks, here, marked, issued)
        marks = self._of_request(self._written(marks, here, marked, issued), event, marked, issued)
        if event.kind in CPU and issued and not (self.platform.buffered and event.kind in STORES):
            marks = self._covering(marks, event)
        elif marked:
            marks = self._with_event(marks, here, issued)
        return MarkedBy(marks, marked, tag)

    def _covering(self, marks: ChosenMarks, event: ThreadEvent) -> ChosenMarks:
        """All that comes behind a marked event of a CPU in its thread is issued behind it."""
        covered = marks.covered.union(event.threads)
        return replace(
            marks,
            covered=covered,
            events=frozenset(each for each in marks.events if each.thread not in covered),
            told=frozenset(each for each in marks.told if each[0][0] not in covered),
            quiet=frozenset(each for each in marks.quiet if each[0] not in covered),
            read=marks.read - covered,
            operands=marks.operands - covered,
            data=marks.data - covered,
        )

    def _with_event(self, marks: ChosenMarks, here: AtEvent, issued: bool) -> ChosenMarks:
        event = here.event
        if event.thread in marks.covered:
            return marks
        asked = self.platform.completions_order and event.kind not in CPU and here.polled
        cell = event.cell if event.kind in self.platform.looks_at_words else None
        remote = None if event.kind in CPU else event.remote
        kind = of_variant(event.kind, event.variant)
        ahead = here.unpolled + 1 if asked else NEVER
        one = MarkedEvent(event.thread, remote, kind, event.regions.memory, cell, issued, ahead)
        return replace(marks, events=_soonest((*marks.events, one)))

    def _polled(self, marks: ChosenMarks, queue: QueuePair) -> ChosenMarks:
        """A poll takes one of the completions that are counted up to those that tell."""
        told = frozenset((pair, ahead - (pair == queue)) for pair, ahead in marks.told)
        events = (e._replace(ahead=e.ahead - ((e.thread, e.remote) == queue and e.ahead > 0)) for e in marks.events)
        return replace(marks, told=frozenset(each for each in told if each[1]), events=_soonest(events))

    def _completed(self, marks: ChosenMarks, here: AtEvent, marked: bool, issued: bool) -> ChosenMarks:
        """What a poll of the completion of an event tells: that it was issued, with what comes before that; some that it has
        taken effect; under tso that earlier stores have."""
        event, queue = here.event, (here.event.thread, here.event.remote or "")
        if event.thread in marks.covered:
            return marks
        seen = marked and self.platform.visible_when_polled(event.kind) and not event.regions.memory
        stores = any(e.thread == event.thread and e.kind is EventKind.LOCAL_WRITE for e in marks.events)
        tells = issued or seen or (self.platform.buffered and stores) or queue in marks.quiet
        if event.completion is Completion.UNSIGNALED:
            return replace(marks, quiet=marks.quiet | {queue}) if tells else marks
        marks = replace(marks, quiet=marks.quiet - {queue})
        if not tells or any(pair == queue for pair, _ in marks.told):
            return marks
        return replace(marks, told=marks.told | {(queue, here.unpolled + 1)})

    def _told_by_message(self, marks: ChosenMarks, event: ThreadEvent, marked: bool, issued: bool) -> bool:
        """Whether who takes the completion of a message comes after something marked: the message, data of its request, or
        what its queue pair did before."""
        if issued or (marked and not event.regions.memory) or event.thread in marks.data:
            return True
        mine = (e for e in marks.events if e.thread == event.thread and e.remote is not None and e.remote == event.remote)
        return any(told_by_receive(e.kind, self.platform) and (e.issued or not e.memory) for e in mine)

    def _written(self, marks: ChosenMarks, here: AtEvent, marked: bool, issued: bool) -> ChosenMarks:
        event = here.event
        if not event.written:
            return marks
        words = {word for word in marks.words if word.cell not in event.written}
        by = event.thread if self.platform.buffered and event.kind is EventKind.LOCAL_WRITE else -1
        for cell in event.written if marked else ():
            kind = self.accesses.kind(event.kind, cell, here.step)
            words |= {MarkedWord(cell, kind, issued, by)} if kind else set()
        return marks if words == marks.words else replace(marks, words=frozenset(words))

    def _of_request(self, marks: ChosenMarks, event: ThreadEvent, marked: bool, issued: bool) -> ChosenMarks:
        """Remember what later events of the request ask of the event."""
        thread, kind, ends = event.thread, event.kind, event.completion is not Completion.NONE
        if thread in marks.covered:
            return marks
        reads = marked and not ends if kind in CARD_READS else kind in NIC_WRITES and not ends and thread in marks.read
        operand = kind is EventKind.PUT_READS and (marked or thread in marks.operands)
        lands = issued or (marked and not event.regions.memory)
        data = kind is EventKind.PUT_WRITES and not ends and lands
        read, operands, carried = (
            _with(mine, thread, belongs)
            for mine, belongs in ((marks.read, reads), (marks.operands, operand), (marks.data, data))
        )
        if (read, operands, carried) == (marks.read, marks.operands, marks.data):
            return marks
        return replace(marks, read=read, operands=operands, data=carried)


def _with(threads: frozenset[int], thread: int, belongs: bool) -> frozenset[int]:
    return threads | {thread} if belongs else threads - {thread}


def _soonest(events: Iterator[MarkedEvent] | tuple[MarkedEvent, ...]) -> frozenset[MarkedEvent]:
    """The events without those that others are like of which a completion tells sooner."""
    found: dict[MarkedEvent, int] = {}
    for event in events:
        like = event._replace(ahead=NEVER)
        known = found.get(like, NEVER)
        found[like] = event.ahead if known == NEVER else known if event.ahead == NEVER else min(known, event.ahead)
    return frozenset(like._replace(ahead=ahead) for like, ahead in found.items())
