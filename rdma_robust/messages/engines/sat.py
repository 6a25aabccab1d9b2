"""The engine `sat`: one incremental solver for all questions about a program under one buffer semantics.

Besides what solvers are asked everywhere these are: library procedures that two processes call in different orders, pairs
that are feasible, and how many matchings there are, by the names that operations have in the run.
Definition: docs/theory-messages.md, "The encoding".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from rdma_robust.errors import LimitReached
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.match_candidates import Candidates, candidate_pairs
from rdma_robust.messages.encoding.order_graph import FAMILIES
from rdma_robust.messages.encoding.unrolled import CollectiveEvent, NotEncodedError
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.match_clauses import MatchClauses
from rdma_robust.messages.engines.message_goals import Goals, dynamic_names
from rdma_robust.messages.engines.solved_models import Executions, SolverModel
from rdma_robust.messages.engines.solved_runs import Place, mismatches_of
from rdma_robust.messages.engines.solver_answers import PartialAnswer, ask_all, count_matchings
from rdma_robust.messages.engines.solver_clauses import Clauses
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    MatchedPair,
    Matching,
    Matchings,
    MessageQuestions,
    Mismatch,
    OperationId,
)


def by_sat(
    program: MessageProgram,
    buffer: Buffer,
    questions: MessageQuestions,
    limits: Limits,
    families: frozenset[str] = FAMILIES,
    *,
    left: Candidates | None = None,
) -> BufferAnswer:
    """Answer all questions about a program under one buffer semantics.

    `unknown` where a limit is reached, where a loop can go beyond its bound, and where the program cannot be encoded:
    the reason then ends in "not encoded". `families` are the constraints that are kept, for tests; `left` are
    the candidate pairs of the program unrolled with that bound, if they are known.
    """
    found = PartialAnswer()
    try:
        left = left or candidate_pairs(unroll(program, questions.loop_bound, limits), buffer, limits)
        with Clauses(limits) as clauses:
            formula = MatchClauses(left, clauses, families)
            executions = Executions(formula)
            try:
                ask_all(program, buffer, questions, SatQuestions(program, buffer, executions), found)
            finally:
                found.work = {
                    "pairs": left.count(),
                    "variables": clauses.last,
                    "clauses": clauses.clauses,
                    "calls": clauses.calls,
                    "circles": len(executions.circles),
                    "facts": executions.facts,
                }
    except LimitReached as reached:
        found.reasons.append(str(reached))
    except NotEncodedError as cannot:
        found.reasons.append(f"{cannot}: not encoded")
    return found.answer(buffer, "sat", questions)


_TOGETHER: Final = 64
"""Pairs that one question is about."""


class SatQuestions:
    """Questions for the solver, in the words of solver_answers.Solver.

    Where what happens depends on the run, an event has several names, and a pair several literals.
    """

    def __init__(self, program: MessageProgram, buffer: Buffer, executions: Executions) -> None:
        self._program, self._buffer, self._executions = program, buffer, executions
        self._goals = Goals(executions.formula)
        self._literals: dict[MatchedPair, int] | None = None
        self._made = False

    def violations(self) -> dict[Place, int]:
        return self._goals.violations()

    def one_of(self, goals: Collection[int]) -> SolverModel | None:
        goal = self._goals.one_of(goals)
        found = self._executions.find([goal])
        self._goals.over(goal)
        return found

    def beyond(self) -> bool:
        return bool(self._goals.unrolled.cuts) and self._executions.find([self._goals.beyond()]) is not None

    def deadlock(self) -> SolverModel | None:
        return self._executions.find([self._goals.deadlock()])

    def leak(self) -> SolverModel | None:
        return self._executions.find([self._goals.leak()])

    def mismatches(self) -> Iterator[Mismatch]:
        orders = _Orders(self._executions, self._goals)

        def differing(one: int, other: int) -> SolverModel | None:
            goal = orders.differ(one, other)
            return None if goal is None else self._executions.find([goal])

        return mismatches_of(self._program, self._buffer, differing)

    def _named(self) -> dict[MatchedPair, int] | None:
        """Return the literal of each pair by name, None if there are too many names."""
        if not self._made:
            self._made, self._literals = True, self._name()
        return self._literals

    def _name(self) -> dict[MatchedPair, int] | None:
        formula, unrolled = self._executions.formula, self._goals.unrolled
        receives, sends = dynamic_names(formula, unrolled.receives), dynamic_names(formula, unrolled.sends)
        if receives is None or sends is None:
            return None
        found: dict[MatchedPair, list[int]] = {}
        for receive, send in formula.candidates.pairs():
            literal = formula.literal(receive, send)
            a, b = unrolled.receives[receive], unrolled.sends[send]
            for nth, here in receives[receive].items():
                for other, there in sends[send].items():
                    pair = MatchedPair(OperationId(a.process, nth), OperationId(b.process, other))
                    found.setdefault(pair, []).append(self._goals.clauses.all_of((literal, here, there)))
        return {pair: self._goals.clauses.any_of(literals) for pair, literals in found.items()}

    def feasible(self, found: set[MatchedPair]) -> bool:
        """Add the feasible pairs to `found`; return whether these are all. Raises LimitReached."""
        named = self._named()
        if named is None:
            return False
        todo = sorted(named)
        for first in range(0, len(todo), _TOGETHER):
            left = [pair for pair in todo[first : first + _TOGETHER] if pair not in found]
            while left:
                goal = self._goals.one_of([named[pair] for pair in left])
                model = self._executions.find([goal])
                self._goals.over(goal)
                if model is None:
                    for pair in left:
                        self._goals.clauses.clause(-named[pair])
                    break
                found.update(model.pairs())
                left = [pair for pair in left if pair not in found]
        return True

    def matchings(self, limit: int, listed: int, *, exact: bool) -> Matchings:
        """Count the matchings of complete executions up to a limit, each once. Raises LimitReached."""
        named = self._named()
        if named is None:
            return Matchings(0, False)
        return count_matchings(self._complete_matchings(named), limit, listed, exact=exact)

    def _complete_matchings(self, named: dict[MatchedPair, int]) -> Iterator[Matching]:
        goal = self._goals.one_of([self._goals.complete()])
        while (model := self._executions.find([goal])) is not None:
            pairs = frozenset(model.pairs())
            yield pairs
            self._goals.clauses.clause(-goal, *[-named[pair] for pair in pairs], *self._beyond(pairs))

    def _beyond(self, pairs: Iterable[MatchedPair]) -> list[int]:
        """Return the pairs of receives that a matching leaves out: a larger matching is another one.

        There is none if nothing is chosen and every process does the same: what a complete execution leaves fits nothing.
        """
        unrolled, named = self._goals.unrolled, self._named()
        if named is None or (unrolled.fixed and not unrolled.choices):
            return []
        taken = {pair.receive for pair in pairs}
        return [literal for pair, literal in named.items() if pair.receive not in taken]


class _Call(NamedTuple):
    """A call that is the one of its rank where the literal is true."""

    event: CollectiveEvent
    rank: int
    literal: int


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
