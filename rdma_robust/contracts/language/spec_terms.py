"""Resolved expressions of contracts. What they mean is docs/contracts-language.md.

An expression is evaluated for one process p over a collective state: the registers of all processes when each passed. Values
are those of :mod:`rdma_robust.messages.language.message_terms`; so is what operators do. A fault while a clause is evaluated
makes the clause false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
