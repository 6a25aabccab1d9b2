"""Rewriting transitions so that every value fits into one machine word: large sets are split into several variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.counters.intervals import ANY, Interval, hull, meet
from rdma_robust.counters.printing import show_expr
from rdma_robust.counters.promela.body_paths import BodyPath, fold_constants, truth_expr
from rdma_robust.counters.promela.ranges import RangeFacts, interval_of
from rdma_robust.errors import UsageError
from rdma_robust.expr import FALSE, Binary, Const, Expr, Ite, Name, Unary, conj, disj

BITS = 31
"""Bits of a word that may be used: those of a non-negative 32-bit number."""
WORD: Final = (1 - 2**BITS, 2**BITS - 1)

_MASK = (1 << BITS) - 1
_SET_OPERATORS = frozenset({"|", "&", "&~"})


def lies_within(inner: Interval, outer: Interval) -> bool:
    """Return whether every value of `inner` is one of `outer`."""
    return meet(inner, outer) == inner


def temporaries(paths: Iterable[BodyPath], ranges: Mapping[str, Interval]) -> dict[str, Interval]:
    """Return the interval of every name that the paths assign and that has none in `ranges`."""
    found: dict[str, Interval] = {}
    for path in paths:
        now = RangeFacts(ranges)
        for step in path.steps:
            values = [(name, interval_of(value, now)) for name, value in step]
            for name, interval in values:
                now.assign(name, interval)
                if name not in ranges:
                    found[name] = hull(found[name], interval) if name in found else interval
    return found


def word_variable(name: str, word: int) -> str:
    """The name of the variable for that word of a set."""
    return f"{name}#{word}"


@dataclass(frozen=True)
class Narrow:
    """Rewrites expressions over variables with these `ranges`; variables with a single value become constants.

    A variable whose range exceeds a word must be a set of bits (it is only changed by `|`, `&` and `&~`).
    Raises UsageError where some other value may exceed a word.
    """

    ranges: Mapping[str, Interval]

    def variables(self, name: str, initial: int) -> list[tuple[str, int]]:
        """Return the variables, with their initial values, that stand for `name`: none for a constant, else its words."""
        if self._constant(name) is not None:
            return []
        count = self._words(name)
        return (
            [(name, initial)]
            if count == 1
            else [(word_variable(name, k), initial >> BITS * k & _MASK) for k in range(count)]
        )

    def _words(self, name: str) -> int:
        return 1 if self._narrow(Name(name)) else self._words_of(Name(name))

    def path(self, path: BodyPath) -> BodyPath:
        steps = []
        for step in path.steps:
            updates = [update for name, value in step for update in self._update(name, value)]
            if updates:
                steps.append(tuple(updates))
        return replace(path, guard=self.test(path.guard), steps=tuple(steps))

    def test(self, expr: Expr) -> Expr:
        """Return an expression over words that is non-zero where `expr` is."""
        return fold_constants(self._test(fold_constants(expr)))

    def _update(self, name: str, value: Expr) -> list[tuple[str, Expr]]:
        if self._constant(name) is not None:
            return []
        count = self._words(name)
        if count == 1:
            return [(name, fold_constants(self._value(value)))]
        parts = ((word_variable(name, k), fold_constants(self._word(value, k))) for k in range(count))
        return [(each, new) for each, new in parts if new != Name(each)]

    def _constant(self, name: str) -> Const | None:
        low, high = self.ranges.get(name, ANY)
        return Const(low) if low is not None and low == high else None

    def _test(self, expr: Expr) -> Expr:
        match expr:
            case Unary("!", arg):
                return Unary("!", self._test(arg))
            case Binary("&&", left, right):
                return conj(self._test(left), self._test(right))
            case Binary("||", left, right):
                return disj(self._test(left), self._test(right))
            case Binary("&", Binary(">>", Const(mask), index), Const(1)):
                return self._member(mask, index)
            case Binary("!=", arg, Const(0)):
                return self._test(arg)
            case _ if self._narrow(expr):
                return self._value(expr)
            case _:
                count = self._words_of(expr)
                return disj(*(word for k in range(count) if (word := fold_constants(self._word(expr, k))) != FALSE))

    def _value(self, expr: Expr) -> Expr:
        self._check(expr)
        match expr:
            case Const():
                return expr
            case Name(name):
                return self._constant(name) or expr
            case Unary("-", arg):
                return Unary("-", self._value(arg))
            case Unary(op, arg):
                return Unary(op, self._test(arg))
            case Ite(test, then, other) if self._narrow(then) and self._narrow(other):
                return Ite(self._test(test), self._value(then), self._value(other))
            case Ite():
                return self._word(expr, 0)
            case Binary("&", Binary(">>", Const(mask), index), Const(1)):
                return self._member(mask, index)
            case Binary("&&" | "||", _, _):
                return truth_expr(self._test(expr))
            case Binary("!=", arg, Const(0)) if not self._narrow(arg):
                return truth_expr(self._test(arg))
            case Binary(op, left, right) if op in _SET_OPERATORS and not (self._narrow(left) and self._narrow(right)):
                return self._word(expr, 0)
            case Binary(op, left, right):
                return Binary(op, self._value(left), self._value(right))

    def _word(self, expr: Expr, k: int) -> Expr:
        """Return word `k` of the set `expr`."""
        match expr:
            case Const(value) if value >= 0:
                return Const(value >> BITS * k & _MASK)
            case Name(name) if self._constant(name) is not None:
                return self._word(self._constant(name) or expr, k)
            case Name(name) if self._words(name) > 1:
                return Name(word_variable(name, k)) if k < self._words(name) else Const(0)
            case Binary(op, left, right) if op in _SET_OPERATORS:
                return _set_operation(op, fold_constants(self._word(left, k)), fold_constants(self._word(right, k)))
            case Ite(test, then, other):
                return Ite(self._test(test), self._word(then, k), self._word(other, k))
            case _:
                if not lies_within(self._interval(expr), (0, WORD[1])):
                    raise self._too_large(expr)
                return self._value(expr) if k == 0 else Const(0)

    def _member(self, mask: int, index: Expr) -> Expr:
        """Return whether bit `index` of `mask` is set: a shift of one word, the right one."""
        low, high = self._interval(index)
        if low is None or low < 0 or high is None:
            raise self._too_large(index)
        if high < mask.bit_length():
            mask &= (1 << high + 1) - 1
        if not mask:
            return FALSE
        last = max(mask.bit_length() - 1, 0) // BITS
        number = self._value(index)
        found = self._bit(mask, last, number)
        if high >= BITS * (last + 1):
            found = conj(Binary("<", number, Const(BITS * (last + 1))), found)
        for k in reversed(range(last)):
            found = Ite(Binary("<", number, Const(BITS * (k + 1))), self._bit(mask, k, number), found)
        return found

    def _bit(self, mask: int, k: int, number: Expr) -> Expr:
        """Return bit `number` of `mask`, which lies in word `k`."""
        shift = Binary("-", number, Const(BITS * k)) if k else number
        return Binary("&", Binary(">>", Const(mask >> BITS * k & _MASK), shift), Const(1))

    def _interval(self, expr: Expr) -> Interval:
        if isinstance(expr, Name):
            return self.ranges.get(expr.name, ANY)
        return interval_of(expr, RangeFacts(self.ranges))

    def _narrow(self, expr: Expr) -> bool:
        interval = (expr.value, expr.value) if isinstance(expr, Const) else self._interval(expr)
        return lies_within(interval, WORD)

    def _check(self, expr: Expr) -> None:
        """Refuse what may exceed a word although its operands do not."""
        match expr:
            case Const() | Name() | Unary("-", _) | Binary("+" | "-" | "*", _, _):
                fits = self._narrow(expr)
            case Binary(">>", _, by):
                fits = lies_within(self._interval(by), (0, BITS - 1))
            case _:
                return
        if not fits:
            raise self._too_large(expr)

    def _words_of(self, expr: Expr) -> int:
        low, high = self._interval(expr)
        if low is None or low < 0 or high is None:
            raise self._too_large(expr)
        return -(-high.bit_length() // BITS)

    def _too_large(self, what: Expr) -> UsageError:
        return UsageError(f"the value of `{show_expr(what)}` may exceed {WORD[1]}; give the program a smaller `domain`")


def _set_operation(op: str, left: Expr, right: Expr) -> Expr:
    nothing = Const(0)
    if op == "&" and nothing in (left, right):
        return nothing
    if op in ("|", "&~") and right == nothing:
        return left
    if op == "|" and left == nothing:
        return right
    return Binary(op, left, right)
