"""Layouts of records and arrays: fields, bit-fields, and the scalars inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rdma_robust.c.code import Bits, CType, Leaf
from rdma_robust.c.front.cursors import c_type
from rdma_robust.c.front.libclang import ClangType, Cursor

MOST_LEAVES: Final = 4096
"""Of what has more scalars no leaves are named: it is cut every 8 bytes."""


def fields_of(record: ClangType) -> list[Cursor]:
    """Return the members of a record, without bit-fields that have no name."""
    found = record.get_canonical().get_fields()
    return [each for each in found if not (each.is_bitfield() and not member_name(each))]


def member_name(field: Cursor) -> str:
    """Return the name of a member, '' for a record or union without one."""
    name = str(field.spelling)
    return "" if "(" in name else name


def is_union(record: ClangType) -> bool:
    """Return whether a record is a union."""
    return str(record.get_canonical().get_declaration().kind.name) == "UNION_DECL"


def bytes_before(field: Cursor) -> int:
    """Return the offset in bytes of a member that is no bit-field, in the record that declares it."""
    return int(field.get_field_offsetof()) // 8


def bytes_of_anonymous(record: ClangType, field: Cursor) -> int | None:
    """Return the offset in `record` of the record inside that declares a field, through members without a name; libclang
    leaves some of those out of expressions. None if it is not there."""
    found = fields_of(record)
    if any(each == field for each in found):
        return 0
    for each in found:
        if not member_name(each) and each.type.get_canonical().kind.name == "RECORD":
            inner = bytes_of_anonymous(each.type, field)
            if inner is not None:
                return bytes_before(each) + inner
    return None


def bit_field(field: Cursor) -> tuple[int, CType, Bits] | None:
    """Return the scalar that a bit-field is accessed by: its offset in bytes, type, and the bits.

    It is the one of the declared type, as bit-fields beside each other are one memory location; the smallest aligned one
    where that has other members too. None where it crosses the bounds of every scalar, as in packed records.
    """
    first, width = int(field.get_field_offsetof()), int(field.get_bitfield_width())
    declared = c_type(field.type)
    record = field.semantic_parent.type
    others = [(bytes_before(each), int(each.type.get_size())) for each in fields_of(record) if not each.is_bitfield()]
    unit = first // (8 * declared.size) * declared.size
    end = unit + declared.size
    is_shared = end > record.get_size() or any(low < end and unit < low + count for low, count in others)
    for size in (1, 2, 4, 8) if is_shared else (declared.size, 1, 2, 4, 8):
        start = first // (8 * size) * size
        if first + width <= 8 * (start + size):
            kind = CType("int", size, declared.signed, declared.name, declared.volatile)
            return start, kind, Bits(first - 8 * start, width)
    return None


def leaves_of(kind: ClangType) -> tuple[Leaf, ...]:
    """Return the scalars in an object of a type; of a union those of all its members; () where there are too many."""
    found: list[Leaf] = []
    for each in _leaves(kind, 0, ""):
        found.append(each)
        if len(found) > MOST_LEAVES:
            return ()
    return tuple(sorted(dict.fromkeys(found), key=lambda leaf: (leaf.offset, -leaf.size)))


def _leaves(kind: ClangType, at: int, path: str) -> Iterator[Leaf]:
    canonical = kind.get_canonical()
    name = canonical.kind.name
    if name == "CONSTANTARRAY":
        size = int(canonical.element_type.get_size())
        for number in range(canonical.element_count):
            yield from _leaves(canonical.element_type, at + number * size, f"{path}[{number}]")
    elif name == "RECORD":
        for field in fields_of(canonical):
            inner = ".".join(filter(None, (path, member_name(field))))
            if field.is_bitfield():
                found = bit_field(field)
                if found is not None:
                    yield Leaf(at + found[0], found[1].size, inner, found[1])
            else:
                yield from _leaves(field.type, at + bytes_before(field), inner)
    elif canonical.get_size() > 0:
        yield Leaf(at, int(canonical.get_size()), path, c_type(kind))
