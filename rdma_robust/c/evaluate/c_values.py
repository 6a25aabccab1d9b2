"""Values of C during evaluation: known ones, unknown ones with the reason, and those that depend on what was read.

A *raw* value is one as memory holds it: an integer in the one form that its size has (signed from four bytes on, else
unsigned), an address, a function. A symbolic value is a register of the thread with a finite map from the raw value that it
holds to the value that depends on it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.c.code import CType
from rdma_robust.expr import COMPARISONS

ObjectKind = Literal["global", "local", "heap", "text", "handle"]


@dataclass(frozen=True, slots=True)
class Object:
    """A piece of memory of a process: a variable, what `malloc` gave, a literal, or what stands for a handle.

    Its hash is computed once: memory is kept by objects.
    """

    kind: ObjectKind
    process: str
    name: str
    key: tuple[Hashable, ...] = ()
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.kind, self.process, self.name, self.key)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(slots=True, unsafe_hash=True)
class Pointer:
    """An address. It is never changed; that it could be makes it twice as fast to compute, which loops over arrays do."""

    object: Object
    offset: int = 0


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """The address of a function."""

    name: str


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A value that is not known, `reason` says of what it is. It may be any: by RR_ANY (`anything`), or as it is drawn."""

    reason: str
    anything: bool = False
    is_random: bool = False


NO_VALUE = ", which has no value yet"
NOT_FOLLOWED = ", whose values are not followed"


def is_unset(value: object) -> bool:
    """Whether a value is unknown because nothing was written there."""
    return isinstance(value, UnknownValue) and value.reason.endswith(NO_VALUE)


def is_random(value: object) -> bool:
    """Whether a value is drawn, so that it may be any number."""
    return isinstance(value, UnknownValue) and value.is_random


Scalar = int | float | Pointer | FunctionValue | UnknownValue
"""A value that does not depend on what the thread has read."""


@dataclass(frozen=True, slots=True)
class Symbolic:
    """A value that depends on a register: for each raw value that the register may hold, the value now."""

    register: str
    cases: tuple[tuple[Scalar, Scalar], ...]


Value = Scalar | Symbolic


class CaseSplit(Exception):
    """The values of a register have to be told apart, in these classes, before evaluation can go on."""

    def __init__(self, register: str, classes: Iterable[frozenset[Scalar]]) -> None:
        super().__init__(register)
        self.register = register
        self.classes = tuple(classes)


class RemainderSplit(Exception):
    """The remainder of a random value by a small number is needed: there is a way for each."""

    def __init__(self, reason: str, divisor: int) -> None:
        super().__init__(reason, divisor)
        self.reason, self.divisor = reason, divisor


_MOST_REMAINDERS = 16
"""Divisors up to which each remainder of a random value has a way of its own."""


def rank(value: Scalar) -> tuple[int, float, str]:
    """A key that sorts values of all kinds."""
    return (0, value, "") if isinstance(value, int | float) else (1, 0, repr(value))


def symbolic(register: str, cases: Iterable[tuple[Scalar, Scalar]], *, are_sorted: bool = False) -> Value:
    """Return the value of these cases, which is a known one if all of them agree. Cases of another value `are_sorted`."""
    found = tuple(cases if are_sorted else sorted(cases, key=lambda case: rank(case[0])))
    first = found[0][1]
    return first if all(value == first for _, value in found) else Symbolic(register, found)


def restricted(value: Value, register: str, raws: frozenset[Scalar]) -> Value:
    """Return the value where the register holds one of `raws`."""
    if not isinstance(value, Symbolic) or value.register != register:
        return value
    left = [case for case in value.cases if case[0] in raws]
    return symbolic(register, left, are_sorted=True) if left else UnknownValue("a way that no run takes")


def all_apart(value: Symbolic) -> CaseSplit:
    """Return what tells all values of a register apart, as the use of a value that has to be known does."""
    return CaseSplit(value.register, [frozenset({raw}) for raw, _ in value.cases])


def known_scalar(value: Value) -> Scalar:
    """Return a value that does not depend on a register; raises :class:`Split` for one that does."""
    if isinstance(value, Symbolic):
        raise all_apart(value)
    return value


def map_one(value: Value, change: Callable[[Scalar], Scalar]) -> Value:
    """Return a function of a value, in every case."""
    if isinstance(value, Symbolic):
        return symbolic(value.register, [(raw, change(each)) for raw, each in value.cases], are_sorted=True)
    return change(value)


