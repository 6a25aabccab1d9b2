"""Evidence of the kind `message-proof`: that the checker's own formula for the denial of a claim has no solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final, Literal

from rdma_robust.certify.document import integer, json_array, json_members, natural, reject
from rdma_robust.certify.messages.bounded_sums import SumBounds, SumMultipliers
from rdma_robust.certify.messages.dropped_pairs import MatchPairs
from rdma_robust.certify.messages.formula_values import PossibleValues
from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.unfolded_terms import TermNode, TooMuch, implied_truth
from rdma_robust.certify.messages.unfolding import Issue, OpKind, UnfoldedProgram, WaitingProcess, unfold
from rdma_robust.messages.language.message_program import Buffer, MessageProgram


@dataclass(frozen=True, slots=True)
class MatchRange:
    """A send is taken by a receive of one endpoint from `first` to `last` in posting order, by their numbers."""

    send: int
    first: int
    last: int


Circle = tuple[MatchRange, ...]
Conditions = list[TermNode]


class Circles:
    """Tells for one formula whether matches are a circle, and adds the clause of one."""

    def __init__(self, formula: MatchFormula) -> None:
        self.formula = formula
        self._unfolded = formula.unfolded
        self._waits: dict[tuple[OpKind, int], list[WaitingProcess]] = {}
        for events in self._unfolded.events:
            for event in events:
                if isinstance(event, WaitingProcess) and formula.needs_match(event):
                    self._waits.setdefault((event.kind, event.number), []).append(event)

    def add(self, circle: Circle) -> bool:
        """Add the clause that not all of these matches are; False if they are no circle of pairs that are left."""
        literals: list[int] = []
        if not all(self.receives(each) for each in circle):
            return False
        for a, b in pairwise((*circle, *circle[:1])):
            conditions = self.before(a, b)
            if conditions is None:
                return False
            literals += [-self.formula.truth(each) for each in conditions]
        for each in circle:
            literals += self._not_taken(each)
        self.formula.formula.add(*literals)
        return bool(circle)

    def _not_taken(self, taken: MatchRange) -> list[int]:
        if taken.first == taken.last:
            return [-self.formula.x.get((taken.first, taken.send), -1)]
        behind = self.formula.up_to(taken.send, taken.last)
        return [-behind, self.formula.before(taken.send, taken.first)]

    def known(self, taken: MatchRange) -> bool:
        """Return whether numbers are those of a send and of receives of one endpoint, in order."""
        sends, receives = self._unfolded.sends, self._unfolded.receives
        if not (0 <= taken.send < len(sends) and 0 <= taken.first <= taken.last < len(receives)):
            return False
        return taken.last in self.formula.rows[taken.first]

    def receives(self, taken: MatchRange) -> list[Issue]:
        """Return the receives that may take the send as said."""
        rows = self.formula.rows[taken.first]
        numbers = rows[self.formula.row[taken.first] : self.formula.row[taken.last] + 1]
        return [self._unfolded.receives[each] for each in numbers if (each, taken.send) in self.formula.x]

    def before(self, a: MatchRange, b: MatchRange) -> Conditions | None:
        """Return the conditions under which the first match surely comes before the second; None if that is not known.

        Where several receives may take a send, it has to be so for each of them, without conditions.
        """
        best: Conditions | None = None
        for conditions in self._ways(a, b):
            if conditions is not None and (best is None or len(conditions) < len(best)):
                best = conditions
        if best and not (a.first == a.last and b.first == b.last):
            return None
        return best

    def _ways(self, a: MatchRange, b: MatchRange) -> Iterator[Conditions | None]:
        """Yield for W, Z, NS and NR whether they say so."""
        ours, theirs = self.receives(a), self.receives(b)
        sent, sends = self._unfolded.sends[a.send], self._unfolded.sends[b.send]
        yield _all(self._waited(each, sends) for each in ours)
        yield self._waited(sent, sends)
        yield _all(self._waited(each, other) for each, other in product(ours, theirs))
        yield _all(self._waited(sent, other) for other in theirs)
        if (sent.process, sent.port) == (sends.process, sends.port) and sent.place < sends.place:
            yield _all(self._accepts(other, sent) for other in theirs)
        if a.first == a.last and b.first == b.last and theirs and ours:
            (first,), (second,) = ours, theirs
            if second.number in self.formula.rows[first.number] and first.number < second.number:
                yield self._accepts(first, sends)

    def _waited(self, operation: Issue, later: Issue) -> Conditions | None:
        """Return when an operation, which is matched, was waited for before another one, which is issued."""
        waits = self._waits.get((operation.kind, operation.number), ())
        guards = [each.guard for each in waits if operation.process == later.process and each.place < later.place]
        if not guards:
            return None
        if any(implied_truth(operation.guard, each) or implied_truth(later.guard, each) for each in guards):
            return []
        return [self.formula.terms.either(guards)]

    def _accepts(self, receive: Issue, send: Issue) -> Conditions | None:
        fits = self.formula.accepts(receive, send)
        if fits is self.formula.terms.false:
            return None
        return [] if fits is self.formula.terms.true else [fits]


def _all(each: Iterator[Conditions | None]) -> Conditions | None:
    found: Conditions = []
    for conditions in each:
        if conditions is None:
            return None
        found += conditions
    return found


def read_circle(numbers: Sequence[int]) -> Circle | None:
    """Return the circle in a list of numbers, three for each match."""
    if not numbers or len(numbers) % 3:
        return None
    return tuple(MatchRange(*numbers[at : at + 3]) for at in range(0, len(numbers), 3))


Clause = tuple[int, ...]
Lemma = tuple[Clause, tuple[int, ...]]
"""A clause, and the numbers of clauses from which it follows: given ones come first, then earlier lemmas."""


def flaw(clauses: Sequence[Clause], lemmas: Sequence[Lemma]) -> str:
    """Return why lemmas do not refute clauses; '' if they do.

    Assume all literals of a lemma false: then each of its clauses has to leave one literal, which becomes true, and the
    last one none. The last lemma has to be the empty clause.
    """
    known = list(clauses)
    for number, (lemma, hints) in enumerate(lemmas):
        false = set(lemma)
        if 0 in false:
            return f"lemma {number} has a literal 0"
        for at, hint in enumerate(hints):
            if not 0 <= hint < len(known):
                return f"lemma {number} rests on clause {hint}, which comes later or is none"
            left = [each for each in known[hint] if each not in false]
            if not left:
                break
            if len(left) > 1:
                return f"lemma {number} does not follow: its reason {at} leaves more than one literal"
            false.add(-left[0])
        else:
            return f"lemma {number} does not follow: its reasons contradict nothing"
        known.append(lemma)
    if not lemmas or lemmas[-1][0]:
        return "the last lemma is not the empty clause"
    return ""


SafeClaim = Literal["holds", "deadlock-free"]


def deny(formula: MatchFormula, claim: SafeClaim, compatible: Sequence[Sequence[int]]) -> None:
    """Add clauses that some run gets to a cut, or breaks the claim. `compatible[R]` are the sends that R may accept."""
    beyond = [formula.done(mark) for mark in formula.unfolded.marks if mark.kind == "cut"]
    if claim == "holds":
        false = [formula.done(mark) for mark in formula.unfolded.marks if mark.kind in ("assert", "fault")]
        formula.formula.add(*beyond, *false, *_mismatches(formula))
    else:
        formula.formula.add(*beyond, _deadlock(formula, compatible))


def _deadlock(formula: MatchFormula, compatible: Sequence[Sequence[int]]) -> int:
    """Return the literal of a deadlock: clauses say what follows from it."""
    clauses = formula.formula
    deadlock, stuck = clauses.new(), []
    for process, events in enumerate(formula.unfolded.events):
        places = []
        daemon = formula.unfolded.program.processes[process].daemon
        for event in events:
            if isinstance(event, WaitingProcess) and formula.may_hold(event):
                here = _held_up(formula, event)
                places.append(here)
                sends = [formula.truth(on) for issue, on in event.others if issue.kind == "send"]
                if not event.others:
                    sends = [1] if event.kind == "send" else []
                stuck.append(here if not daemon else clauses.all_of((here, clauses.any_of(sends))))
        clauses.add(-deadlock, *places, formula.reached[process][len(events)])
    clauses.add(-deadlock, *stuck)
    for mark in formula.unfolded.marks:
        if mark.kind in ("assume", "fault"):
            clauses.add(-deadlock, -formula.done(mark))
    _nothing_to_match(formula, deadlock, compatible)
    return deadlock


def _mismatches(formula: MatchFormula) -> Iterator[int]:
    """Yield literals of pairs whose match is a violation: another type, or a size that is more than the room."""
    terms = formula.terms
    for (number, nth), literal in formula.x.items():
        receive, send = formula.unfolded.receives[number], formula.unfolded.sends[nth]
        if receive.of_type is not None and send.of_type is not None:
            alike = terms.operation("==", receive.of_type, send.of_type)
            yield formula.formula.all_of((literal, -formula.truth(alike)))
        if receive.length is not None and send.length is not None:
            fits = terms.operation("<=", send.length, receive.length)
            yield formula.formula.all_of((literal, -formula.truth(fits)))


def _held_up(formula: MatchFormula, wait: WaitingProcess) -> int:
    """Return the literal that a process is before a wait, and nothing that lets it go on is matched or complete at once."""
    if wait.tests:
        return -1
    lacking = [-formula.passes(wait)]
    for issue, on in wait.others:
        lacking.append(-formula.formula.all_of((formula.truth(on), formula.passes(issue))))
    passed = formula.reached[wait.process][wait.place + 1]
    return formula.formula.all_of((formula.done(wait), -passed, *lacking))


def _nothing_to_match(formula: MatchFormula, deadlock: int, compatible: Sequence[Sequence[int]]) -> None:
    """Where nothing can go on no two operations that are issued and go together are both unmatched."""
    for number, sends in enumerate(compatible):
        receive = formula.unfolded.receives[number]
        for nth in sends:
            send = formula.unfolded.sends[nth]
            fits = formula.truth(formula.accepts(receive, send))
            issued = (-formula.done(receive), -formula.done(send))
            formula.formula.add(-deadlock, *issued, -fits, formula.received[number], formula.sent[nth])


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
