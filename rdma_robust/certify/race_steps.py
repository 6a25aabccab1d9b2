"""The runs of a program under sequential consistency, with one access chosen and marks of what comes after it: the steps.

A step is an event of a thread, but for a remote atomic, whose read and write are one, a locked section, and a round of a
barrier. At each access one may be chosen; an access that conflicts with it and is not marked then races with it.

Source: docs/races.md, "What races"; docs/model.md, "Events".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from rdma_robust.certify.document import reject
from rdma_robust.certify.hardware import WRITES, EventKind, Platform
from rdma_robust.certify.mailboxes import Mailboxes, meetings_of
from rdma_robust.certify.race_accesses import RaceAccesses
from rdma_robust.certify.race_rules import NEVER, UNMARKED, AtEvent, ChosenMarks, RaceRules
from rdma_robust.certify.remembered import Buffer, Letter, Mail, QueuePair, Seen, Tag, Value
from rdma_robust.certify.thread_events import Completion, LocalState, ThreadEvent, ThreadMove
from rdma_robust.certify.thread_reading import Ahead, ThreadReading, readings_of
from rdma_robust.digraph import by_key, reachable
from rdma_robust.language.flow.cfg import Cell, Poll, Program, Step


class RaceState(NamedTuple):
    """A state of a run: where the threads are, what the cells hold, the marks, None before an access is chosen, how many
    completions of each queue pair wait for a poll, and the messages."""

    locals: tuple[LocalState, ...]
    values: tuple[int, ...]
    marks: ChosenMarks | None
    unpolled: tuple[int, ...]
    mail: Mail


class RaceTransition(NamedTuple):
    """A step from a state: the event it ends with, its line, and the state after it, None where it races with what is
    chosen."""

    event: ThreadEvent
    line: int
    after: RaceState | None


class _StepEvents(NamedTuple):
    """Events that are one step, and what they leave: where threads are then, and what cells hold."""

    events: tuple[ThreadEvent, ...]
    step: Step
    line: int
    after: tuple[tuple[int, LocalState], ...]
    stores: tuple[tuple[Cell, Value], ...]
    carries: Value


class RaceSteps(Mailboxes):
    """The steps of a program whose threads also look where they do not go on (`with_looks`)."""

    def __init__(self, program: Program, platform: Platform) -> None:
        super().__init__(program)
        self.program = program
        self.readings = readings_of(program, platform)
        self.accesses = RaceAccesses(program)
        self.rules = RaceRules(platform, self.accesses)
        written = {access.cell for reading in self.readings for access in reading.accesses() if access.writes}
        self.cells = tuple(cell for cell in program.cells if cell in written)
        self._index = {cell: i for i, cell in enumerate(self.cells)}
        polls = ((r.number, s.op) for r in self.readings for _, _, s in r.steps)
        self.counted: tuple[QueuePair, ...] = tuple(
            sorted({(t, op.lane or op.node) for t, op in polls if isinstance(op, Poll)})
        )
        self._number = {pair: i for i, pair in enumerate(self.counted)}
        self._polls = tuple(self._polling(*pair) for pair in self.counted)
        self._ahead = {
            (cell, writes): tuple(_coming_to(reading, cell, writes) for reading in self.readings)
            for cell in self.cells
            for writes in (False, True)
        }
        self.start = RaceState(
            tuple(reading.start for reading in self.readings),
            tuple(cell.init for cell in self.cells),
            None,
            (0,) * len(self.counted),
            self.first_mail,
        )

    def _polling(self, thread: int, remote: str) -> frozenset[int]:
        """The points of a thread from which it may still poll a queue pair."""
        polls = (
            p for p, _, s in self.readings[thread].steps if isinstance(s.op, Poll) and (s.op.lane or s.op.node) == remote
        )
        return _leading_to(self.readings[thread], polls)

    def transitions(self, state: RaceState) -> Iterator[RaceTransition]:
        """Yield every step from a state. What is left out is marks behind which nothing can race any more."""
        arriving: list[ThreadMove] = []
        barriers: dict[int, Step] = {}
        for thread, (reading, local) in enumerate(zip(self.readings, state.locals, strict=True)):
            for ahead in reading.ahead(local):
                step = reading.steps[ahead.number][2]
                value = self._read(thread, ahead, state)
                for move in reading.moves(ahead, value) if ahead.hears is None or value is not None else ():
                    if move.event.kind is EventKind.BARRIER:
                        arriving.append(move)
                        barriers[thread] = step
                    else:
                        yield from self._taken(state, self._made(state, move, step))
        for move in meetings_of(arriving):
            yield from self._taken(state, self._made(state, move, barriers[move.event.thread]))

    def _made(self, state: RaceState, move: ThreadMove, step: Step) -> _StepEvents | None:
        """The events of a move, None where it waits for another thread, or for a completion."""
        event = move.event
        if event.is_message and self.finds_no_buffer(event, state.mail):
            return None
        if event.kind is EventKind.POLL and not self._unpolled(state, event):
            return None
        events: tuple[ThreadEvent, ...] = (self.resolved(event, state.mail),)
        if event.swaps:
            move = self.readings[event.thread].second_half(move)
            events = (*events, move.event)
        last = events[-1]
        writes = ((last.cell, move.written),) if last.kind in WRITES and last.cell is not None else ()
        stores = tuple(zip(last.written, move.stores, strict=True)) if last.words else writes
        after = ((last.thread, move.after), *zip(last.others, move.elsewhere, strict=True))
        return _StepEvents(events, step, move.line, after, stores, move.written)

    def _taken(self, state: RaceState, made: _StepEvents | None) -> Iterator[RaceTransition]:
        if made is None:
            return
        told = state.marks
        after = self._after(state, made)
        if told is None:
            yield RaceTransition(made.events[-1], made.line, self._left(after, None, made, UNMARKED))
            for number, event in enumerate(made.events):
                for access in self.accesses.of(event, made.step):
                    if access.cell in self._index and access.cell not in self.accesses.words:
                        here = self._at(state, made, number)
                        begun = self.rules.begun(access, here)
                        marks, tag = begun.marks, begun.tag
                        for later in range(number + 1, len(made.events)):
                            marks = self.rules.after(marks, self._at(state, made, later)).marks
                        yield from self._going_on(after, marks, made, tag)
            return
        tag = UNMARKED
        for number, event in enumerate(made.events):
            marked = self.rules.after(told, self._at(state, made, number))
            if not marked.marked and any(told.chosen.conflicts(each) for each in self.accesses.of(event, made.step)):
                yield RaceTransition(event, made.line, None)
            told, tag = marked.marks, marked.tag
        yield from self._going_on(after, told, made, tag)

    def _going_on(self, after: RaceState, marks: ChosenMarks, made: _StepEvents, tag: Tag) -> Iterator[RaceTransition]:
        """The step, if an access may still race with the one that is chosen."""
        ahead = self._ahead[marks.chosen.cell, not marks.chosen.writes]
        if any(
            local.point in points and thread not in marks.covered
            for thread, (local, points) in enumerate(zip(after.locals, ahead, strict=True))
        ):
            yield RaceTransition(made.events[-1], made.line, self._left(after, marks, made, tag))

    def _after(self, state: RaceState, made: _StepEvents) -> RaceState:
        """The state after a step but for marks and messages."""
        values, unpolled, locals_ = list(state.values), list(state.unpolled), list(state.locals)
        for cell, written in made.stores:
            if written is None:
                reject(f"it is left open what line {made.line} writes to {cell}")
            values[self._index[cell]] = written
        for thread, local in made.after:
            locals_[thread] = local
        for event in made.events:
            change = 1 if event.completion is Completion.SIGNALED else -1 if event.kind is EventKind.POLL else 0
            if change and (at := self._counter(event)) is not None:
                unpolled[at] += change
        for i, (thread, _) in enumerate(self.counted):
            if locals_[thread].point not in self._polls[i]:
                unpolled[i] = 0
        return RaceState(tuple(locals_), tuple(values), None, tuple(unpolled), state.mail)

    def _left(self, after: RaceState, marks: ChosenMarks | None, made: _StepEvents, tag: Tag) -> RaceState:
        mail = self.mail_after(made.events[-1], made.carries, after.mail, tag)
        return after._replace(marks=marks if marks is None else self._polled_ahead(marks, after), mail=mail)

    def _polled_ahead(self, marks: ChosenMarks, state: RaceState) -> ChosenMarks:
        """The marks without those of completions that no poll can take any more."""
        if not marks.told and not marks.quiet and all(e.ahead <= 0 for e in marks.events):
            return marks
        open_ = {
            pair for pair, points in zip(self.counted, self._polls, strict=True) if state.locals[pair[0]].point in points
        }
        return replace(
            marks,
            told=frozenset(each for each in marks.told if each[0] in open_),
            quiet=marks.quiet & open_,
            events=frozenset(
                e if e.ahead <= 0 or (e.thread, e.remote) in open_ else e._replace(ahead=NEVER) for e in marks.events
            ),
        )

    def _at(self, state: RaceState, made: _StepEvents, number: int) -> AtEvent:
        event = made.events[number]
        counter = self._counter(event)
        unpolled = 0 if counter is None else state.unpolled[counter]
        polled = counter is not None and state.locals[event.thread].point in self._polls[counter]
        tag = UNMARKED
        if event.is_message or event.kind is EventKind.RECEIVES:
            channel = state.mail[self.number_of(event)]
            waits_for: tuple[Buffer | Letter, ...] = channel.posted if event.is_message else channel.arrived
            tag = waits_for[0].tag
        return AtEvent(event, made.step, unpolled, polled, tag)

    def _counter(self, event: ThreadEvent) -> int | None:
        return None if event.remote is None else self._number.get((event.thread, event.remote))

    def _unpolled(self, state: RaceState, event: ThreadEvent) -> int:
        at = self._counter(event)
        assert at is not None
        return state.unpolled[at]

    def _read(self, thread: int, ahead: Ahead, state: RaceState) -> Seen:
        if ahead.words:
            return tuple(self._value(cell, state) for cell in ahead.words)
        if ahead.hears is not None:
            return self.heard(thread, ahead, state.mail)
        return None if ahead.reads is None else self._value(ahead.reads, state)

    def _value(self, cell: Cell, state: RaceState) -> int:
        return state.values[self._index[cell]] if cell in self._index else cell.init


def _coming_to(reading: ThreadReading, cell: Cell, writing: bool) -> frozenset[int]:
    """The points of a thread from which it may still come to an access of a cell, or to one that may write it."""
    found = (
        p for p, _, s in reading.steps if any(a.cell == cell and a.writes >= writing for a in reading.accesses_of(s.op))
    )
    return _leading_to(reading, found)


def _leading_to(reading: ThreadReading, points: Iterable[int]) -> frozenset[int]:
    return frozenset(reachable(points, by_key((target, source) for source, target, _ in reading.steps)))
