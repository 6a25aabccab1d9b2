"""Robustness by the checker's own rules, followed from state to state: what its normal form is compared by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdma_robust.certify.hardware import WRITES
from rdma_robust.certify.invariants import fences_matter
from rdma_robust.certify.normal_form import Marks, Pivot, Placed, QueuePair, Rules, in_sequence
from rdma_robust.certify.thread_reading import Event, Local, Move, ThreadReading, Value
from rdma_robust.language.flow.cfg import Cell, Poll, Program, steps

State = tuple[tuple[Local, ...], tuple[int, ...], Marks | None, tuple[int, ...]]


@dataclass(frozen=True)
class Search:
    """All runs of a program with finitely many states, all values known."""

    program: Program
    readings: tuple[ThreadReading, ...]
    cells: tuple[Cell, ...]
    polled: tuple[QueuePair, ...]
    rules: Rules

    @staticmethod
    def of(program: Program, ordered_reads: bool) -> Search:
        readings = tuple(ThreadReading(thread, i) for i, thread in enumerate(program.threads))
        written = {cell for reading in readings for cell, writes in reading.accesses() if writes}
        polls = ((t, step.op) for t, thread in enumerate(program.threads) for _, _, step in steps(thread))
        polled = dict.fromkeys((t, op.node) for t, op in polls if isinstance(op, Poll))
        fences = fences_matter(program)
        rules = Rules(frozenset(written), frozenset(polled), fences, frozenset(), ordered_reads)
        return Search(program, readings, tuple(c for c in program.cells if c in written), tuple(polled), rules)

    def violation(self, most: int = 100_000) -> bool | None:
        """Return whether the search finds a violation, None if there are more than `most` states."""
        start = tuple(reading.start for reading in self.readings)
        first: State = (start, tuple(c.init for c in self.cells), None, (0,) * (2 * len(self.polled)))
        seen = {first}
        todo = [first]
        while todo:
            state = todo.pop()
            if self._violates(state):
                return True
            for after in self._successors(state):
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
            if len(seen) > most:
                return None
        return False

    def _value(self, cell: Cell | None, values: tuple[int, ...]) -> Value:
        if cell is None:
            return None
        return values[self.cells.index(cell)] if cell in self.cells else cell.init

    def _moves(self, state: State) -> Iterator[tuple[int, Move]]:
        for number, (reading, local) in enumerate(zip(self.readings, state[0], strict=True)):
            for ahead in reading.ahead(local):
                for move in reading.moves(ahead, self._value(ahead.reads, state[1])):
                    yield number, move

    def _successors(self, state: State) -> Iterator[State]:
        locals_, values, marks, counters = state
        for thread, move in self._moves(state):
            moved = (*locals_[:thread], move.after, *locals_[thread + 1 :])
            memory = values
            if move.event.kind in WRITES and move.event.cell is not None:
                i = self.cells.index(move.event.cell)
                assert move.written is not None
                memory = (*values[:i], move.written, *values[i + 1 :])
            for placed in self._placed(marks, move.event, values):
                left = self._counted(move.event, placed, counters)
                if left is not None:
                    yield moved, memory, placed.marks, left

    def _placed(self, marks: Marks | None, event: Event, values: tuple[int, ...]) -> Iterator[Placed]:
        value = self._value(event.cell, values)
        if marks is not None:
            yield from self.rules.placed(marks, event, value)
            return
        yield in_sequence(event)
        if event.cell in self.cells and event.cell is not None:
            for thread in range(len(self.readings)):
                for writes in (False, True):
                    first = self.rules.first_of_beta(event, Pivot(thread, event.cell, writes), value)
                    if first is not None:
                        yield first

    def _counted(self, event: Event, placed: Placed, counters: tuple[int, ...]) -> tuple[int, ...] | None:
        pair = event.thread, event.remote
        if pair not in self.polled:
            return counters
        i = 2 * self.polled.index((event.thread, str(event.remote)))
        unpolled, early = counters[i] + placed.unpolled, counters[i + 1] + placed.early
        return None if min(unpolled, early) < 0 else (*counters[:i], unpolled, early, *counters[i + 2 :])

    def _violates(self, state: State) -> bool:
        locals_, values, marks, _ = state
        if marks is None or not marks.closed:
            return False
        pivot = marks.pivot
        value = marks.alpha_value if pivot.cell in marks.written else self._value(pivot.cell, values)
        reading = self.readings[pivot.thread]
        return any(
            self.rules.may_be_pivot(marks, move.event)
            for ahead in reading.ahead(locals_[pivot.thread])
            for move in reading.moves(ahead, value if ahead.reads == pivot.cell else None)
        )
