"""Expressions as formulas of z3, and its formulas as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Ite, Name, Unary, conj, disj, negate

_BOOLEAN: Final = ("==", "!=", "<", "<=", ">", ">=", "&&", "||")


class NotExpressible(Exception):
    """A formula of z3 that no expression says."""


class Formulas:
    """Expressions as formulas of z3, each made once. Integers are mathematical; `/` and `%` truncate, as in C."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._names: dict[str, Any] = {}
        self._numbers: dict[Expr, Any] = {}
        self._conditions: dict[Expr, Any] = {}

    def name(self, name: str) -> Any:
        """Return the integer constant of this name."""
        made = self._names.get(name)
        if made is None:
            made = self._names[name] = self.library.Int(name)
        return made

    def number(self, expr: Expr) -> Any:
        """Return `expr` as an integer term; a condition is 0 or 1. Raises ValueError for operators of no source program."""
        made = self._numbers.get(expr)
        if made is None:
            made = self._numbers[expr] = self._number(expr)
        return made

    def _number(self, expr: Expr) -> Any:
        z3 = self.library
        match expr:
            case Const(value):
                return z3.IntVal(value)
            case Name(name):
                return self.name(name)
            case Unary("-", arg):
                return -self.number(arg)
            case Ite(test, then, other):
                return z3.If(self.condition(test), self.number(then), self.number(other))
            case Binary("+", left, right):
                return self.number(left) + self.number(right)
            case Binary("-", left, right):
                return self.number(left) - self.number(right)
            case Binary("*", left, right):
                return self.number(left) * self.number(right)
            case Binary("/", left, right):
                a, b = self.number(left), self.number(right)
                return z3.If(a >= 0, a / b, -(-a / b))
            case Binary("%", left, right):
                a, b = self.number(left), self.number(right)
                return z3.If(a >= 0, a % b, -(-a % b))
            case Unary("!", _):
                return z3.If(self.condition(expr), z3.IntVal(1), z3.IntVal(0))
            case Binary(op, _, _) if op in _BOOLEAN:
                return z3.If(self.condition(expr), z3.IntVal(1), z3.IntVal(0))
            case _:
                raise ValueError(f"no formula for {expr}")

    def condition(self, expr: Expr) -> Any:
        """Return whether `expr` is non-zero. Raises ValueError for operators of no source program."""
        made = self._conditions.get(expr)
        if made is None:
            made = self._conditions[expr] = self._condition(expr)
        return made

    def _condition(self, expr: Expr) -> Any:
        z3 = self.library
        match expr:
            case Const(value):
                return z3.BoolVal(bool(value))
            case Unary("!", arg):
                return z3.Not(self.condition(arg))
            case Unary("-", arg):
                return self.condition(arg)
            case Binary("&&", left, right):
                return z3.And(self.condition(left), self.condition(right))
            case Binary("||", left, right):
                return z3.Or(self.condition(left), self.condition(right))
            case Binary("==", left, right):
                return self.number(left) == self.number(right)
            case Binary("!=", left, right):
                return self.number(left) != self.number(right)
            case Binary("<", left, right):
                return self.number(left) < self.number(right)
            case Binary("<=", left, right):
                return self.number(left) <= self.number(right)
            case Binary(">", left, right):
                return self.number(left) > self.number(right)
            case Binary(">=", left, right):
                return self.number(left) >= self.number(right)
            case _:
                return self.number(expr) != 0


def as_expr(library: Any, formula: Any, arguments: Mapping[int, str]) -> Expr:
    """Return a quantifier-free formula of z3 as an expression; variable i of its binder is `arguments[i]`.

    Raises NotExpressible for anything beyond linear arithmetic with constant divisors.
    """
    z3 = library
    if z3.is_quantifier(formula):
        raise NotExpressible("a quantifier")
    if z3.is_var(formula):
        return Name(arguments[z3.get_var_index(formula)])
    if z3.is_int_value(formula):
        return Const(formula.as_long())
    parts = [as_expr(library, child, arguments) for child in formula.children()]
    made = _as_expr(z3, formula.decl().kind(), parts)
    if made is None:
        raise NotExpressible(str(formula))
    return made


def _as_expr(z3: Any, kind: int, parts: list[Expr]) -> Expr | None:
    if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
        return TRUE if kind == z3.Z3_OP_TRUE else FALSE
    if kind == z3.Z3_OP_AND:
        return conj(*parts)
    if kind == z3.Z3_OP_OR:
        return disj(*parts)
    if kind == z3.Z3_OP_NOT:
        return negate(parts[0])
    if kind == z3.Z3_OP_IMPLIES:
        return disj(negate(parts[0]), parts[1])
    if kind == z3.Z3_OP_ITE:
        return Ite(parts[0], parts[1], parts[2])
    if kind == z3.Z3_OP_UMINUS:
        return Unary("-", parts[0])
    if kind in (z3.Z3_OP_MOD, z3.Z3_OP_IDIV):
        return _euclidean(kind == z3.Z3_OP_MOD, parts[0], parts[1])
    written = {
        z3.Z3_OP_ADD: "+",
        z3.Z3_OP_SUB: "-",
        z3.Z3_OP_MUL: "*",
        z3.Z3_OP_EQ: "==",
        z3.Z3_OP_LE: "<=",
        z3.Z3_OP_LT: "<",
        z3.Z3_OP_GE: ">=",
        z3.Z3_OP_GT: ">",
    }.get(kind)
    if written is None:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = Binary(written, total, part)
    return total


def _euclidean(remainder: bool, left: Expr, right: Expr) -> Expr | None:
    """z3's `mod` and `div`, whose remainder is never negative, by a positive constant."""
    if not isinstance(right, Const) or right.value <= 0:
        return None
    least = Binary("%", Binary("+", Binary("%", left, right), right), right)
    return least if remainder else Binary("/", Binary("-", left, least), right)
