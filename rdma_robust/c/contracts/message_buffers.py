"""Buffers of MPI in functions with contracts. A message is an array of the elements that are sent, or a number where every
message of the file has one. What comes may be shorter than the buffer, and not longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.contracts.body_statements import BodyReader
from rdma_robust.c.contracts.body_values import (
    Memory,
    binary_operand,
    call_operand,
    handle_value,
    is_pointer,
    number_operand,
)
from rdma_robust.c.front.cursors import bare, c_type, cursor_kind
from rdma_robust.c.front.libclang import Cursor, constant_value
from rdma_robust.c.libraries.mpi import NUMBERS, TYPES
from rdma_robust.diagnose import quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree

COUNTS: Final[Mapping[str, tuple[int, ...]]] = {
    "MPI_Send": (1,), "MPI_Recv": (1,), "MPI_Sendrecv": (1, 6), "MPI_Bcast": (1,), "MPI_Reduce": (2,), "MPI_Allreduce": (2,),
    "MPI_Gather": (1, 4), "MPI_Scatter": (1, 4), "MPI_Allgather": (1, 4), "MPI_Alltoall": (1, 4),
}  # fmt: skip
"""The arguments that say how many elements there are."""

_TYPE_NAMES: Final = {NUMBERS[name]: name for name in TYPES}
ZERO: Final = ast.NumberLiteral(0)


@dataclass(frozen=True, slots=True)
class MessageBuffer:
    """The elements of a message: memory, and how many."""

    memory: Memory
    count: tree.Operand


def mpi_arguments(call: Cursor) -> list[Cursor]:
    return list(call.get_arguments())


def buffer_at(reader: BodyReader, address: Cursor, count: Cursor, kind: Cursor) -> MessageBuffer:
    """Return the memory that address, count and datatype are. Raises UnreadCodeError."""
    found = bare(address)
    if cursor_kind(found) == "CSTYLE_CAST_EXPR" or not is_pointer(found.type):
        raise reader.values.unread("this buffer is not read", address, "write `a`, `a + i`, `&a[i]` or `&x`")
    memory = reader.values.array(found)
    canonical = found.type.get_canonical()
    element = c_type(canonical.get_pointee() if canonical.kind.name == "POINTER" else canonical.element_type)
    name = _TYPE_NAMES.get(handle_value(kind) or 0, "")
    of_type, size, _ = TYPES.get(name, ("", 0, False))
    if of_type != "int" or size != element.size:
        said = f"the elements are {quote(element.name)}, and the datatype is not that"
        raise reader.values.unread(said, kind, "MPI_INT is for `int`, MPI_LONG for `long`")
    reader.note_datatype(name, kind)
    known = constant_value(count)
    number_of = number_operand(known, reader.at(count)) if isinstance(known, int) else reader.values.value(count)
    if memory.index is None and number_of != ast.NumberLiteral(1):
        raise reader.values.unread("so many elements of one variable", count, "one variable is one element")
    return MessageBuffer(memory, number_of)


def taken_message(reader: BodyReader, buffer: MessageBuffer, span: Span, after: tree.Operand | None = None) -> tree.Operand:
    """Append what puts elements into a message, and return it: those of a buffer, or so many elements after its first."""
    start = after or number_operand(0, span)
    if reader.single:
        return buffer.memory.element(start)
    message = reader.register("$message", span, call_operand("new", (buffer.count,), span))
    _fill(reader, message, buffer, span, start)
    return message


def _fill(reader: BodyReader, message: tree.IndexedName, buffer: MessageBuffer, span: Span, start: tree.Operand) -> None:
    def one(at: tree.Operand) -> None:
        moved = at if start == ZERO else binary_operand("+", start, at, span)
        reader.assign(array_cell(message, at), buffer.memory.element(moved), span)

    if buffer.count == ast.NumberLiteral(1):
        one(number_operand(0, span))
    else:
        reader.counted(buffer.count, span, one)


def put_message(
    reader: BodyReader,
    buffer: MessageBuffer,
    message: tree.IndexedName,
    span: Span,
    *,
    start: tree.Operand = ZERO,
    exactly: bool = False,
) -> None:
    """Append what stores a message that came, which is not longer than the buffer, or `exactly` as long."""
    if reader.single:
        reader.assign(buffer.memory.element(start), message, span)
        return
    length = call_operand("len", (message,), span)
    reader.emit(ast.Assert(tree.as_part(binary_operand("==" if exactly else "<=", length, buffer.count, span)), span))

    def one(at: tree.Operand) -> None:
        moved = at if start == ZERO else binary_operand("+", start, at, span)
        reader.assign(buffer.memory.element(moved), array_cell(message, at), span)

    reader.counted(length, span, one)


def array_cell(array: tree.IndexedName, index: tree.Operand) -> tree.IndexedName:
    return tree.IndexedName(array.name, (*array.indices, index), array.span)


def is_single(bodies: Iterable[Cursor]) -> bool:
    """Return whether all messages and collective operations have one element each."""
    for body in bodies:
        for each in body.walk_preorder():
            if cursor_kind(each) == "CALL_EXPR" and str(each.spelling) in COUNTS:
                arguments = mpi_arguments(each)
                if any(constant_value(arguments[at]) != 1 for at in COUNTS[str(each.spelling)]):
                    return False
    return True
