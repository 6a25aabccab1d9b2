"""ROBUST certificates: an inductive set of states of the normal form's search, in which no violation is found.

The set must contain the initial state, every transition from it must lead into it, and none of its states may stand before
the pivot with the cycle closed. The transitions are the checker's own (:mod:`thread_reading`, :mod:`normal_form`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.document import reject
from rdma_robust.certify.hardware import WRITES
from rdma_robust.certify.invariant_states import Limit, Place, StateSet, read_states
from rdma_robust.certify.normal_form import Marks, Pivot, Placed, QueuePair, Rules, in_sequence
from rdma_robust.certify.thread_reading import Ahead, Event, Local, Move, ThreadReading, Value
from rdma_robust.language.flow.cfg import Cell, Get, Program, Put, RFence, Thread, steps

MOST_LOCAL: Final = 200_000
"""States of one thread that are looked at to see that it cannot come to the pivot any more."""

Rest = tuple[tuple[int, ...], tuple[int, ...]]
"""The numbers of the states of the threads before and behind the one that moves."""

Part = int | None
"""The number of marks, None before the first event of beta."""


def check_robust(program: Program, ordered_reads: bool, evidence: object) -> str:
    """Check that the invariant proves `program` robust and return what it is, in a few words.

    Source: docs/theory.md, Theorem 8 (a program that is not robust has a run of the search to a violation), and that an
    inductive set contains everything that can be reached. Raises InvalidCertificate.
    """
    readings = tuple(ThreadReading(thread, i) for i, thread in enumerate(program.threads))
    states = read_states(program, readings, evidence)
    _Inductive(program, readings, states, ordered_reads).check()
    return f"an inductive invariant of {states.rows} states"


def comes_to(reading: ThreadReading, start: Local, pivot: Pivot) -> bool:
    """Return whether the pivot's thread may come from `start` to an event of the class, whatever it reads on its way.

    From where it may not, no violation with such a pivot follows.
    """
    seen = {start}
    todo = [start]
    while todo:
        for ahead in reading.ahead(todo.pop()):
            for move in reading.moves(ahead, None):
                if move.event.cell == pivot.cell and (move.event.kind in WRITES) == pivot.writes:
                    return True
                if move.after not in seen:
                    if len(seen) >= MOST_LOCAL:
                        return True
                    seen.add(move.after)
                    todo.append(move.after)
    return False


def fences_matter(program: Program) -> frozenset[QueuePair]:
    """Return the queue pairs on which a fence between a get and a put can matter: those that have all three."""
    found = set()
    for number, thread in enumerate(program.threads):
        for remote in program.nodes:
            if {Put, Get, RFence} <= set(_operations(thread, remote)):
                found.add((number, remote))
    return frozenset(found)


def _operations(thread: Thread, remote: str) -> Iterator[type]:
    for _, _, step in steps(thread):
        match step.op:
            case Put(Cell(node), _) | Get(_, Cell(node)) | RFence(node) if node == remote:
                yield type(step.op)
            case _:
                pass


@dataclass(frozen=True, slots=True)
class _Step:
    """A move with its effect on the place: the cell that it writes (-1: none) and the states of the set its thread is
    in then."""

    event: Event
    move: Move
    writes: int
    into: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _After:
    """What may become of the marks: the marks of the set that fit (None: still none), and the effect on completions."""

    pivot: Pivot | None
    into: tuple[Part, ...]
    placed: Placed
    counter: int


class _Inductive:
    """The check of one set. What a step does depends on little of a state, so each case is computed once."""

    def __init__(self, program: Program, readings: tuple[ThreadReading, ...], states: StateSet, ordered_reads: bool) -> None:
        self._program, self._readings, self._states = program, readings, states
        matters = fences_matter(program)
        self._rules = Rules(
            frozenset(states.cells),
            frozenset(states.counted),
            states.watched & matters,
            matters - states.watched,
            ordered_reads,
        )
        self._cell = {cell: i for i, cell in enumerate(states.cells)}
        self._counter = {pair: 2 * i for i, pair in enumerate(states.counted)}
        self._local = tuple({local: i for i, local in enumerate(each)} for each in states.locals)
        self._open = tuple(_open_registers(each) for each in states.locals)
        self._marks = {marks: i for i, marks in enumerate(states.marks)}
        self._aheads = tuple(
            [reading.ahead(local) for local in each] for reading, each in zip(readings, states.locals, strict=True)
        )
        self._accesses = tuple(frozenset(reading.accesses()) for reading in readings)
        self._steps: dict[tuple[int, int, int, Value], tuple[_Step, ...]] = {}
        self._afters: dict[tuple[Part, Event, Value], tuple[_After, ...]] = {}
        self._comes: dict[tuple[Local, Pivot], bool] = {}
        self._violations: dict[tuple[int, int, Value], bool] = {}

    def check(self) -> None:
        self._check_start()
        for place, limits in self._states.limits.items():
            locals_, values, part = place
            if part is not None and self._states.marks[part].closed and self._violates(locals_, values, part):
                reject(f"the invariant contains a violation: {self._show(place)}")
            for thread, local in enumerate(locals_):
                for number, ahead in enumerate(self._aheads[thread][local]):
                    value = self._value(ahead, values)
                    key = thread, local, number, value
                    found = self._steps.get(key)
                    if found is None:
                        found = self._steps[key] = self._find_steps(thread, ahead, value)
                    for step in found:
                        self._check_step(place, limits, thread, step)

    def _check_start(self) -> None:
        zeros: Limit = (0,) * (2 * len(self._states.counted))
        entered = [self._fitting(i, reading.start) for i, reading in enumerate(self._readings)]
        values = tuple(cell.init for cell in self._states.cells)
        places: list[tuple[int, ...]] = [()]
        for fitting in entered:
            places = [(*before, i) for before in places for i in fitting]
        if not any(self._contains((place, values, None), zeros) for place in places):
            reject("the initial state is not in the invariant")

    def _check_step(self, place: Place, limits: list[Limit], thread: int, step: _Step) -> None:
        locals_, values, part = place
        event = step.event
        here = self._cell.get(event.cell, -1) if event.cell is not None else -1
        value = values[here] if here >= 0 else None
        key = part, event, value
        afters = self._afters.get(key)
        if afters is None:
            afters = self._afters[key] = tuple(self._find_afters(part, event, value))
        if step.writes >= 0:
            if step.move.written is None:
                reject(f"the invariant leaves open what {event} writes in {self._show(place)}")
            values = (*values[: step.writes], step.move.written, *values[step.writes + 1 :])
        rest = locals_[:thread], locals_[thread + 1 :]
        for after in afters:
            for limit in limits:
                fired = _fired(limit, after)
                if fired is None or self._covered(rest, values, step, after, fired):
                    continue
                if after.pivot is not None and not self._comes_to(locals_, thread, step, after.pivot):
                    continue
                first = " as the first event of beta" if part is None and after.pivot is not None else ""
                what = f"{event} of {self._readings[thread].name}{first}"
                reject(f"the invariant is not inductive: {what} leads out of it from {self._show(place)}")

    def _covered(self, rest: Rest, values: tuple[int, ...], step: _Step, after: _After, fired: Limit) -> bool:
        before, behind = rest
        return any(
            self._contains(((*before, local, *behind), values, part), fired) for local in step.into for part in after.into
        )

    def _contains(self, place: Place, limit: Limit) -> bool:
        for most in self._states.limits.get(place, ()):
            if all(a is None or (b is not None and b <= a) for a, b in zip(most, limit, strict=True)):
                return True
        return False

    def _value(self, ahead: Ahead, values: tuple[int, ...]) -> Value:
        if ahead.reads is None:
            return None
        i = self._cell.get(ahead.reads, -1)
        return values[i] if i >= 0 else ahead.reads.init

    def _find_steps(self, thread: int, ahead: Ahead, value: Value) -> tuple[_Step, ...]:
        return tuple(
            _Step(move.event, move, self._written(move), self._fitting(thread, move.after))
            for move in self._readings[thread].moves(ahead, value)
        )

    def _written(self, move: Move) -> int:
        cell = move.event.cell
        if move.event.kind not in WRITES or cell is None:
            return -1
        if cell not in self._cell:
            reject(f"the invariant says nothing of {cell}, which thread {self._readings[move.event.thread].name} can write")
        return self._cell[cell]

    def _fitting(self, thread: int, local: Local) -> tuple[int, ...]:
        """Return the thread's states of the set that `local` is one of: the same, but for registers that they leave open."""
        found = []
        for pattern in self._open[thread].get((local.point, local.operation), ()):
            registers = tuple(None if free else value for free, value in zip(pattern, local.registers, strict=True))
            number = self._local[thread].get(Local(local.point, registers, local.operation, local.carried))
            if number is not None:
                found.append(number)
        return tuple(found)

    def _find_afters(self, part: Part, event: Event, value: Value) -> Iterator[_After]:
        counter = self._counter.get((event.thread, event.remote), -1) if event.remote is not None else -1
        if part is not None:
            marks = self._states.marks[part]
            for placed in self._rules.placed(marks, event, value):
                yield _After(marks.pivot, self._fitting_marks(placed.marks), placed, counter)
            return
        yield _After(None, (None,), in_sequence(event), counter)
        if event.cell is None or event.cell not in self._cell:
            return
        for thread in range(len(self._readings)):
            for writes in (False, True):
                pivot = Pivot(thread, event.cell, writes)
                first = self._rules.first_of_beta(event, pivot, value)
                if first is not None and (event.cell, writes) in self._accesses[thread]:
                    yield _After(pivot, self._fitting_marks(first.marks), first, counter)

    def _fitting_marks(self, marks: Marks | None) -> tuple[Part, ...]:
        """Return the marks of the set that are these, or these with the pivot's value left open."""
        assert marks is not None
        found = (self._marks.get(each) for each in dict.fromkeys((marks, marks.without_value())))
        return tuple(number for number in found if number is not None)

    def _comes_to(self, locals_: Sequence[int], thread: int, step: _Step, pivot: Pivot) -> bool:
        """Whether the pivot's thread, after `step` of `thread`, may still come to the pivot: else a state may be missing."""
        number = pivot.thread
        start = step.move.after if number == thread else self._states.locals[number][locals_[number]]
        if (start, pivot) not in self._comes:
            self._comes[start, pivot] = comes_to(self._readings[number], start, pivot)
        return self._comes[start, pivot]

    def _violates(self, locals_: tuple[int, ...], values: tuple[int, ...], part: int) -> bool:
        """Whether the pivot's thread stands before an event of the class that can be put last into alpha."""
        marks = self._states.marks[part]
        pivot = marks.pivot
        value = marks.alpha_value if pivot.cell in marks.written else values[self._cell[pivot.cell]]
        key = part, locals_[pivot.thread], value
        if key not in self._violations:
            reading = self._readings[pivot.thread]
            self._violations[key] = any(
                self._rules.may_be_pivot(marks, move.event)
                for ahead in self._aheads[pivot.thread][locals_[pivot.thread]]
                for move in reading.moves(ahead, value if ahead.reads == pivot.cell else None)
            )
        return self._violations[key]

    def _show(self, place: Place) -> str:
        locals_, values, part = place
        at = [
            f"{reading.name} at {_show_local(self._states.locals[i][locals_[i]])}"
            for i, reading in enumerate(self._readings)
        ]
        held = [f"{cell} = {value}" for cell, value in zip(self._states.cells, values, strict=True)]
        shown = [*at[:6], *held[:6], *(["..."] if len(at) > 6 or len(held) > 6 else [])]
        return f"({', '.join(shown)}{'' if part is None else f'; marks {part}'})"


def _show_local(local: Local) -> str:
    return f"point {local.point}" if local.operation is None else f"point {local.point}, between two events"


def _open_registers(locals_: Sequence[Local]) -> dict[tuple[int, int | None], set[tuple[bool, ...]]]:
    """For each place of a thread which registers its states leave open there."""
    found: dict[tuple[int, int | None], set[tuple[bool, ...]]] = {}
    for local in locals_:
        pattern = tuple([value is None for value in local.registers])
        found.setdefault((local.point, local.operation), set()).add(pattern)
    return found


def _fired(limit: Limit, after: _After) -> Limit | None:
    """Return the limits after an event, None where a poll finds too few completions."""
    at, unpolled, early = after.counter, after.placed.unpolled, after.placed.early
    if at < 0 or (unpolled == 0 and early == 0):
        return limit
    one, two = limit[at], limit[at + 1]
    if (one is not None and one + unpolled < 0) or (two is not None and two + early < 0):
        return None
    changed = None if one is None else one + unpolled, None if two is None else two + early
    return (*limit[:at], *changed, *limit[at + 2 :])
