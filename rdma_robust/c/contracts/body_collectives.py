"""Collective operations of MPI in functions with contracts, by the library of `.mp`, whose procedures have contracts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.contracts.body_statements import BodyReader, CallReader
from rdma_robust.c.contracts.body_values import binary_operand, call_operand, handle_value, number_operand
from rdma_robust.c.contracts.message_buffers import (
    MessageBuffer,
    array_cell,
    buffer_at,
    mpi_arguments,
    put_message,
    taken_message,
)
from rdma_robust.c.front.libclang import Cursor
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.diagnose import quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree

_OPERATION_NAMES: Final = {NUMBERS[name]: name for name in ("SUM", "MAX", "MIN", "PROD")}
_BETTER: Final = {"MAX": ">", "MIN": "<"}


def _barrier(reader: BodyReader, call: Cursor) -> None:
    reader.check_communicator(mpi_arguments(call)[0])
    reader.emit(tree.CallLine(call_operand("barrier", (), reader.at(call)), reader.at(call)))


def _positive(reader: BodyReader, count: tree.Operand, span: Span) -> None:
    """Append that a collective operation has elements: without any, MPI does not say for whom it waits."""
    if not isinstance(count, ast.NumberLiteral) or count.value < 1:
        said = "runs in which this collective operation has no elements are not looked at"
        reader.report.warn("RR758", span, said, hint="without any, MPI does not say for whom it waits")
        reader.emit(ast.Assume(tree.as_part(binary_operand(">", count, number_operand(0, span), span)), "assume", span))


def _asked(reader: BodyReader, call: Cursor, buffer: MessageBuffer, communicator: Cursor) -> Span:
    reader.check_communicator(communicator)
    span = reader.at(call)
    _positive(reader, buffer.count, span)
    return span


def _broadcast(reader: BodyReader, call: Cursor) -> None:
    address, count, kind, root, communicator = mpi_arguments(call)
    buffer = buffer_at(reader, address, count, kind)
    span = _asked(reader, call, buffer, communicator)
    message = reader.register("$message", span, taken_message(reader, buffer, span))
    reader.assign(message, call_operand("bcast", (message, reader.values.value(root)), span), span)
    put_message(reader, buffer, message, span, exactly=True)


def _apart(reader: BodyReader, sent: MessageBuffer, target: MessageBuffer, call: Cursor) -> None:
    """Raise UnreadCodeError if a collective operation sends what it stores."""
    if sent.memory.name == target.memory.name:
        hint = "MPI asks for two buffers"
        raise reader.values.unread(f"both buffers are {quote(sent.memory.name)}", call, hint)


def _at_root(reader: BodyReader, root: tree.Operand | None, span: Span, body: Callable[[], None]) -> None:
    """Append what the root alone does, or all processes if there is none."""
    if root is None:
        body()
    else:
        reader.branch(binary_operand("==", tree.OwnNumber(span), root, span), span, body)


def _gathered(reader: BodyReader, value: tree.Operand, root: tree.Operand | None, span: Span) -> tree.IndexedName:
    """Append what gathers values at the root, or at all processes; return the register of the array of them."""
    found = reader.register("$all", span, call_operand("gather", (value, root or number_operand(0, span)), span))
    if root is None:
        reader.assign(found, call_operand("bcast", (found, number_operand(0, span)), span), span)
    return found


def _all(reader: BodyReader, span: Span, body: Callable[[tree.Operand], None], low: tree.Operand | None = None) -> None:
    reader.counted(tree.ProcessCount(span), span, body, low)


def _reduced(reader: BodyReader, call: Cursor, root: Cursor | None, communicator: Cursor) -> None:
    address, target, count, kind, operation, *_ = mpi_arguments(call)
    sent, result = buffer_at(reader, address, count, kind), buffer_at(reader, target, count, kind)
    _apart(reader, sent, result, call)
    span = _asked(reader, call, sent, communicator)
    name = _OPERATION_NAMES.get(handle_value(operation) or 0, "")
    if not name:
        hint = "MPI_SUM, MPI_MAX, MPI_MIN and MPI_PROD are"
        raise reader.values.unread("this operation is not read", operation, hint)
    at = None if root is None else reader.values.value(root)

    def one(place: tree.Operand) -> None:
        value = reader.register("$value", span, sent.memory.element(place))
        if name == "SUM" and at is not None:
            reader.assign(value, call_operand("reduce", (value, at), span), span)
        elif name == "SUM":
            reader.assign(value, call_operand("allreduce", (value,), span), span)
        else:
            everything = _gathered(reader, value, at, span)
            _at_root(reader, at, span, lambda: _fold(reader, name, everything, value, span))
        _at_root(reader, at, span, lambda: reader.assign(result.memory.element(place), value, span))

    if sent.count == ast.NumberLiteral(1):
        one(number_operand(0, span))
    else:
        reader.counted(sent.count, span, one)


def _fold(reader: BodyReader, name: str, values: tree.IndexedName, into: tree.IndexedName, span: Span) -> None:
    """Append what combines gathered values in the order of processes."""
    reader.assign(into, array_cell(values, number_operand(0, span)), span)

    def one(at: tree.Operand) -> None:
        each = array_cell(values, at)
        if name == "PROD":
            reader.assign(into, binary_operand("*", into, each, span), span)
        else:
            reader.branch(binary_operand(_BETTER[name], each, into, span), span, lambda: reader.assign(into, each, span))

    _all(reader, span, one, number_operand(1, span))


def _reduce(reader: BodyReader, call: Cursor) -> None:
    _reduced(reader, call, mpi_arguments(call)[5], mpi_arguments(call)[6])


def _allreduce(reader: BodyReader, call: Cursor) -> None:
    _reduced(reader, call, None, mpi_arguments(call)[5])


def _block(buffer: MessageBuffer, at: tree.Operand, span: Span) -> tree.Operand:
    """Return where the block of a process begins in a buffer that has one for each."""
    return at if buffer.count == ast.NumberLiteral(1) else binary_operand("*", at, buffer.count, span)


def _gather_at(reader: BodyReader, call: Cursor, root: Cursor | None, communicator: Cursor) -> None:
    arguments = mpi_arguments(call)
    sent, target = buffer_at(reader, *arguments[:3]), buffer_at(reader, *arguments[3:6])
    _apart(reader, sent, target, call)
    span = _asked(reader, call, sent, communicator)
    at = None if root is None else reader.values.value(root)
    everything = _gathered(reader, taken_message(reader, sent, span), at, span)

    def one(each: tree.Operand) -> None:
        start = _block(target, each, span)
        put_message(reader, target, array_cell(everything, each), span, start=start, exactly=True)

    _at_root(reader, at, span, lambda: _all(reader, span, one))


def _gather(reader: BodyReader, call: Cursor) -> None:
    _gather_at(reader, call, mpi_arguments(call)[6], mpi_arguments(call)[7])


def _allgather(reader: BodyReader, call: Cursor) -> None:
    _gather_at(reader, call, None, mpi_arguments(call)[6])


def _blocks(reader: BodyReader, buffer: MessageBuffer, into: tree.IndexedName, span: Span) -> None:
    """Append what fills an array with the blocks of all processes."""
    _all(
        reader,
        span,
        lambda each: reader.assign(
            array_cell(into, each), taken_message(reader, buffer, span, _block(buffer, each, span)), span
        ),
    )


def _scatter(reader: BodyReader, call: Cursor) -> None:
    arguments = mpi_arguments(call)
    sent, target, root = (
        buffer_at(reader, *arguments[:3]),
        buffer_at(reader, *arguments[3:6]),
        reader.values.value(arguments[6]),
    )
    _apart(reader, sent, target, call)
    span = _asked(reader, call, target, arguments[7])
    everything = reader.register("$all", span, call_operand("new", (number_operand(0, span),), span))

    def fill() -> None:
        reader.assign(everything, call_operand("new", (tree.ProcessCount(span),), span), span)
        _blocks(reader, sent, everything, span)

    _at_root(reader, root, span, fill)
    message = reader.register("$message", span, call_operand("scatter", (everything, root), span))
    put_message(reader, target, message, span, exactly=True)


def _alltoall(reader: BodyReader, call: Cursor) -> None:
    arguments = mpi_arguments(call)
    sent, target = buffer_at(reader, *arguments[:3]), buffer_at(reader, *arguments[3:6])
    _apart(reader, sent, target, call)
    span = _asked(reader, call, sent, arguments[6])
    everything = reader.register("$all", span, call_operand("new", (tree.ProcessCount(span),), span))
    _blocks(reader, sent, everything, span)

    def one(each: tree.Operand) -> None:
        message = reader.register("$message", span, call_operand("scatter", (everything, each), span))
        put_message(reader, target, message, span, start=_block(target, each, span), exactly=True)

    _all(reader, span, one)


COLLECTIVES: Final[Mapping[str, CallReader]] = {
    "MPI_Barrier": _barrier,
    "MPI_Bcast": _broadcast,
    "MPI_Reduce": _reduce,
    "MPI_Allreduce": _allreduce,
    "MPI_Gather": _gather,
    "MPI_Allgather": _allgather,
    "MPI_Scatter": _scatter,
    "MPI_Alltoall": _alltoall,
}
"""The collective operations that are read, each with what it is in `.mp`."""

_BOTH: Final = frozenset({"gather", "bcast"})
NEEDED: Final[Mapping[str, frozenset[str]]] = {
    "MPI_Barrier": frozenset({"barrier"}),
    "MPI_Bcast": frozenset({"bcast"}),
    "MPI_Reduce": frozenset({"reduce", "gather"}),
    "MPI_Allreduce": _BOTH | {"allreduce"},
    "MPI_Gather": frozenset({"gather"}),
    "MPI_Allgather": _BOTH,
    "MPI_Scatter": frozenset({"scatter"}),
    "MPI_Alltoall": frozenset({"scatter"}),
}
"""The procedures of the library that they are made of: a function of the file that has such a name hides it."""
