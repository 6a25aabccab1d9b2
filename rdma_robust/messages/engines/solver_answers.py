"""The questions of every engine with a solver, in their order, and the answer that its solutions become."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rdma_robust.errors import InternalError
from rdma_robust.messages.engines.solved_runs import Place, SolvedRun, deadlock_of, leak_of, violations_in
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    Deadlock,
    Leak,
    MatchedPair,
    Matching,
    Matchings,
    MessageQuestions,
    Mismatch,
    Tri,
    Violation,
)


class Solver(Protocol):
    """The formula of one program under one buffer semantics. All may raise LimitReached."""

    def violations(self) -> Mapping[Place, Any]:
        """Return for each place what is true where something goes wrong there."""

    def one_of(self, goals: Collection[Any]) -> SolvedRun | None:
        """Return an execution in which one of these is true."""

    def beyond(self) -> bool:
        """Return whether an execution goes beyond the bound of loops."""

    def deadlock(self) -> SolvedRun | None:
        """Return an execution that ends in a deadlock."""

    def leak(self) -> SolvedRun | None:
        """Return a complete execution that leaves operations unmatched."""

    def mismatches(self) -> Iterable[Mismatch]:
        """Return for each two processes a difference in the library procedures that they call."""

    def feasible(self, found: set[MatchedPair]) -> bool:
        """Add all feasible pairs to `found`; return whether it could."""

    def matchings(self, limit: int, listed: int, *, exact: bool) -> Matchings:
        """Count the matchings of complete executions."""


@dataclass(slots=True)
class PartialAnswer:
    """Answers that are known so far; None: not yet."""

    violations: dict[Place, Violation] = field(default_factory=dict)
    violated: Tri = "unknown"
    beyond: bool | None = None
    deadlocked: Tri = "unknown"
    deadlock: Deadlock | None = None
    leaking: Tri = "unknown"
    leak: Leak | None = None
    pairs: set[MatchedPair] = field(default_factory=set)
    pairs_exact: bool = False
    matchings: Matchings | None = None
    mismatches: list[Mismatch] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    work: dict[str, int] = field(default_factory=dict)

    def answer(self, buffer: Buffer, engine: str, questions: MessageQuestions) -> BufferAnswer:
        """Return what is known as an answer."""
        matchings = self.matchings
        if questions.count and matchings is None:
            matchings = Matchings(0, False)
        return BufferAnswer(
            buffer,
            engine,
            self.violated,
            self.deadlocked,
            self.leaking,
            tuple(self.violations.values()),
            self.deadlock,
            self.leak,
            frozenset(self.pairs) if questions.pairs else None,
            not questions.pairs or self.pairs_exact,
            matchings,
            tuple(self.mismatches),
            "; ".join(self.reasons),
            self.work,
        )


def count_matchings(found: Iterable[Matching], limit: int, listed: int, *, exact: bool) -> Matchings:
    """Count matchings, each of which is found once, up to a limit; `exact` says whether these are all there are."""
    some: list[Matching] = []
    count = 0
    for matching in found:
        if count == limit:
            return Matchings(count, False, tuple(some))
        count += 1
        if len(some) < listed:
            some.append(matching)
    return Matchings(count, exact, tuple(some))


def ask_all(
    program: MessageProgram, buffer: Buffer, questions: MessageQuestions, solver: Solver, found: PartialAnswer
) -> None:
    """Ask all questions, and put what is found into `found` as soon as it is known."""
    _violations(program, buffer, solver, found)
    found.beyond = solver.beyond()
    if found.beyond:
        found.reasons.append(f"a loop can go beyond {questions.loop_bound} rounds, the bound of loops")
    sure: Tri = "unknown" if found.beyond else "no"
    found.violated = "yes" if found.violations else sure
    run = solver.deadlock()
    if run is not None:
        found.deadlock = deadlock_of(program, buffer, run)
    found.deadlocked = sure if run is None else "yes"
    run = solver.leak()
    if run is not None:
        found.leak = leak_of(program, buffer, run)
    found.leaking = sure if run is None else "yes"
    found.mismatches += solver.mismatches()
    if questions.pairs:
        exact = solver.feasible(found.pairs)
        found.pairs_exact = exact and not found.beyond
        if not exact:
            found.reasons.append("operations have too many names for all pairs")
    if questions.count:
        found.matchings = solver.matchings(questions.limit, questions.listed, exact=not found.beyond)


def _violations(program: MessageProgram, buffer: Buffer, solver: Solver, found: PartialAnswer) -> None:
    left = dict(solver.violations())
    while left:
        run = solver.one_of(left.values())
        if run is None:
            return
        claimed = {place for place, goal in left.items() if run.true(goal)}
        found.violations.update(violations_in(program, buffer, run, found.violations))
        found.violated = "yes"
        left = {place: goal for place, goal in left.items() if place not in found.violations}
        if not claimed <= set(found.violations):
            raise InternalError("a run that was to violate an assertion does not")
