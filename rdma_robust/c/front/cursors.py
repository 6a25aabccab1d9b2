"""Cursors of libclang: their children, places, types as evaluation needs them, and texts of literals."""

from __future__ import annotations

import re
from typing import Final

from rdma_robust.c.code import CType, Kind, SourcePlace
from rdma_robust.c.front.libclang import ClangType, Cursor, unary_kind, without_atomic

EXTENSION: Final = 13
_WRAPPERS: Final = ("UNEXPOSED_EXPR", "PAREN_EXPR")
_NUMBERS: Final[dict[str, tuple[Kind, int, bool]]] = {
    "BOOL": ("bool", 1, False),
    "CHAR_U": ("int", 1, False),
    "UCHAR": ("int", 1, False),
    "CHAR_S": ("int", 1, True),
    "SCHAR": ("int", 1, True),
    "USHORT": ("int", 2, False),
    "SHORT": ("int", 2, True),
    "UINT": ("int", 4, False),
    "INT": ("int", 4, True),
    "ULONG": ("int", 8, False),
    "LONG": ("int", 8, True),
    "ULONGLONG": ("int", 8, False),
    "LONGLONG": ("int", 8, True),
    "UINT128": ("int", 16, False),
    "INT128": ("int", 16, True),
    "CHAR16": ("int", 2, False),
    "CHAR32": ("int", 4, False),
    "FLOAT": ("float", 4, True),
    "DOUBLE": ("float", 8, True),
    "LONGDOUBLE": ("float", 16, True),
}
_WHOLES: Final[dict[str, Kind]] = {
    "POINTER": "pointer",
    "BLOCKPOINTER": "pointer",
    "RECORD": "record",
    "CONSTANTARRAY": "array",
    "INCOMPLETEARRAY": "array",
    "VARIABLEARRAY": "array",
    "FUNCTIONPROTO": "function",
    "FUNCTIONNOPROTO": "function",
}

INT: Final = CType("int", 4, True, "int")
POINTER: Final = CType("pointer", 8, False, "void")


def children(cursor: Cursor) -> list[Cursor]:
    """Return the children of a cursor."""
    return list(cursor.get_children())


def expressions(cursor: Cursor) -> list[Cursor]:
    """Return the children of a cursor that are expressions."""
    return [each for each in cursor.get_children() if each.kind.is_expression()]


def cursor_kind(cursor: Cursor) -> str:
    """Return the name of the kind of a cursor."""
    return str(cursor.kind.name)


def bare(cursor: Cursor) -> Cursor:
    """Return an expression without parentheses and implicit conversions around it."""
    while cursor_kind(cursor) in _WRAPPERS or (cursor_kind(cursor) == "UNARY_OPERATOR" and unary_kind(cursor) == EXTENSION):
        inner = expressions(cursor)
        if len(inner) != 1:
            break
        cursor = inner[0]
    return cursor


def cursor_place(cursor: Cursor) -> SourcePlace:
    """Return where a cursor is; of what a macro made, its use."""
    start, end = cursor.location, cursor.extent.end
    if start.file is None:
        start = cursor.extent.start
    file = "" if start.file is None else str(start.file.name)
    return SourcePlace(file, start.line or 1, start.column or 1, end.line, end.column)


def plain_name(kind: ClangType) -> str:
    """Return the canonical spelling of a type without qualifiers: its name among all units."""
    return re.sub(r"\b(?:const|volatile|restrict)\b ?", "", str(kind.get_canonical().spelling)).strip()


def c_type(kind: ClangType) -> CType:
    """Return a type of libclang as evaluation needs it."""
    canonical = kind.get_canonical()
    volatile = bool(kind.is_volatile_qualified() or canonical.is_volatile_qualified())
    name = str(canonical.kind.name)
    if name == "ATOMIC":
        inner = c_type(without_atomic(canonical))
        return CType(inner.kind, inner.size, inner.signed, inner.name, volatile or inner.volatile, True)
    if name in _NUMBERS:
        return CType(*_NUMBERS[name], plain_name(canonical), volatile)
    if name == "ENUM":
        under = c_type(canonical.get_declaration().enum_type)
        return CType("int", canonical.get_size(), under.signed, plain_name(canonical), volatile)
    found = _WHOLES.get(name)
    if found == "pointer":
        return CType("pointer", 8, False, plain_name(canonical.get_pointee()), volatile)
    if found is not None:
        return CType(found, max(canonical.get_size(), 0), False, plain_name(canonical), volatile)
    return CType("void", 0, False, str(canonical.spelling))


def is_pointer_parameter(cursor: Cursor) -> bool:
    """Return whether an expression names a parameter that is declared as an array, and is a pointer."""
    named = bare(cursor)
    is_name = cursor_kind(named) == "DECL_REF_EXPR" and named.referenced is not None
    return is_name and cursor_kind(named.referenced) == "PARM_DECL" and c_type(named.type).kind in ("array", "function")


def type_of_value(cursor: Cursor) -> CType:
    """Return the type of the value of an expression."""
    found = c_type(cursor.type)
    if found.kind == "array" and is_pointer_parameter(cursor):
        return CType("pointer", 8, False, plain_name(cursor.type.get_canonical().element_type))
    return found


def step_of(kind: ClangType) -> int:
    """Return by how many bytes a pointer or array goes on to the next element; 0 where that is not known."""
    canonical = kind.get_canonical()
    inner = canonical.get_pointee() if canonical.kind.name == "POINTER" else canonical.element_type
    if inner.get_canonical().kind.name in ("VOID", "FUNCTIONPROTO", "FUNCTIONNOPROTO"):
        return 1
    return max(int(inner.get_size()), 0)


_ESCAPES: Final = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "\\": 92, '"': 34, "'": 39, "?": 63}
_PIECE: Final = re.compile(r"\\([0-7]{1,3})|\\x([0-9A-Fa-f]+)|\\(.)|([^\\])", re.DOTALL)


def text_bytes(literal: Cursor) -> bytes | None:
    """Return the bytes of a string literal with the final zero; None for one of wide characters."""
    written = str(literal.spelling)
    if written.startswith("u8"):
        written = written[2:]
    if not written.startswith('"') or step_of(literal.type) != 1:
        return None
    made = bytearray()
    for octal, hexadecimal, escaped, plain in _PIECE.findall(written[1:-1]):
        if octal or hexadecimal:
            made.append(int(octal or hexadecimal, 8 if octal else 16) & 255)
        elif escaped:
            made.append(_ESCAPES.get(escaped, ord(escaped) & 255))
        else:
            made += plain.encode("utf-8", "surrogateescape")
    return bytes(made) + b"\0"
