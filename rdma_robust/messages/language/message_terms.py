"""Resolved expressions of message programs, and what they are worth in one process.

A value is an integer without bounds or an array of values. `/` and `%` truncate towards zero, `&&` and `||` stop early,
comparisons give 1 or 0, and arrays are copied: nothing is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from rdma_robust.expr import OPERATORS, Const, Name

Value = int | tuple["Value", ...]
"""A number, or an array of values."""

FaultKind = Literal[
    "division",
    "index",
    "destination",
    "source",
    "tag",
    "kind",
    "length",
    "ready",
    "message",
    "held",
    "abort",
    "type",
    "room",
    "member",
    "collective",
    "root",
    "operation",
    "signature",
]
"""Division by zero; index, destination or source out of range; negative tag; number and array confused; a length
that is negative or over LONGEST; no receive for what is sent ready. The last are of collective
operations: a process that is none of the group, and calls that differ."""

LONGEST: Final = 1_000_000
"""Elements of the longest array that there can be."""


class FaultError(Exception):
    """A step without a meaning; it stops there."""

    def __init__(self, kind: FaultKind) -> None:
        super().__init__(kind)
        self.kind: FaultKind = kind


@dataclass(frozen=True, slots=True)
class Element:
    """`array[index]`, counted from 0."""

    array: Term
    index: Term


@dataclass(frozen=True, slots=True)
class Length:
    """`len(array)`."""

    array: Term


@dataclass(frozen=True, slots=True)
class Zeros:
    """`new(size)`: an array of zeros."""

    size: Term


@dataclass(frozen=True, slots=True)
class Operation:
    """`op` of one operand is `-` or `!`; of two one of `+ - * / % == != < <= > >= && ||`; of three `?`, if-then-else."""

    op: str
    operands: tuple[Term, ...]


Term = Const | Name | Element | Length | Zeros | Operation
"""An expression over the registers of one process; PID, NPROCS, constants and processes' names are numbers by now."""


def term_names(term: Term) -> Iterator[str]:
    """Yield the registers that a term names, from left to right, as often as they stand there."""
    match term:
        case Name(name):
            yield name
        case Element(array, index):
            yield from term_names(array)
            yield from term_names(index)
        case Length(inner) | Zeros(inner):
            yield from term_names(inner)
        case Operation(_, operands):
            for each in operands:
                yield from term_names(each)
        case Const():
            pass
        case _:
            assert_never(term)


def require_number(value: Value) -> int:
    """Return `value` itself. Raises FaultError if it is an array."""
    if isinstance(value, tuple):
        raise FaultError("kind")
    return value


def require_array(value: Value) -> tuple[Value, ...]:
    """Return `value` itself. Raises FaultError if it is a number."""
    if isinstance(value, int):
        raise FaultError("kind")
    return value


def element_at(value: Value, index: Value) -> Value:
    """Return the element of an array at an index. Raises FaultError if there is none."""
    items, at = require_array(value), require_number(index)
    if not 0 <= at < len(items):
        raise FaultError("index")
    return items[at]


def with_element(value: Value, indices: tuple[int, ...], new: Value) -> Value:
    """Return `value` with what stands at `indices`, one for each nesting, replaced by `new`. Raises FaultError."""
    if not indices:
        return new
    inner = with_element(element_at(value, indices[0]), indices[1:], new)
    items = require_array(value)
    return (*items[: indices[0]], inner, *items[indices[0] + 1 :])


def zeros(size: Value) -> tuple[Value, ...]:
    """Return that many zeros. Raises FaultError if there cannot be so many."""
    length = require_number(size)
    if not 0 <= length <= LONGEST:
        raise FaultError("length")
    return (0,) * length


def value_size(value: Value) -> int:
    """Return how many numbers a value has."""
    return 1 if isinstance(value, int) else sum(map(value_size, value))


def value_of(term: Term, registers: Mapping[str, Value]) -> Value:
    """Return what `term` is worth, from left to right. Raises FaultError, and KeyError for an unknown register."""
    match term:
        case Const(value):
            return value
        case Name(name):
            return registers[name]
        case Element(of, index):
            return element_at(value_of(of, registers), value_of(index, registers))
        case Length(of):
            return len(require_array(value_of(of, registers)))
        case Zeros(size):
            return zeros(value_of(size, registers))
        case Operation(op, operands):
            return _LAZY[op](operands, registers) if op in _LAZY else _applied(op, operands, registers)


def _applied(op: str, operands: tuple[Term, ...], registers: Mapping[str, Value]) -> Value:
    values = [require_number(value_of(each, registers)) for each in operands]
    if len(values) == 1:
        return -values[0] if op == "-" else int(not values[0])
    if op in "/%" and not values[1]:
        raise FaultError("division")
    return OPERATORS[op](*values)


def _truth(term: Term, registers: Mapping[str, Value]) -> bool:
    return bool(require_number(value_of(term, registers)))


_LAZY: Final[Mapping[str, Callable[[tuple[Term, ...], Mapping[str, Value]], Value]]] = {
    "&&": lambda of, registers: int(_truth(of[0], registers) and _truth(of[1], registers)),
    "||": lambda of, registers: int(_truth(of[0], registers) or _truth(of[1], registers)),
    "?": lambda of, registers: value_of(of[1] if _truth(of[0], registers) else of[2], registers),
}


MOST_ELEMENTS: Final = 8
MOST_DIGITS: Final = 10**24


def shown_value(value: Value, most: int = MOST_ELEMENTS) -> str:
    """Return a value as people write it; of an array with more than `most` elements its beginning, and how many."""
    if isinstance(value, int):
        text = str(value) if abs(value) < MOST_DIGITS else ""
        return text or f"a number of {value.bit_length()} bits"
    parts = [shown_value(each, most) for each in value[:most]]
    more = [f"... {len(value)} in all"] if len(value) > most else []
    return f"[{', '.join(parts + more)}]"
