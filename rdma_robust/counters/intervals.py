"""Interval arithmetic over the integers, for the operators of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rdma_robust.expr import OPERATORS

Interval = tuple[int | None, int | None]
"""Least and greatest value, ends included; None where there is no bound."""

ANY: Final[Interval] = (None, None)
BOOLEAN: Final[Interval] = (0, 1)


def hull(a: Interval, b: Interval) -> Interval:
    """Return the least interval that contains both."""
    low = None if a[0] is None or b[0] is None else min(a[0], b[0])
    high = None if a[1] is None or b[1] is None else max(a[1], b[1])
    return low, high


def meet(a: Interval, b: Interval) -> Interval | None:
    """Return the common part, None if there is none."""
    low = b[0] if a[0] is None else a[0] if b[0] is None else max(a[0], b[0])
    high = b[1] if a[1] is None else a[1] if b[1] is None else min(a[1], b[1])
    return None if low is not None and high is not None and low > high else (low, high)


def interval_truth(interval: Interval) -> bool | None:
    """Return whether every value in the interval is non-zero (True) or zero (False); None if it may be either."""
    low, high = interval
    if low == 0 and high == 0:
        return False
    return True if (low is not None and low > 0) or (high is not None and high < 0) else None


def apply_to_intervals(op: str, a: Interval, b: Interval) -> Interval:
    """Return an interval with every result of the binary operator on values of `a` and `b`."""
    if a[0] is not None and a[0] == a[1] and b[0] is not None and b[0] == b[1] and not (op in "/%" and b[0] == 0):
        return _constant(op, a[0], b[0])
    return _RULES[op](a, b)


def _constant(op: str, a: int, b: int) -> Interval:
    if op == "&&":
        value = int(bool(a) and bool(b))
    elif op == "||":
        value = int(bool(a) or bool(b))
    elif op == ">>" and b < 0:
        return ANY
    else:
        value = OPERATORS[op](a, b)
    return value, value


def _add(a: Interval, b: Interval) -> Interval:
    low = None if a[0] is None or b[0] is None else a[0] + b[0]
    high = None if a[1] is None or b[1] is None else a[1] + b[1]
    return low, high


def _minus(a: Interval, b: Interval) -> Interval:
    return _add(a, (None if b[1] is None else -b[1], None if b[0] is None else -b[0]))


def _times(a: Interval, b: Interval) -> Interval:
    if a[0] is None or a[1] is None or b[0] is None or b[1] is None:
        return ANY
    products = [x * y for x in (a[0], a[1]) for y in (b[0], b[1])]
    return min(products), max(products)


def _largest(a: Interval) -> int | None:
    """The greatest absolute value."""
    return None if a[0] is None or a[1] is None else max(abs(a[0]), abs(a[1]))


def _divide(a: Interval, b: Interval) -> Interval:
    """A quotient is never further from zero than the dividend."""
    most = _largest(a)
    return ANY if most is None else (0 if _natural(a) and _natural(b) else -most, most)


def _modulo(a: Interval, b: Interval) -> Interval:
    """A remainder has the sign of the dividend, and is at most as far from zero as it, and nearer than the divisor."""
    divisor = _largest(b)
    bounds = [m for m in (_largest(a), None if divisor is None else max(divisor - 1, 0)) if m is not None]
    most = min(bounds) if bounds else None
    low = 0 if a[0] is not None and a[0] >= 0 else None if most is None else -most
    return low, most


def _conjunction(a: Interval, b: Interval) -> Interval:
    left, right = interval_truth(a), interval_truth(b)
    if left is False or right is False:
        return (0, 0)
    return (1, 1) if left and right else BOOLEAN


def _disjunction(a: Interval, b: Interval) -> Interval:
    left, right = interval_truth(a), interval_truth(b)
    if left or right:
        return (1, 1)
    return (0, 0) if left is False and right is False else BOOLEAN


def _less(a: Interval, b: Interval) -> Interval:
    if a[1] is not None and b[0] is not None and a[1] < b[0]:
        return (1, 1)
    return (0, 0) if a[0] is not None and b[1] is not None and a[0] >= b[1] else BOOLEAN


def _opposite(interval: Interval) -> Interval:
    holds = interval_truth(interval)
    return BOOLEAN if holds is None else (int(not holds), int(not holds))


def _equal(a: Interval, b: Interval) -> Interval:
    return (0, 0) if meet(a, b) is None else BOOLEAN


def _natural(a: Interval) -> bool:
    return a[0] is not None and a[0] >= 0


def _and(a: Interval, b: Interval) -> Interval:
    """Of two numbers one of which is not negative, the result is not negative and at most that one."""
    bounds = [x[1] for x in (a, b) if _natural(x) and x[1] is not None]
    return (0, min(bounds) if bounds else None) if _natural(a) or _natural(b) else ANY


def _or(a: Interval, b: Interval) -> Interval:
    if not (_natural(a) and _natural(b)) or a[1] is None or b[1] is None:
        return (0, None) if _natural(a) and _natural(b) else ANY
    low = max(a[0] or 0, b[0] or 0)
    return low, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1


def _without(a: Interval, _b: Interval) -> Interval:
    return (0, a[1]) if _natural(a) else ANY


def _shifted(a: Interval, b: Interval) -> Interval:
    """Shifting right moves towards zero for natural numbers."""
    return (0, a[1] if b[0] is None or b[0] < 0 or a[1] is None else a[1] >> b[0]) if _natural(a) and _natural(b) else ANY


_RULES: Final[dict[str, Callable[[Interval, Interval], Interval]]] = {
    "+": _add,
    "-": _minus,
    "*": _times,
    "/": _divide,
    "%": _modulo,
    "==": _equal,
    "!=": lambda a, b: _opposite(_equal(a, b)),
    "<": _less,
    ">": lambda a, b: _less(b, a),
    ">=": lambda a, b: _opposite(_less(a, b)),
    "<=": lambda a, b: _opposite(_less(b, a)),
    "&&": _conjunction,
    "||": _disjunction,
    "&": _and,
    "|": _or,
    "&~": _without,
    ">>": _shifted,
}
