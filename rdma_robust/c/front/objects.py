"""Objects that lvalues of C name: variables, members, elements, and those that pointers point to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.code import CType, Fresh, FunctionAddress, Index, Load, Register, TextAddress
from rdma_robust.c.front.cursors import (
    POINTER,
    c_type,
    cursor_kind,
    expressions,
    is_pointer_parameter,
    step_of,
    text_bytes,
    type_of_value,
)
from rdma_robust.c.front.function_reader import FunctionReader, Location
from rdma_robust.c.front.initialisers import initialise
from rdma_robust.c.front.layouts import bit_field, bytes_before, bytes_of_anonymous
from rdma_robust.c.front.libclang import ClangType, Cursor, unary_kind

DEREFERENCE: Final = 6
EXTENSION: Final = 13


def bytes_on(reader: FunctionReader, base: Register, offset: int, at: Cursor) -> Register:
    """Return an address so many bytes behind another one."""
    if not offset:
        return base
    target = reader.register()
    reader.emit(Index(target, base, reader.constant(1, at), offset), at)
    return target


def _variable(reader: FunctionReader, each: Cursor) -> Location:
    declared = each.referenced
    kind = cursor_kind(declared)
    reader.names.note_type(each.type)
    if kind == "FUNCTION_DECL":
        target = reader.register()
        reader.emit(FunctionAddress(target, reader.names.function_name(declared)), each)
        return Location(target, c_type(each.type))
    if kind not in ("VAR_DECL", "PARM_DECL"):
        return Location(reader.unread("RR814", f"`{each.spelling}` is no variable", each), c_type(each.type))
    if kind == "VAR_DECL" and declared.tls_kind.name != "NONE":
        made = reader.unread("RR814", f"`{each.spelling}` is a variable of each thread, which is not modelled", each)
        return Location(made, c_type(each.type))
    outside = cursor_kind(declared.semantic_parent) != "FUNCTION_DECL"
    storage = declared.storage_class.name
    if kind == "VAR_DECL" and (outside or storage == "EXTERN"):
        variable = reader.names.global_variable(declared)
    elif storage == "STATIC":
        variable = reader.names.static_local(reader.name, declared)
    else:
        variable = reader.local(declared)
        return Location(reader.address(variable, each), variable.type)
    return Location(reader.address(variable, each), c_type(each.type))


def _member(reader: FunctionReader, each: Cursor) -> Location:
    base = expressions(each)[0]
    is_arrow = type_of_value(base).kind == "pointer"
    reader.names.note_type(each.type)
    at = reader.value(base) if is_arrow else _place_or_value(reader, base)
    field = each.referenced
    kind = c_type(each.type)
    canonical = base.type.get_canonical()
    record = canonical.get_pointee() if canonical.kind.name == "POINTER" else _element_type(canonical)
    around = None if field is None or cursor_kind(field) != "FIELD_DECL" else bytes_of_anonymous(record, field)
    if around is None:
        return Location(reader.unread("RR814", f"the member `{each.spelling}` is not read", each), kind)
    if not field.is_bitfield():
        return Location(bytes_on(reader, at, around + bytes_before(field), each), kind)
    found = bit_field(field)
    if found is None:
        return Location(reader.unread("RR814", f"the bit-field `{each.spelling}` crosses words", each), kind)
    start, scalar, bits = found
    scalar = CType("int", scalar.size, scalar.signed, scalar.name, kind.volatile)
    return Location(bytes_on(reader, at, around + start, each), scalar, bits, kind)


def _element_type(canonical: ClangType) -> ClangType:
    """Return the type of what a parameter that is declared as an array points to; any other type as it is."""
    return canonical.element_type if canonical.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY") else canonical


def _place_or_value(reader: FunctionReader, each: Cursor) -> Register:
    """Return the address of a record that is an lvalue, or what a call returns."""
    return reader.place(each).address if cursor_kind(each) in reader.rules.places else reader.value(each)


def _element(reader: FunctionReader, each: Cursor) -> Location:
    base, index = expressions(each)
    if type_of_value(base).kind not in ("pointer", "array"):
        base, index = index, base
    reader.names.note_type(each.type)
    step = step_of(base.type)
    at = reader.value(base)
    number = reader.value(index)
    if not step:
        return Location(reader.unread("RR814", "elements of a size that is not known are not read", each), c_type(each.type))
    target = reader.register()
    reader.emit(Index(target, at, number, step), each)
    return Location(target, c_type(each.type))


def _pointed(reader: FunctionReader, each: Cursor) -> Location:
    inner = expressions(each)[0]
    kind = unary_kind(each)
    if kind == DEREFERENCE:
        reader.names.note_type(each.type)
        return Location(reader.value(inner), c_type(each.type))
    if kind == EXTENSION:
        return reader.place(inner)
    return Location(reader.value(each), c_type(each.type))


def _literal(reader: FunctionReader, each: Cursor) -> Location:
    kind = c_type(each.type)
    reader.names.note_type(each.type)
    initial = expressions(each)[-1]
    if reader.outside:
        variable = reader.names.file_literal(reader.name, each)
    else:
        variable = reader.new_variable("literal", kind)
        reader.emit(Fresh(variable), each)
    initialise(reader, variable, each.type, initial, each)
    return Location(reader.address(variable, each), kind)


def _text(reader: FunctionReader, each: Cursor) -> Location:
    text = text_bytes(each)
    if text is None:
        return Location(reader.unread("RR814", "a text of wide characters is not read", each), c_type(each.type))
    target = reader.register()
    reader.emit(TextAddress(target, text), each)
    return Location(target, c_type(each.type))


def _inner(reader: FunctionReader, each: Cursor) -> Location:
    """What is named in parentheses, or through a conversion that changes nothing."""
    inner = expressions(each)
    if len(inner) == 1:
        return reader.place(inner[0])
    return Location(reader.value(each), c_type(each.type))


def _temporary(reader: FunctionReader, each: Cursor) -> Location:
    """A record that is a value: what a call returns, an assignment, `?:`."""
    return Location(reader.value(each), c_type(each.type))


def parameter_pointer(reader: FunctionReader, each: Cursor) -> Register | None:
    """Return the value of a parameter that is declared as an array, None for any other expression."""
    if not is_pointer_parameter(each):
        return None
    while cursor_kind(each) != "DECL_REF_EXPR":
        each = expressions(each)[0]
    target = reader.register()
    reader.emit(Load(target, reader.place(each).address, POINTER), each)
    return target


PLACES: Final[Mapping[str, Callable[[FunctionReader, Cursor], Location]]] = {
    "DECL_REF_EXPR": _variable,
    "MEMBER_REF_EXPR": _member,
    "ARRAY_SUBSCRIPT_EXPR": _element,
    "UNARY_OPERATOR": _pointed,
    "COMPOUND_LITERAL_EXPR": _literal,
    "STRING_LITERAL": _text,
    "PAREN_EXPR": _inner,
    "UNEXPOSED_EXPR": _inner,
    "CALL_EXPR": _temporary,
    "BINARY_OPERATOR": _temporary,
    "CONDITIONAL_OPERATOR": _temporary,
    "StmtExpr": _temporary,
    "GENERIC_SELECTION_EXPR": _temporary,
    "CSTYLE_CAST_EXPR": _temporary,
}
