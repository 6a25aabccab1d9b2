"""Assertions that hold whatever the order: the matches without NS, NR, W and Z, as assignments of sends to receives.

What a process has waited for before an assertion is matched there, each receive with a send of its own. Where that
leaves no way for the assertion to be false, it holds in every execution. The ways are cases: in each some receives may take
only some sends, and some sums are so large. The cases are all there are, and some more where a truth is none that sums say.
Definition: docs/theory-messages.md, "Before any search".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from rdma_robust.errors import InternalError, Span
from rdma_robust.expr import COMPARISONS, MIRRORED, OPPOSITE, Const
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs, Truths
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import AssertEvent, FaultEvent, Guards, UnrolledProgram, WaitEvent
from rdma_robust.messages.engines.assignments import HallViolator, assignment, at_most, is_hall_violator, proves_bound
from rdma_robust.messages.engines.receive_forms import ExtremeSum, Known, ReceiveSum, ReceiveSums
from rdma_robust.messages.language import message_program as mp

_MOST_CASES: Final = 2_000
_DEPTH: Final = 40


@dataclass(frozen=True, slots=True, eq=False)
class GoalCase:
    """Receive R takes one of `allowed[R]`, and each sum compares with 0 as it says; `exact`: nothing is left out."""

    allowed: dict[int, Truths] = field(default_factory=dict)
    sums: tuple[tuple[ReceiveSum, str], ...] = ()
    exact: bool = True

    def and_(self, other: GoalCase) -> GoalCase | None:
        """Return where both hold, None if some receive is left nothing."""
        allowed = dict(self.allowed)
        for receive, mask in other.allowed.items():
            allowed[receive] = allowed[receive] & mask if receive in allowed else mask
            if not allowed[receive].any():
                return None
        return GoalCase(allowed, self.sums + other.sums, self.exact and other.exact)


Cases = list[GoalCase]


class GoalCases:
    """Makes cases of truths, given what terms are as sums."""

    def __init__(self, forms: ReceiveSums) -> None:
        self._forms = forms

    def of(self, truths: Sequence[tuple[Symbol, bool]], depth: int = _DEPTH) -> Cases:
        """Return the cases in which all of these truths are as they are said to be."""
        done: Cases = [GoalCase()]
        for symbol, positive in _flattened(truths, joining="&&"):
            found = self._one(symbol, positive, depth)
            done = _both(done, found)
            if not done:
                break
        return done

    def _one(self, symbol: Symbol, positive: bool, depth: int) -> Cases:
        if symbol.op in ("&&", "||"):
            if not depth:
                return [GoalCase(exact=False)]
            each = _flattened([(symbol, positive)], joining="||")
            return _limited(case for one in each for case in self.of([one], depth - 1))
        if symbol.op in OPPOSITE:
            op = symbol.op if positive else OPPOSITE[symbol.op]
            a, b = [self._forms.of(each) for each in symbol.operands]
            if isinstance(a, ReceiveSum) and isinstance(b, ExtremeSum):
                a, b, op = b, a, MIRRORED[op]
            return self._compared(a, op, b)
        return self._compared(self._forms.of(symbol), "!=" if positive else "==", ReceiveSum(0, {}))

    def _compared(self, a: Known, op: str, b: Known) -> Cases:
        if not isinstance(b, ReceiveSum) or a is None:
            return [GoalCase(exact=False)]
        if isinstance(a, ReceiveSum):
            return self._sum(a.plus(b, -1), op)
        differences = [each.plus(b, -1) for each in a.of]
        if op == "!=":
            return [*self._extreme(a.largest, differences, "<"), *self._extreme(a.largest, differences, ">")]
        if op == "==":
            return _both(self._extreme(a.largest, differences, "<="), self._extreme(a.largest, differences, ">="))
        return self._extreme(a.largest, differences, op)

    def _extreme(self, largest: bool, of: Sequence[ReceiveSum | None], op: str) -> Cases:
        """Return where the largest, or smallest, of several compares with 0 as said: all of them do, or one does."""
        each = [self._sum(form, op) for form in of]
        if largest is (op in (">", ">=")):
            return _limited(case for cases in each for case in cases)
        found: Cases = [GoalCase()]
        for cases in each:
            found = _both(found, cases)
        return found

    def _sum(self, form: ReceiveSum | None, op: str) -> Cases:
        """Return the cases in which a sum compares with 0 as said."""
        if form is None:
            return [GoalCase(exact=False)]
        if not form.parts:
            return [GoalCase()] if COMPARISONS[op](form.constant, 0) else []
        if len(form.parts) == 1:
            ((receive, amounts),) = form.parts.items()
            mask = np.asarray(COMPARISONS[op](amounts + form.constant, 0) & self._possible(receive))
            return [GoalCase({receive: mask})] if mask.any() else []
        if op == "!=":
            return [GoalCase(sums=((form, "<"),)), GoalCase(sums=((form, ">"),))]
        if op == "==" and len(form.parts) == 2:
            return _limited(self._equal(form))
        return [GoalCase(sums=((form, op),))]

    def _equal(self, form: ReceiveSum) -> Iterator[GoalCase]:
        """Yield the cases in which two receives add what makes 0, one for each amount."""
        (first, a), (second, b) = form.parts.items()
        here, there = self._possible(first), self._possible(second)
        same = self._forms.endpoint[first][0] is self._forms.endpoint[second][0]
        wanted = -form.constant - b
        if same and (here == there).all() and (a == wanted)[here].all() and len(set(a[here].tolist())) == here.sum():
            return
        for amount in sorted(set(a[here].tolist()) & set(wanted[there].tolist())):
            ours, theirs = (a == amount) & here, (wanted == amount) & there
            if not (same and ours.sum() == 1 and (ours == theirs).all()):
                yield GoalCase({first: ours, second: theirs})

    def _possible(self, receive: int) -> Truths:
        pairs, row = self._forms.endpoint[receive]
        return np.asarray(pairs.possible[row])


def _flattened(truths: Sequence[tuple[Symbol, bool]], joining: str) -> list[tuple[Symbol, bool]]:
    """Return truths as the operands of one conjunction, or disjunction, without `!`."""
    found, todo = [], list(truths)
    while todo:
        symbol, positive = todo.pop()
        if symbol.op == "!":
            todo.append((symbol.operands[0], not positive))
        elif symbol.op in ("&&", "||") and (symbol.op == joining) is positive:
            todo += [(each, positive) for each in symbol.operands]
        else:
            found.append((symbol, positive))
    return found


def _both(a: Cases, b: Cases) -> Cases:
    if len(a) * len(b) > _MOST_CASES:
        return [replace(each, exact=False) for each in a]
    return [both for one in a for other in b if (both := one.and_(other)) is not None]


def _limited(cases: Iterator[GoalCase]) -> Cases:
    found = []
    for case in cases:
        found.append(case)
        if len(found) > _MOST_CASES:
            return [GoalCase(exact=False)]
    return found


@dataclass(frozen=True, slots=True)
class SendAssignment:
    """Sends for the receives before an assertion, by their numbers, with which it is false if order allows them. `exact`:
    all of the assertion is understood, so it is false where they are matched like this."""

    sends: dict[int, int]
    exact: bool


class OrderRelaxation:
    """Decides assertions of an unrolled program, given its candidates by endpoint."""

    def __init__(self, unrolled: UnrolledProgram, endpoints: tuple[EndpointPairs, ...], limits: Limits) -> None:
        self.unrolled, self.endpoints = unrolled, endpoints
        self._limits = limits
        self._forms = ReceiveSums(endpoints)
        self._cases = GoalCases(self._forms)
        self._guards = Guards()
        self._waits = [
            [each for each in events if isinstance(each, WaitEvent) and each.kind == "receive"] for events in unrolled.events
        ]

    def may_fail(self, event: AssertEvent) -> SendAssignment | None:
        """Return how an assertion may be false, None if it cannot: every way is refuted by what was checked exactly."""
        rows = self._rows(event)
        goal: list[tuple[Symbol, bool]] = [(event.guard, True), (event.condition, False)]
        for case in self._cases.of(goal):
            self._limits.look("assigning sends to receives")
            found = self._solve(case, rows)
            if found is not None:
                return found
        return None

    def _rows(self, event: AssertEvent) -> list[tuple[EndpointPairs, list[int]]]:
        """Return the receives that are matched where an assertion is reached, by endpoint."""
        waited = {
            each.operation
            for each in self._waits[event.process]
            if each.position < event.position and self._guards.implies(event.guard, each.guard)
        }
        found = []
        for pairs in self.endpoints:
            rows = [row for row, each in enumerate(pairs.receives) if each.number in waited]
            if rows:
                found.append((pairs, rows))
        return found

    def _solve(self, case: GoalCase, rows: list[tuple[EndpointPairs, list[int]]]) -> SendAssignment | None:
        """Return sends for all receives as a case allows it, None if there are none."""
        sends: dict[int, int] = {}
        blocks: list[AssignmentProblem] = []
        matched: set[int] = set()
        for pairs, which in rows:
            numbers = [pairs.receives[row].number for row in which]
            allowed = pairs.possible[which].copy()
            for at, number in enumerate(numbers):
                if number in case.allowed:
                    allowed[at] &= case.allowed[number]
            found = assignment(allowed)
            if isinstance(found, HallViolator):
                if not is_hall_violator(found, allowed):
                    raise InternalError("a Hall violator is none")
                return None
            matched.update(numbers)
            blocks.append(AssignmentProblem(numbers, allowed))
            sends |= {number: pairs.sends[column].number for number, column in zip(numbers, found, strict=True)}
        if any(_refuted(form, op, blocks) for form, op in case.sums if matched >= set(form.parts)):
            return None
        exact = case.exact and not case.sums and matched >= set(case.allowed)
        return SendAssignment(sends, exact)


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentProblem:
    """Receives of one endpoint, by their numbers, each with the sends that it may take."""

    receives: list[int]
    allowed: np.ndarray[tuple[int, int], np.dtype[np.bool_]]


def _refuted(form: ReceiveSum, op: str, blocks: list[AssignmentProblem]) -> bool:
    """Return whether a sum cannot compare with 0 as said."""
    turned = form.times(-1)
    match op:
        case ">":
            return _most(form, blocks, 1)
        case ">=":
            return _most(form, blocks, 0)
        case "<":
            return turned is not None and _most(turned, blocks, 1)
        case "<=":
            return turned is not None and _most(turned, blocks, 0)
        case _:
            return _most(form, blocks, 0) or (turned is not None and _most(turned, blocks, 0))


def _most(form: ReceiveSum, blocks: list[AssignmentProblem], goal: int) -> bool:
    """Return whether a sum is surely below a goal: the most that each endpoint adds is found alone."""
    for thorough in (False, True):
        total = form.constant
        for block in blocks:
            width = block.allowed.shape[1]
            amounts = np.array([form.parts.get(each, np.zeros(width, np.int64)) for each in block.receives], np.int64)
            found = at_most(block.allowed, amounts, thorough=thorough)
            if not proves_bound(found, block.allowed, amounts):
                raise InternalError("multipliers bound nothing")
            total += found.bound
        if total < goal:
            return True
    return False


def proven_assertions(unrolled: UnrolledProgram, endpoints: tuple[EndpointPairs, ...], limits: Limits) -> frozenset[Span]:
    """Return the places of assertions that hold in every execution. None in a program with a loop that is cut."""
    if unrolled.cuts:
        return frozenset()
    relaxation = OrderRelaxation(unrolled, endpoints, limits)
    asserts = [each for events in unrolled.events for each in events if isinstance(each, AssertEvent)]
    open_places = {each.span for events in unrolled.events for each in events if isinstance(each, FaultEvent)}
    for event in asserts:
        if event.span not in open_places and relaxation.may_fail(event) is not None:
            open_places.add(event.span)
    return frozenset(each.span for each in asserts) - open_places


def without_assertions(program: mp.MessageProgram, places: frozenset[Span] | None) -> mp.MessageProgram:
    """Return a program in which the assertions at these places, None for all, are of what is always true."""

    def block(statements: mp.Block) -> mp.Block:
        return tuple([one(each) for each in statements])

    def one(statement: mp.Statement) -> mp.Statement:
        if isinstance(statement, mp.Assert) and (places is None or statement.span in places):
            return mp.Assert(Const(1), statement.span)
        return mp.with_blocks(statement, block)

    return replace(program, processes=tuple([replace(each, body=block(each.body)) for each in program.processes]))
