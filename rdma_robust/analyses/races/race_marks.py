"""Marks for the events that happen after a chosen one, followed while a run is made (docs/theory-hangs.md, "Races").

An event is marked OBSERVED if it happens after the chosen access, and ISSUED if also something instantaneous that does is
issued before it; an instantaneous event is ISSUED if it is marked at all. What later events need to know of marked ones is
their kinds, thread by thread and queue pair by queue pair, and what carries a mark on: completions that wait for a poll,
last writes of synchronising words, posted receives, receive completions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

from rdma_robust.language.flow.cfg import Cell, Step
from rdma_robust.model import Model
from rdma_robust.semantics.happens_before import Synchronising, are_of_one_kind, may_write
from rdma_robust.semantics.kinds import Kind, kind_of, memory_of
from rdma_robust.semantics.order_table import (
    behind_poll,
    by_word,
    delayed_types,
    includes,
    ippo_scope,
    oppo_scope,
    receives_of_own,
    tells_of,
    visible_when_polled,
)
from rdma_robust.semantics.trace import CPU_TYPES, READ_TYPES, STORE_TYPES, WRITE_TYPES, Event, EventType
from rdma_robust.semantics.vertices import data_and_messages, read_and_writes

UNMARKED: Final = 0
OBSERVED: Final = 1
ISSUED: Final = 2

NEVER: Final = -1
"""The number of completions before one where they are counted elsewhere, or the event of which polls are not asked."""


class MarkedKind(NamedTuple):
    """Marked events of a thread: their queue pair, kind, word where the order asks for it, and level. `ahead` is how many
    completions of the queue pair have to be polled until one tells of the earliest of them, 0 if it has; NEVER where the
    order does not ask."""

    remote: str | None
    kind: Kind
    word: Cell | None
    level: int
    ahead: int = NEVER


EVERYTHING: Final = frozenset({MarkedKind(None, EventType.F, None, ISSUED)})
"""The marks of a thread all of whose further events are marked as ISSUED."""

QueuePair = tuple[int, str | None]


class AccessKey(NamedTuple):
    """An access as far as races are told apart."""

    thread: int
    type: EventType
    word: Cell
    step: Step
    writes: bool

    def conflicts(self, other: AccessKey) -> bool:
        """Return whether two accesses of one word do: see :func:`happens_before.conflicting`."""
        of_one_cpu = self.thread == other.thread and {self.type, other.type} <= CPU_TYPES
        return not of_one_cpu and (self.writes or other.writes)


class RaceMarks(NamedTuple):
    """The chosen access, and what is known to happen after it.

    `threads` has for each thread its marked kinds. `told` are the queue pairs with a completion that tells, and how many
    completions are polled before and with it; `quiet` those on which the next one will, as an unsignaled request does.
    `words` are the words whose last write synchronises and is marked, with its level, its kind and, if it is a store, its
    thread.
    `posted` are marked receives, by connection and place, with their level, `arrived` the receive completions that tell.
    `current` are the events of a thread's last operation, with their levels. `round`: the round of a barrier that threads
    are leaving is marked.
    """

    chosen: AccessKey
    threads: tuple[frozenset[MarkedKind], ...]
    told: frozenset[tuple[QueuePair, int]] = frozenset()
    quiet: frozenset[QueuePair] = frozenset()
    words: frozenset[tuple[Cell, int, int, str]] = frozenset()
    posted: frozenset[tuple[int, int, int]] = frozenset()
    arrived: frozenset[tuple[int, int]] = frozenset()
    current: tuple[tuple[int, tuple[tuple[Event, int], ...]], ...] = ()
    round: bool = False


class Queues(NamedTuple):
    """How much waits before an event: completions of its queue pair not yet polled, receives posted on its connection, and
    receive completions there. `connection` is its number, -1 for an event of none; `polled`: a later poll may come."""

    unpolled: int = 0
    posted: int = 0
    arrived: int = 0
    connection: int = -1
    polled: bool = True


@dataclass(frozen=True)
class MarkRules:
    """How marks go on under a memory model, where these words synchronise."""

    model: Model
    synchronising: Synchronising
    threads: int

    @cached_property
    def delayed(self) -> frozenset[EventType]:
        return delayed_types(self.model)

    @cached_property
    def behind(self) -> Model | None:
        return behind_poll(self.model)

    @cached_property
    def own(self) -> bool:
        return receives_of_own(self.model)

    @cached_property
    def covering(self) -> frozenset[EventType]:
        """The types of CPU events behind which everything of the thread is issued and observed."""
        every = [t for t in EventType if t is not EventType.INIT]
        return frozenset(
            t
            for t in CPU_TYPES - self.delayed
            if all(ippo_scope(t, k, self.model) == oppo_scope(t, k, self.model) == "all" for k in every)
        )

    def begin(self, key: AccessKey, event: Event, queues: Queues) -> RaceMarks:
        """Return the marks after an event has been chosen."""
        marks = RaceMarks(key, (frozenset(),) * self.threads)
        return self._noted(marks, event, self._levelled(event, OBSERVED), queues)

    def after(self, marks: RaceMarks, event: Event, queues: Queues) -> tuple[RaceMarks, int]:
        """Return the marks after the next event of a run, and the level of that."""
        level = self.level(marks, event, queues)
        if not level and not (event.joined or event.members) and self._indifferent(marks, event):
            return marks, level
        return self._noted(marks, event, level, queues), level

    def together(self, marks: RaceMarks, events: Sequence[Event], queues: Sequence[Queues]) -> tuple[RaceMarks, int]:
        """Return the marks after events that are one vertex, as those of a locked section are, and their level."""
        level = max(self.level(marks, event, each) for event, each in zip(events, queues, strict=True))
        for event, each in zip(events, queues, strict=True):
            marks = self._noted(marks, event, level, each)
        return marks, level

    def synchronise(self, one: AccessKey, other: AccessKey) -> bool:
        """Return whether two accesses of a word synchronise with each other."""
        kinds = (self.synchronising.kind(each.type, each.word, each.step) for each in (one, other))
        return are_of_one_kind(*kinds)

    def _may_tell(self, cell: Cell | None) -> bool:
        return cell in self.synchronising.words or cell in self.synchronising.others

    def polls_one_that_tells(self, marks: RaceMarks, pair: QueuePair) -> bool:
        """Return whether the next poll of a queue pair takes a completion that tells."""
        return (pair, 1) in marks.told

    def level(self, marks: RaceMarks, event: Event, queues: Queues) -> int:
        """Return the level of the next event of a run."""
        mine = marks.threads[event.thread]
        if mine == EVERYTHING or (event.members and marks.round):
            return ISSUED
        kind = kind_of(event.type, event)
        found = max((self._kept(mark, kind, event) for mark in mine), default=UNMARKED)
        found = max(found, self._of_operation(marks, event))
        if event.type in READ_TYPES and self.synchronising.of(event):
            found = max(found, self._read(marks, event))
        if event.type is EventType.P and self.polls_one_that_tells(marks, (event.thread, event.remote)):
            found = ISSUED
        if event.type is EventType.RP and (queues.connection, 0) in marks.arrived:
            found = ISSUED
        if _is_message(event):
            found = max(found, self._taken(marks, queues))
        return self._levelled(event, found)

    def _levelled(self, event: Event, level: int) -> int:
        return ISSUED if level and event.type not in self.delayed else level

    def _kept(self, mark: MarkedKind, kind: Kind, event: Event) -> int:
        where = {
            "same_queue": mark.remote is not None and mark.remote == event.remote,
            "same_word": mark.word is not None and mark.word == event.cell,
        }
        if mark.level == ISSUED and includes(ippo_scope(mark.kind, kind, self.model), **where):
            return ISSUED
        if includes(oppo_scope(mark.kind, kind, self.model), **where):
            return OBSERVED
        polled = self.behind is not None and mark.ahead == 0 and where["same_queue"] and event.type not in CPU_TYPES
        return OBSERVED if polled and includes(oppo_scope(mark.kind, kind, self.behind or self.model), **where) else UNMARKED

    def _of_operation(self, marks: RaceMarks, event: Event) -> int:
        """What a card's read gives to what it carries a value to, whatever the table says."""
        before = dict(marks.current).get(event.thread, ())
        if not before:
            return UNMARKED
        events = [*(each for each, _ in before), event]
        levels = [before[read][1] for read, write in read_and_writes(events) if write == len(before)]
        return max(levels, default=UNMARKED)

    def _taken(self, marks: RaceMarks, queues: Queues) -> int:
        """The level of the receive that a message takes."""
        return max((level for c, k, level in marks.posted if (c, k) == (queues.connection, 0)), default=UNMARKED)

    def _read(self, marks: RaceMarks, event: Event) -> int:
        for cell, level, thread, kind in marks.words:
            if not are_of_one_kind(kind, self.synchronising.of(event)):
                continue
            if cell == event.cell and (thread != event.thread or event.type is not EventType.LR or level == ISSUED):
                return level
        return UNMARKED

    def _indifferent(self, marks: RaceMarks, event: Event) -> bool:
        """Whether an event without a mark changes nothing about the others."""
        if event.type is EventType.P:
            return not any(pair == (event.thread, event.remote) for pair, _ in marks.told) and self.behind is None
        if event.type in (EventType.RP, EventType.V) or _is_message(event) or event.completing or marks.current:
            return False
        return not self._may_tell(event.cell)

    def _noted(self, marks: RaceMarks, event: Event, level: int, queues: Queues) -> RaceMarks:
        """Return the marks with those of an event of this level."""
        t, kind = event.thread, kind_of(event.type, event)
        if event.type is EventType.P:
            marks = self._polled(marks, (t, event.remote))
        if self._may_tell(event.cell) and event.type in WRITE_TYPES:
            marks = self._written(marks, event, level)
        if event.type is EventType.V and level:
            marks = marks._replace(posted=marks.posted | {(queues.connection, queues.posted, level)})
        if event.type is EventType.RP:
            marks = marks._replace(arrived=frozenset((c, k - (c == queues.connection)) for c, k in marks.arrived))
            marks = marks._replace(arrived=frozenset((c, k) for c, k in marks.arrived if k >= 0))
        if _is_message(event):
            marks = self._sent(marks, event, kind, level, queues)
        if event.completing:
            marks = self._completed(marks, event, kind, level, queues)
        marks = self._of_thread(marks, event, kind, level, queues)
        if event.members:
            marks = marks._replace(round=level > 0)
        return marks

    def _of_thread(self, marks: RaceMarks, event: Event, kind: Kind, level: int, queues: Queues) -> RaceMarks:
        t, mine = event.thread, marks.threads[event.thread]
        current = dict(marks.current)
        before = current.pop(t, ())
        if mine != EVERYTHING and not self._covers(event, level):
            if event.remote is not None and event.type not in CPU_TYPES:
                same = before if before and before[-1][0].step == event.step and not before[-1][0].completing else ()
                if level or same:
                    current[t] = (*same, (_bare(event), level))
            if level:
                mine = self._with(mine, self._mark_of(event, kind, level, queues))
        elif mine != EVERYTHING:
            mine = EVERYTHING
        threads = (*marks.threads[:t], mine, *marks.threads[t + 1 :])
        if mine == EVERYTHING:
            marks = marks._replace(quiet=frozenset(pair for pair in marks.quiet if pair[0] != t))
            marks = marks._replace(told=frozenset(each for each in marks.told if each[0][0] != t))
        kept = tuple(sorted((u, each) for u, each in current.items() if any(level for _, level in each)))
        return marks._replace(threads=threads, current=kept)

    def _covers(self, event: Event, level: int) -> bool:
        return level == ISSUED and event.type in self.covering

    def _mark_of(self, event: Event, kind: Kind, level: int, queues: Queues) -> MarkedKind:
        asked = self.behind is not None and event.remote is not None and event.type not in CPU_TYPES
        word = event.cell if any(by_word(kind, each) for each in (self.model, self.behind) if each is not None) else None
        return MarkedKind(event.remote, kind, word, level, queues.unpolled + 1 if asked else NEVER)

    def _with(self, mine: frozenset[MarkedKind], mark: MarkedKind) -> frozenset[MarkedKind]:
        """The marked kinds with one more; of those that differ in nothing but `ahead` the one that is told of first."""
        like = [each for each in mine if each[:4] == mark[:4]]
        if any(each.ahead <= mark.ahead for each in like):
            return mine
        return mine - set(like) | {mark}

    def _polled(self, marks: RaceMarks, pair: QueuePair) -> RaceMarks:
        told = frozenset((p, ahead - (p == pair and ahead != NEVER)) for p, ahead in marks.told if (p, ahead) != (pair, 1))
        if self.behind is None:
            return marks._replace(told=told)
        t, remote = pair
        mine = marks.threads[t]
        if mine != EVERYTHING:
            moved = (m._replace(ahead=m.ahead - (m.remote == remote and m.ahead > 0)) for m in mine)
            mine = frozenset(moved)
        return marks._replace(told=told, threads=(*marks.threads[:t], mine, *marks.threads[t + 1 :]))

    def _written(self, marks: RaceMarks, event: Event, level: int) -> RaceMarks:
        others = frozenset(each for each in marks.words if each[0] != event.cell)
        kind = self.synchronising.of(event)
        if not level or event.cell is None or not kind:
            return marks._replace(words=others)
        by = event.thread if event.type in STORE_TYPES and event.type in self.delayed else -1
        return marks._replace(words=others | {(event.cell, level, by, kind)})

    def _sent(self, marks: RaceMarks, event: Event, kind: Kind, level: int, queues: Queues) -> RaceMarks:
        """The message takes the oldest receive; its completion may tell of it, and of what went before on its queue pair."""
        here = queues.connection
        posted = frozenset((c, k - (c == here), at) for c, k, at in marks.posted if (c, k) != (here, 0))
        marks = marks._replace(posted=posted)
        if self._told_by_message(marks, event, kind, level):
            marks = marks._replace(arrived=marks.arrived | {(here, queues.arrived)})
        return marks

    def _told_by_message(self, marks: RaceMarks, event: Event, kind: Kind, level: int) -> bool:
        if level == ISSUED or (level and not memory_of(kind)):
            return True
        if self.own:
            before = dict(marks.current).get(event.thread, ())
            events = [*(each for each, _ in before), event]
            return any(_tells(before[a][1], kind_of(events[a].type, events[a])) for a, _ in data_and_messages(events))
        same = (mark for mark in marks.threads[event.thread] if mark.remote == event.remote)
        return any(tells_of(m.kind, kind, self.model) and _tells(m.level, m.kind) for m in same)

    def _completed(self, marks: RaceMarks, event: Event, kind: Kind, level: int, queues: Queues) -> RaceMarks:
        pair = (event.thread, event.remote)
        seen = level == OBSERVED and visible_when_polled(kind, self.model)
        tells = queues.polled and (level == ISSUED or seen or self._behind_store(marks, kind, event))
        if event.unsignaled:
            return marks._replace(quiet=marks.quiet | {pair}) if tells else marks
        if (tells or pair in marks.quiet) and all(p != pair for p, _ in marks.told):
            ahead = NEVER if queues.unpolled == NEVER else queues.unpolled + 1
            marks = marks._replace(told=marks.told | {(pair, ahead)})
        return marks._replace(quiet=marks.quiet - {pair}) if pair in marks.quiet else marks

    def _behind_store(self, marks: RaceMarks, kind: Kind, event: Event) -> bool:
        """Whether a poll of the completion tells that a marked store has left its buffer."""
        if EventType.LW not in self.delayed:
            return False
        stores = (mark for mark in marks.threads[event.thread] if mark.kind is EventType.LW)
        return any(oppo_scope(mark.kind, kind, self.model) == "all" for mark in stores)


def _tells(level: int, kind: Kind) -> bool:
    return level == ISSUED or (level == OBSERVED and not memory_of(kind))


def _is_message(event: Event) -> bool:
    return event.peer is not None and event.type is EventType.NRW


def _bare(event: Event) -> Event:
    """An event without its values, which do not count here."""
    return replace(event, index=-1, position=-1, read=None, written=None)


def access_key(event: Event) -> AccessKey:
    """Return an access as far as races are told apart. A look that stays is one of its statement."""
    assert event.step is not None and event.cell is not None
    said = event.step.synchronises
    step = Step(event.step.op, span=event.step.span, text=event.step.text, synchronises=said)
    return AccessKey(event.thread, event.type, event.cell, step, may_write(event))
