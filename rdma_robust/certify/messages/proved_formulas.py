"""Evidence of the kind `message-proof`: that the checker's own formula for the denial of a claim has no solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.document import integer, json_array, json_members, natural, reject
from rdma_robust.certify.messages.bounded_sums import SumBounds, SumMultipliers
from rdma_robust.certify.messages.dropped_pairs import MatchPairs
from rdma_robust.certify.messages.formula_goals import SafeClaim, deny
from rdma_robust.certify.messages.formula_values import PossibleValues
from rdma_robust.certify.messages.hinted_proofs import Lemma, flaw
from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.order_circles import Circles, read_circle
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.certify.messages.unfolding import UnfoldedProgram, unfold
from rdma_robust.messages.language.message_program import Buffer, MessageProgram

MESSAGE_PROOF: Final = "message-proof"


@dataclass(frozen=True, slots=True)
class DenialFormula:
    """The formula of the denial of a claim, its circles, and what bounds its sums."""

    formula: MatchFormula
    circles: Circles
    bounds: SumBounds

    def exclude(self, mark: int, multipliers: Sequence[SumMultipliers]) -> bool:
        """Add that an assertion, by its number among the marks, is not false; False if multipliers do not prove that."""
        marks = self.formula.unfolded.marks
        if not 0 <= mark < len(marks) or not self.bounds.excluded(marks[mark], multipliers):
            return False
        self.formula.formula.add(-self.formula.done(marks[mark]))
        return True


@dataclass(frozen=True, slots=True)
class Unfolding:
    """An unfolded program, and the pairs that are left."""

    unfolded: UnfoldedProgram
    pairs: MatchPairs


def unfolding(program: MessageProgram, loop_bound: int, look: Callable[[], None] = lambda: None) -> Unfolding:
    """Return a program unfolded. Raises TooMuch."""
    unfolded = unfold(program, loop_bound, look)
    return Unfolding(unfolded, MatchPairs(unfolded, PossibleValues(unfolded, look)))


def denial_formula(
    of: Unfolding, buffer: Buffer, claim: SafeClaim, look: Callable[[], None] = lambda: None
) -> DenialFormula:
    """Return the formula that every run that breaks a claim, or goes beyond a bound of loops, solves. Raises TooMuch."""
    made = MatchFormula(of.unfolded, buffer, PossibleValues(of.unfolded, look, of.pairs.has))
    deny(made, claim, of.pairs.compatible)
    return DenialFormula(made, Circles(made), SumBounds(made))


def check_proof(program: MessageProgram, buffer: Buffer, claim: SafeClaim, evidence: object) -> None:
    """Make the formula anew, add the circles, and check the proof. Raises InvalidCertificate."""
    found = json_members(evidence, "`evidence`", ("kind", "loop_bound", "dropped", "sums", "circles", "lemmas"))
    circles = json_array(found["circles"], "`evidence.circles`", _numbers)
    lemmas = json_array(found["lemmas"], "`evidence.lemmas`", _lemma)
    dropped = json_array(found["dropped"], "`evidence.dropped`", _numbers)
    try:
        of = unfolding(program, natural(found["loop_bound"], "`evidence.loop_bound`"))
        for number, pair in enumerate(dropped):
            if len(pair) != 3 or not of.pairs.drop(*pair):
                reject(f"pair {number} must not be dropped for the reason that is given")
        made = denial_formula(of, buffer, claim)
    except TooMuch as much:
        reject(f"the checker makes no formula of this program: {much}")
    for number, (mark, multipliers) in enumerate(json_array(found["sums"], "`evidence.sums`", _sum)):
        if not made.exclude(mark, multipliers):
            reject(f"sum {number} does not show that its assertion holds")
    for number, numbers in enumerate(circles):
        circle = read_circle(numbers)
        if circle is None or not all(made.circles.known(each) for each in circle):
            reject(f"circle {number} does not name sends and receives of this program")
        if not made.circles.add(circle):
            reject(f"circle {number} is none: a match of it need not come before the next")
    wrong = flaw(made.formula.formula.clauses, lemmas)
    if wrong:
        reject(f"the proof does not refute the formula of this claim: {wrong}")


def _numbers(value: object, where: str) -> list[int]:
    return json_array(value, where, integer)


def _sum(value: object, where: str) -> tuple[int, tuple[SumMultipliers, ...]]:
    found = json_members(value, where, ("mark", "most", "least"))
    return integer(found["mark"], f"{where}.mark"), tuple(_multipliers(found[each], where) for each in ("most", "least"))


def _multipliers(value: object, where: str) -> SumMultipliers:
    found = json_members(value, where, ("receives", "sends"))
    return SumMultipliers(*[tuple(_numbers(found[each], f"{where}.{each}")) for each in ("receives", "sends")])


def _lemma(value: object, where: str) -> Lemma:
    numbers = _numbers(value, where)
    if 0 not in numbers:
        reject(f"{where} has no 0 between literals and reasons")
    at = numbers.index(0)
    return tuple(numbers[:at]), tuple(numbers[at + 1 :])
