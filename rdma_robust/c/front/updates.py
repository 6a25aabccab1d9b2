"""Assignments of C: `=`, compound ones, `++` and `--`; of atomic objects they are one atomic operation."""

from __future__ import annotations

from typing import Final

from rdma_robust.c.code import Call, CType, Index, Register
from rdma_robust.c.front.cursors import INT, POINTER, children, step_of, type_of_value
from rdma_robust.c.front.function_reader import FunctionReader, Location
from rdma_robust.c.front.libclang import Cursor, binary_kind

_OPERATORS: Final = {23: "*", 24: "/", 25: "%", 26: "+", 27: "-", 28: "<<", 29: ">>", 30: "&", 31: "^", 32: "|"}
_ATOMIC: Final = {"+": "add", "-": "sub", "&": "and", "^": "xor", "|": "or"}
_LONG: Final = CType("int", 8, False, "unsigned long")
_STRONGEST: Final = 5


def value_type(of: Location) -> CType:
    """Return the type of the value at a location: of a bit-field that which it is declared with."""
    return of.type if of.bits is None else of.bits_type


def assigned(reader: FunctionReader, each: Cursor, left: Cursor, right: Cursor) -> Register:
    """Append `left = right` of scalars; return the value that `left` has then."""
    value = reader.value(right)
    to = reader.place(left)
    value = reader.converted(value, type_of_value(right), value_type(to), each)
    reader.store(to, value, each)
    return _kept(reader, to, value, each)


def _kept(reader: FunctionReader, to: Location, value: Register, each: Cursor) -> Register:
    """Return what a location has of a value that was stored there: of a bit-field its lowest bits."""
    if to.bits is None:
        return value
    kind = value_type(to)
    wide = kind if kind.kind == "int" and kind.size >= 4 else INT
    if not kind.signed:
        return reader.binary("&", value, reader.constant((1 << to.bits.width) - 1, each), wide, each)
    by = reader.constant(8 * wide.size - to.bits.width, each)
    return reader.binary(">>", reader.binary("<<", value, by, wide, each), by, wide, each)


def updated(reader: FunctionReader, each: Cursor) -> Register:
    """Append `left op= right`; return the new value."""
    left, right = children(each)
    operator = _OPERATORS[binary_kind(each)]
    value = reader.value(right)
    to = reader.place(left)
    kind = value_type(to)
    if kind.atomic:
        return _atomically(reader, each, to, operator, reader.converted(value, type_of_value(right), kind, each), new=True)
    new = _combined(reader, each, operator, reader.load(to, each), (value, type_of_value(right)))
    reader.store(to, new, each)
    return _kept(reader, to, new, each)


def stepped(reader: FunctionReader, each: Cursor, *, by: int, old: bool) -> Register:
    """Append `++` or `--`; return the old value, or the new one."""
    left = children(each)[0]
    to = reader.place(left)
    kind = value_type(to)
    one = reader.constant(1, each)
    operator = "+" if by > 0 else "-"
    if kind.atomic:
        return _atomically(reader, each, to, operator, one, new=not old)
    before = reader.load(to, each)
    new = _combined(reader, each, operator, before, (one, INT))
    reader.store(to, new, each)
    return before if old else _kept(reader, to, new, each)


def _combined(
    reader: FunctionReader, each: Cursor, operator: str, before: Register, right: tuple[Register, CType]
) -> Register:
    """Return the new value of the left side, of its value before and another one, in its type."""
    value, other = right
    left = children(each)[0]
    kind = type_of_value(left)
    if kind.kind == "pointer":
        step = step_of(left.type)
        if not step:
            return reader.unread("RR814", "steps of a size that is not known are not read", each)
        target = reader.register()
        reader.emit(Index(target, before, value, step if operator == "+" else -step), each)
        return target
    promoted = kind if kind.kind == "float" or (kind.kind == "int" and kind.size >= 4) else INT
    wide = promoted if operator in ("<<", ">>") else _common(promoted, other)
    first = reader.converted(before, kind, wide, each)
    second = value if operator in ("<<", ">>") else reader.converted(value, other, wide, each)
    return reader.converted(reader.binary(operator, first, second, wide, each), wide, kind, each)


def _common(one: CType, other: CType) -> CType:
    """Return the type in which an operation of two types is done: the right operand is of it already, or smaller."""
    if "float" in (one.kind, other.kind):
        return max((each for each in (one, other) if each.kind == "float"), key=lambda each: each.size)
    if other.kind != "int" or one.size > other.size:
        return one
    return other if other.size > one.size or not other.signed else one


def _atomically(
    reader: FunctionReader, each: Cursor, to: Location, operator: str, value: Register, *, new: bool
) -> Register:
    """Append one atomic operation; return the value before, or the new one."""
    name = _ATOMIC.get(operator)
    kind = CType(to.type.kind, to.type.size, to.type.signed, to.type.name)
    if name is None or kind.kind not in ("int", "pointer"):
        return reader.unread("RR814", f"`{operator}=` of an atomic object is not modelled", each, "use a compare-and-swap")
    if kind.kind == "pointer":
        return reader.unread("RR814", "arithmetic on an atomic pointer is not modelled", each, "use a compare-and-swap")
    target = reader.register()
    size, order = reader.constant(kind.size, each), reader.constant(_STRONGEST, each)
    types = (POINTER, _LONG, kind, INT)
    reader.emit(Call(target, f"__rr_fetch_{name}", (to.address, size, value, order), types, kind), each)
    if not new:
        return target
    wide = kind if kind.size >= 4 else INT
    sides = reader.converted(target, kind, wide, each), reader.converted(value, kind, wide, each)
    return reader.converted(reader.binary(operator, *sides, wide, each), wide, kind, each)
