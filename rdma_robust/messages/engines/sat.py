"""The engine `sat`: one incremental solver for all questions about a program under one buffer semantics.

Definition: docs/theory-messages.md, "The encoding".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rdma_robust.errors import LimitReached
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.match_candidates import Candidates, candidates
from rdma_robust.messages.encoding.message_shapes import unroll
from rdma_robust.messages.encoding.order_graph import FAMILIES
from rdma_robust.messages.encoding.unrolled import NotEncodedError
from rdma_robust.messages.engines.call_order import mismatches
from rdma_robust.messages.engines.match_clauses import MatchClauses
from rdma_robust.messages.engines.message_goals import Goals
from rdma_robust.messages.engines.pair_questions import PairQuestions
from rdma_robust.messages.engines.run_violations import Place
from rdma_robust.messages.engines.solved_models import Executions, Model
from rdma_robust.messages.engines.solver_answers import Found, ask
from rdma_robust.messages.engines.solver_clauses import Clauses
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, Matchings, Mismatch, Pair, Questions


def by_sat(
    program: MessageProgram,
    buffer: Buffer,
    questions: Questions,
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
    found = Found()
    try:
        left = left or candidates(unroll(program, questions.loop_bound, limits), buffer, limits)
        with Clauses(limits) as clauses:
            formula = MatchClauses(left, clauses, families)
            executions = Executions(formula)
            try:
                ask(program, buffer, questions, SatQuestions(program, buffer, executions), found)
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


class SatQuestions:
    """What is asked of the solver, in the words of solver_answers.Solver."""

    def __init__(self, program: MessageProgram, buffer: Buffer, executions: Executions) -> None:
        self._program, self._buffer, self._executions = program, buffer, executions
        self._goals = Goals(executions.formula)
        self._pairs = PairQuestions(executions, self._goals)

    def violations(self) -> dict[Place, int]:
        return self._goals.violations()

    def one_of(self, goals: Collection[int]) -> Model | None:
        goal = self._goals.one_of(goals)
        found = self._executions.find([goal])
        self._goals.over(goal)
        return found

    def beyond(self) -> bool:
        return bool(self._goals.unrolled.cuts) and self._executions.find([self._goals.beyond()]) is not None

    def deadlock(self) -> Model | None:
        return self._executions.find([self._goals.deadlock()])

    def leak(self) -> Model | None:
        return self._executions.find([self._goals.leak()])

    def mismatches(self) -> Iterator[Mismatch]:
        return mismatches(self._program, self._buffer, self._executions, self._goals)

    def feasible(self, found: set[Pair]) -> bool:
        return self._pairs.feasible(found)

    def matchings(self, limit: int, listed: int, *, exact: bool) -> Matchings:
        return self._pairs.matchings(limit, listed, exact=exact)
