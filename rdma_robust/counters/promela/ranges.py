"""Bounds on the values of a counter program's variables: interval analysis of all its transitions together.

The analysis is flow-insensitive: one interval per variable, enlarged until every transition maps the intervals into
themselves (Cousot and Cousot 1977). What a transition requires narrows the names it compares; an expression that a
requirement compares is narrowed as a whole too, so that `require r + 1 <= 3; r := r + 1` keeps r at most 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rdma_robust.counters.intervals import ANY, Interval, apply_to_intervals, hull, interval_truth, meet
from rdma_robust.counters.program import (
    Add,
    Assign,
    Body,
    Choose,
    CounterProgram,
    Forget,
    Require,
    Statement,
    Zero,
    counter_bounds,
    pc,
)
from rdma_robust.expr import MIRRORED, OPPOSITE, Binary, Const, Expr, Ite, Name, Unary, names

_ROUNDS = 24
"""Rounds before a bound that still moves is given up; masks and guarded counts settle long before."""


@dataclass(slots=True)
class RangeFacts:
    """Known ranges at one point of a body: `base` for all names, and beyond that what was assigned or narrowed there, of
    `names` and of `compound` expressions that a requirement has narrowed.
    """

    base: Mapping[str, Interval]
    names: dict[str, Interval] = field(default_factory=dict)
    compound: dict[Expr, Interval] = field(default_factory=dict)

    def copy(self) -> RangeFacts:
        return RangeFacts(self.base, dict(self.names), dict(self.compound))

    def of(self, name: str) -> Interval:
        return self.names.get(name) or self.base.get(name, ANY)

    def narrow(self, expr: Expr, interval: Interval) -> None:
        if isinstance(expr, Name):
            self.names[expr.name] = interval
        else:
            self.compound[expr] = interval

    def assign(self, name: str, interval: Interval) -> None:
        for expr in [e for e in self.compound if name in names(e)]:
            del self.compound[expr]
        self.names[name] = interval


def variable_ranges(program: CounterProgram[Any]) -> dict[str, tuple[int | None, int | None]]:
    """Return for every finite variable, bounded counter and process location its least and greatest value.

    The keys are those of a control state of the lowered program: `pc(i)`, variables, bounded counters. Every value in a
    reachable state lies between the two, ends included. An end is None where no bound is found; `program.ranges`, the
    bounds the source language guarantees, are believed and make that impossible for programs of the language.
    """
    return {name: (low, high) for name, (low, high) in variable_intervals(program, counter_bounds(program)).items()}


def variable_intervals(program: CounterProgram[Any], bounds: Mapping[str, int | None]) -> dict[str, Interval]:
    """Return :func:`variable_ranges` as intervals; `bounds` are those of the counters."""
    found: dict[str, Interval] = {}
    for index, process in enumerate(program.processes):
        points = [process.entry, *(c.target for c in process.commands)]
        found[pc(index)] = (min(points), max(points))
    found |= {name: (value, value) for name, value in program.variables}
    found |= {c: (0, b) for c, b in bounds.items() if b is not None}
    return _Analysis(found, {name: (low, high) for name, low, high in program.ranges}).run(program)


class _Analysis:
    """`now` has the intervals so far; `declared` those that are known to be enough."""

    def __init__(self, start: dict[str, Interval], declared: dict[str, Interval]) -> None:
        self.now = start
        self.declared = declared
        self.changed: set[str] = set()

    def run(self, program: CounterProgram[Any]) -> dict[str, Interval]:
        bodies = [(c.body, frozenset(_reads(c.body))) for process in program.processes for c in process.commands]
        due = [body for body, _ in bodies]
        for number in count():
            self.changed = set()
            for body in due:
                self.body(body, RangeFacts(self.now))
            if number >= _ROUNDS:
                for name in self.changed:
                    self.now[name] = self.declared.get(name, ANY)
            due = [body for body, reads in bodies if reads & self.changed]
            if not due:
                break
        return self.now

    def body(self, body: Body[Any], known: RangeFacts) -> None:
        known = known.copy()
        for statement in body.statements:
            if not self.statement(statement, known):
                return
        if body.labels:
            for name, new in known.names.items():
                if name in self.now:
                    self.join(name, new)
        for branch in body.then:
            self.body(branch, known)

    def join(self, name: str, new: Interval) -> None:
        old = self.now[name]
        capped = meet(new, self.declared.get(name, ANY))
        if capped is not None and meet(old, capped) != capped:
            self.now[name] = hull(old, capped)
            self.changed.add(name)

    def statement(self, statement: Statement, known: RangeFacts) -> bool:
        """Let the statement act on `known`; return False if it can never be passed."""
        match statement:
            case Require(condition):
                return assume(condition, True, known)
            case Assign(updates):
                values = [(name, interval_of(value, known)) for name, value in updates]
                for name, interval in values:
                    known.assign(name, interval)
            case Choose(name, options):
                values = [
                    (name, (value, value))
                    for value, test in options
                    if interval_truth(interval_of(test, known)) is not False
                ]
                if not values:
                    return False
                chosen = values[0][1]
                for _, interval in values[1:]:
                    chosen = hull(chosen, interval)
                known.assign(name, chosen)
            case Add() | Zero() | Forget():
                pass
        return True


def _reads(body: Body[Any]) -> Iterator[str]:
    """Yield the names whose intervals decide what a body does."""
    for statement in body.statements:
        match statement:
            case Require(condition):
                yield from names(condition)
            case Assign(updates):
                for _, value in updates:
                    yield from names(value)
            case Choose(_, options):
                for _, test in options:
                    yield from names(test)
    for branch in body.then:
        yield from _reads(branch)


def interval_of(expr: Expr, known: RangeFacts) -> Interval:
    """Return an interval with every value of `expr` where names and narrowed expressions lie in `known`."""
    match expr:
        case Const(value):
            return (value, value)
        case Name(name):
            return known.of(name)
        case Unary("-", arg):
            plain = apply_to_intervals("-", (0, 0), interval_of(arg, known))
        case Unary(_, arg):
            holds = interval_truth(interval_of(arg, known))
            plain = (0, 1) if holds is None else (int(not holds), int(not holds))
        case Ite(test, then, other):
            plain = _choice(test, then, other, known)
        case Binary(op, left, right):
            plain = apply_to_intervals(op, interval_of(left, known), interval_of(right, known))
    narrowed = known.compound.get(expr) if known.compound else None
    return plain if narrowed is None else meet(plain, narrowed) or plain


def _choice(test: Expr, then: Expr, other: Expr, known: RangeFacts) -> Interval:
    holds = interval_truth(interval_of(test, known))
    if holds is not None:
        return interval_of(then if holds else other, known)
    branches = []
    for value, branch in ((True, then), (False, other)):
        under = known.copy()
        if assume(test, value, under):
            branches.append(interval_of(branch, under))
    return hull(*branches) if len(branches) == 2 else branches[0] if branches else ANY


def assume(condition: Expr, holds: bool, known: RangeFacts) -> bool:
    """Narrow `known` to where `condition` is non-zero (zero, if not `holds`); False if that is nowhere."""
    match condition:
        case Unary("!", arg):
            return assume(arg, not holds, known)
        case Binary("&&" | "||", left, right) if (condition.op == "&&") == holds:
            return assume(left, holds, known) and assume(right, holds, known)
    if interval_truth(interval_of(condition, known)) is (not holds):
        return False
    match condition:
        case Binary(op, left, right) if op in OPPOSITE:
            relation = op if holds else OPPOSITE[op]
            a, b = interval_of(left, known), interval_of(right, known)
            return _narrow(left, relation, b, known) and _narrow(right, MIRRORED[relation], a, known)
        case Name():
            return _narrow(condition, "!=" if holds else "==", (0, 0), known)
        case _:
            return True


def _narrow(expr: Expr, relation: str, bound: Interval, known: RangeFacts) -> bool:
    """Narrow `expr`, which stands in `relation` to some value in `bound`."""
    if isinstance(expr, Const):
        return True
    old = interval_of(expr, known)
    low, high = bound
    allowed: Interval = ANY
    match relation:
        case "==":
            allowed = bound
        case "<=":
            allowed = (None, high)
        case "<":
            allowed = (None, None if high is None else high - 1)
        case ">=":
            allowed = (low, None)
        case ">":
            allowed = (None if low is None else low + 1, None)
        case "!=" if low == high and low is not None:
            allowed = (low + 1 if old[0] == low else None, low - 1 if old[1] == low else None)
    new = meet(old, allowed)
    if new is None:
        return False
    if new != old:
        known.narrow(expr, new)
    return True
