"""Robustness by the checker's own rules, followed from state to state: what its normal form is compared by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdma_robust.certify.hardware import USUAL, EventKind, Platform
from rdma_robust.certify.invariants import fences_matter, rules_of
from rdma_robust.certify.mailboxes import meetings_of
from rdma_robust.certify.remembered import Mail, Marks, QueuePair, TraceParts, Value
from rdma_robust.certify.search_steps import Around, SearchSteps
from rdma_robust.certify.thread_events import LocalState, ThreadMove
from rdma_robust.certify.thread_reading import Ahead, ThreadReading, readings_for_search
from rdma_robust.language.flow.cfg import Cell, Poll, Program, steps
from rdma_robust.model import Model

State = tuple[tuple[LocalState, ...], tuple[int, ...], Marks | None, tuple[int, ...], Mail]

RNR = "(rnr)"
"""What is said where a message can find no buffer under sequential consistency, and no violation was found."""


def platform_of(model: Model) -> Platform:
    return Platform(model.cpu, model.atomics, model.order, model.ordered_reads)


@dataclass(frozen=True)
class Search:
    """All runs of a program with finitely many states, all values known."""

    program: Program
    readings: tuple[ThreadReading, ...]
    cells: tuple[Cell, ...]
    polled: tuple[QueuePair, ...]
    steps: SearchSteps

    @staticmethod
    def of(program: Program, platform: Platform = USUAL) -> Search:
        readings = readings_for_search(program, platform)
        written = {access.cell for reading in readings for access in reading.accesses() if access.writes}
        polls = ((t, step.op) for t, thread in enumerate(program.threads) for _, _, step in steps(thread))
        polled = dict.fromkeys((t, op.lane or op.node) for t, op in polls if isinstance(op, Poll))
        rules = rules_of(program, platform, frozenset(written), frozenset(polled), fences_matter(program))
        cells = tuple(c for c in program.cells if c in written)
        return Search(program, readings, cells, tuple(polled), SearchSteps(program, readings, rules))

    def verdict(self, most: int = 100_000) -> str:
        """Return `robust` or `not-robust`, or in parentheses why neither: more than `most` states, or `rnr`."""
        start = tuple(reading.start for reading in self.readings)
        values = tuple(c.init for c in self.cells)
        first: State = (
            start,
            values,
            None,
            (0,) * (self.steps.rules.counters * len(self.polled)),
            self.steps.first_mail,
        )
        seen = {first}
        todo = [first]
        unready = False
        while todo:
            state = todo.pop()
            if self._violates(state):
                return "not-robust"
            unready = unready or self._is_unready(state)
            for after in self._successors(state):
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
            if len(seen) > most:
                return f"({most} states)"
        return RNR if unready else "robust"

    def _value(self, cell: Cell | None, values: tuple[int, ...]) -> Value:
        if cell is None:
            return None
        return values[self.cells.index(cell)] if cell in self.cells else cell.init

    def _read(self, thread: int, ahead: Ahead, state: State) -> Value:
        return self.steps.heard(thread, ahead, state[4]) if ahead.hears else self._value(ahead.reads, state[1])

    def _moves(self, state: State) -> Iterator[tuple[int, ThreadMove]]:
        alone = list(self._moves_alone(state))
        yield from (each for each in alone if each[1].event.kind is not EventKind.BARRIER)
        rounds = meetings_of(move for _, move in alone if move.event.kind is EventKind.BARRIER)
        yield from ((move.event.thread, move) for move in rounds)

    def _moves_alone(self, state: State) -> Iterator[tuple[int, ThreadMove]]:
        for number, (reading, local) in enumerate(zip(self.readings, state[0], strict=True)):
            for ahead in reading.ahead(local):
                read = self._read(number, ahead, state)
                if not ahead.hears or read is not None:
                    yield from ((number, move) for move in reading.moves(ahead, read))

    def _is_unready(self, state: State) -> bool:
        return state[2] is None and any(self.steps.finds_no_buffer(move.event, state[4]) for _, move in self._moves(state))

    def _successors(self, state: State) -> Iterator[State]:
        locals_, values, marks, counters, mail = state
        stopped = (self.steps.held_by(thread, local) for thread, local in enumerate(locals_))
        held = frozenset(cell for cell in stopped if cell is not None)
        for thread, move in self._moves(state):
            event = self.steps.resolved(move.event, mail)
            for taken in self.steps.taken(move, Around(marks, self._value(event.cell, values), mail, held)):
                moved = locals_
                for t, local in ((thread, taken.after), *taken.elsewhere):
                    moved = (*moved[:t], local, *moved[t + 1 :])
                memory = values
                if taken.writes is not None:
                    i = self.cells.index(taken.writes)
                    assert taken.written is not None
                    memory = (*values[:i], taken.written, *values[i + 1 :])
                left = self._counted((thread, event.remote), taken.placed, counters)
                if left is not None:
                    yield moved, memory, taken.placed.marks, left, taken.mail

    def _counted(
        self, pair: tuple[int, str | None], placed: TraceParts, counters: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        if pair not in self.polled:
            return counters
        width = self.steps.rules.counters
        i = width * self.polled.index((pair[0], str(pair[1])))
        counts = placed.counts or (0,) * width
        left = [a + b for a, b in zip(counters[i : i + width], counts, strict=True)]
        return None if min(left) < 0 else (*counters[:i], *left, *counters[i + width :])

    def _violates(self, state: State) -> bool:
        locals_, values, marks, _, mail = state
        if marks is None:
            return False
        pivot = marks.pivot
        value = marks.alpha_value if pivot.cell in marks.written else self._value(pivot.cell, values)
        reading = self.readings[pivot.thread]
        return any(self.steps.violates(marks, ahead, value, mail) for ahead in reading.ahead(locals_[pivot.thread]))
