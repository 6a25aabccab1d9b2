"""Assertions that hold whatever the order: the matches without NS, NR, W and Z, as assignments of sends to receives.

What a process has waited for before an assertion is matched there, each receive with a send of its own. Where that
leaves no way for the assertion to be false, it holds in every execution. Definition: docs/theory-messages.md, "Before any
search".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rdma_robust.errors import InternalError, Span
from rdma_robust.expr import Const
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import AssertEvent, FaultEvent, Guards, Unrolled, WaitEvent
from rdma_robust.messages.engines.assignments import Hall, assigned, at_most, bounds, is_hall
from rdma_robust.messages.engines.goal_cases import Case, GoalCases
from rdma_robust.messages.engines.receive_forms import Form, ReceiveForms
from rdma_robust.messages.language import message_program as mp


@dataclass(frozen=True, slots=True)
class Assigned:
    """Sends for the receives before an assertion, by their numbers, with which it is false if order allows them. `exact`:
    all of the assertion is understood, so it is false where they are matched like this."""

    sends: dict[int, int]
    exact: bool


class Relaxation:
    """Decides assertions of an unrolled program, given its candidates by endpoint."""

    def __init__(self, unrolled: Unrolled, endpoints: tuple[EndpointPairs, ...], limits: Limits) -> None:
        self.unrolled, self.endpoints = unrolled, endpoints
        self._limits = limits
        self._forms = ReceiveForms(endpoints)
        self._cases = GoalCases(self._forms)
        self._guards = Guards()
        self._waits = [
            [each for each in events if isinstance(each, WaitEvent) and each.kind == "receive"] for events in unrolled.events
        ]

    def may_fail(self, event: AssertEvent) -> Assigned | None:
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

    def _solve(self, case: Case, rows: list[tuple[EndpointPairs, list[int]]]) -> Assigned | None:
        """Return sends for all receives as a case allows it, None if there are none."""
        sends: dict[int, int] = {}
        blocks: list[Block] = []
        matched: set[int] = set()
        for pairs, which in rows:
            numbers = [pairs.receives[row].number for row in which]
            allowed = pairs.possible[which].copy()
            for at, number in enumerate(numbers):
                if number in case.allowed:
                    allowed[at] &= case.allowed[number]
            found = assigned(allowed)
            if isinstance(found, Hall):
                if not is_hall(found, allowed):
                    raise InternalError("a Hall violator is none")
                return None
            matched.update(numbers)
            blocks.append(Block(numbers, allowed))
            sends |= {number: pairs.sends[column].number for number, column in zip(numbers, found, strict=True)}
        if any(_refuted(form, op, blocks) for form, op in case.sums if matched >= set(form.parts)):
            return None
        exact = case.exact and not case.sums and matched >= set(case.allowed)
        return Assigned(sends, exact)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Receives of one endpoint, by their numbers, each with the sends that it may take."""

    receives: list[int]
    allowed: np.ndarray[tuple[int, int], np.dtype[np.bool_]]


def _refuted(form: Form, op: str, blocks: list[Block]) -> bool:
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


def _most(form: Form, blocks: list[Block], goal: int) -> bool:
    """Return whether a sum is surely below a goal: the most that each endpoint adds is found alone."""
    for thorough in (False, True):
        total = form.constant
        for block in blocks:
            width = block.allowed.shape[1]
            amounts = np.array([form.parts.get(each, np.zeros(width, np.int64)) for each in block.receives], np.int64)
            found = at_most(block.allowed, amounts, thorough=thorough)
            if not bounds(found, block.allowed, amounts):
                raise InternalError("multipliers bound nothing")
            total += found.bound
        if total < goal:
            return True
    return False


def proved(unrolled: Unrolled, endpoints: tuple[EndpointPairs, ...], limits: Limits) -> frozenset[Span]:
    """Return the places of assertions that hold in every execution. None in a program with a loop that is cut."""
    if unrolled.cuts:
        return frozenset()
    relaxation = Relaxation(unrolled, endpoints, limits)
    asserts = [each for events in unrolled.events for each in events if isinstance(each, AssertEvent)]
    open_places = {each.span for events in unrolled.events for each in events if isinstance(each, FaultEvent)}
    for event in asserts:
        if event.span not in open_places and relaxation.may_fail(event) is not None:
            open_places.add(event.span)
    return frozenset(each.span for each in asserts) - open_places


def without(program: mp.MessageProgram, places: frozenset[Span] | None) -> mp.MessageProgram:
    """Return a program in which the assertions at these places, None for all, are of what is always true."""

    def block(statements: mp.Block) -> mp.Block:
        return tuple([one(each) for each in statements])

    def one(statement: mp.Statement) -> mp.Statement:
        match statement:
            case mp.Assert(_, span) if places is None or span in places:
                return mp.Assert(Const(1), span)
            case mp.If(_, then, other, _):
                return replace(statement, then=block(then), other=block(other))
            case mp.While() | mp.For() | mp.Loop() | mp.Inlined():
                return replace(statement, body=block(statement.body))
            case mp.Choose(branches, _):
                return replace(statement, branches=tuple([block(each) for each in branches]))
            case _:
                return statement

    return replace(program, processes=tuple([replace(each, body=block(each.body)) for each in program.processes]))
