"""Conditions over wide variables as JSON: a number, the name of a variable, or an array of an operator and its arguments."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from rdma_robust.certify.document import integer, reject, string
from rdma_robust.expr import Binary, Const, Expr, Name, Unary

BINARY: Final = frozenset({"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"})
UNARY: Final = frozenset({"-", "!"})
DEEPEST: Final = 200


def read_condition(value: object, where: str, known: Container[str], depth: int = 0) -> Expr:
    """Return the expression that `value` stands for, over the variables `known`. Raises InvalidCertificate."""
    if depth > DEEPEST:
        reject(f"{where} is nested too deeply")
    if isinstance(value, str):
        return Name(value) if value in known else reject(f"{where}: there is no wide variable {value!r:.60}")
    if not isinstance(value, list):
        return Const(integer(value, where))
    if not value:
        reject(f"{where} is an array without an operator")
    op = string(value[0], f"the operator of {where}")
    args = [read_condition(arg, where, known, depth + 1) for arg in value[1:]]
    if op in UNARY and len(args) == 1:
        return Unary(op, args[0])
    if op in BINARY and len(args) == 2:
        return Binary(op, args[0], args[1])
    return reject(f"{where} has the operator {op!r:.30} with {len(args)} arguments")


def told_condition(expr: Expr) -> object:
    """Return an expression as JSON. Raises ValueError for one that conditions do not have."""
    match expr:
        case Const(number):
            return number
        case Name(name):
            return name
        case Unary(op, arg):
            return [op, told_condition(arg)]
        case Binary(op, left, right) if op in BINARY:
            return [op, told_condition(left), told_condition(right)]
        case _:
            raise ValueError(f"no condition of a certificate: {expr}")
