"""The engine `sat`: one incremental solver for all questions about a program under one buffer semantics.

Definition: docs/theory-messages.md, "In the `sat` engine" and "Questions".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_robust.errors import InternalError, LimitReached
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.match_candidates import candidates
from rdma_robust.messages.encoding.message_shapes import unroll
from rdma_robust.messages.encoding.order_graph import FAMILIES
from rdma_robust.messages.encoding.unrolled import NotEncodedError
from rdma_robust.messages.engines.call_order import mismatches
from rdma_robust.messages.engines.match_clauses import MatchClauses
from rdma_robust.messages.engines.message_goals import Goals, Place
from rdma_robust.messages.engines.pair_questions import PairQuestions
from rdma_robust.messages.engines.sat_witnesses import deadlock_of, leak_of, violations_in
from rdma_robust.messages.engines.solved_models import Executions
from rdma_robust.messages.engines.solver_clauses import Clauses
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    Deadlock,
    Leak,
    Matchings,
    Mismatch,
    Pair,
    Questions,
    Tri,
    Violation,
)


@dataclass(slots=True)
class _Found:
    """What is known so far; None: not yet."""

    violations: dict[Place, Violation] = field(default_factory=dict)
    violated: Tri = "unknown"
    beyond: bool | None = None
    deadlocked: Tri = "unknown"
    deadlock: Deadlock | None = None
    leaking: Tri = "unknown"
    leak: Leak | None = None
    pairs: set[Pair] = field(default_factory=set)
    pairs_exact: bool = False
    matchings: Matchings | None = None
    mismatches: list[Mismatch] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    work: dict[str, int] = field(default_factory=dict)


def by_sat(
    program: MessageProgram,
    buffer: Buffer,
    questions: Questions,
    limits: Limits,
    families: frozenset[str] = FAMILIES,
) -> BufferAnswer:
    """Answer all questions about a program under one buffer semantics.

    `unknown` where a limit is reached, where a loop can go beyond its bound, and where the program cannot be encoded:
    the reason then ends in "not encoded". `families` are the constraints that are kept, for tests.
    """
    found = _Found()
    try:
        unrolled = unroll(program, questions.loop_bound, limits)
        left = candidates(unrolled, buffer, limits)
        with Clauses(limits) as clauses:
            formula = MatchClauses(left, clauses, families)
            executions = Executions(formula)
            try:
                _ask(program, buffer, questions, executions, found)
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
    if questions.count and found.matchings is None:
        found.matchings = Matchings(0, False)
    return _answer(buffer, questions, found)


def _ask(program: MessageProgram, buffer: Buffer, questions: Questions, executions: Executions, found: _Found) -> None:
    goals = Goals(executions.formula)
    _violations(program, buffer, executions, goals, found)
    found.beyond = bool(goals.unrolled.cuts) and executions.find([goals.beyond()]) is not None
    if found.beyond:
        found.reasons.append(f"a loop can go beyond {questions.loop_bound} rounds, the bound of loops")
    sure: Tri = "unknown" if found.beyond else "no"
    found.violated = "yes" if found.violations else sure
    model = executions.find([goals.deadlock()])
    if model is not None:
        found.deadlock = deadlock_of(program, buffer, model)
    found.deadlocked = sure if model is None else "yes"
    model = executions.find([goals.leak()])
    if model is not None:
        found.leak = leak_of(program, buffer, model)
    found.leaking = sure if model is None else "yes"
    found.mismatches += mismatches(program, buffer, executions, goals)
    asked = PairQuestions(executions, goals)
    if questions.pairs:
        exact = asked.feasible(found.pairs)
        found.pairs_exact = exact and not found.beyond
        if not exact:
            found.reasons.append("operations have too many names for all pairs")
    if questions.count:
        found.matchings = asked.matchings(questions.limit, questions.listed, exact=not found.beyond)


def _violations(program: MessageProgram, buffer: Buffer, executions: Executions, goals: Goals, found: _Found) -> None:
    left = goals.violations()
    while left:
        goal = goals.one_of(left.values())
        model = executions.find([goal])
        goals.over(goal)
        if model is None:
            return
        claimed = {place for place, literal in left.items() if model.true(literal)}
        shown = violations_in(program, buffer, model)
        found.violations.update({place: each for place, each in shown.items() if place not in found.violations})
        found.violated = "yes"
        left = {place: literal for place, literal in left.items() if place not in found.violations}
        if not claimed <= set(found.violations):
            raise InternalError("a run that was to violate an assertion does not")


def _answer(buffer: Buffer, questions: Questions, found: _Found) -> BufferAnswer:
    return BufferAnswer(
        buffer,
        "sat",
        found.violated,
        found.deadlocked,
        found.leaking,
        tuple(found.violations.values()),
        found.deadlock,
        found.leak,
        frozenset(found.pairs) if questions.pairs else None,
        not questions.pairs or found.pairs_exact,
        found.matchings,
        tuple(found.mismatches),
        "; ".join(found.reasons),
        found.work,
    )