def map_two(left: Value, right: Value, combine: Callable[[Scalar, Scalar], Scalar]) -> Value:
    """Return a function of two values, in every case; raises :class:`Split` where they depend on two registers."""
    if isinstance(left, Symbolic) and isinstance(right, Symbolic):
        if left.register != right.register:
            raise all_apart(min(left, right, key=lambda each: len(each.cases)))
        others = dict(right.cases)
        both = [(raw, combine(each, others[raw])) for raw, each in left.cases if raw in others]
        return symbolic(left.register, both, are_sorted=True)
    if isinstance(left, Symbolic):
        fixed = known_scalar(right)
        return map_one(left, lambda each: combine(each, fixed))
    return map_one(right, lambda each: combine(left, each))


def canonical(value: int, size: int) -> int:
    """Return an integer in the form that memory of `size` bytes has: signed from four bytes on, else unsigned."""
    return in_bytes(value, size, size >= 4)


def in_bytes(value: int, size: int, is_signed: bool) -> int:
    """Return what is left of an integer in `size` bytes."""
    bits = 8 * size
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed and value >> bits - 1 else value


def range_of(kind: CType) -> tuple[int, int]:
    """Return the least and the largest number that conversion to a type leaves as it is, if that holds for all between."""
    if kind.kind not in ("int", "pointer"):
        return 1, 0
    bits = 8 * (kind.size or 8)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.signed else (0, (1 << bits) - 1)


_FLOATS = {4: ("<f", "<i"), 8: ("<d", "<q")}


def raw_of(value: Scalar, kind: CType) -> Scalar:
    """Return the raw form of a value of a type."""
    match value:
        case float() if kind.size in _FLOATS:
            return int(struct.unpack(_FLOATS[kind.size][1], struct.pack(_FLOATS[kind.size][0], value))[0])
        case float():
            return UnknownValue("a number with a fraction of this size")
        case int():
            return canonical(value, kind.size) if kind.size else value
        case Pointer() | FunctionValue() if kind.size not in (0, 8):
            return UnknownValue("a part of an address")
        case _:
            return value


def value_of_raw(raw: Scalar, kind: CType) -> Scalar:
    """Return the value of a type that memory holds in raw form."""
    if not isinstance(raw, int):
        return raw
    if kind.kind == "float":
        if kind.size not in _FLOATS:
            return UnknownValue("a number with a fraction of this size")
        return float(struct.unpack(_FLOATS[kind.size][0], struct.pack(_FLOATS[kind.size][1], raw))[0])
    if kind.kind == "bool":
        return int(raw != 0)
    return in_bytes(raw, kind.size, kind.signed) if kind.size else raw


def convert(value: Scalar, kind: CType) -> Scalar:
    """Return a value converted to a type, as a cast does."""
    if isinstance(value, UnknownValue):
        return value
    match kind.kind:
        case "bool":
            return int(not isinstance(value, int | float) or value != 0)
        case "float":
            return _as_float(value, kind)
        case "int" | "pointer" if isinstance(value, int | float):
            if isinstance(value, float) and not abs(value) < 2.0**64:
                return UnknownValue("a number that no integer holds")
            return in_bytes(int(value), kind.size or 8, kind.signed)
        case "int" if kind.size != 8:
            return UnknownValue("a part of an address")
        case _:
            return value


def _as_float(value: int | float | Pointer | FunctionValue, kind: CType) -> Scalar:
    if not isinstance(value, int | float):
        return UnknownValue("an address as a number with a fraction")
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0]) if kind.size == 4 else float(value)
    except OverflowError:
        return UnknownValue("a number that no float holds")


def further_address(address: Scalar, distance: Scalar) -> Scalar:
    """Return an address that is so many bytes further."""
    match address, distance:
        case (UnknownValue(), _):
            return address
        case (_, UnknownValue()):
            return distance
        case (Pointer(object, offset), int()):
            return Pointer(object, offset + distance)
        case (int(), int()):
            return address + distance
        case _:
            return UnknownValue("an address plus an address")


def truth(value: Scalar) -> bool | UnknownValue:
    """Whether a value counts as true, if that is known."""
    if isinstance(value, UnknownValue):
        return value
    return value != 0 if isinstance(value, int | float) else True


def negated(operator: str, value: Scalar, kind: CType) -> Scalar:
    """Return `-`, `~` or `!` of a value, in a type."""
    if isinstance(value, UnknownValue):
        return value
    if operator == "!":
        return int(not truth(value))
    if isinstance(value, float):
        return -value if operator == "-" else UnknownValue("`~` of a number with a fraction")
    if isinstance(value, int):
        return convert(-value if operator == "-" else ~value, kind)
    return UnknownValue(f"`{operator}` of an address")


