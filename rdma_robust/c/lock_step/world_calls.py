"""MPI: begin and end of processes, communicators, groups and types; and all calls that evaluation in lock step knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from rdma_robust.c.evaluate.annotations import ANNOTATIONS
from rdma_robust.c.evaluate.atomics import ATOMICS
from rdma_robust.c.evaluate.c_values import Pointer, UnknownValue, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, given
from rdma_robust.c.evaluate.libc import LIBC, RANDOM, unknown_result
from rdma_robust.c.evaluate.mpi.datatypes import DATATYPES
from rdma_robust.c.evaluate.mpi.mpi_calls import MPI
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.operations import Chain
from rdma_robust.c.evaluate.pthreads import THREADS
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shared_texts import SHARED_TEXTS
from rdma_robust.c.libraries.mpi import DECLARATIONS, NUMBERS, ROWS
from rdma_robust.c.lock_step.call_arguments import (
    check_pointers,
    communicator_at,
    datatype_at,
    group_members,
    mpi_handle,
    operation_at,
    wrong,
)
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.collective_entries import CollectiveEntry, all_enter
from rdma_robust.c.lock_step.collective_forms import COLLECTIVE_CALLS
from rdma_robust.c.lock_step.grids import Grid
from rdma_robust.c.lock_step.message_calls import MESSAGE_CALLS
from rdma_robust.c.lock_step.polling_calls import POLLING_CALLS
from rdma_robust.c.lock_step.probe_calls import PROBE_CALLS
from rdma_robust.c.lock_step.rank_machine import Blocked, RankMachine, rank_of
from rdma_robust.c.lock_step.request_calls import REQUEST_CALLS
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.c.lock_step.topology_calls import TOPOLOGY_CALLS, grid_of, grid_said, numbers_at
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


# communicators and groups


def _number(find: Callable[[CallContext, Communicator], int]) -> Handler:
    def handler(call: CallContext) -> Result:
        call.set_private(call.arguments[1], 4, find(call, communicator_at(call, 0)), "the answer")
        return 0

    return handler


def _own(rank: RankMachine, kind: str, key: tuple[object, ...], name: str, chain: Chain) -> None:
    rank.owned.setdefault((kind, key), []).append((name, chain))


@dataclass(frozen=True, slots=True)
class _NewCommunicator:
    """A new communicator: what tells it from others of its call, its processes in the order of their ranks, its topology."""

    label: str
    members: tuple[int, ...]
    grid: Grid | None = None


def _constructor(
    said: Callable[[CallContext, Communicator], object],
    made: Callable[[CallContext, dict[int, object]], _NewCommunicator | None],
) -> Handler:
    """A call that makes a communicator of what all processes of another one say."""

    def handler(call: CallContext) -> Result:
        rank, group = rank_of(call), communicator_at(call, 0)
        all_enter(call, group, lambda: said(call, group))
        number = rank.collectives[group.name] - 1
        others = rank.job.calls[group.name if group.name != "self" else f"self{rank.number}", number]
        told = {at: each.said for at, each in others.items() if isinstance(each, CollectiveEntry)}
        chosen = made(call, told)
        if chosen is None:
            call.set_private(call.arguments[-1], 8, 0, "this communicator")
            return 0
        key = (f"{group.name or 'world'}_{number}_{chosen.label}", *(f"P{each}" for each in chosen.members))
        if chosen.grid is not None:
            rank.job.grids[key[0]] = chosen.grid
        store_handle(call, call.arguments[-1], "communicator", key)
        _own(rank, "communicator", key, call.name, call.chain)
        return 0

    return handler


def _split_said(call: CallContext, group: Communicator) -> object:
    return call.number(1, "the colour"), call.number(2, "the key"), group.rank(rank_of(call).number)


def _split_made(call: CallContext, told: dict[int, object]) -> _NewCommunicator | None:
    own = told[rank_of(call).number]
    assert isinstance(own, tuple)
    if own[0] == NUMBERS["UNDEFINED"]:
        return None
    if own[0] < 0:
        raise wrong(call, "invalid-argument", f"the colour is {own[0]}")
    chosen = sorted((each[1], each[2], at) for at, each in told.items() if isinstance(each, tuple) and each[0] == own[0])
    return _NewCommunicator(str(own[0]), tuple(at for _, _, at in chosen))


def _dup_made(call: CallContext, _: dict[int, object]) -> _NewCommunicator:
    group = communicator_at(call, 0)
    return _NewCommunicator("dup", group.members, rank_of(call).job.grids.get(group.name))


def _cart_made(call: CallContext, told: dict[int, object]) -> _NewCommunicator | None:
    grid, group = told[rank_of(call).number], communicator_at(call, 0)
    assert isinstance(grid, Grid)
    if any(each != grid for each in told.values()):
        raise wrong(call, "invalid-argument", "processes ask for different topologies")
    members = group.members[: prod(grid.lengths)]
    return _NewCommunicator("cart", members, grid) if rank_of(call).number in members else None


def _sub_said(call: CallContext, group: Communicator) -> object:
    return numbers_at(call, 1, len(grid_of(call, group).lengths), "the list of dimensions that remain")


def _sub_made(call: CallContext, told: dict[int, object]) -> _NewCommunicator:
    """The part of a topology that some dimensions span: who has the same coordinates in the others is in it."""
    group, kept = communicator_at(call, 0), told[rank_of(call).number]
    grid = grid_of(call, group)
    assert isinstance(kept, tuple)
    if any(each != kept for each in told.values()):
        raise wrong(call, "invalid-argument", "processes keep different dimensions")

    def others(rank: int) -> tuple[int, ...]:
        return tuple(at for at, stays in zip(grid.coordinates(rank), kept, strict=True) if not stays)

    own = others(group.rank(rank_of(call).number))
    members = tuple(each for rank, each in enumerate(group.members) if others(rank) == own)
    dimensions = [each for each, stays in zip(zip(grid.lengths, grid.periods, strict=True), kept, strict=True) if stays]
    part = Grid(tuple(each for each, _ in dimensions), tuple(each for _, each in dimensions))
    return _NewCommunicator("sub" + "_".join(map(str, own)), members, part)


def _create_made(call: CallContext, told: dict[int, object]) -> _NewCommunicator | None:
    members = told[rank_of(call).number]
    assert isinstance(members, tuple)
    return _NewCommunicator("group" + "_".join(map(str, members)), members) if rank_of(call).number in members else None


def _freed(kind: str, what: str, null: int = 0) -> Handler:
    """A call that frees what a handle is, and makes it null."""

    def handler(call: CallContext) -> Result:
        rank = rank_of(call)
        found = known_scalar(call.private(call.arguments[0], 8, f"this {what}"))
        if not isinstance(found, Pointer) or found.object.name != kind:
            said = "null" if found == null else "predefined" if isinstance(found, int) else "not initialised"
            raise wrong(call, f"invalid-{what}", f"the {what} is {said}")
        if not rank.owned.get((kind, found.object.key)):
            raise wrong(call, f"invalid-{what}", f"the {what} is freed already")
        rank.owned[kind, found.object.key].pop()
        if not rank.owned[kind, found.object.key]:
            rank.committed.discard(found.object.key)
        call.set_private(call.arguments[0], 8, null, f"this {what}")
        return 0

    return handler


def _made(kind: str, handler: Handler) -> Handler:
    """A call that makes a handle, of its last argument."""

    def counted(call: CallContext) -> Result:
        for index, letter in enumerate(ROWS[call.name.removeprefix("MPI_")]):
            if letter == "t":
                datatype_at(call, index, used=False)
        for value in call.arguments[:-1]:
            found = known_scalar(value)
            is_own = isinstance(found, Pointer) and (found.object.kind, found.object.name) == ("handle", kind)
            if isinstance(found, Pointer) and is_own and not rank_of(call).owned.get((kind, found.object.key)):
                raise wrong(call, f"invalid-{'datatype' if kind == 'type' else kind}", "the handle is freed")
        result = handler(call)
        stored = known_scalar(call.private(call.arguments[-1], 8, "this handle"))
        if isinstance(stored, Pointer):
            _own(rank_of(call), kind, stored.object.key, call.name, call.chain)
        return result

    return counted


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


def _group_of(call: CallContext) -> Result:
    store_handle(call, call.arguments[1], "group", tuple(f"P{each}" for each in communicator_at(call, 0).members))
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
_GROUPS: Final = ("MPI_Group_incl", "MPI_Group_excl")
_TYPES: Final = {
    name: handler if name.startswith(("MPI_Get", "MPI_Aint")) or name in ("MPI_Type_size", "MPI_Type_get_extent",
    "MPI_Type_get_true_extent") else _made("type", handler)
    for name, handler in DATATYPES.items()
}  # fmt: skip
_IDLE: Final = """
Info_create Info_set Info_free Errhandler_free Comm_set_errhandler Comm_set_name Free_mem Buffer_attach Buffer_detach
"""
_CALLS: Final[dict[str, Handler]] = {
    **{f"MPI_{name}": given(0) for name in _IDLE.split()},
    **_TYPES,
    **MESSAGE_CALLS,
    **PROBE_CALLS,
    **REQUEST_CALLS,
    **POLLING_CALLS,
    **COLLECTIVE_CALLS,
    **WINDOW_CALLS,
    **TRANSFER_CALLS,
    **{name: _made("group", MPI[name]) for name in _GROUPS},
    "MPI_Finalize": _finalize,
    "MPI_Abort": _abort,
    "MPI_Comm_rank": _number(lambda call, group: group.rank(rank_of(call).number)),
    "MPI_Comm_size": _number(lambda _, group: len(group.members)),
    "MPI_Comm_dup": _constructor(lambda *_: None, _dup_made),
    "MPI_Comm_split": _constructor(_split_said, _split_made),
    "MPI_Cart_create": _constructor(grid_said, _cart_made),
    "MPI_Cart_sub": _constructor(_sub_said, _sub_made),
    **TOPOLOGY_CALLS,
    "MPI_Comm_create": _constructor(lambda call, _: group_members(call, 1), _create_made),
    "MPI_Comm_free": _freed("communicator", "communicator"),
    "MPI_Comm_group": _made("group", _group_of),
    "MPI_Group_rank": MPI["MPI_Group_rank"],
    "MPI_Group_size": MPI["MPI_Group_size"],
    "MPI_Group_free": _freed("group", "group"),
    "MPI_Type_commit": _commit,
    "MPI_Type_free": _freed("type", "datatype"),
    "MPI_Op_create": _made("operation", _op_create),
    "MPI_Op_commutative": _op_commutative,
    "MPI_Op_free": _freed("operation", "operation"),
    "MPI_Get_processor_name": _processor_name,
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
