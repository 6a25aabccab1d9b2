"""MPI: begin and end of processes, communicators, groups and types; and all calls that evaluation in lock step knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.annotations import ANNOTATIONS
from rdma_robust.c.evaluate.atomics import ATOMICS
from rdma_robust.c.evaluate.c_values import Pointer, UnknownValue, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, given
from rdma_robust.c.evaluate.libc import LIBC, RANDOM, allocated, unknown_result
from rdma_robust.c.evaluate.mpi.datatypes import DATATYPES, Datatype, ElementRun
from rdma_robust.c.evaluate.mpi.mpi_calls import MPI
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.pthreads import THREADS
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shared_texts import SHARED_TEXTS
from rdma_robust.c.libraries.mpi import DECLARATIONS, NUMBERS
from rdma_robust.c.lock_step.call_arguments import (
    TAG_UB,
    check_pointers,
    communicator_at,
    count_at,
    datatype_at,
    layout_of,
    mpi_handle,
    operation_at,
    wrong,
)
from rdma_robust.c.lock_step.collective_forms import COLLECTIVE_CALLS
from rdma_robust.c.lock_step.communicator_calls import COMMUNICATOR_CALLS
from rdma_robust.c.lock_step.message_calls import MESSAGE_CALLS
from rdma_robust.c.lock_step.message_layouts import BufferLayout, delivered_into, message_data
from rdma_robust.c.lock_step.own_handles import freeing, making
from rdma_robust.c.lock_step.partitioned_calls import PARTITIONED_CALLS
from rdma_robust.c.lock_step.polling_calls import POLLING_CALLS
from rdma_robust.c.lock_step.probe_calls import PROBE_CALLS
from rdma_robust.c.lock_step.rank_machine import Blocked, RankMachine, rank_of
from rdma_robust.c.lock_step.request_calls import REQUEST_CALLS
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.c.lock_step.topology_calls import TOPOLOGY_CALLS
from rdma_robust.c.lock_step.transfer_calls import TRANSFER_CALLS
from rdma_robust.c.lock_step.user_operations import named_operation
from rdma_robust.c.lock_step.window_calls import WINDOW_CALLS, tell_open

# begin and end


def _init(call: CallContext) -> Result:
    rank = rank_of(call)
    if rank.stage != "before":
        raise wrong(
            call, "double-init", "MPI is initialised already" if rank.stage == "inside" else "MPI is finalised already"
        )
    rank.stage = "inside"
    if call.name == "MPI_Init_thread":
        call.set_private(call.arguments[3], 4, call.arguments[2], "the thread level")
    return 0


def _finalize(call: CallContext) -> Result:
    rank = rank_of(call)
    for record in rank.requests.values():
        _tell_request(rank, record)
    for (kind, _), made in rank.owned.items():
        for name, chain in made:
            line = chain[0].line if chain else 0
            rank.wrong("resource-leak", f"the {kind} of {name} (line {line}) is never freed", chain)
    for window in rank.windows.values():
        tell_open(call, window)
    rank.stage = "after"
    return 0


def _tell_request(rank: RankMachine, record: RequestRecord) -> None:
    line = record.chain[0].line if record.chain else 0
    if record.is_active:
        text = f"the request of {record.call} (line {line}) is active at MPI_Finalize"
        rank.wrong("request-leak", text, record.chain)
    elif record.again is not None:
        rank.wrong("request-leak", f"the request of {record.call} (line {line}) is never freed", record.chain)


def _exit(call: CallContext) -> Result:
    rank_of(call).ends(call.chain)
    raise Blocked


def _abort(call: CallContext) -> Result:
    rank_of(call).aborts("violation", f"`{call.name}` is called", call.chain)
    raise Blocked


def _failed(call: CallContext) -> Result:
    rank_of(call).aborts("violation", f"assert({call.text(0)}) is false", call.chain)
    raise Blocked


def _initialized(call: CallContext) -> Result:
    stage = rank_of(call).stage
    found = stage != "before" if call.name == "MPI_Initialized" else stage == "after"
    call.set_private(call.arguments[0], 4, int(found), "the answer")
    return 0


# datatypes and operations


def _commit(call: CallContext) -> Result:
    found = known_scalar(call.private(call.arguments[0], 8, "this datatype"))
    if isinstance(found, UnknownValue):
        raise wrong(call, "invalid-datatype", "the datatype is not initialised")
    if found == 0:
        raise wrong(call, "invalid-datatype", "the datatype is MPI_DATATYPE_NULL")
    if isinstance(found, Pointer):
        if not rank_of(call).owned.get(("type", found.object.key)):
            raise wrong(call, "invalid-datatype", "the datatype is freed")
        rank_of(call).committed.add(found.object.key)
    return 0


def _op_create(call: CallContext) -> Result:
    """Function, whether it commutes, where the operation goes."""
    if known_scalar(call.arguments[0]) == 0:
        raise wrong(call, "invalid-argument", "the function is NULL")
    commutes = call.number(1, "whether the operation commutes")
    store_handle(call, call.arguments[2], "operation", (named_operation(call, 0), int(commutes != 0)))
    return 0


def _op_commutative(call: CallContext) -> Result:
    """Operation, where the answer goes."""
    operation_at(call, 0)
    found = mpi_handle(call, 0, "operation", "operation")
    call.set_private(call.arguments[1], 4, 1 if isinstance(found, int) else int(str(found[1])), "the answer")
    return 0


# packing: elements stand in a buffer one behind the other (MPI 4.1, 5.2)

_BYTES: Final = CType("int", 1)


def _packed(call: CallContext, buffer: int, position: int, size: int, room: int) -> BufferLayout:
    """Return so many bytes at a position of a buffer, which moves behind them. Raises WrongCallError without room."""
    at = call.private(call.arguments[position], 4, "the position")
    if not isinstance(at, int) or at < 0 or at + size > room:
        raise wrong(call, "buffer-overflow", f"{size} bytes at position {at} of a buffer of {room}")
    call.set_private(call.arguments[position], 4, at + size, "the position")
    kind = Datatype((ElementRun(at, "PACKED", _BYTES, size),), 0, size) if size else Datatype((), 0, 0)
    return layout_of(call, call.arguments[buffer], 1, kind)


def _moved(call: CallContext, source: BufferLayout, target: BufferLayout) -> Result:
    rank = rank_of(call)
    rank.note_layout(call.state, source, is_write=False)
    rank.note_layout(call.state, target, is_write=True)
    delivered_into(rank, call.state, message_data(rank, call.state, source), target)
    return 0


def _pack(call: CallContext) -> Result:
    """What is packed: buffer, count, type; where: buffer, bytes, position; communicator."""
    communicator_at(call, 6, has_two_groups=True)
    source = layout_of(call, call.arguments[0], count_at(call, 1), datatype_at(call, 2))
    return _moved(call, source, _packed(call, 3, 5, source.size, call.number(4, "the size of the buffer")))


def _unpack(call: CallContext) -> Result:
    """From where: buffer, bytes, position; what is unpacked: buffer, count, type; communicator."""
    communicator_at(call, 6, has_two_groups=True)
    target = layout_of(call, call.arguments[3], count_at(call, 4), datatype_at(call, 5))
    return _moved(call, _packed(call, 0, 2, target.size, call.number(1, "the size of the buffer")), target)


def _pack_size(call: CallContext) -> Result:
    """Count, type, communicator, where the number of bytes goes."""
    communicator_at(call, 2, has_two_groups=True)
    call.set_private(call.arguments[3], 4, count_at(call, 0) * datatype_at(call, 1, used=False).size, "the answer")
    return 0


# what else there is


def _attribute(call: CallContext) -> Result:
    """Communicator, key, where the address of the value goes, whether there is one."""
    key = call.number(1, "the key")
    communicator_at(call, 0, has_two_groups=True)
    value = {NUMBERS["TAG_UB"]: TAG_UB, NUMBERS["WTIME_IS_GLOBAL"]: 0}.get(key)
    if value is None and key not in (NUMBERS["UNIVERSE_SIZE"], NUMBERS["APPNUM"]):
        raise Refusal("RR814", "this attribute is not modelled", "MPI_TAG_UB")
    if value is not None:
        found = allocated(call, 4, "attribute")
        call.run.raw_write(call.state, found.object, 0, 4, value)
        call.set_private(call.arguments[2], 8, found, "the value")
    call.set_private(call.arguments[3], 4, int(value is not None), "the answer")
    return 0


def _is_main(call: CallContext) -> Result:
    call.set_private(call.arguments[0], 4, 1, "the answer")
    return 0


def _attach(call: CallContext) -> Result:
    rank_of(call).attached = call.arguments[0], call.arguments[1]
    return 0


def _detach(call: CallContext) -> Result:
    """Where the address of the buffer goes, and its size."""
    for argument, size, value in zip(call.arguments, (8, 4), rank_of(call).attached, strict=False):
        call.set_private(argument, size, value, "the buffer that was attached")
    rank_of(call).attached = ()
    return 0


def _processor_name(call: CallContext) -> Result:
    name, offset = call.address(0, "the name")
    for at, each in enumerate(b"node\0"):
        call.run.raw_write(call.state, name, offset + at, 1, each)
    call.set_private(call.arguments[1], 4, 4, "the length")
    return 0


def _nothing_there(call: CallContext) -> Result:
    raise Refusal(
        "RR814",
        f"`{call.name}` is not modelled in programs of messages",
        "messages, requests, collective calls, communicators and datatypes are",
    )


def _no_threads(call: CallContext) -> Result:
    raise Refusal("RR814", f"`{call.name}` beside messages is not modelled", "one thread for each process")


def _inside(handler: Handler) -> Handler:
    """A call that MPI_Init comes before, and MPI_Finalize behind."""

    def checked(call: CallContext) -> Result:
        stage = rank_of(call).stage
        if stage != "inside":
            before = stage == "before"
            said = "it is called before MPI_Init" if before else "it is called after MPI_Finalize"
            raise wrong(call, "not-initialised" if before else "after-finalize", said)
        check_pointers(call)
        try:
            return handler(call)
        except Refusal as refusal:
            if refusal.code in _OF_ARGUMENTS:
                raise wrong(call, "invalid-argument", refusal.message) from None
            raise

    return checked


_OF_ARGUMENTS: Final = ("RR813", "RR818")
"""What evaluation refuses, and what is wrong where MPI gets it: addresses of nothing, and numbers that are none."""
_TYPES: Final = {
    name: handler if name.startswith(("MPI_Get", "MPI_Aint")) or name in ("MPI_Type_size", "MPI_Type_get_extent",
    "MPI_Type_get_true_extent") else making("type", handler)
    for name, handler in DATATYPES.items()
}  # fmt: skip
_IDLE: Final = """
Info_create Info_set Info_free Errhandler_free Comm_set_errhandler Comm_set_name Free_mem
Win_set_errhandler Win_set_name Type_set_name
"""
_CALLS: Final[dict[str, Handler]] = {
    **{f"MPI_{name}": given(0) for name in _IDLE.split()},
    **_TYPES,
    **MESSAGE_CALLS,
    **PROBE_CALLS,
    **REQUEST_CALLS,
    **POLLING_CALLS,
    **PARTITIONED_CALLS,
    **COLLECTIVE_CALLS,
    **WINDOW_CALLS,
    **TRANSFER_CALLS,
    "MPI_Finalize": _finalize,
    "MPI_Abort": _abort,
    **COMMUNICATOR_CALLS,
    "MPI_Pack": _pack,
    "MPI_Unpack": _unpack,
    "MPI_Pack_size": _pack_size,
    **TOPOLOGY_CALLS,
    "MPI_Type_commit": _commit,
    "MPI_Type_free": freeing("type", "datatype"),
    "MPI_Op_create": making("operation", _op_create),
    "MPI_Op_commutative": _op_commutative,
    "MPI_Op_free": freeing("operation", "operation"),
    "MPI_Buffer_attach": _attach,
    "MPI_Buffer_detach": _detach,
    "MPI_Get_processor_name": _processor_name,
    "MPI_Comm_get_attr": _attribute,
    "MPI_Is_thread_main": _is_main,
    "MPI_Alloc_mem": MPI["MPI_Alloc_mem"],
    "MPI_Error_string": MPI["MPI_Error_string"],
}
_ANY_TIME: Final[dict[str, Handler]] = {
    "MPI_Init": _init,
    "MPI_Init_thread": _init,
    "MPI_Initialized": _initialized,
    "MPI_Finalized": _initialized,
    "MPI_Wtime": unknown_result,
    "MPI_Wtick": unknown_result,
}
LIBRARY: Final[Mapping[str, Handler]] = {
    **LIBC,
    **dict.fromkeys(RANDOM, unknown_result),
    **SHARED_TEXTS,
    **ATOMICS,
    **ANNOTATIONS,
    **dict.fromkeys(THREADS, _no_threads),
    **dict.fromkeys(("exit", "_exit", "_Exit", "quick_exit"), _exit),
    **dict.fromkeys(("abort", "__builtin_trap", "__builtin_unreachable"), _abort),
    "__assert_fail": _failed,
    **{name: _inside(_CALLS.get(name, _nothing_there)) for name in DECLARATIONS},
    **_ANY_TIME,
}
"""All calls that evaluation in lock step knows by name."""
