"""Operations on constants, computed where they cannot fault; and an `if` with all its `else if`s without deep nesting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.errors import Span
from rdma_robust.expr import OPERATORS, Const, Name
from rdma_robust.messages.language import message_program as made
from rdma_robust.messages.language.message_terms import Operation, Term

_TRUTHS = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"})


def fold_operation(op: str, *operands: Term) -> Term:
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


NESTED: Final = 100
"""The most arms inside of each other."""


@dataclass(frozen=True, slots=True)
class GuardedBlock:
    """A block that runs if the condition is true, and those of the arms before it are not."""

    condition: Term
    block: made.Block
    span: Span


def nested_ifs(arms: Sequence[GuardedBlock], other: made.Block, taken: Callable[[], made.Place]) -> made.Block:
    """Return the statements that do the first of `arms` whose condition is true, `other` if there is none.

    Of more than :data:`NESTED` arms so many are tried, then so many again: in the register `taken` is 1 as soon as one was
    done.
    """
    if len(arms) <= NESTED:
        return _nested(arms, other)
    register, last = taken(), arms[-1].span
    found: list[made.Statement] = [made.Assign(register, Const(0), arms[0].span)]
    for first in range(0, len(arms), NESTED):
        tried = [
            GuardedBlock(arm.condition, (*arm.block, made.Assign(register, Const(1), arm.span)), arm.span)
            for arm in arms[first : first + NESTED]
        ]
        found += _if_none(register, _nested(tried, ()), tried[0].span) if first else _nested(tried, ())
    return (*found, *(_if_none(register, other, last) if other else ()))


def _if_none(taken: made.Place, block: made.Block, span: Span) -> made.Block:
    return (made.If(Operation("!", (Name(taken.name),)), block, (), span),)


def _nested(arms: Sequence[GuardedBlock], other: made.Block) -> made.Block:
    for arm in reversed(arms):
        other = (made.If(arm.condition, arm.block, other, arm.span),)
    return other
