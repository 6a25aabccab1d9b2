"""Bitwise and, written with the operators of the language: its bits are those of two's complement, as many as it takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Final

from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import OPERATORS, Binary, Const, Expr, Ite, Name, Unary, equals, with_operands

Interval = tuple[int, int]
MOST_BITS: Final = 16


def without_bits(expr: Expr, domain: Interval) -> Expr:
    """Return an expression without `&` that has the same values where all names are in `domain`.

    Raises SizeLimitError where its operands have more than MOST_BITS bits.
    """
    match expr:
        case Binary("&", left, right):
            return _and(without_bits(left, domain), without_bits(right, domain), domain)
        case Ite():
            return expr
        case _:
            return with_operands(expr, lambda each: without_bits(each, domain))


def interval(expr: Expr, domain: Interval) -> Interval:
    """Return bounds of the values of an expression whose names are in `domain`."""
    match expr:
        case Const(value):
            return value, value
        case Name():
            return domain
        case Unary("-", arg):
            low, high = interval(arg, domain)
            return -high, -low
        case Binary("+" | "-" | "*" as op, left, right):
            ends = [OPERATORS[op](a, b) for a in interval(left, domain) for b in interval(right, domain)]
            return min(ends), max(ends)
        case Binary("/" | "%", left, Const(by)) if by > 0:
            low, high = interval(left, domain)
            if expr.op == "/":
                return -(-low // by) if low < 0 else low // by, -(-high // by) if high < 0 else high // by
            return (0 if low >= 0 else 1 - by), (0 if high <= 0 else by - 1)
        case Binary("&", left, right):
            ends = [*interval(left, domain), *interval(right, domain)]
            size = 1 << max(abs(end).bit_length() for end in ends)
            return -size if min(ends) < 0 else 0, size - 1
        case _:
            return 0, 1


def _and(left: Expr, right: Expr, domain: Interval) -> Expr:
    if isinstance(left, Const) and not isinstance(right, Const):
        left, right = right, left
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(left.value & right.value)
    ends = (*interval(left, domain), *interval(right, domain))
    signed = min(ends) < 0
    if not signed and isinstance(right, Const) and right.value & (right.value + 1) == 0:
        return Binary("%", left, Const(right.value + 1))
    width = max(end.bit_length() for end in ends)
    if width > MOST_BITS:
        raise SizeLimitError(f"`&` of numbers of {width} bits, of more than {MOST_BITS}, is not written out")
    size = 1 << width
    first, second = _bits(left, size, signed), _bits(right, size, signed)
    parts: list[Expr] = [_times(_times(first(1 << k), second(1 << k)), 1 << k) for k in range(width)]
    whole = reduce(lambda a, b: Binary("+", a, b), parts) if parts else Const(0)
    if not signed:
        return whole
    both = _times(Binary("<", left, Const(0)), Binary("<", right, Const(0)))
    return Binary("-", whole, _times(both, size))


def _bits(expr: Expr, size: int, signed: bool) -> Callable[[int], Expr]:
    """Return what gives a bit of an expression, by its weight."""
    raised = Binary("+", expr, Const(size)) if signed else expr

    def bit(weight: int) -> Expr:
        if isinstance(expr, Const):
            return Const(int(bool(expr.value & weight)))
        shifted = raised if weight == 1 else Binary("/", raised, Const(weight))
        return equals(Binary("%", shifted, Const(2)), Const(1))

    return bit


def _times(left: Expr, right: Expr | int) -> Expr:
    by = Const(right) if isinstance(right, int) else right
    if Const(0) in (left, by):
        return Const(0)
    return left if by == Const(1) else by if left == Const(1) else Binary("*", left, by)
