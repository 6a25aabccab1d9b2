"""Resolved expressions of contracts. What they mean is docs/contracts-language.md.

An expression is evaluated for one process p over a collective state: the registers of all processes when each passed. Values
are those of :mod:`rdma_robust.messages.language.message_terms`; so is what operators do. A fault while a clause is evaluated
makes the clause false.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rdma_robust.expr import OPERATORS


@dataclass(frozen=True, slots=True)
class SpecNumber:
    """A number or a named constant."""

    value: int


@dataclass(frozen=True, slots=True)
class SpecPid:
    """`PID`: the process for which the expression is evaluated, inside of :class:`On` the other one."""


@dataclass(frozen=True, slots=True)
class SpecCount:
    """`NPROCS`."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the function: its value at entry, also in `ensures`."""

    name: str


@dataclass(frozen=True, slots=True)
class Global:
    """A register declared outside of functions: its value in the state, at entry inside of :class:`OldValue`."""

    name: str


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A variable of :class:`LetBinding` or :class:`Quantification`; in `bounds` the indices `i` and `j`."""

    name: str


@dataclass(frozen=True, slots=True)
class FunctionResult:
    """`\\result`, only in `ensures`."""


@dataclass(frozen=True, slots=True)
class Apply:
    """`op` as of :class:`~rdma_robust.messages.language.message_terms.Operation`, and `==>`; `?` has three operands.

    `&&`, `||`, `==>` and `?` evaluate from left to right and stop early. `==>` gives 0 or 1. `==` and `!=`
    compare two arrays too; a number and an array are a fault.
    """

    op: str
    operands: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """`array[index]`."""

    array: Spec
    index: Spec


@dataclass(frozen=True, slots=True)
class LengthOf:
    """`len(array)`."""

    array: Spec


@dataclass(frozen=True, slots=True)
class NewArray:
    """`new(size)`."""

    size: Spec


@dataclass(frozen=True, slots=True)
class On:
    """`\\on(process, value)`: `process` here, `value` with that number and that process's registers.

    Bound variables keep their values. A fault if there is no such process.
    """

    process: Spec
    value: Spec


@dataclass(frozen=True, slots=True)
class OldValue:
    """`\\pre(value)`, `\\old(value)`: at the collective entry; only in `ensures`."""

    value: Spec


@dataclass(frozen=True, slots=True)
class Agree:
    """`\\agree(value)`: 1 if `value` is worth the same at all processes."""

    value: Spec


@dataclass(frozen=True, slots=True)
class LetBinding:
    """`\\let name = value : inner`."""

    name: str
    value: Spec
    inner: Spec


QuantifierKind = Literal["forall", "exists", "sum", "count", "max", "min"]


@dataclass(frozen=True, slots=True)
class Quantification:
    """`\\forall name in low..high : inner` and so on; both ends belong to the range, which may be empty.

    `forall` and `exists` stop early. `count` counts the numbers for which `inner` is not 0. Of an empty range `sum` and
    `count` give 0; `max` and `min` are faults (kind `index`).
    """

    kind: QuantifierKind
    name: str
    low: Spec
    high: Spec
    inner: Spec


Spec = (
    SpecNumber | SpecPid | SpecCount | Parameter | Global | BoundVariable | FunctionResult | Apply | Item | LengthOf
    | NewArray | On | OldValue | Agree | LetBinding | Quantification
)  # fmt: skip


# What is known of expressions of contracts before anything is evaluated.


def known_value(term: Spec) -> int | None:
    """Return the number that an expression is worth in every state, None if nothing is known or it has a fault."""
    match term:
        case SpecNumber(value):
            return value
        case Apply("?", (test, then, other)):
            known = known_value(test)
            return None if known is None else known_value(then if known else other)
        case Apply("&&" | "||" | "==>" as op, (left, right)):
            return _known_truth(op, known_value(left), known_value(right))
        case Apply(op, (operand,)):
            known = known_value(operand)
            return None if known is None else -known if op == "-" else int(not known)
        case Apply(op, (left, right)):
            first, second = known_value(left), known_value(right)
            if first is None or second is None or (op in "/%" and second == 0):
                return None
            return OPERATORS[op](first, second)
        case _:
            return None


def _known_truth(op: str, left: int | None, right: int | None) -> int | None:
    if left is None:
        return None
    stops = {"&&": not left, "||": bool(left), "==>": not left}[op]
    if stops:
        return int(op != "&&")
    return None if right is None else int(bool(right))


def inner_specs(term: Spec) -> tuple[Spec, ...]:
    """Return the expressions directly inside of one."""
    match term:
        case Apply(_, operands):
            return operands
        case Item(first, second) | On(first, second) | LetBinding(_, first, second):
            return (first, second)
        case LengthOf(inner) | NewArray(inner) | OldValue(inner) | Agree(inner):
            return (inner,)
        case Quantification(_, _, low, high, inner):
            return (low, high, inner)
        case _:
            return ()


def specs_in(term: Spec) -> Iterator[Spec]:
    """Yield an expression and all inside of it."""
    stack = [term]
    while stack:
        part = stack.pop()
        yield part
        stack += inner_specs(part)


def spec_conjuncts(term: Spec) -> list[Spec]:
    """Return the expressions that `&&` joins."""
    if isinstance(term, Apply) and term.op == "&&":
        return [part for each in term.operands for part in spec_conjuncts(each)]
    return [term]


def sees_the_exit(term: Spec) -> bool:
    """Whether an expression of `ensures` has a part that is looked at in the state after the call."""
    match term:
        case FunctionResult() | Global():
            return True
        case OldValue():
            return False
        case _:
            return any(map(sees_the_exit, inner_specs(term)))
