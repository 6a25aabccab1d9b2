"""Resolved integer expressions, shared by control-flow graphs and counter programs.

Booleans are 0 and 1; any non-zero value is true. `/` and `%` truncate towards zero, as in C.
The bit operators occur only in instrumented programs, never in source programs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, assert_never


@dataclass(frozen=True, slots=True)
class Const:
    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """A register, a finite variable, or :data:`VALUE` (what the step's shared access has read)."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """`op` is one of `-`, `!`."""

    op: str
    arg: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """`op` is one of `+ - * / % == != < <= > >= && ||`, and `& | &~ >>` in instrumented programs."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Ite:
    """`then` if `test` is non-zero, else `other`; only in instrumented programs."""

    test: Expr
    then: Expr
    other: Expr


Expr = Const | Name | Unary | Binary | Ite

VALUE: Final = Name("$value")
"""What the step's shared access has read."""

COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
"""Comparisons by their operators: of numbers, arrays and terms of solvers."""
OPPOSITE: Final = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""The comparison that holds where one does not."""
MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The comparison with its sides exchanged."""

_FEW: Final = 8

TRUE: Final = Const(1)
FALSE: Final = Const(0)


def value_of(number: int) -> Name:
    """Return the name of what a step that reads several words has read of the one of this number."""
    return Name(f"{VALUE.name}{number}")


def is_value(name: str) -> bool:
    """Return whether a name stands for something that the step has read, and is no register."""
    return name.startswith(VALUE.name)


def divide(a: int, b: int) -> int:
    """C's `a / b`: the quotient truncated towards zero. Raises ZeroDivisionError."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def modulo(a: int, b: int) -> int:
    """C's `a % b`: the remainder has the sign of `a`. Raises ZeroDivisionError."""
    return a - b * divide(a, b)


OPERATORS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "%": modulo,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "&~": lambda a, b: a & ~b,
    ">>": lambda a, b: a >> b,
}


def evaluate(expr: Expr, env: Mapping[str, int]) -> int:
    """Return the value of `expr` where names have the values of `env`.

    `&&` and `||` evaluate their right side only when needed. Raises KeyError for an unknown name and
    ZeroDivisionError for a division by zero (control-flow graphs guard against both).
    """
    match expr:
        case Const(value):
            return value
        case Name(name):
            return env[name]
        case Unary("-", arg):
            return -evaluate(arg, env)
        case Unary(_, arg):
            return int(not evaluate(arg, env))
        case Ite(test, then, other):
            return evaluate(then if evaluate(test, env) else other, env)
        case Binary("&&", left, right):
            return int(bool(evaluate(left, env)) and bool(evaluate(right, env)))
        case Binary("||", left, right):
            return int(bool(evaluate(left, env)) or bool(evaluate(right, env)))
        case Binary(op, left, right):
            return OPERATORS[op](evaluate(left, env), evaluate(right, env))


def operands(expr: Expr) -> tuple[Expr, ...]:
    """Return the expressions directly inside of one, left to right."""
    match expr:
        case Const() | Name():
            return ()
        case Unary(_, arg):
            return (arg,)
        case Binary(_, left, right):
            return left, right
        case Ite(test, then, other):
            return test, then, other
        case _:
            assert_never(expr)


