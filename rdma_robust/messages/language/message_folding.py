"""Operations on constants, computed; what can fault is left as it is."""

from __future__ import annotations

from rdma_robust.expr import OPERATORS, Const
from rdma_robust.messages.language.message_terms import Operation, Term

_TRUTHS = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"})


def folded(op: str, *operands: Term) -> Term:
    """Return `op` of one or two operands, as a constant where it is one and has no fault."""
    match op, operands:
        case "-", (Const(value),):
            return Const(-value)
        case "!", (Const(value),):
            return Const(int(not value))
        case "&&", (Const(value), right):
            return Const(0) if not value else _truth(right, op, operands)
        case "||", (Const(value), right):
            return Const(1) if value else _truth(right, op, operands)
        case "&&", (Operation(inner, _) as left, Const(value)) if value and inner in _TRUTHS:
            return left
        case "||", (Operation(inner, _) as left, Const(0)) if inner in _TRUTHS:
            return left
        case "/" | "%", (_, Const(0)):
            return Operation(op, operands)
        case _, (Const(left), Const(right)):
            return Const(OPERATORS[op](left, right))
        case "+" | "-", (left, Const(0)) if _is_number(left):
            return left
        case "+", (Const(0), right) if _is_number(right):
            return right
        case _:
            return Operation(op, operands)


def _truth(term: Term, op: str, operands: tuple[Term, ...]) -> Term:
    """Return a term that is 0 or 1 where its value is one; an operation of `op` keeps what is not."""
    match term:
        case Const(value):
            return Const(int(bool(value)))
        case Operation(inner, _) if inner in _TRUTHS:
            return term
        case _:
            return Operation(op, operands)


def _is_number(term: Term) -> bool:
    """Whether the value of a term is a number wherever it has one."""
    return isinstance(term, Operation | Const) and not (isinstance(term, Operation) and term.op == "?")
