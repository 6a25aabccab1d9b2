"""Library procedures that two processes call in different orders, by the solver of `sat`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from rdma_robust.messages.encoding.unrolled import CollectiveEvent
from rdma_robust.messages.engines.message_goals import Goals
from rdma_robust.messages.engines.solved_models import Executions
from rdma_robust.messages.engines.solved_runs import decided
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.state_search import first_difference
from rdma_robust.messages.message_answers import Mismatch


class _Call(NamedTuple):
    """A call that is the one of its rank where the literal is true."""

    event: CollectiveEvent
    rank: int
    literal: int


def mismatches(program: MessageProgram, buffer: Buffer, executions: Executions, goals: Goals) -> Iterator[Mismatch]:
    """Yield for each two processes a difference in what they call, if there is one. Raises LimitReached."""
    orders = _Orders(executions, goals)
    for pair in combinations(range(len(program.processes)), 2):
        goal = orders.differ(*pair)
        model = None if goal is None else executions.find([goal])
        if model is None:
            continue
        frames = decided(program, buffer, model).frames
        ours, theirs = [(frames[each].calls, frames[each].status == "ended") for each in pair]
        found = first_difference(pair, ours, theirs)
        if found is not None:
            yield Mismatch(found.position, pair, found.calls, program.processes[pair[0]].span)


class _Orders:
    """The calls of all processes, and what is to be assumed for two of them to differ."""

    def __init__(self, executions: Executions, goals: Goals) -> None:
        self._formula, self._goals = executions.formula, goals
        self._clauses, self._unrolled = goals.clauses, goals.unrolled
        events = [[each for each in of if isinstance(each, CollectiveEvent)] for of in self._unrolled.events]
        self._fixed = [self._sequence(each) for each in events]
        self._calls: list[list[_Call]] = []
        some = any(each != self._fixed[0] or each is None for each in self._fixed)
        for each in events if some else ():
            self._calls.append([call for event in each for call in self._ranked(event)])

    def _sequence(self, events: list[CollectiveEvent]) -> tuple[tuple[str, int | None], ...] | None:
        """Return what a process calls if that is the same in every run."""
        if not all(each.guard.constant and (each.root is None or each.root.constant) for each in events):
            return None
        return tuple([(each.name, None if each.root is None else each.root.value) for each in events])

    def _ranked(self, event: CollectiveEvent) -> list[_Call]:
        ranks, done = self._formula.terms.numbers(event.rank), self._formula.done(event)
        return [_Call(event, rank, self._clauses.both(done, literal)) for rank, literal in (ranks or {}).items()]

    def differ(self, one: int, other: int) -> int | None:
        """Return what to assume, None if they cannot differ."""
        if self._fixed[one] is not None and self._fixed[one] == self._fixed[other]:
            return None
        ways = [
            self._clauses.all_of((a.literal, b.literal, -self._same(a.event, b.event)))
            for a in self._calls[one]
            for b in self._calls[other]
            if a.rank == b.rank
        ]
        for caller, silent in ((one, other), (other, one)):
            over = self._formula.terms.truth(self._unrolled.ends[silent])
            ended = self._clauses.both(self._formula.ends_reached[silent], over)
            for call in self._calls[caller]:
                answered = [-each.literal for each in self._calls[silent] if each.rank == call.rank]
                ways.append(self._clauses.all_of((call.literal, ended, *answered)))
        return self._goals.one_of(ways)

    def _same(self, a: CollectiveEvent, b: CollectiveEvent) -> int:
        if a.name != b.name or (a.root is None) != (b.root is None):
            return -self._clauses.true
        if a.root is None or b.root is None:
            return self._clauses.true
        return self._formula.terms.truth(self._unrolled.symbols.apply("==", a.root, b.root))
