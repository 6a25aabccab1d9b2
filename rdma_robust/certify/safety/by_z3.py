"""Implications over integers decided by z3, where it is installed (the extra `[smt]`)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final

from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary

TIMEOUT_MS: Final = 10_000


def z3_version() -> str | None:
    """Return the version of z3 that is installed, None if none is."""
    if find_spec("z3") is None:
        return None
    from rdma_robust.guarded_z3 import z3  # noqa: PLC0415 - an extra

    return str(z3.get_version_string())


class Z3:
    """One solver for many questions."""

    def __init__(self) -> None:
        from rdma_robust.guarded_z3 import z3  # noqa: PLC0415 - an extra

        self._z3 = z3
        self._solver = z3.Solver()
        self._solver.set("timeout", TIMEOUT_MS)
        self._names: dict[str, Any] = {}

    def impossible(self, conditions: Sequence[Expr]) -> bool | None:
        """Return whether no integers make all conditions true, None if z3 does not know."""
        self._solver.push()
        try:
            for condition in conditions:
                self._solver.add(self._truth(condition))
            answer = self._solver.check()
        finally:
            self._solver.pop()
        return True if answer == self._z3.unsat else False if answer == self._z3.sat else None

    def _truth(self, expr: Expr) -> Any:
        z3 = self._z3
        match expr:
            case Unary("!", arg):
                return z3.Not(self._truth(arg))
            case Binary("&&", left, right):
                return z3.And(self._truth(left), self._truth(right))
            case Binary("||", left, right):
                return z3.Or(self._truth(left), self._truth(right))
            case Binary("==" | "!=" | "<" | "<=" | ">" | ">=" as op, left, right):
                a, b = self._number(left), self._number(right)
                compared = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
                return compared[op]
            case _:
                return self._number(expr) != 0

    def _number(self, expr: Expr) -> Any:
        z3 = self._z3
        match expr:
            case Const(value):
                return z3.IntVal(value)
            case Name(name):
                if name not in self._names:
                    self._names[name] = z3.Int(name)
                return self._names[name]
            case Unary("-", arg):
                return -self._number(arg)
            case Ite(test, then, other):
                return z3.If(self._truth(test), self._number(then), self._number(other))
            case Binary("+", left, right):
                return self._number(left) + self._number(right)
            case Binary("-", left, right):
                return self._number(left) - self._number(right)
            case Binary("*", left, right):
                return self._number(left) * self._number(right)
            case Binary("/" | "%" as op, left, right):
                a, b = self._number(left), self._number(right)
                # z3 rounds so that no remainder is negative; programs round towards zero, as C does.
                quotient = z3.If(a >= 0, a / b, -((-a) / b))
                return quotient if op == "/" else a - b * quotient
            case _:
                return z3.If(self._truth(expr), z3.IntVal(1), z3.IntVal(0))
