"""Initialisers of C as stores: braces left out, designators, ranges of them, texts."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from rdma_robust.c.code import CopyBytes, CType, TextAddress, Variable, ZeroBytes
from rdma_robust.c.front.cursors import bare, c_type, children, cursor_kind, text_bytes, type_of_value
from rdma_robust.c.front.function_reader import FunctionReader, Location
from rdma_robust.c.front.layouts import bit_field, bytes_before, fields_of, is_union, leaves_of, member_name
from rdma_robust.c.front.libclang import ClangType, Cursor, constant_value
from rdma_robust.c.front.written_text import text_of_cursor

_MOST_IN_RANGE = 4096


def initialise(reader: FunctionReader, variable: Variable, kind: ClangType, initial: Cursor, at: Cursor) -> None:
    """Append what gives a variable that has just begun its initial value."""
    whole = c_type(kind)
    if whole.kind in ("record", "array") and not variable.is_global:
        reader.emit(ZeroBytes(variable, 0, whole.size), at)
    _Initialiser(reader, variable, at).element(_Part(kind, 0), deque([initial]))


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the variable: its type and offset, and its bits if it is a bit-field."""

    type: ClangType
    offset: int
    field: Cursor | None = None


class _Initialiser:
    """The initialisation of one variable. Lists of items are used up from their beginning."""

    def __init__(self, reader: FunctionReader, variable: Variable, at: Cursor) -> None:
        self.reader, self.variable, self.at = reader, variable, at

    def element(self, part: _Part, items: deque[Cursor]) -> None:
        """Initialise a part by the first item, or if its braces are left out by as many as it has scalars."""
        item = items[0]
        kind = c_type(part.type)
        if kind.kind == "array" and self._is_text(part, item):
            self._text(part, items.popleft())
        elif cursor_kind(item) == "INIT_LIST_EXPR":
            self._braced(part, kind, items.popleft())
        elif kind.kind in ("record", "array") and self._is_whole(kind, item):
            self._copied(part, kind, items.popleft())
        elif kind.kind in ("record", "array"):
            self._fill(part, items, braced=False)
        else:
            self._scalar(part, kind, items.popleft())

    def _is_whole(self, kind: CType, item: Cursor) -> bool:
        """Return whether an item is a value of a whole record, or of an array, which compilers let one write."""
        given = c_type(item.type).kind
        return given == kind.kind and (given == "record" or cursor_kind(bare(item)) == "COMPOUND_LITERAL_EXPR")

    def _braced(self, part: _Part, kind: CType, item: Cursor) -> None:
        inner = deque(children(item))
        if kind.kind in ("record", "array"):
            if len(inner) == 1 and kind.kind == "array" and self._is_text(part, inner[0]):
                self._text(part, inner[0])
            else:
                self._fill(part, inner, braced=True)
        elif inner:
            self._scalar(part, kind, inner[0])

    def _fill(self, part: _Part, items: deque[Cursor], *, braced: bool, first: int = 0) -> None:
        """Initialise the parts of a part from number `first` on, until they or the items end.

        A designator in a list whose braces are left out is one of the list around it.
        """
        parts = self._parts(part)
        number = first
        while items and (number < len(parts) or _designated(items[0])):
            if _designated(items[0]):
                if not braced:
                    return
                designators = children(items[0])
                number = self._designate(part, designators[:-1], designators[-1], items)
            else:
                self.element(parts[number], items)
                number += 1
            if is_record_union(part.type):
                number = max(number, len(parts))

    def _parts(self, part: _Part) -> list[_Part]:
        canonical = part.type.get_canonical()
        if canonical.kind.name == "CONSTANTARRAY":
            size = int(canonical.element_type.get_size())
            return [_Part(canonical.element_type, part.offset + k * size) for k in range(canonical.element_count)]
        if canonical.kind.name == "RECORD":
            found = [_member(part, field) for field in fields_of(canonical)]
            return found[:1] if is_union(canonical) else found
        return []

    def _designate(self, part: _Part, designators: list[Cursor], value: Cursor, items: deque[Cursor]) -> int:
        """Initialise what designators name by a value, then what comes behind it in the parts inside of this one; return the
        number of the next part of this one."""
        if _is_range(items[0], designators):
            least, greatest = constant_value(designators[0]), constant_value(designators[1])
            assert isinstance(least, int) and isinstance(greatest, int)
            parts = self._parts(part)[least : min(greatest + 1, least + _MOST_IN_RANGE)]
            items.popleft()
            for each in parts:
                self.element(each, deque([value]))
            return greatest + 1
        return self._designated_parts(part, designators, value, items)

    def _designated_parts(self, part: _Part, designators: list[Cursor], value: Cursor, items: deque[Cursor]) -> int:
        number, inner = self._named(part, designators[0])
        if inner is None:
            items.popleft()
            self.reader.unread("RR814", "this designator is not read", self.at)
        elif designators[1:]:
            following = self._designated_parts(inner, designators[1:], value, items)
            if not is_record_union(inner.type):
                self._fill(inner, items, braced=False, first=following)
        else:
            items.popleft()
            items.appendleft(value)
            self.element(inner, items)
        return number + 1

    def _named(self, part: _Part, designator: Cursor) -> tuple[int, _Part | None]:
        """Return the number and the part that one designator names."""
        if cursor_kind(designator) != "MEMBER_REF":
            number = constant_value(designator)
            parts = self._parts(part)
            known = isinstance(number, int) and 0 <= number < len(parts)
            return (int(number), parts[int(number)]) if known and number is not None else (0, None)
        for number, field in enumerate(fields_of(part.type)):
            name = member_name(designator)
            if name == member_name(field) and (name or _same(field.type, designator.type)):
                return number, _member(part, field)
        return 0, None

    def _scalar(self, part: _Part, kind: CType, item: Cursor) -> None:
        reader = self.reader
        value = reader.converted(reader.value(item), type_of_value(item), kind, item)
        reader.store(self._location(part, kind), value, item)

    def _location(self, part: _Part, kind: CType) -> Location:
        found = bit_field(part.field) if part.field is not None and part.field.is_bitfield() else None
        if found is None:
            return Location(self.reader.address(self.variable, self.at, part.offset), kind)
        start, scalar, bits = found
        return Location(self.reader.address(self.variable, self.at, part.offset + start), scalar, bits, kind)

    def _copied(self, part: _Part, kind: CType, item: Cursor) -> None:
        source = self.reader.value(item)
        target = self.reader.address(self.variable, self.at, part.offset)
        self.reader.emit(CopyBytes(target, source, kind.size, leaves_of(part.type)), item)

    def _is_text(self, part: _Part, item: Cursor) -> bool:
        literal = cursor_kind(bare(item)) == "STRING_LITERAL"
        return literal and c_type(part.type.get_canonical().element_type).kind == "int"

    def _text(self, part: _Part, item: Cursor) -> None:
        text = text_bytes(bare(item))
        size = c_type(part.type).size
        if text is None:
            self.reader.unread("RR814", "a text of wide characters is not read", item)
            return
        source = self.reader.register()
        self.reader.emit(TextAddress(source, text), item)
        target = self.reader.address(self.variable, self.at, part.offset)
        self.reader.emit(CopyBytes(target, source, min(size, len(text))), item)


def is_record_union(kind: ClangType) -> bool:
    """Return whether a type is a union, of which only one member is initialised."""
    return c_type(kind).kind == "record" and is_union(kind)


def _member(part: _Part, field: Cursor) -> _Part:
    if field.is_bitfield():
        return _Part(field.type, part.offset, field)
    return _Part(field.type, part.offset + bytes_before(field), field)


def _designated(item: Cursor) -> bool:
    return cursor_kind(item) == "UNEXPOSED_EXPR" and c_type(item.type).kind == "void" and len(children(item)) > 1


def _is_range(item: Cursor, designators: list[Cursor]) -> bool:
    """Return whether designators are one with a range, `[1 ... 3]`."""
    if len(designators) != 2 or "MEMBER_REF" in map(cursor_kind, designators):
        return False
    return re.match(r"\s*\[[^\[\]]*\.\.\.", text_of_cursor(item)) is not None


def _same(one: ClangType, other: ClangType) -> bool:
    return bool(one.get_canonical() == other.get_canonical())
