"""Numbers and conditions over inputs that are not known: terms, equal ones are one object, constants are computed.

A number is an int or a :class:`SymbolicTerm`; the terms of numbers are polynomials with integer coefficients over atoms:
inputs, `/`, `%`, if-then-else, and conditions counted as 0 or 1. A condition is a bool or a :class:`SymbolicTerm` that is
an (in)equality of a polynomial with 0, or a conjunction or disjunction. Since polynomials are in normal form, equations
that hold for every data that a program moves and adds up are decided here, without a solver.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import Any, Final

from rdma_robust.expr import divide, modulo

_TOO_DEEP: Final = 200
"""Terms inside of one another."""

_DEGREE: Final = 64
"""Factors of a monomial; what is longer is an atom."""

_TOO_LONG: Final = 4000
"""Monomials of a product that is computed; a longer one is an atom."""


class TooManyError(Exception):
    """Something is too large, or has too many values, to be followed; says what."""


class SymbolicTerm:
    """A number or a condition that is not constant; `number` counts the terms of a table.

    `op` of numbers: `input` (`args` are its name), `poly` (pairs of a monomial and a coefficient, a monomial being a tuple
    of atoms), `*`, `/`, `%`, `if` (a condition and two numbers), `truth` (a condition, as 0 or 1). Of conditions: `zero`,
    `nonzero` and `positive` (of one number; 0 is positive here), `and`, `or`.
    """

    __slots__ = ("args", "depth", "high", "low", "number", "op", "poly")

    def __init__(self, number: int, op: str, args: tuple[Any, ...]) -> None:
        self.number = number
        self.op = op
        self.args = args
        self.low: int | None = None
        self.high: int | None = None
        self.poly: Polynomial = (((self,), 1),)
        self.depth = 0

    def __repr__(self) -> str:
        return f"{self.op}{self.args}" if self.op != "input" else str(self.args[0])


Monomial = tuple[SymbolicTerm, ...]
Polynomial = tuple[tuple[Monomial, int], ...]
"""Sorted; no coefficient is 0; the constant is the coefficient of the empty monomial."""

Number = int | SymbolicTerm
Condition = bool | SymbolicTerm

CONDITIONS: Final = frozenset({"zero", "nonzero", "positive", "and", "or"})


class TermTable:
    """The table of the terms of one check."""

    def __init__(self) -> None:
        self._table: dict[tuple[Any, ...], SymbolicTerm] = {}
        self._negations: dict[SymbolicTerm, Condition] = {}
        self.inputs: list[SymbolicTerm] = []

    def input(self, name: object, low: int | None, high: int | None) -> SymbolicTerm:
        """Return an input, between `low` and `high` where they are numbers."""
        made = self._made("input", (name,))
        if made.number == len(self._table) - 1:
            made.low, made.high = low, high
            self.inputs.append(made)
        return made

    def _made(self, op: str, args: tuple[Any, ...]) -> SymbolicTerm:
        key = (op, *args)
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = SymbolicTerm(len(self._table), op, args)
            found.depth = _depth(args)
            if found.depth > _TOO_DEEP:
                raise TooManyError("what is computed is nested too deeply to be followed")
        return found

    # numbers

    def number_of(self, poly: dict[Monomial, int]) -> Number:
        """Return the number that a polynomial is."""
        items = [(monomial, factor) for monomial, factor in poly.items() if factor]
        if not items:
            return 0
        if len(items) == 1:
            monomial, factor = items[0]
            if not monomial:
                return factor
            if factor == 1 and len(monomial) == 1:
                return monomial[0]
        items.sort(key=_by_number)
        args = tuple(items)
        made = self._made("poly", args)
        made.poly = args
        return made

    def add(self, a: Number, b: Number, times: int = 1) -> Number:
        """Return `a + times * b`."""
        if type(a) is int and type(b) is int:
            return a + times * b
        poly = dict(_poly(a))
        for monomial, factor in _poly(b):
            poly[monomial] = poly.get(monomial, 0) + times * factor
        return self.number_of(poly)

    def total(self, numbers: Iterable[Number]) -> Number:
        """Return the sum of numbers."""
        poly: dict[Monomial, int] = {}
        for each in numbers:
            for monomial, factor in _poly(each):
                poly[monomial] = poly.get(monomial, 0) + factor
        return self.number_of(poly)

    def multiply(self, a: Number, b: Number) -> Number:
        if type(a) is int and type(b) is int:
            return a * b
        left, right = _poly(a), _poly(b)
        if len(left) * len(right) > _TOO_LONG or _degree(left) + _degree(right) > _DEGREE:
            return self._made("*", (a, b))
        poly: dict[Monomial, int] = {}
        for one, factor in left:
            for other, times in right:
                monomial = tuple(sorted((*one, *other), key=_number)) if one and other else one or other
                poly[monomial] = poly.get(monomial, 0) + factor * times
        return self.number_of(poly)

    def divide(self, op: str, a: Number, b: Number) -> Number:
        """Return `a / b` or `a % b` as in C; what divides by 0 is guarded, and 0 here."""
        if type(b) is int and b == 0:
            return 0
        if type(a) is int and type(b) is int:
            return divide(a, b) if op == "/" else modulo(a, b)
        if a == 0 or (b in (1, -1) and op == "%"):
            return 0
        if type(b) is int and b in (1, -1):
            return self.multiply(a, b)
        return self._made(op, (a, b))

    def either(self, test: Condition, a: Number, b: Number) -> Number:
        """Return `test ? a : b`."""
        if test is True or a is b or (type(a) is int and a == b and type(b) is int):
            return a
        if test is False:
            return b
        if a == 1 and b == 0:
            return self.counted(test)
        if a == 0 and b == 1:
            return self.counted(self.negation(test))
        made = self._made("if", (test, a, b))
        (low, high), (least, most) = number_range(a, {}), number_range(b, {})
        made.low = None if low is None or least is None else min(low, least)
        made.high = None if high is None or most is None else max(high, most)
        return made

    def counted(self, condition: Condition) -> Number:
        """Return 1 where the condition is true, else 0."""
        if isinstance(condition, bool):
            return int(condition)
        made = self._made("truth", (condition,))
        made.low, made.high = 0, 1
        return made

    # conditions

    def truth(self, a: Number) -> Condition:
        """Return whether a number is not 0."""
        if type(a) is int:
            return a != 0
        assert isinstance(a, SymbolicTerm)
        return a.args[0] if a.op == "truth" else self.negation(self.zero(a))

    def compare(self, op: str, a: Number, b: Number) -> Condition:
        """Return `a op b`."""
        match op:
            case "==":
                return self.zero(self.add(a, b, -1))
            case "!=":
                return self.negation(self.zero(self.add(a, b, -1)))
            case "<=":
                return self.positive(self.add(b, a, -1))
            case "<":
                return self.positive(self.add(self.add(b, a, -1), -1))
            case ">=":
                return self.positive(self.add(a, b, -1))
            case _:
                return self.positive(self.add(self.add(a, b, -1), -1))

    def zero(self, a: Number) -> Condition:
        """Return whether a number is 0."""
        if type(a) is int:
            return a == 0
        assert isinstance(a, SymbolicTerm)
        low, high = number_range(a, {})
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        single = _one_truth(a)
        if single is not None:
            condition, factor, rest = single
            if rest == 0:
                return self.negation(condition)
            return condition if factor + rest == 0 else False
        divided = _divided(a.poly, exact=True)
        if divided is None:
            return False
        return self._made("zero", (self.number_of(dict(divided)),))

    def positive(self, a: Number) -> Condition:
        """Return whether a number is 0 or more."""
        if type(a) is int:
            return a >= 0
        assert isinstance(a, SymbolicTerm)
        low, high = number_range(a, {})
        if low is not None and low >= 0:
            return True
        if high is not None and high < 0:
            return False
        single = _one_truth(a)
        if single is not None:
            condition, factor, rest = single
            return condition if factor + rest >= 0 else self.negation(condition)
        divided = _divided(a.poly, exact=False)
        assert divided is not None
        return self._made("positive", (self.number_of(dict(divided)),))

    def negation(self, condition: Condition) -> Condition:
        if isinstance(condition, bool):
            return not condition
        found = self._negations.get(condition)
        if found is None:
            found = self._negations[condition] = self._negated(condition)
        return found

    def _negated(self, condition: SymbolicTerm) -> Condition:
        match condition.op:
            case "zero":
                return self._made("nonzero", condition.args)
            case "nonzero":
                return self._made("zero", condition.args)
            case "positive":
                return self.positive(self.add(-1, condition.args[0], -1))
            case "and":
                return self.disjunction([self.negation(each) for each in condition.args])
            case _:
                return self.conjunction([self.negation(each) for each in condition.args])

    def conjunction(self, conditions: Iterable[Condition]) -> Condition:
        return self._junction("and", conditions, neutral=True)

    def disjunction(self, conditions: Iterable[Condition]) -> Condition:
        return self._junction("or", conditions, neutral=False)

    def _junction(self, op: str, conditions: Iterable[Condition], *, neutral: bool) -> Condition:
        found: dict[SymbolicTerm, None] = {}
        for each in conditions:
            if isinstance(each, bool):
                if each is not neutral:
                    return each
            elif each.op == op:
                found |= dict.fromkeys(each.args)
            else:
                found[each] = None
        if not found:
            return neutral
        if len(found) == 1:
            return next(iter(found))
        for each in found:
            if each.op in ("zero", "nonzero", "positive") and self.negation(each) in found:
                return not neutral
        return self._made(op, tuple(sorted(found, key=_number)))


def _degree(poly: Polynomial) -> int:
    return max((len(monomial) for monomial, _ in poly), default=0)


def _depth(args: tuple[Any, ...]) -> int:
    """Return how deep a term is that is made of these."""
    found = 0
    for each in args:
        if isinstance(each, SymbolicTerm):
            found = max(found, each.depth + 1)
        elif isinstance(each, tuple) and each and isinstance(each[0], tuple):
            found = max(found, max((atom.depth + 1 for atom in each[0]), default=0))
    return found


def _number(term: SymbolicTerm) -> int:
    return term.number


def _by_number(item: tuple[Monomial, int]) -> tuple[int, ...]:
    return tuple([each.number for each in item[0]])


def _poly(a: Number) -> Polynomial:
    if type(a) is int:
        return (((), a),) if a else ()
    assert isinstance(a, SymbolicTerm)
    return a.poly


def _one_truth(a: SymbolicTerm) -> tuple[Condition, int, int] | None:
    """Return condition, factor and constant of a number that is `factor * truth + constant`."""
    rest = 0
    found: tuple[Condition, int] | None = None
    for monomial, factor in a.poly:
        if not monomial:
            rest = factor
        elif found is None and len(monomial) == 1 and monomial[0].op == "truth":
            found = monomial[0].args[0], factor
        else:
            return None
    return None if found is None else (*found, rest)


def _divided(poly: Polynomial, *, exact: bool) -> Polynomial | None:
    """Return a polynomial divided by what divides its factors but the constant; for equations with the first one positive.

    An equation whose constant is not divided has no solution: None. For `>= 0` the constant is rounded down.
    """
    factors = [factor for monomial, factor in poly if monomial]
    by = gcd(*factors)
    constant = next((factor for monomial, factor in poly if not monomial), 0)
    if exact and constant % by:
        return None
    sign = -1 if exact and factors[0] < 0 else 1
    return tuple((monomial, sign * (factor // by)) for monomial, factor in poly if monomial or factor // by)


Range = tuple[int | None, int | None]


def number_range(a: Number, known: dict[SymbolicTerm, Range]) -> Range:
    """Return between which numbers a number is, as far as that of its atoms is `known`, or given with them."""
    if type(a) is int:
        return a, a
    assert isinstance(a, SymbolicTerm)
    if a in known:
        return known[a]
    if a.op != "poly":
        return a.low, a.high
    low: int | None = 0
    high: int | None = 0
    for monomial, factor in a.poly:
        least, most = _product(monomial, known)
        if factor < 0:
            least, most = most, least
        low = None if low is None or least is None else low + factor * least
        high = None if high is None or most is None else high + factor * most
        if low is None and high is None:
            break
    return low, high


def _product(monomial: Monomial, known: dict[SymbolicTerm, Range]) -> Range:
    low: int | None = 1
    high: int | None = 1
    for atom in monomial:
        least, most = known.get(atom) or (atom.low, atom.high)
        if low is None or high is None or least is None or most is None:
            return (least, most) if len(monomial) == 1 else (None, None)
        corners = (low * least, low * most, high * least, high * most)
        low, high = min(corners), max(corners)
    return low, high
