"""Values of which only terms are known, for z3: numbers, arrays, and what is either.

Every function here is total: what has no meaning, such as the length of a number, is some number of which nothing is known.
Who asks has to prove that it has a meaning.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

from rdma_robust.guarded_z3 import z3
from rdma_robust.messages.language.message_terms import LONGEST

Int = Any
"""A z3 term that is a number."""

Bool = Any
"""A z3 term that is true or false."""

WORTH: Final = z3.DeclareSort("Value")
IS_NUMBER: Final = z3.Function("is_number", WORTH, z3.BoolSort())
NUMBER_OF: Final = z3.Function("number_of", WORTH, z3.IntSort())
LENGTH_OF: Final = z3.Function("length_of", WORTH, z3.IntSort())
CELL_OF: Final = z3.Function("cell_of", WORTH, z3.IntSort(), WORTH)
PRODUCT: Final = z3.Function("product", z3.IntSort(), z3.IntSort(), z3.IntSort())
QUOTIENT: Final = z3.Function("quotient", z3.IntSort(), z3.IntSort(), z3.IntSort())
REMAINDER: Final = z3.Function("remainder", z3.IntSort(), z3.IntSort(), z3.IntSort())


DEEPEST: Final = 12
"""Values that depend on one another through which one is computed."""


class UnrecognisedError(Exception):
    """The function is not one of the patterns; says why, as the reason of UNKNOWN."""


class TermValue(ABC):
    """A value: what it is is asked by these four."""

    @abstractmethod
    def is_number(self) -> Bool: ...

    @abstractmethod
    def number(self) -> Int: ...

    @abstractmethod
    def length(self) -> Int: ...

    @abstractmethod
    def cell(self, index: Int) -> TermValue: ...


@dataclass(frozen=True, slots=True)
class NumberTerm(TermValue):
    term: Int

    def is_number(self) -> Bool:
        return z3.BoolVal(True)

    def number(self) -> Int:
        return self.term

    def length(self) -> Int:
        return z3.FreshInt("no_length")

    def cell(self, index: Int) -> TermValue:  # noqa: ARG002 - a number has no cells
        return ValueTerm(z3.FreshConst(WORTH, "no_cell"))


@dataclass(frozen=True, slots=True)
class ValueTerm(TermValue):
    """A term for a value that may be a number or an array."""

    term: Any

    def is_number(self) -> Bool:
        return IS_NUMBER(self.term)

    def number(self) -> Int:
        return NUMBER_OF(self.term)

    def length(self) -> Int:
        return LENGTH_OF(self.term)

    def cell(self, index: Int) -> TermValue:
        return ValueTerm(CELL_OF(self.term, index))


@dataclass(frozen=True, slots=True)
class ArrayTerm(TermValue):
    """An array: its length, and what stands at an index."""

    size: Int
    at: Callable[[Int], TermValue]

    def is_number(self) -> Bool:
        return z3.BoolVal(False)

    def number(self) -> Int:
        return z3.FreshInt("no_number")

    def length(self) -> Int:
        return self.size

    def cell(self, index: Int) -> TermValue:
        return self.at(index)


@dataclass(frozen=True, slots=True)
class ConditionalValue(TermValue):
    """`then` if the test is true, and `other` if not."""

    test: Bool
    then: TermValue
    other: TermValue

    def is_number(self) -> Bool:
        return z3.If(self.test, self.then.is_number(), self.other.is_number())

    def number(self) -> Int:
        return z3.If(self.test, self.then.number(), self.other.number())

    def length(self) -> Int:
        return z3.If(self.test, self.then.length(), self.other.length())

    def cell(self, index: Int) -> TermValue:
        return conditional(self.test, lambda: self.then.cell(index), lambda: self.other.cell(index))


class LazyValue(TermValue):
    """A value that is computed when it is looked at.

    Raises UnrecognisedError if that takes too many others, one in another: there may be no end to it.
    """

    depth = 0
    """Values that are being looked at, one in another."""

    def __init__(self, made: Callable[[], TermValue]) -> None:
        self._made = made

    @cached_property
    def _value(self) -> TermValue:
        return self._made()

    def seen(self, look: Callable[[TermValue], Any]) -> Any:
        """Return what is seen of the value."""
        if LazyValue.depth >= DEEPEST:
            raise UnrecognisedError("a value depends on too many others, such as those of iterations or messages before")
        LazyValue.depth += 1
        try:
            return look(self._value)
        finally:
            LazyValue.depth -= 1

    def is_number(self) -> Bool:
        return self.seen(lambda value: value.is_number())

    def number(self) -> Int:
        return self.seen(lambda value: value.number())

    def length(self) -> Int:
        return self.seen(lambda value: value.length())

    def cell(self, index: Int) -> TermValue:
        found: TermValue = self.seen(lambda value: value.cell(index))
        return found


@dataclass(frozen=True, slots=True)
class Unusable(TermValue):
    """A value that is not known in closed form: whoever looks at it is told why."""

    why: str

    def is_number(self) -> Bool:
        raise UnrecognisedError(self.why)

    def number(self) -> Int:
        raise UnrecognisedError(self.why)

    def length(self) -> Int:
        raise UnrecognisedError(self.why)

    def cell(self, index: Int) -> TermValue:  # noqa: ARG002 - whatever it is
        raise UnrecognisedError(self.why)


def number_constant(value: int) -> NumberTerm:
    """Return a number."""
    return NumberTerm(z3.IntVal(value))


def known_truth(condition: Bool) -> bool | None:
    """Return whether a condition is true or false as it stands, None if that is not seen at once."""
    simple = z3.simplify(condition)
    if z3.is_true(simple):
        return True
    return False if z3.is_false(simple) else None


def conditional(test: Bool, then: Callable[[], TermValue], other: Callable[[], TermValue]) -> TermValue:
    """Return one of two values; only that is made that can be meant."""
    truth = known_truth(test)
    if truth is not None:
        return then() if truth else other()
    first, second = then(), other()
    if first is second or (isinstance(first, ValueTerm) and isinstance(second, ValueTerm) and first.term.eq(second.term)):
        return first
    if isinstance(first, NumberTerm) and isinstance(second, NumberTerm):
        return NumberTerm(z3.If(test, first.term, second.term))
    return ConditionalValue(test, first, second)


def equal(a: TermValue, b: TermValue) -> Bool:
    """Return the condition under which two values are the same: a number and an array never are."""
    if a is b:
        return z3.BoolVal(True)
    if isinstance(a, LazyValue):
        return a.seen(lambda value: equal(value, b))
    if isinstance(b, LazyValue):
        return b.seen(lambda value: equal(a, value))
    for one, two in ((a, b), (b, a)):
        if isinstance(one, ConditionalValue):
            return z3.If(one.test, equal(one.then, two), equal(one.other, two))
    if isinstance(a, ValueTerm) and isinstance(b, ValueTerm):
        return a.term == b.term
    if isinstance(a, NumberTerm) and isinstance(b, NumberTerm):
        return a.term == b.term
    if isinstance(a, NumberTerm) or isinstance(b, NumberTerm):
        return z3.And(a.is_number(), b.is_number(), a.number() == b.number())
    at = z3.FreshInt("at")
    same = z3.ForAll([at], z3.Implies(in_range(at, 0, a.length() - 1), equal(a.cell(at), b.cell(at))))
    return z3.And(z3.Not(a.is_number()), z3.Not(b.is_number()), a.length() == b.length(), same)


def in_range(term: Int, low: Int, high: Int) -> Bool:
    """Return `low <= term <= high`."""
    return z3.And(low <= term, term <= high)


def truth_of(condition: Bool) -> Int:
    """Return 1 for true and 0 for false."""
    return z3.If(condition, z3.IntVal(1), z3.IntVal(0))


def product(a: Int, b: Int) -> Int:
    """Return a product; of two numbers of which none is a constant little is known."""
    if z3.is_int_value(z3.simplify(a)) or z3.is_int_value(z3.simplify(b)):
        return a * b
    return PRODUCT(a, b)


def divided(op: str, a: Int, b: Int) -> Int:
    """Return `a / b` or `a % b`, rounded towards zero as in C, for a `b` that is not 0."""
    by = z3.simplify(b)
    if z3.is_int_value(by) and by.as_long() != 0:
        # z3 rounds so that no remainder is negative
        quotient = z3.If(a >= 0, a / by, -((-a) / by))
        return quotient if op == "/" else a - by * quotient
    return (QUOTIENT if op == "/" else REMAINDER)(a, b)


def background() -> list[Bool]:
    """Return what is true of all values and numbers."""
    value = z3.Const("v", WORTH)
    a, b = z3.Ints("a b")
    rest = REMAINDER(a, b)
    near = [
        z3.Implies(z3.And(a >= 0, a < b), rest == a),
        z3.Implies(z3.And(b <= a, a < 2 * b, b > 0), rest == a - b),
        z3.Implies(z3.And(2 * b <= a, a < 3 * b, b > 0), rest == a - 2 * b),
        z3.Implies(z3.And(-b < a, a < 0), rest == a),
        z3.Implies(z3.And(a >= 0, b > 0), z3.And(rest >= 0, rest < b)),
    ]
    c = z3.Int("c")
    following = rest + 1 == b
    step = z3.Implies(z3.And(c == a + 1, a >= 0, b > 0), REMAINDER(c, b) == z3.If(following, z3.IntVal(0), rest + 1))
    lengths = z3.And(LENGTH_OF(value) >= 0, LENGTH_OF(value) <= LONGEST)
    return [
        z3.ForAll([value], lengths, patterns=[LENGTH_OF(value)]),
        z3.ForAll([a, b], z3.And(near), patterns=[rest]),
        z3.ForAll([a, b, c], step, patterns=[z3.MultiPattern(rest, REMAINDER(c, b))]),
        z3.ForAll([a, b], PRODUCT(a, b) == PRODUCT(b, a), patterns=[PRODUCT(a, b)]),
    ]


# Sums over ranges whose ends are not known, as a function of what they add, and what is true of such sums.
#
# A sum is `SUM(a)`, where `a` gives for every integer what is added, and that is 0 for all but finitely many. What z3
# is told of two sums is true of any such functions a and b; each w is a new constant, of which the lemma says that
# there is one. The proofs are in docs/theory-contracts.md.

_FUNCTION: Final = z3.ArraySort(z3.IntSort(), z3.IntSort())
SUM: Final = z3.Function("sum", _FUNCTION, z3.IntSort())


def summed(low: Int, high: Int, added: Callable[[Int], Int]) -> Int:
    """Return the sum of what is added for each number from `low` to `high`."""
    at = z3.FreshInt("t")
    return SUM(z3.Lambda([at], z3.If(in_range(at, low, high), added(at), z3.IntVal(0))))


def lemmas(formulas: Iterable[Bool], points: Iterable[Int], swaps: Iterable[Callable[[Int], Int]]) -> list[Bool]:
    """Return what is true of the sums in formulas: pairwise, with the `points` at which two may differ, and with `swaps`."""
    sums = list(_sums(formulas))
    chosen_points, chosen_swaps = list(points), list(swaps)
    found = [_empty(each.arg(0)) for each in sums]
    for one, two in combinations([each.arg(0) for each in sums], 2):
        found.append(_same(one, two))
        found += [_but_one(one, two, each) for each in chosen_points]
        found += [_swapped(one, two, each) for each in chosen_swaps]
    return found


def _empty(a: Any) -> Bool:
    """If a is 0 everywhere the sum is 0."""
    w = z3.FreshInt("w")
    return z3.Implies(a[w] == 0, SUM(a) == 0)


def _same(a: Any, b: Any) -> Bool:
    """If a and b are the same everywhere the sums are."""
    w = z3.FreshInt("w")
    return z3.Implies(a[w] == b[w], SUM(a) == SUM(b))


def _but_one(a: Any, b: Any, point: Int) -> Bool:
    """If a and b are the same everywhere but at a point, the sums differ as they do there."""
    w = z3.FreshInt("w")
    return z3.Implies(z3.Or(w == point, a[w] == b[w]), SUM(a) - SUM(b) == a[point] - b[point])


def _swapped(a: Any, b: Any, swap: Callable[[Int], Int]) -> Bool:
    """If wherever a and b differ they do so in pairs that have changed places, the sums are the same."""
    w = z3.FreshInt("w")
    other = swap(w)
    pair = z3.And(a[other] == b[w], b[other] == a[w], swap(other) == w)
    return z3.Implies(z3.Or(a[w] == b[w], pair), SUM(a) == SUM(b))


def _sums(formulas: Iterable[Bool]) -> Iterator[Any]:
    """Yield every sum in formulas that says nothing of what a quantifier binds."""
    seen: set[int] = set()
    todo = list(formulas)
    while todo:
        each = todo.pop()
        if each.get_id() in seen:
            continue
        seen.add(each.get_id())
        if z3.is_quantifier(each):
            todo.append(each.body())
            continue
        if z3.is_app(each) and each.decl().eq(SUM) and not _is_open(each, 0):
            yield each
        todo += each.children()


def _is_open(term: Any, bound: int) -> bool:
    if z3.is_var(term):
        return bool(z3.get_var_index(term) >= bound)
    if z3.is_quantifier(term):
        return _is_open(term.body(), bound + term.num_vars())
    return any(_is_open(each, bound) for each in term.children())
