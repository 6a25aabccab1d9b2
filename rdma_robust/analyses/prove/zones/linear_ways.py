"""Expressions by cases: each way an expression can go, as linear facts and a linear value.

A condition becomes a list of conjunctions of `form <= 0`. What is not linear (`x * y`, a division by a variable) becomes a
new variable of which the facts say what is known; then the way is not `exact`: it may have points that no run has. Every
value that an expression can have is that of some way, so whoever follows all ways misses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Final

from rdma_robust.expr import COMPARISONS, OPPOSITE, Binary, Const, Expr, Ite, Name, Unary


@dataclass(frozen=True, slots=True)
class LinearForm:
    """The sum of a * name over `terms`, sorted by name and without a = 0, and `constant`."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    @classmethod
    def of(cls, terms: Mapping[str, int], constant: int) -> LinearForm:
        """Return the form with these coefficients."""
        return cls(tuple(sorted((name, a) for name, a in terms.items() if a)), constant)

    def plus(self, other: LinearForm, times: int = 1) -> LinearForm:
        """Return this and so many times the other."""
        terms = dict(self.terms)
        for name, a in other.terms:
            terms[name] = terms.get(name, 0) + times * a
        return LinearForm.of(terms, self.constant + times * other.constant)

    def times(self, factor: int) -> LinearForm:
        """Return the multiple."""
        return constant_form(0).plus(self, factor)

    def shifted(self, by: int) -> LinearForm:
        """Return this and a constant."""
        return LinearForm(self.terms, self.constant + by)

    def tightened(self) -> LinearForm:
        """Return the form that is at most 0 for the same integers, with coefficients that no number divides."""
        common = gcd(*(a for _, a in self.terms))
        if common <= 1:
            return self
        return LinearForm(tuple((name, a // common) for name, a in self.terms), -(-self.constant // common))


def constant_form(value: int) -> LinearForm:
    """Return the form that is a constant."""
    return LinearForm((), value)


def variable_form(name: str) -> LinearForm:
    """Return the form that is a variable."""
    return LinearForm(((name, 1),), 0)


def as_shift(form: LinearForm) -> tuple[str, int] | None:
    """Return w and c if the form is w + c."""
    return (form.terms[0][0], form.constant) if len(form.terms) == 1 and form.terms[0][1] == 1 else None


MOST_WAYS: Final = 64
"""An expression with more ways is any number, and a condition with more is no restriction."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A conjunction: each form is at most 0."""

    forms: tuple[LinearForm, ...] = ()
    exact: bool = True

    def and_(self, other: Facts) -> Facts:
        """Return what holds if both do."""
        return Facts((*self.forms, *other.forms), self.exact and other.exact)


@dataclass(frozen=True, slots=True)
class LinearCase:
    """If the facts hold, the value is this."""

    facts: Facts
    value: LinearForm


ALWAYS: Final = Facts()
UNKNOWN: Final = Facts(exact=False)


class CaseSplitter:
    """Splits expressions; `fresh` makes a variable that nothing else uses."""

    def __init__(self, fresh: Callable[[], str]) -> None:
        self._fresh = fresh

    def values(self, expr: Expr) -> list[LinearCase]:
        """Return the ways in which an expression has a value. Those of a division by zero are none."""
        ways = list(self._values(expr))
        return ways if len(ways) <= MOST_WAYS else [self._anything()]

    def facts(self, condition: Expr, wanted: bool = True) -> list[Facts]:
        """Return the ways in which a condition is true, or false if that is `wanted`."""
        facts = [f for f in self._facts(condition, wanted) if not _never(f)]
        return facts if len(facts) <= MOST_WAYS else [UNKNOWN]

    def _anything(self, facts: Facts = UNKNOWN) -> LinearCase:
        return LinearCase(facts, variable_form(self._fresh()))

    def _values(self, expr: Expr) -> Iterable[LinearCase]:
        match expr:
            case Const(value):
                return [LinearCase(ALWAYS, constant_form(value))]
            case Name(name):
                return [LinearCase(ALWAYS, variable_form(name))]
            case Unary("-", arg):
                return [LinearCase(way.facts, way.value.times(-1)) for way in self.values(arg)]
            case Ite(test, then, other):
                return self._chosen(test, then, other)
            case Binary("+" | "-" | "*" | "/" | "%" as op, left, right):
                return self._computed(op, left, right)
            case Unary("!", _) | Binary("&&" | "||" | "==" | "!=" | "<" | "<=" | ">" | ">=", _, _):
                return self._chosen(expr, Const(1), Const(0))
            case _:
                return [self._anything()]

    def _chosen(self, test: Expr, then: Expr, other: Expr) -> Iterator[LinearCase]:
        for value, wanted in ((then, True), (other, False)):
            for facts in self.facts(test, wanted):
                for way in self.values(value):
                    yield LinearCase(facts.and_(way.facts), way.value)

    def _computed(self, op: str, left: Expr, right: Expr) -> Iterator[LinearCase]:
        seconds = self.values(right)
        for first in self.values(left):
            for second in seconds:
                facts = first.facts.and_(second.facts)
                for way in self._operated(op, first.value, second.value):
                    yield LinearCase(facts.and_(way.facts), way.value)

    def _operated(self, op: str, a: LinearForm, b: LinearForm) -> list[LinearCase]:
        if op in "+-":
            return [LinearCase(ALWAYS, a.plus(b, 1 if op == "+" else -1))]
        if op == "*":
            if a.terms and b.terms:
                return [self._anything()]
            return [LinearCase(ALWAYS, a.times(b.constant) if not b.terms else b.times(a.constant))]
        if b.terms:
            return [self._anything()]
        if b.constant == 0:
            return []
        return self._quotients(a, b.constant) if op == "/" else self._remainders(a, abs(b.constant))

    def _quotients(self, a: LinearForm, by: int) -> list[LinearCase]:
        """a / by is truncated: q with 0 <= a - |by| * q < |by| if a is not negative, else 0 <= |by| * q - a < |by|."""
        if abs(by) == 1:
            return [LinearCase(ALWAYS, a.times(by))]
        ways = []
        for sign in (1, -1):
            q = variable_form(self._fresh())
            rest = a.plus(q, -abs(by)).times(sign)
            domain = a.times(-1) if sign == 1 else a.shifted(1)
            facts = Facts((domain, q.times(-sign), rest.times(-1), rest.shifted(1 - abs(by))))
            ways.append(LinearCase(facts, q.times(1 if by > 0 else -1)))
        return ways

    def _remainders(self, a: LinearForm, by: int) -> list[LinearCase]:
        """a % by is a itself between -by and by; else all that is known is that it is smaller than by and has a's sign."""
        inside = Facts((a.shifted(1 - by), a.times(-1).shifted(1 - by)))
        ways = [LinearCase(inside, a)]
        for sign in (1, -1):
            rest = variable_form(self._fresh())
            outside = a.times(-sign).shifted(by)
            facts = Facts((outside, rest.times(-sign), rest.times(sign).shifted(1 - by)), exact=False)
            ways.append(LinearCase(facts, rest))
        return ways

    def _facts(self, condition: Expr, wanted: bool) -> Iterable[Facts]:
        match condition:
            case Unary("!", arg):
                return self.facts(arg, not wanted)
            case Binary("&&" | "||" as op, left, right):
                first, second = self.facts(left, wanted), self.facts(right, wanted)
                if (op == "||") == wanted:
                    return [*first, *second]
                return [a.and_(b) for a in first for b in second]
            case Binary(op, left, right) if op in COMPARISONS:
                return self._compared(op if wanted else OPPOSITE[op], left, right)
            case Ite(test, then, other):
                return [
                    a.and_(b)
                    for part, holds in ((then, True), (other, False))
                    for a in self.facts(test, holds)
                    for b in self.facts(part, wanted)
                ]
            case _:
                return self._compared("!=" if wanted else "==", condition, Const(0))

    def _compared(self, op: str, left: Expr, right: Expr) -> Iterator[Facts]:
        seconds = self.values(right)
        for first in self.values(left):
            for second in seconds:
                facts = first.facts.and_(second.facts)
                more, less = first.value.plus(second.value, -1), second.value.plus(first.value, -1)
                for forms in _compared_forms(op, more, less):
                    yield facts.and_(Facts(forms))


def _compared_forms(op: str, more: LinearForm, less: LinearForm) -> list[tuple[LinearForm, ...]]:
    """The ways in which a op b, given a - b and b - a."""
    match op:
        case "==":
            return [(more, less)]
        case "!=":
            return [(more.shifted(1),), (less.shifted(1),)]
        case "<":
            return [(more.shifted(1),)]
        case "<=":
            return [(more,)]
        case ">":
            return [(less.shifted(1),)]
        case _:
            return [(less,)]


def _never(facts: Facts) -> bool:
    return any(not form.terms and form.constant > 0 for form in facts.forms)
