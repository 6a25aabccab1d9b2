"""Variables of C functions: registers, and arrays whose elements have no values yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rdma_robust.c.contracts.block_writer import declared_register, no_value, register_element
from rdma_robust.c.contracts.body_values import (
    ASSIGN,
    OPERATORS,
    Memory,
    call_operand,
    is_pointer,
    is_whole,
    names_variable,
    number_operand,
)
from rdma_robust.c.contracts.c_functions import is_communicator
from rdma_robust.c.front.cursors import bare, children, cursor_kind, expressions
from rdma_robust.c.front.libclang import Cursor, binary_kind, initial_expression
from rdma_robust.diagnose import quote
from rdma_robust.errors import Span
from rdma_robust.messages.language import message_tree as tree

if TYPE_CHECKING:
    from rdma_robust.c.contracts.body_statements import BodyReader

_ALLOCATED: Final = {"malloc": 0, "calloc": 1}
_SIZES: Final = ("CXX_UNARY_EXPR",)


def declare(reader: BodyReader, cursor: Cursor, behind: Sequence[Cursor] = ()) -> None:
    for declared in children(cursor):
        if cursor_kind(declared) != "VAR_DECL":
            continue
        if declared.storage_class.name in ("STATIC", "EXTERN"):
            raise reader.values.unread("variables that outlive the call are not read here", declared, "declare it outside")
        _declaration(reader, declared, behind)


def _declaration(reader: BodyReader, declared: Cursor, behind: Sequence[Cursor]) -> None:
    span, initial = reader.at(declared), initial_expression(declared)
    kind = str(declared.type.spelling)
    name = reader.new_name(str(declared.spelling))
    if is_communicator(declared) or not (is_whole(declared.type) or is_pointer(declared.type) or kind == "MPI_Status"):
        raise reader.values.unread(f"variables of type {quote(kind)} are not read", declared)
    reader.values.names[declared.hash] = name
    if kind == "MPI_Status":
        for part in ("MPI_SOURCE", "MPI_TAG", "count"):
            reader.register(f"{name}.{part}", span, no_value(span))
    elif is_pointer(declared.type):
        _array(reader, declared, name, initial, span)
    elif initial is None:
        known = _is_assigned_first(declared, behind)
        reader.emit(declared_register(name, None if known else no_value(span), span))
    else:
        reader.emit(declared_register(name, None, span))
        reader.store(Memory(name, None, span), initial, span)


def _array(reader: BodyReader, declared: Cursor, name: str, initial: Cursor | None, span: Span) -> None:
    canonical = declared.type.get_canonical()
    if canonical.kind.name == "POINTER":
        if initial is None:
            reader.emit(declared_register(name, no_value(span), span))
        else:
            allocate(reader, name, initial, span)
        return
    size = expressions(declared)[0] if canonical.kind.name == "VARIABLEARRAY" else None
    length = number_operand(int(canonical.element_count), span) if size is None else reader.values.value(size)
    _new_array(reader, name, length, span, is_zero=False)
    if initial is not None:
        given = expressions(initial)
        for place, each in enumerate(given):
            reader.assign(register_element(name, number_operand(place, span), span), reader.values.value(each), span)
        zero = number_operand(0, span)
        reader.counted(
            length,
            span,
            lambda at: reader.assign(register_element(name, at, span), zero, span),
            number_operand(len(given), span),
        )


def _new_array(reader: BodyReader, name: str, length: tree.Operand, span: Span, *, is_zero: bool) -> None:
    """Append a new array, whose elements have no values yet if it is not zero."""
    reader.emit(declared_register(name, call_operand("new", (length,), span), span))
    if not is_zero:
        reader.counted(length, span, lambda at: reader.assign(register_element(name, at, span), no_value(span), span))


def allocate(reader: BodyReader, name: str, value: Cursor, span: Span) -> None:
    """Append what `malloc` and `calloc` do."""
    call = bare(value)
    if cursor_kind(call) == "CSTYLE_CAST_EXPR":
        call = bare(expressions(call)[-1])
    function = str(call.spelling) if cursor_kind(call) == "CALL_EXPR" else ""
    given = list(call.get_arguments()) if function in _ALLOCATED else []
    count = None
    if function == "malloc":
        count = _count_of_bytes(given[0])
    elif function == "calloc":
        count = given[0]
    if count is None:
        hint = "write `malloc(n * sizeof(int))`, or use the array itself"
        raise reader.values.unread("this pointer is not read", value, hint)
    _new_array(reader, name, _size(reader, count), span, is_zero=function == "calloc")


def _size(reader: BodyReader, count: Cursor) -> tree.Operand:
    """Return how many elements are allocated: a number that is converted to `size_t`."""
    inner = bare(count)
    while cursor_kind(inner) == "CSTYLE_CAST_EXPR":
        inner = bare(expressions(inner)[-1])
    return reader.values.value(inner)


def _count_of_bytes(size: Cursor) -> Cursor | None:
    """Return how many elements so many bytes are: `n * sizeof(int)`, in this order or the other."""
    found = bare(size)
    if cursor_kind(found) != "BINARY_OPERATOR" or OPERATORS.get(binary_kind(found)) != "*":
        return None
    left, right = children(found)
    if cursor_kind(bare(right)) in _SIZES:
        return left
    return right if cursor_kind(bare(left)) in _SIZES else None


def _is_assigned_first(declared: Cursor, behind: Sequence[Cursor]) -> bool:
    """Return whether the first statement behind a declaration that names the variable stores a value to it."""
    for each in behind:
        mentions = [
            one for one in each.walk_preorder() if cursor_kind(one) == "DECL_REF_EXPR" and one.referenced == declared
        ]
        if not mentions:
            continue
        if len(mentions) > 1:
            return False
        found = bare(each) if each.kind.is_expression() else each
        if cursor_kind(found) == "CALL_EXPR" and str(found.spelling) in ("MPI_Comm_rank", "MPI_Comm_size"):
            return True
        is_store = cursor_kind(found) == "BINARY_OPERATOR" and binary_kind(found) == ASSIGN
        return is_store and names_variable(children(found)[0], declared)
    return True