def with_operands(expr: Expr, of: Callable[[Expr], Expr]) -> Expr:
    """Return an expression with what `of` makes of each of its operands, left to right."""
    match expr:
        case Const() | Name():
            return expr
        case Unary(op, arg):
            return Unary(op, of(arg))
        case Binary(op, left, right):
            return Binary(op, of(left), of(right))
        case Ite(test, then, other):
            return Ite(of(test), of(then), of(other))
        case _:
            assert_never(expr)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all inside of it, each before its operands, these left to right."""
    todo = [expr]
    while todo:
        part = todo.pop()
        yield part
        if isinstance(part, Binary):  # asked first, as most are, and not by a pattern: this is done for every edge
            todo += (part.right, part.left)
        elif not isinstance(part, Const | Name):
            todo += reversed(operands(part))


def names(expr: Expr) -> Iterator[str]:
    """Yield every name in `expr`, left to right, repeated as often as it occurs."""
    return (part.name for part in subexpressions(expr) if isinstance(part, Name))


def constants(expr: Expr) -> Iterator[int]:
    """Yield every constant in `expr`, left to right."""
    return (part.value for part in subexpressions(expr) if isinstance(part, Const))


def size(expr: Expr) -> int:
    """Return the number of constants, names and operators in `expr`."""
    return sum(1 for _ in subexpressions(expr))


def depth(expr: Expr) -> int:
    """Return how deeply the operators of `expr` are nested, 1 for none."""
    return 1 + max(map(depth, operands(expr)), default=0)


def substitute(expr: Expr, by: Mapping[str, Expr]) -> Expr:
    """Return `expr` with every name that is a key of `by` replaced, all at once, and what became constant computed."""
    match expr:
        case Name(name):
            return by.get(name, expr)
        case Unary(op, arg):
            return _folded(Unary(op, substitute(arg, by)))
        case Binary(op, left, right):
            return _folded(Binary(op, substitute(left, by), substitute(right, by)))
        case Ite(test, then, other):
            return _folded(Ite(substitute(test, by), substitute(then, by), substitute(other, by)))
        case Const():
            return expr


def _folded(expr: Expr) -> Expr:
    """Return the value of an operation on constants, else `expr` without a needless side; a division by zero stays."""
    match expr:
        case Unary(_, Const()) | Binary(_, Const(), Const()):
            try:
                return Const(evaluate(expr, {}))
            except ZeroDivisionError:
                return expr
        case Binary("&&", Const(value), right):
            return FALSE if not value else right if is_boolean(right) else expr
        case Binary("||", Const(value), right):
            return TRUE if value else right if is_boolean(right) else expr
        case Binary("&&", left, Const(value)) if value:
            return left if is_boolean(left) else expr
        case Binary("||", left, Const(0)):
            return left if is_boolean(left) else expr
        case Ite(Const(value), then, other):
            return then if value else other
        case _:
            return expr


def is_boolean(expr: Expr) -> bool:
    """Whether the value of `expr` is 0 or 1."""
    match expr:
        case Unary("!", _) | Binary("==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||", _, _):
            return True
        case Const(value):
            return value in (0, 1)
        case _:
            return False


def conj(*parts: Expr) -> Expr:
    """Return the conjunction of `parts`, without the trivially true ones."""
    return FALSE if FALSE in parts else _joined("&&", [part for part in parts if part != TRUE], TRUE)


def disj(*parts: Expr) -> Expr:
    """Return the disjunction of `parts`, without the trivially false ones."""
    return TRUE if TRUE in parts else _joined("||", [part for part in parts if part != FALSE], FALSE)


def conjunction_parts(expr: Expr) -> Iterator[Expr]:
    """Yield the conditions that `expr` is the conjunction of, left to right; itself if it is none."""
    if isinstance(expr, Binary) and expr.op == "&&":
        yield from conjunction_parts(expr.left)
        yield from conjunction_parts(expr.right)
    else:
        yield expr


def _joined(op: str, parts: Sequence[Expr], of_none: Expr) -> Expr:
    """Return `parts` with an associative operator between them: of few nested to the left, of many nowhere deep."""
    if len(parts) <= _FEW:
        return reduce(lambda left, right: Binary(op, left, right), parts) if parts else of_none
    half = (len(parts) + 1) // 2
    return Binary(op, _joined(op, parts[:half], of_none), _joined(op, parts[half:], of_none))


def negate(expr: Expr) -> Expr:
    """Return `!expr`, simplified for constants."""
    return Const(int(not expr.value)) if isinstance(expr, Const) else Unary("!", expr)


def opposite(expr: Expr) -> Expr:
    """Return a condition that is true where `expr` is not: what `!` stands before, else `!expr`."""
    return expr.arg if isinstance(expr, Unary) and expr.op == "!" else negate(expr)


def equals(left: Expr, right: Expr) -> Expr:
    """Return `left == right`, simplified for constants."""
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(int(left.value == right.value))
    return Binary("==", left, right)
