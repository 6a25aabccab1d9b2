"""Messages of MPI in functions with contracts, as sends and receives of `.mp`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.contracts.body_collectives import COLLECTIVES
from rdma_robust.c.contracts.body_statements import BodyReader, CallReader
from rdma_robust.c.contracts.body_values import (
    ADDRESS,
    binary_operand,
    call_operand,
    handle_value,
    named_register,
    number_operand,
)
from rdma_robust.c.contracts.message_buffers import MessageBuffer, buffer_at, mpi_arguments, put_message, taken_message
from rdma_robust.c.front.cursors import bare, children, cursor_kind
from rdma_robust.c.front.libclang import Cursor, constant_value, unary_kind
from rdma_robust.c.libraries.mpi import NUMBERS, STATUS_IGNORE
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree

# Messages.


def _to_process(reader: BodyReader, rank: Cursor, span: Span, body: Callable[[], None]) -> None:
    """Append what communicates with a process, which may be none: then nothing is done."""
    if constant_value(rank) == NUMBERS["PROC_NULL"]:
        return
    if not reader.has_no_process:
        body()
        return
    asked = binary_operand("!=", reader.values.value(rank), number_operand(NUMBERS["PROC_NULL"], span), span)
    reader.branch(asked, span, body)


def _send(reader: BodyReader, call: Cursor) -> None:
    address, count, kind, rank, tag, communicator = mpi_arguments(call)
    reader.check_communicator(communicator)
    span = reader.at(call)
    buffer, to, labelled = buffer_at(reader, address, count, kind), reader.values.value(rank), reader.values.value(tag)

    def body() -> None:
        message = taken_message(reader, buffer, span)
        reader.emit(tree.SendLine(None, message, to, None, labelled, span))

    _to_process(reader, rank, span, body)


def _source(reader: BodyReader, rank: Cursor, stored: str, span: Span) -> tree.AnyOf | tree.Operand:
    """Return from whom a message comes."""
    if constant_value(rank) != NUMBERS["ANY_SOURCE"]:
        return reader.values.value(rank)
    return tree.AnyOf(named_register(f"{stored}.MPI_SOURCE", span) if stored else None, span)


def _tag(reader: BodyReader, tag: Cursor, stored: str, span: Span) -> tree.AnyOf | tree.Operand:
    if constant_value(tag) == NUMBERS["ANY_TAG"]:
        return tree.AnyOf(named_register(f"{stored}.MPI_TAG", span) if stored else None, span)
    if reader.has_any_tag and constant_value(tag) is None:
        hint = "write a constant tag, or MPI_ANY_TAG itself"
        raise reader.values.unread("whether this tag is MPI_ANY_TAG is not seen", tag, hint)
    return reader.values.value(tag)


def _status(reader: BodyReader, status: Cursor) -> str:
    """Return the register of a status, '' where it is ignored. Raises UnreadCodeError."""
    if handle_value(status) == STATUS_IGNORE:
        return ""
    found = bare(status)
    if cursor_kind(found) == "UNARY_OPERATOR" and unary_kind(found) == ADDRESS:
        inner = bare(children(found)[0])
        if cursor_kind(inner) == "DECL_REF_EXPR":
            return reader.values.register(inner)
    raise reader.values.unread("this status is not read", status, "write `&status`, or MPI_STATUS_IGNORE")


def _receive(reader: BodyReader, call: Cursor) -> None:
    address, count, kind, rank, tag, communicator, status = mpi_arguments(call)
    reader.check_communicator(communicator)
    span = reader.at(call)
    buffer, stored = buffer_at(reader, address, count, kind), _status(reader, status)
    if stored and reader.has_no_process and handle_value(rank) is None:
        hint = "ask whether it is MPI_PROC_NULL before, and ignore the status"
        raise reader.values.unread("whether a message comes from this process is not seen", rank, hint)
    source, labelled = _source(reader, rank, stored, span), _tag(reader, tag, stored, span)
    _to_process(reader, rank, span, lambda: _received(reader, buffer, (source, labelled, stored), span))


_Pattern = tuple[tree.AnyOf | tree.Operand, tree.AnyOf | tree.Operand, str]


def _received(reader: BodyReader, buffer: MessageBuffer, pattern: _Pattern, span: Span) -> None:
    source, tag, stored = pattern
    message = reader.register("$message", span)

    def receive(source: tree.AnyOf | tree.Operand) -> None:
        reader.emit(tree.ReceiveLine(None, message, source, None, tag, span))

    if reader.has_any_source and not isinstance(source, tree.AnyOf | ast.NumberLiteral):
        anyone = tree.AnyOf(named_register(f"{stored}.MPI_SOURCE", span) if stored else None, span)
        asked = binary_operand("==", source, number_operand(NUMBERS["ANY_SOURCE"], span), span)
        reader.branch(asked, span, lambda: receive(anyone), lambda: receive(source))
    else:
        receive(source)
    _noted(reader, (source, tag, stored), message, span)
    put_message(reader, buffer, message, span)


def _noted(reader: BodyReader, pattern: _Pattern, message: tree.IndexedName, span: Span) -> None:
    """Append what a status is told of a message that came."""
    source, tag, stored = pattern
    if not stored:
        return
    for part, value in (("MPI_SOURCE", source), ("MPI_TAG", tag)):
        if not isinstance(value, tree.AnyOf) and not (part == "MPI_SOURCE" and reader.has_any_source):
            reader.assign(named_register(f"{stored}.{part}", span), value, span)
    count = number_operand(1, span) if reader.single else call_operand("len", (message,), span)
    reader.assign(named_register(f"{stored}.count", span), count, span)


def _send_and_receive(reader: BodyReader, call: Cursor) -> None:
    """A send that does not wait, a receive, and then the wait for the send."""
    arguments = mpi_arguments(call)
    span = reader.at(call)
    reader.check_communicator(arguments[10])
    sent, to, send_tag = (
        buffer_at(reader, *arguments[:3]),
        reader.values.value(arguments[3]),
        reader.values.value(arguments[4]),
    )
    buffer, stored = buffer_at(reader, *arguments[5:8]), _status(reader, arguments[11])
    pattern = _source(reader, arguments[8], stored, span), _tag(reader, arguments[9], stored, span), stored
    name = ast.Ident(reader.new_name("$request"), span)
    request = tree.IndexedName(name, (), span)
    reader.emit(tree.RequestLine((tree.Declarator(name, None, None, span),), span))

    def send() -> None:
        message = taken_message(reader, sent, span)
        reader.emit(tree.SendLine(request, message, to, None, send_tag, span))

    _to_process(reader, arguments[3], span, send)
    _to_process(reader, arguments[8], span, lambda: _received(reader, buffer, pattern, span))
    _to_process(reader, arguments[3], span, lambda: reader.emit(tree.WaitLine((request,), span)))


# What is known of processes and messages.


def _rank(reader: BodyReader, call: Cursor) -> None:
    reader.check_communicator(mpi_arguments(call)[0])
    span = reader.at(call)
    reader.assign(reader.values.array(mpi_arguments(call)[1]).element(), tree.OwnNumber(span), span)


def _size(reader: BodyReader, call: Cursor) -> None:
    reader.check_communicator(mpi_arguments(call)[0])
    span = reader.at(call)
    reader.assign(reader.values.array(mpi_arguments(call)[1]).element(), tree.ProcessCount(span), span)


def _count(reader: BodyReader, call: Cursor) -> None:
    status, _, target = mpi_arguments(call)
    span = reader.at(call)
    reader.assign(reader.values.array(target).element(), named_register(f"{_status(reader, status)}.count", span), span)


MPI_CALLS: Final[Mapping[str, CallReader]] = {
    "MPI_Send": _send,
    "MPI_Recv": _receive,
    "MPI_Sendrecv": _send_and_receive,
    **COLLECTIVES,
    "MPI_Comm_rank": _rank,
    "MPI_Comm_size": _size,
    "MPI_Get_count": _count,
}
"""The functions of MPI that are read, each with what it is in `.mp`."""

_SOURCES: Final = {"MPI_Recv": 3, "MPI_Sendrecv": 8}


def receives_from_any(function: Cursor) -> int:
    """Return how many receives of a function name MPI_ANY_SOURCE themselves."""
    calls = (each for each in function.walk_preorder() if cursor_kind(each) == "CALL_EXPR")
    sources = (mpi_arguments(each)[_SOURCES[str(each.spelling)]] for each in calls if str(each.spelling) in _SOURCES)
    return sum(constant_value(each) == NUMBERS["ANY_SOURCE"] for each in sources)
