"""Certificates by proof: the checker's formula of a message program, circles of matches, and why it has no solution.

Sums of an assertion get multipliers: simple ones, then those of a linear program; the checker sees whether they do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.messages.bounded_sums import Sum, SumMultipliers, summands
from rdma_robust.certify.messages.dropped_pairs import OVERTAKES, TOO_LATE
from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.proved_formulas import (
    MESSAGE_PROOF,
    Circle,
    Circles,
    Clause,
    DenialFormula,
    Lemma,
    MatchRange,
    SafeClaim,
    Unfolding,
    denial_formula,
    unfolding,
)
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.certify.messages.unfolding import WaitingProcess
from rdma_robust.errors import InternalError
from rdma_robust.evidence.proof_trimming import trimmed
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.assignments import at_most
from rdma_robust.messages.language.message_program import Buffer, MessageProgram

_MOST: Final = 20
"""So many circles are taken of one solution."""
_STARTS: Final = 60

Holds = Callable[[int], bool]


def circles_of(formula: MatchFormula, circles: Circles, holds: Holds) -> list[Circle]:
    """Return the shortest circles found among the matches of a solution; `holds` tells which literals it has."""
    graph = _Order(formula, holds)
    found: dict[Circle, None] = {}
    starts = sorted(graph.left())
    for start in starts[:: max(1, len(starts) // _STARTS)]:
        way = graph.circle(start)
        if way:
            found[_turned(tuple(MatchRange(graph.matches[each][1], *[graph.matches[each][0]] * 2) for each in way))] = None
    shortest = min((len(each) for each in found), default=0)
    kept = sorted((each for each in found if len(each) <= shortest + 1), key=len)[:_MOST]
    return list(dict.fromkeys(_widened(formula, circles, each) for each in kept))


def _turned(circle: Circle) -> Circle:
    """Return a circle from its first send on."""
    at = min(range(len(circle)), key=lambda each: circle[each].send)
    return circle[at:] + circle[:at]


def _widened(formula: MatchFormula, circles: Circles, circle: Circle) -> Circle:
    """Let each send of a circle be taken by as many neighbouring receives as it still is one with."""
    for at in range(len(circle)):
        for end in ("first", "last"):
            while True:
                wider = _wider(formula, circle[at], end)
                changed = (*circle[:at], wider, *circle[at + 1 :]) if wider else circle
                around = (changed[at - 1], changed[at]), (changed[at], changed[(at + 1) % len(changed)])
                if changed is circle or any(circles.before(a, b) is None for a, b in around):
                    break
                circle = changed
    return circle


def _wider(formula: MatchFormula, taken: MatchRange, end: str) -> MatchRange | None:
    rows = formula.rows[taken.first]
    if end == "first":
        at = formula.row[taken.first] - 1
        return replace(taken, first=rows[at]) if at >= 0 else None
    at = formula.row[taken.last] + 1
    return replace(taken, last=rows[at]) if at < len(rows) else None


class _Order:
    """The order of a solution: vertices are its matches, by their numbers here, then events."""

    def __init__(self, formula: MatchFormula, holds: Holds) -> None:
        self.matches = [pair for pair, literal in formula.x.items() if holds(literal)]
        self.after: list[list[int]] = [[] for _ in self.matches]
        self._of_receive = {receive: at for at, (receive, _) in enumerate(self.matches)}
        self._of_send = {send: at for at, (_, send) in enumerate(self.matches)}
        for events in formula.unfolded.events:
            last = -1
            for event in events:
                matched = (self._of_receive if event.kind == "receive" else self._of_send).get(event.number)
                waits = isinstance(event, WaitingProcess)
                if matched is None or (waits and not self._passed(formula, event, holds)):
                    continue
                here = len(self.after)
                self.after.append([])
                self.after[matched if waits else here].append(here if waits else matched)
                if last >= 0:
                    self.after[last].append(here)
                last = here
        for at, (number, nth) in enumerate(self.matches):
            self._overtaking(formula, holds, at, number, nth)

    def _passed(self, formula: MatchFormula, wait: object, holds: Holds) -> bool:
        assert isinstance(wait, WaitingProcess)
        if not formula.needs_match(wait):
            return False
        return holds(formula.reached[wait.process][wait.place + 1]) and holds(formula.truth(wait.guard))

    def _overtaking(self, formula: MatchFormula, holds: Holds, at: int, number: int, nth: int) -> None:
        receive, send = formula.unfolded.receives[number], formula.unfolded.sends[nth]
        for earlier in formula.sends_before(send):
            if earlier.number in self._of_send and holds(formula.truth(formula.accepts(receive, earlier))):
                self.after[self._of_send[earlier.number]].append(at)
        for other in formula.receives_before(receive):
            if other.number in self._of_receive and holds(formula.truth(formula.accepts(other, send))):
                self.after[self._of_receive[other.number]].append(at)

    def left(self) -> list[int]:
        """Return the matches that are on circles or behind them."""
        degree = [0] * len(self.after)
        for following in self.after:
            for each in following:
                degree[each] += 1
        todo = [each for each, count in enumerate(degree) if not count]
        while todo:
            for each in self.after[todo.pop()]:
                degree[each] -= 1
                if not degree[each]:
                    todo.append(each)
        self._left = {each for each, count in enumerate(degree) if count}
        return [each for each in self._left if each < len(self.matches)]

    def circle(self, start: int) -> Sequence[int]:
        """Return the matches of a circle through one with as few of them as possible, none if there is no such circle."""
        came: dict[int, int] = {}
        todo = deque([start])
        while todo and start not in came:
            at = todo.popleft()
            for each in self.after[at]:
                if each in self._left and each not in came:
                    came[each] = at
                    if each < len(self.matches):
                        todo.append(each)
                    else:
                        todo.appendleft(each)
        if start not in came:
            return ()
        way = [start]
        while len(way) == 1 or way[-1] != start:
            way.append(came[way[-1]])
        way.reverse()
        return [a for a, _ in pairwise(way) if a < len(self.matches)]


MAKING: Final = "making a certificate"
MOST_CONFLICTS: Final = 100_000
"""Of a solver, before its proof is taken to be too long."""

_CONFLICTS: Final = 1_000
"""Between looks at the limits."""

_PASSES: Final = 60


@dataclass(frozen=True, slots=True)
class CircleRefutation:
    """The circles that a refutation needs, and its lemmas."""

    circles: tuple[Circle, ...]
    lemmas: tuple[Lemma, ...]


def refuted_with_circles(made: DenialFormula, limits: Limits) -> CircleRefutation:
    """Learn circles until the formula has no solution, and prove that. Raises TooMuch if it has one without a circle, or
    if the solver needs too many conflicts."""
    circles: dict[Circle, None] = {}
    clauses = made.formula.formula.clauses
    with _Solver(limits) as solver:
        while (model := solver.model(clauses)) is not None:
            true = np.zeros(made.formula.formula.last + 1, np.bool_)
            true[1 : len(model) + 1] = np.array(model, np.int64)[: len(true) - 1] > 0
            found = [each for each in circles_of(made.formula, made.circles, _reader(true)) if each not in circles]
            if not found:
                raise TooMuch("the checker's formula does not prove it")
            for each in found:
                if not made.circles.add(each):
                    raise InternalError("a circle of a solution is none for the checker")
                circles[each] = None
    with _Solver(limits, proof=True) as solver:
        solver.model(clauses)
        learnt = solver.learnt()
    return CircleRefutation(tuple(circles), tuple(trimmed(clauses, learnt, limits.poll(MAKING))))


class _Solver:
    """CaDiCaL. What it cannot do soon it gets help for: literals that contradict the clauses at once are found first."""

    def __init__(self, limits: Limits, *, proof: bool = False) -> None:
        from pysat.solvers import Cadical195  # noqa: PLC0415 -- only those who certify load it

        self._solver = Cadical195(with_proof=proof)
        self._limits = limits
        self._units: list[int] = []
        self._count = 0

    def __enter__(self) -> _Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self._solver.delete()

    def model(self, clauses: Sequence[Clause]) -> list[int] | None:
        """Return a solution of all clauses, which may have become more; None if there is none. Raises TooMuch."""
        for clause in clauses[self._count :]:
            self._solver.add_clause(clause)
        self._count = len(clauses)
        for tries in range(MOST_CONFLICTS // _CONFLICTS):
            self._limits.look(MAKING)
            self._solver.conf_budget(_CONFLICTS)
            found = self._solver.solve_limited()
            if found is not None:
                return list(self._solver.get_model()) if found else None
            if not tries:
                self._help(clauses)
        raise TooMuch(f"a proof needs more than {MOST_CONFLICTS} conflicts, too many for a certificate")

    def _help(self, clauses: Sequence[Clause]) -> None:
        """Add literals whose negation unit propagation refutes; the last variables, which rest on others, come first."""
        from pysat.solvers import MinisatGH  # noqa: PLC0415

        known = {abs(each) for each in self._units}
        last = max(abs(each) for clause in clauses for each in clause)
        with MinisatGH(bootstrap_with=[*map(list, clauses), *[[each] for each in self._units]]) as propagating:
            for _ in range(_PASSES):
                before = len(known)
                self._limits.look(MAKING)
                for literal in (sign * each for each in range(last, 1, -1) for sign in (1, -1) if each not in known):
                    if abs(literal) not in known and not propagating.propagate(assumptions=[literal])[0]:
                        propagating.add_clause([-literal])
                        self._solver.add_clause([-literal])
                        self._units.append(-literal)
                        known.add(abs(literal))
                if len(known) == before:
                    break

    def learnt(self) -> list[Clause]:
        """Return what was learnt, in order."""
        lines = [line.split() for line in self._solver.get_proof() or []]
        derived = [tuple(int(each) for each in line[:-1]) for line in lines if line and line[0] != "d" and len(line) > 1]
        return [*[(each,) for each in self._units], *derived]


def _reader(true: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Callable[[int], bool]:
    return lambda literal: bool(true[literal]) if literal > 0 else not true[-literal]


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
    look = limits.poll(MAKING)
    of = unfolding(program, loop_bound, look)
    dropped = _dropped(of)
    made = denial_formula(of, buffer, claim, look)
    excluded = sums(made) if claim == "holds" else []
    found = refuted_with_circles(made, limits)
    return {
        "kind": MESSAGE_PROOF,
        "loop_bound": loop_bound,
        "dropped": dropped,
        "sums": excluded,
        "circles": [[number for each in circle for number in astuple(each)] for circle in found.circles],
        "lemmas": [[*lemma, 0, *hints] for lemma, hints in found.lemmas],
    }


_LARGEST: Final = 2**40
"""Amounts that numbers of machines can add up."""


def sums(made: DenialFormula) -> list[JsonObject]:
    """Exclude assertions that no assignment of sends makes false; return what certificates have of them."""
    found: list[JsonObject] = []
    for number, mark in enumerate(made.formula.unfolded.marks):
        for each in _multipliers(made, number) if mark.kind == "assert" else ():
            if made.exclude(number, each):
                most, least = ({"receives": list(one.receives), "sends": list(one.sends)} for one in each)
                found.append({"mark": number, "most": most, "least": least})
                break
    return found


def _multipliers(made: DenialFormula, number: int) -> Iterator[tuple[SumMultipliers, SumMultipliers]]:
    mark = made.formula.unfolded.marks[number]
    for of, _ in summands(mark):
        if len(of.times) > 2 and made.bounds.waited(mark, of):
            for thorough in (False, True):
                most, least = (_best(made, each, thorough=thorough) for each in (of, of.negative()))
                if most is not None and least is not None:
                    yield most, least


def _best(made: DenialFormula, of: Sum, *, thorough: bool) -> SumMultipliers | None:
    receives, sends = sorted(of.times), made.bounds.sends(of)
    allowed = np.zeros((len(receives), len(sends)), np.bool_)
    amounts = np.zeros(allowed.shape, np.int64)
    columns = {send: column for column, send in enumerate(sends)}
    for row, receive in enumerate(receives):
        for send in made.formula.senders[receive]:
            amount = made.bounds.amount(of, receive, send)
            if amount is None or abs(amount) > _LARGEST:
                return None
            allowed[row, columns[send]], amounts[row, columns[send]] = True, amount
    if not allowed.any(axis=1).all():
        return None
    best = at_most(allowed, amounts, thorough=thorough)
    return SumMultipliers(best.rows, best.columns)
