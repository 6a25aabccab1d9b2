"""ROBUST certificates: an inductive set of states of the normal form's search, in which no violation is found.

The set must contain the initial state, every transition from it must lead into it, and none of its states may stand before
the pivot with the cycle closed. The transitions are the checker's own (:mod:`thread_reading`, :mod:`normal_form`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.certify.card_memories import CardMemoryRules
from rdma_robust.certify.document import reject
from rdma_robust.certify.hardware import WRITES, EventKind, Platform
from rdma_robust.certify.invariant_states import Limit, Place, StateSet, read_states
from rdma_robust.certify.mailboxes import meetings_of
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.remembered import Marks, PivotAccesses, QueuePair, Seen, TraceParts, Value
from rdma_robust.certify.search_steps import Around, SearchSteps
from rdma_robust.certify.thread_events import LocalState, ThreadEvent, ThreadMove
from rdma_robust.certify.thread_reading import Ahead, ThreadReading, readings_for_search, request_of
from rdma_robust.language.flow.cfg import Cell, Program, RemoteRmw, RFence, Thread, peer_of, steps

MOST_LOCAL: Final = 200_000
"""States of one thread that are looked at to see that it cannot come to the pivot any more."""

Part = int | None
"""The number of marks, None before the first event of beta."""


def check_robust(program: Program, platform: Platform, evidence: object) -> str:
    """Check that the invariant proves `program` robust on `platform` and return what it is, in a few words.

    Source: docs/theory-search.md, "The search", Theorem 8 (a program that is not robust has a run of the search to a
    violation), and that an inductive set contains everything that can be reached. Raises InvalidCertificate.
    """
    readings = readings_for_search(program, platform)
    states = read_states(program, readings, platform, evidence)
    _Inductive(program, readings, states, platform).check()
    return f"an inductive invariant of {states.rows} states"


def rules_of(
    program: Program,
    platform: Platform,
    shared: frozenset[Cell],
    counted: frozenset[QueuePair],
    watched: frozenset[QueuePair],
) -> NormalFormRules:
    """Return the rules for a program of which an invariant names cells, counts completions and watches fences."""
    matters = fences_matter(program) if platform.answers_pushed else frozenset()
    atomics = any(isinstance(step.op, RemoteRmw) for thread in program.threads for _, _, step in steps(thread))
    memories = CardMemoryRules.of(program, platform)
    return NormalFormRules(shared, counted, watched & matters, matters - watched, platform, memories, atomics)


def comes_to(reading: ThreadReading, start: LocalState, pivot: PivotAccesses) -> bool:
    """Return whether the pivot's thread may come from `start` to an event of the class, whatever it reads on its way.

    From where it may not, no violation with such a pivot follows.
    """
    seen = {start}
    todo = [start]
    while todo:
        for ahead in reading.ahead(todo.pop()):
            for move in reading.moves(ahead, None):
                if (move.event.kind in WRITES) == pivot.writes and pivot.cell in reading.cells_of(move.event):
                    return True
                if move.after not in seen:
                    if len(seen) >= MOST_LOCAL:
                        return True
                    seen.add(move.after)
                    todo.append(move.after)
    return False


def fences_matter(program: Program) -> frozenset[QueuePair]:
    """Return the queue pairs on which a fence between a get and a put can matter: those that have all three.

    Remote atomics end as gets do, messages, writes with immediate and atomics with operands in memory begin as puts do.
    """
    found = set()
    for number, thread in enumerate(program.threads):
        for remote in (*program.nodes, *(lane for lane, _ in thread.lanes)):
            if {EventKind.PUT_READS, EventKind.GET_WRITES, EventKind.FENCE} <= set(_events(thread, remote)):
                found.add((number, remote))
    return frozenset(found)


def _events(thread: Thread, remote: str) -> Iterator[EventKind]:
    for _, _, step in steps(thread):
        if peer_of(step.op) == remote:
            request = request_of(step.op)
            if request is not None:
                yield EventKind.GET_WRITES if request.writes is EventKind.GET_WRITES else EventKind.PUT_READS
                yield from [EventKind.PUT_READS] if request.operands else []
            elif isinstance(step.op, RFence):
                yield EventKind.FENCE


@dataclass(slots=True)
class _Step:
    """A move, and what may become of it in the set, by what that depends on."""

    move: ThreadMove
    afters: dict[tuple[Part, Seen, int, frozenset[Cell]], tuple[_After, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _After:
    """A possible outcome of a move: where its threads are then, with the states of the set that fit, the cells that it
    writes and what, the marks and the messages of the set that fit (None: still no marks), and the effect on
    completions."""

    event: ThreadEvent
    locals: tuple[tuple[int, LocalState, tuple[int, ...]], ...]
    stores: tuple[tuple[int, Value], ...]
    starts: bool
    pivot: PivotAccesses | None
    marks: tuple[Part, ...]
    mail: int | None
    placed: TraceParts
    counter: int


class _Inductive:
    """The check of one set. What a step does depends on little of a state, so each case is computed once."""

    def __init__(
        self, program: Program, readings: tuple[ThreadReading, ...], states: StateSet[Marks], platform: Platform
    ) -> None:
        self._program, self._readings, self._states = program, readings, states
        rules = rules_of(program, platform, frozenset(states.cells), frozenset(states.counted), states.watched)
        self._steps_of = SearchSteps(program, readings, rules)
        if states.connections is not None and states.connections != self._steps_of.connections:
            reject("`evidence.connections` is not about the threads that send messages to each other, in their order")
        if states.connections is None and self._steps_of.connections:
            reject("the invariant says nothing of the messages of the program: it has no `connections`")
        self._cell = {cell: i for i, cell in enumerate(states.cells)}
        self._counter = {pair: rules.counters * i for i, pair in enumerate(states.counted)}
        self._local = tuple({local: i for i, local in enumerate(each)} for each in states.locals)
        self._open = tuple(open_registers(each) for each in states.locals)
        self._marks = {marks: i for i, marks in enumerate(states.marks)}
        self._mail = {mail: i for i, mail in enumerate(states.mail)}
        self._aheads = tuple(
            [reading.ahead(local) for local in each] for reading, each in zip(readings, states.locals, strict=True)
        )
        self._held = tuple(
            [reading.stopped_at(local) for local in each] for reading, each in zip(readings, states.locals, strict=True)
        )
        self._may_hold = any(cell is not None for each in self._held for cell in each)
        self._steps: dict[tuple[int, int, int, Seen], tuple[_Step, ...]] = {}
        self._rounds: dict[tuple[ThreadMove, ...], tuple[_Step, ...]] = {}
        self._comes: dict[tuple[LocalState, PivotAccesses], bool] = {}
        self._violations: dict[tuple[int, int, Value, int], bool] = {}

    def check(self) -> None:
        self._check_start()
        for place, limits in self._states.limits.items():
            locals_, values, part, mail = place
            if part is not None and self._violates(locals_, values, part, mail):
                reject(f"the invariant contains a violation: {self._show(place)}")
            held = self._held_in(locals_)
            arriving: list[ThreadMove] = []
            for thread, local in enumerate(locals_):
                for number, ahead in enumerate(self._aheads[thread][local]):
                    value = self._value(thread, ahead, values, mail)
                    if ahead.hears is not None and value is None:
                        continue
                    key = thread, local, number, value
                    found = self._steps.get(key)
                    if found is None:
                        found = self._steps[key] = tuple(_Step(m) for m in self._readings[thread].moves(ahead, value))
                    for step in found:
                        if step.move.event.kind is EventKind.BARRIER:
                            arriving.append(step.move)
                        else:
                            self._check_step(place, limits, step, held)
            for step in self._meetings(tuple(arriving)):
                self._check_step(place, limits, step, held)

    def _meetings(self, arriving: tuple[ThreadMove, ...]) -> tuple[_Step, ...]:
        if arriving not in self._rounds:
            self._rounds[arriving] = tuple(map(_Step, meetings_of(arriving)))
        return self._rounds[arriving]

    def _check_start(self) -> None:
        zeros: Limit = (0,) * (self._steps_of.rules.counters * len(self._states.counted))
        entered = [self._fitting(i, reading.start) for i, reading in enumerate(self._readings)]
        values = tuple(cell.init for cell in self._states.cells)
        places: list[tuple[int, ...]] = [()]
        for fitting in entered:
            places = [(*before, i) for before in places for i in fitting]
        mail = self._mail.get(self._steps_of.first_mail)
        if mail is None or not any(self._contains((place, values, None, mail), zeros) for place in places):
            reject("the initial state is not in the invariant")

    def _check_step(self, place: Place, limits: list[Limit], step: _Step, held: frozenset[Cell]) -> None:
        locals_, values, part, mail = place
        event = step.move.event
        if event.peer is not None:
            event = self._steps_of.resolved(event, self._states.mail[mail])
            if part is None and self._steps_of.finds_no_buffer(event, self._states.mail[mail]):
                self._reject_unready(place, step.move)
        here = self._cell.get(event.cell, -1) if event.cell is not None else -1
        seen = self._held_by(event.read, values) if event.words else values[here] if here >= 0 else None
        key = part, seen, mail, held
        afters = step.afters.get(key)
        if afters is None:
            around = Around(None if part is None else self._states.marks[part], key[1], self._states.mail[mail], held)
            afters = step.afters[key] = tuple(self._find_afters(step.move, around))
        for after in afters:
            then = values
            for at, written in after.stores:
                if written is None:
                    reject(f"the invariant leaves open what {after.event} writes in {self._show(place)}")
                then = (*then[:at], written, *then[at + 1 :])
            for limit in limits:
                left = fired(limit, after.counter, after.placed.counts)
                if left is None or self._covered(locals_, then, after, left):
                    continue
                if after.pivot is not None and not self._comes_to(locals_, after, after.pivot):
                    continue
                first = " as the first event of beta" if after.starts else ""
                what = f"{after.event} of {self._readings[event.thread].name}{first}"
                reject(f"the invariant is not inductive: {what} leads out of it from {self._show(place)}")

    def _reject_unready(self, place: Place, move: ThreadMove) -> None:
        reject(
            "under sequential consistency a message can find no buffer (rnr), and then robustness has no proof of this kind:"
            f" line {move.line}, in {self._show(place)}"
        )

    def _covered(self, locals_: tuple[int, ...], values: tuple[int, ...], after: _After, left: Limit) -> bool:
        if after.mail is None:
            return False
        ends = [locals_]
        for thread, _, fitting in after.locals:
            ends = [(*end[:thread], local, *end[thread + 1 :]) for end in ends for local in fitting]
        return any(self._contains((end, values, part, after.mail), left) for end in ends for part in after.marks)

    def _contains(self, place: Place, limit: Limit) -> bool:
        for most in self._states.limits.get(place, ()):
            if all(a is None or (b is not None and b <= a) for a, b in zip(most, limit, strict=True)):
                return True
        return False

    def _held_in(self, locals_: tuple[int, ...]) -> frozenset[Cell]:
        """The words on which a thread has ended between the events of a remote atomic."""
        if not self._may_hold:
            return frozenset()
        found = (self._held[thread][local] for thread, local in enumerate(locals_))
        return frozenset(cell for cell in found if cell is not None)

    def _held_by(self, cells: Sequence[Cell], values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(values[self._cell[cell]] if cell in self._cell else cell.init for cell in cells)

    def _value(self, thread: int, ahead: Ahead, values: tuple[int, ...], mail: int) -> Seen:
        if ahead.words:
            return self._held_by(ahead.words, values)
        if ahead.hears is not None:
            return self._steps_of.heard(thread, ahead, self._states.mail[mail])
        if ahead.reads is None:
            return None
        i = self._cell.get(ahead.reads, -1)
        return values[i] if i >= 0 else ahead.reads.init

    def _find_afters(self, move: ThreadMove, around: Around) -> Iterator[_After]:
        thread = move.event.thread
        counter = self._counter.get((thread, move.event.remote), -1) if move.event.remote is not None else -1
        for taken in self._steps_of.taken(move, around):
            after = taken.placed.marks
            yield _After(
                taken.event,
                tuple((t, local, self._fitting(t, local)) for t, local in ((thread, taken.after), *taken.elsewhere)),
                tuple(
                    (self._written(thread, cell), value)
                    for cell, value in (taken.stores or ((taken.writes, taken.written),))
                    if cell is not None
                ),
                taken.starts is not None,
                None if after is None else after.pivot,
                (None,) if after is None else self._fitting_marks(after),
                self._mail.get(taken.mail),
                taken.placed,
                counter,
            )

    def _written(self, thread: int, cell: Cell) -> int:
        if cell not in self._cell:
            reject(f"the invariant says nothing of {cell}, which thread {self._readings[thread].name} can write")
        return self._cell[cell]

    def _fitting(self, thread: int, local: LocalState) -> tuple[int, ...]:
        """Return the thread's states of the set that `local` is one of: the same, but for registers that they leave open."""
        found = []
        for pattern in self._open[thread].get((local.point, local.operation), ()):
            number = self._local[thread].get(local.leaving_open(pattern))
            if number is not None:
                found.append(number)
        return tuple(found)

    def _fitting_marks(self, marks: Marks) -> tuple[Part, ...]:
        """Return the marks of the set that are these, or these with the pivot's value left open."""
        found = (self._marks.get(each) for each in dict.fromkeys((marks, marks.without_value())))
        return tuple(number for number in found if number is not None)

    def _comes_to(self, locals_: Sequence[int], after: _After, pivot: PivotAccesses) -> bool:
        """Whether the pivot's thread, after a step, may still come to the pivot: else a state may be missing."""
        number = pivot.thread
        here = self._states.locals[number][locals_[number]]
        start = next((local for thread, local, _ in after.locals if thread == number), here)
        if (start, pivot) not in self._comes:
            self._comes[start, pivot] = comes_to(self._readings[number], start, pivot)
        return self._comes[start, pivot]

    def _violates(self, locals_: tuple[int, ...], values: tuple[int, ...], part: int, mail: int) -> bool:
        """Whether the pivot's thread stands before an event of the class that can be put last into alpha."""
        marks = self._states.marks[part]
        if not marks.closed and not self._steps_of.connections:
            return False
        pivot = marks.pivot
        value = marks.alpha_value if pivot.cell in marks.written else values[self._cell[pivot.cell]]
        key = part, locals_[pivot.thread], value, mail
        if key not in self._violations:
            self._violations[key] = any(
                self._steps_of.violates(marks, ahead, value, self._states.mail[mail])
                for ahead in self._aheads[pivot.thread][locals_[pivot.thread]]
            )
        return self._violations[key]

    def _show(self, place: Place) -> str:
        locals_, values, part, _ = place
        at = [
            f"{reading.name} at {_show_local(self._states.locals[i][locals_[i]])}"
            for i, reading in enumerate(self._readings)
        ]
        held = [f"{cell} = {value}" for cell, value in zip(self._states.cells, values, strict=True)]
        shown = [*at[:6], *held[:6], *(["..."] if len(at) > 6 or len(held) > 6 else [])]
        return f"({', '.join(shown)}{'' if part is None else f'; marks {part}'})"


def _show_local(local: LocalState) -> str:
    return f"point {local.point}" if local.operation is None else f"point {local.point}, between two events"


def open_registers(locals_: Sequence[LocalState]) -> dict[tuple[int, int | None], set[tuple[bool, ...]]]:
    """For each place of a thread which registers its states leave open there."""
    found: dict[tuple[int, int | None], set[tuple[bool, ...]]] = {}
    for local in locals_:
        pattern = tuple([value is None for value in local.registers])
        found.setdefault((local.point, local.operation), set()).add(pattern)
    return found


def fired(limit: Limit, at: int, counts: tuple[int, ...]) -> Limit | None:
    """Return the limits after an event that changes those from number `at` on (-1: none) by `counts`, None where a poll
    finds too few completions."""
    if at < 0 or not any(counts):
        return limit
    changed = [None if most is None else most + n for most, n in zip(limit[at : at + len(counts)], counts, strict=True)]
    if any(most is not None and most < 0 for most in changed):
        return None
    return (*limit[:at], *changed, *limit[at + len(counts) :])
