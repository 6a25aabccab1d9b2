"""Values of source expressions where some are not known, as the checker computes them.

Source: docs/language.md, "Values".
"""

from __future__ import annotations

from collections.abc import Mapping

from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary

Value = int | None
"""None is unknown."""

Seen = Value | tuple[int, ...]
"""What an event reads: a value, or, of a locked section of several words, that of each."""


def evaluated(expr: Expr, values: Mapping[str, Value]) -> Value:
    """Return the value of a source expression, None where it is unknown (or, after something unknown, has none).

    Division truncates towards zero, as in C.
    """
    match expr:
        case Const(value):
            return value
        case Name(name):
            return values[name]
        case Unary(operator, arg):
            inner = evaluated(arg, values)
            return None if inner is None else -inner if operator == "-" else int(inner == 0)
        case Binary("&&", left, right):
            return _both(evaluated(left, values), right, values)
        case Binary("||", left, right):
            either = _both(_not(evaluated(left, values)), Unary("!", right), values)
            return _not(either)
        case Binary(operator, left, right):
            return _operation(operator, evaluated(left, values), evaluated(right, values))
        case Ite():
            raise AssertionError("a source program has no conditional expressions")


def _not(value: Value) -> Value:
    return None if value is None else int(value == 0)


def _both(left: Value, right: Expr, values: Mapping[str, Value]) -> Value:
    """Whether both sides are true; the right one is not looked at where the left one is false."""
    if left == 0:
        return 0
    second = evaluated(right, values)
    if second == 0:
        return 0
    return None if left is None or second is None else 1


def _operation(operator: str, a: Value, b: Value) -> Value:
    if a is None or b is None:
        return None
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            return _divided(operator, a, b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "<":
            return int(a < b)
        case "<=":
            return int(a <= b)
        case ">":
            return int(a > b)
        case ">=":
            return int(a >= b)
        case _:
            raise AssertionError(f"a source program has no operator {operator}")


def _divided(operator: str, a: int, b: int) -> Value:
    if b == 0:
        return None
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if operator == "/" else a - b * quotient
