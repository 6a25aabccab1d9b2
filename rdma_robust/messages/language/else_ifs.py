"""An `if` with its `else if`s as statements that are not nested deep, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.errors import Span
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language import message_program as made
from rdma_robust.messages.language.message_terms import Operation, Term

NESTED: Final = 100
"""The most arms inside of each other."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What is done if the condition is true, and those of the arms before it are not."""

    condition: Term
    block: made.Block
    span: Span


def chosen(arms: Sequence[Arm], other: made.Block, taken: Callable[[], made.Place]) -> made.Block:
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
            Arm(arm.condition, (*arm.block, made.Assign(register, Const(1), arm.span)), arm.span)
            for arm in arms[first : first + NESTED]
        ]
        found += _if_none(register, _nested(tried, ()), tried[0].span) if first else _nested(tried, ())
    return (*found, *(_if_none(register, other, last) if other else ()))


def _if_none(taken: made.Place, block: made.Block, span: Span) -> made.Block:
    return (made.If(Operation("!", (Name(taken.name),)), block, (), span),)


def _nested(arms: Sequence[Arm], other: made.Block) -> made.Block:
    for arm in reversed(arms):
        other = (made.If(arm.condition, arm.block, other, arm.span),)
    return other
