"""Certificates by proof: the checker's formula of a message program, circles of matches, and why it has no solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.messages.dropped_pairs import OVERTAKES, TOO_LATE
from rdma_robust.certify.messages.formula_goals import SafeClaim
from rdma_robust.certify.messages.hinted_proofs import Clause, Lemma
from rdma_robust.certify.messages.order_circles import Circle
from rdma_robust.certify.messages.proved_formulas import MESSAGE_PROOF, Denied, Unfolding, denied, unfolding
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.evidence.match_circles import circles_of
from rdma_robust.evidence.proof_trimming import trimmed
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram


@dataclass(frozen=True, slots=True)
class Refuted:
    """The circles that a refutation needs, and its lemmas."""

    circles: tuple[Circle, ...]
    lemmas: tuple[Lemma, ...]


def refuted(made: Denied, limits: Limits) -> Refuted | None:
    """Learn circles until the formula has no solution, and prove that; None if it has one without a circle."""
    from pysat.solvers import Cadical195  # noqa: PLC0415 -- only those who certify load it

    circles: dict[Circle, None] = {}
    clauses = made.formula.formula.clauses
    with Cadical195() as solver:
        count = 0
        while True:
            limits.look("making a certificate")
            for clause in clauses[count:]:
                solver.add_clause(clause)
            count = len(clauses)
            if not solver.solve():
                break
            true = np.zeros(made.formula.formula.last + 1, np.bool_)
            model = np.array(solver.get_model(), np.int64)
            true[1 : len(model) + 1] = model[: len(true) - 1] > 0
            found = [each for each in circles_of(made.formula, made.circles, _reader(true)) if each not in circles]
            if not found:
                return None
            for each in found:
                assert made.circles.add(each), "a circle of a solution is one for the checker"
                circles[each] = None
    return Refuted(tuple(circles), tuple(trimmed(clauses, _learnt(clauses), lambda: limits.look("making a certificate"))))


def _reader(true: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Callable[[int], bool]:
    return lambda literal: bool(true[literal]) if literal > 0 else not true[-literal]


def _learnt(clauses: Sequence[Clause]) -> list[Clause]:
    from pysat.solvers import Cadical195  # noqa: PLC0415

    with Cadical195(bootstrap_with=[list(each) for each in clauses], with_proof=True) as solver:
        solver.solve()
        lines = [line.split() for line in solver.get_proof() or []]
    return [tuple(int(each) for each in line[:-1]) for line in lines if line and line[0] != "d" and len(line) > 1]


def _dropped(of: Unfolding) -> list[list[int]]:
    """Drop pairs until no rule drops any more; return them with the numbers of the rules."""
    found: list[list[int]] = []
    while True:
        before = len(found)
        for receive, sends in enumerate(of.pairs.compatible):
            for send in sends:
                rule = next((rule for rule in (OVERTAKES, TOO_LATE) if of.pairs.drop(receive, send, rule)), None)
                if rule is not None:
                    found.append([receive, send, rule])
        if len(found) == before:
            return found


def proof_of(program: MessageProgram, buffer: Buffer, claim: SafeClaim, loop_bound: int, limits: Limits) -> JsonObject:
    """Return evidence for a claim. Raises TooMuch if the checker's formula cannot be had, or does not refute its denial."""
    look = limits.poll("making a certificate")
    of = unfolding(program, loop_bound, look)
    dropped = _dropped(of)
    made = denied(of, buffer, claim, look)
    found = refuted(made, limits)
    if found is None:
        raise TooMuch("the checker's formula does not prove it")
    return {
        "kind": MESSAGE_PROOF,
        "loop_bound": loop_bound,
        "dropped": dropped,
        "circles": [[number for each in circle for number in astuple(each)] for circle in found.circles],
        "lemmas": [[*lemma, 0, *hints] for lemma, hints in found.lemmas],
    }