_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
    "/": lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1),
    "%": lambda x, y: abs(x) % abs(y) * (1 if x >= 0 else -1),
    "<<": lambda x, y: x << y,
    ">>": lambda x, y: x >> y,
}
_FRACTIONS: dict[str, Callable[[float, float], float]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
}


def binary(operator: str, left: Scalar, right: Scalar, operands: CType, result: CType) -> Scalar:
    """Return an operation or a comparison of two values of the type `operands`, as a value of the type `result`."""
    match left, right:
        case (UnknownValue(reason, _, True), int()) if operator == "%" and 0 < right <= _MOST_REMAINDERS:
            raise RemainderSplit(reason, right)
        case (UnknownValue(), _):
            return right if left.is_random and isinstance(right, UnknownValue) else left
        case (_, UnknownValue()):
            return right
        case (int() | float(), int() | float()):
            return _of_numbers(operator, left, right, operands, result)
        case _:
            return _of_addresses(operator, left, right)


def _of_numbers(operator: str, left: int | float, right: int | float, operands: CType, result: CType) -> Scalar:
    if operator in COMPARISONS:
        return int(COMPARISONS[operator](left, right))
    if operands.kind == "float":
        if operator not in _FRACTIONS or (operator == "/" and right == 0):
            return UnknownValue(f"`{operator}` of numbers with a fraction")
        return convert(_FRACTIONS[operator](left, right), result)
    x, y = int(left), int(right)
    if operator in ("/", "%") and y == 0:
        return UnknownValue("a division by zero")
    if operator in ("<<", ">>") and not 0 <= y < 8 * operands.size:
        return UnknownValue(f"a shift by {y}")
    return convert(_INTEGERS[operator](x, y), result)


def _of_addresses(operator: str, left: Scalar, right: Scalar) -> Scalar:
    """An operation of which at least one operand is an address."""
    match operator, left, right:
        case (("==" | "!="), _, _):
            return int((left == right) == (operator == "=="))
        case (_, Pointer(a, x), Pointer(b, y)) if a == b and operator in COMPARISONS:
            return int(COMPARISONS[operator](x, y))
        case ("-", Pointer(a, x), Pointer(b, y)) if a == b:
            return x - y
        case (("<" | "<=" | ">" | ">="), _, 0):
            return int(operator in (">", ">="))
        case ("+", Pointer(), int()) | ("+", int(), Pointer()):
            return further_address(left, right) if isinstance(left, Pointer) else further_address(right, left)
        case ("-", Pointer(a, x), int()):
            return Pointer(a, x - right) if isinstance(right, int) else UnknownValue("an address")
        case ("&", Pointer(_, x), int()) if isinstance(right, int) and 0 <= right < 8:
            return x & right
        case ("%", Pointer(_, x), 1 | 2 | 4 | 8):
            return x % right if isinstance(right, int) else UnknownValue("an address")
        case _:
            return UnknownValue(f"`{operator}` of an address")


def bytes_of(value: Scalar, size: int, low: int, width: int) -> Scalar:
    """Return `width` bytes of a raw value of `size` bytes, from byte `low` on, as a raw value."""
    if isinstance(value, UnknownValue) or (low == 0 and width == size):
        return value
    if not isinstance(value, int):
        return UnknownValue("a part of an address")
    return canonical(value >> 8 * low, width)


def joined(parts: Iterable[tuple[Scalar, int]]) -> Scalar:
    """Return the raw value whose bytes are those of the parts, the lowest first, each with its number of bytes."""
    total, at = 0, 0
    for value, size in parts:
        if isinstance(value, UnknownValue):
            return value
        if not isinstance(value, int):
            return UnknownValue("a value of which a part is one of an address")
        total |= (value & (1 << 8 * size) - 1) << 8 * at
        at += size
    return canonical(total, at)


def extracted(value: Scalar, low: int, width: int, is_signed: bool) -> Scalar:
    """Return the value of a bit-field."""
    if not isinstance(value, int):
        return value if isinstance(value, UnknownValue) else UnknownValue("a bit of an address")
    bits = value >> low & (1 << width) - 1
    return bits - (1 << width) if is_signed and bits >> width - 1 else bits


def inserted(whole: Scalar, value: Scalar, low: int, width: int) -> Scalar:
    """Return a value with another value of a bit-field."""
    if not isinstance(whole, int) or not isinstance(value, int):
        return next((each for each in (whole, value) if isinstance(each, UnknownValue)), UnknownValue("a bit of an address"))
    mask = (1 << width) - 1 << low
    return whole & ~mask | value << low & mask
