"""Handles of MPI: what they were made with; groups, communicators and ranks."""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.c.evaluate.c_values import Pointer, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, as_number
from rdma_robust.c.evaluate.one_sided.spmd import own_number, processes_of
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import NUMBERS


def handle_key(value: Value, kind: str) -> tuple[str | int, ...] | None:
    """Return what a handle of a kind was made with, None for a handle of MPI itself."""
    found = known_scalar(value)
    if isinstance(found, Pointer) and found.object.kind == "handle" and found.object.name == kind:
        return tuple(each if isinstance(each, int) else str(each) for each in found.object.key)
    as_number(value, f"this {kind}")
    return None


def known_object(value: Value) -> Pointer | None:
    """Return a value that is an address, None for one that is none."""
    found = known_scalar(value)
    return found if isinstance(found, Pointer) else None


def members(call: CallContext, index: int) -> tuple[str, ...]:
    """Return the processes of a communicator or a group."""
    for kind in ("group", "communicator"):
        found = known_scalar(call.arguments[index])
        if isinstance(found, Pointer) and found.object.name == kind:
            own = found.object.key[1:] if kind == "communicator" else found.object.key
            return tuple(str(each) for each in own)
    number = call.number(index, "this communicator")
    if number == NUMBERS["COMM_WORLD"]:
        return processes_of(call.run.world)
    if number == NUMBERS["COMM_SELF"]:
        return (call.run.process,)
    raise Refusal("RR814", "this communicator is not known here", "MPI_COMM_WORLD, and what MPI_Comm_dup makes of it")


def communicator(call: CallContext, index: int) -> tuple[str, tuple[str, ...]]:
    """Return the name of a communicator, among whose messages its own are told apart, and its processes."""
    found = handle_key(call.arguments[index], "communicator")
    return (str(found[0]) if found else "", members(call, index))


def rank_in(call: CallContext, processes: tuple[str, ...]) -> int:
    """Return the number of this process among processes. Raises RR818 if it is none of them."""
    own = processes_of(call.run.world)[own_number(call)]
    if own not in processes:
        raise Refusal("RR818", f"{own} is none of these processes")
    return processes.index(own)


def process_of_rank(call: CallContext, index: int, processes: tuple[str, ...]) -> str | None:
    """Return the process of a rank, None for `MPI_PROC_NULL`. Raises RR818 if there is none."""
    rank = call.number(index, "the rank")
    if rank == NUMBERS["PROC_NULL"]:
        return None
    if rank == NUMBERS["ANY_SOURCE"]:
        raise Refusal(
            "RR814", "MPI_ANY_SOURCE is not modelled", "the rank that sends; `messages check` has it, for messages alone"
        )
    if not 0 <= rank < len(processes):
        raise Refusal(
            "RR818", f"there is no process {rank} here: there are {len(processes)}", "-n N says how many there are"
        )
    return processes[rank]


def stored(value: Callable[[CallContext], int], address: int) -> Callable[[CallContext], int]:
    """Return a handler that stores a number of four bytes where an argument says."""

    def handler(call: CallContext) -> int:
        call.set_private(call.arguments[address], 4, value(call), "the answer")
        return 0

    return handler
