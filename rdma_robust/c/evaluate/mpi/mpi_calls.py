"""MPI: processes, groups and types, and barriers; and all handlers together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, given
from rdma_robust.c.evaluate.libc import LIBC, allocated, drawn_result
from rdma_robust.c.evaluate.mpi.datatypes import DATATYPES
from rdma_robust.c.evaluate.mpi.epochs import EPOCHS
from rdma_robust.c.evaluate.mpi.handles import (
    communicator,
    members,
    rank_in,
    stored,
)  # fmt: skip
from rdma_robust.c.evaluate.mpi.mpi_collectives import MPI_COLLECTIVES
from rdma_robust.c.evaluate.mpi.point_to_point import MESSAGES
from rdma_robust.c.evaluate.mpi.transfer_requests import REQUESTS
from rdma_robust.c.evaluate.mpi.window_memory import window
from rdma_robust.c.evaluate.mpi.windows import WINDOWS
from rdma_robust.c.evaluate.one_sided.spmd import barrier, store_handle
from rdma_robust.c.evaluate.one_sided.transfers import not_modelled
from rdma_robust.c.evaluate.operations import FENCE
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import DECLARATIONS, NUMBERS


def _init_thread(call: CallContext) -> Result:
    call.set_private(call.arguments[3], 4, call.arguments[2], "the thread level")
    return 0


def _group(call: CallContext) -> Result:
    store_handle(call, call.arguments[1], "group", members(call, 0))
    return 0


def _window_group(call: CallContext) -> Result:
    store_handle(call, call.arguments[1], "group", window(call, 0).processes)
    return 0


def _chosen(is_included: bool) -> Handler:
    def handler(call: CallContext) -> Result:
        processes = members(call, 0)
        ranks: list[int] = []
        for at in range(call.number(1, "the number of ranks")):
            name, offset = call.address(2, "the ranks")
            value = call.run.raw_read(call.state, name, offset + 4 * at, 4)
            if not isinstance(value, int) or not 0 <= value < len(processes):
                raise Refusal("RR818", "a rank of this group is not known here, or there is none", "a constant")
            ranks.append(value)
        kept = ranks if is_included else [rank for rank in range(len(processes)) if rank not in ranks]
        store_handle(call, call.arguments[3], "group", tuple(processes[rank] for rank in kept))
        return 0

    return handler


def _compared(is_of_groups: bool) -> Handler:
    """`MPI_Group_compare`, `MPI_Comm_compare`: two of them, and where the answer goes."""

    def handler(call: CallContext) -> Result:
        first, second = members(call, 0), members(call, 1)
        is_same = is_of_groups or communicator(call, 0)[0] == communicator(call, 1)[0]
        alike = "IDENT" if is_same else "CONGRUENT"
        found = alike if first == second else "SIMILAR" if set(first) == set(second) else "UNEQUAL"
        call.set_private(call.arguments[2], 4, NUMBERS[found], "the answer")
        return 0

    return handler


def _alloc_mem(call: CallContext) -> Result:
    found = allocated(call, call.number(0, "the size of this memory"))
    call.set_private(call.arguments[2], 8, found, "the address of this memory")
    return 0


def _win_sync(call: CallContext) -> Result:
    return call.step([FENCE]) if call.state.is_set_up else 0


def _barrier(call: CallContext) -> Result:
    return barrier(call, members=members(call, 0))


def _finalize(call: CallContext) -> Result:
    return barrier(call)


def _refused(call: CallContext) -> Result:
    raise not_modelled(
        call, "one-sided calls, messages with a known source and tag (MPI_Send, MPI_Irecv), and collectives that block are"
    )


_DONE: Final = """
Init Info_create Info_set Info_free Errhandler_free Comm_set_errhandler Win_set_errhandler Type_commit Type_free Group_free
Comm_free Comm_set_name Win_set_name Win_set_info Free_mem Get_processor_name Error_string
"""
_CALLS: Final[dict[str, Handler]] = {
    **{f"MPI_{name}": given(0) for name in _DONE.split()},
    **DATATYPES,
    **WINDOWS,
    **REQUESTS,
    **EPOCHS,
    **MPI_COLLECTIVES,
    **MESSAGES,
    "MPI_Init_thread": _init_thread,
    "MPI_Finalize": _finalize,
    "MPI_Initialized": stored(lambda _: 1, 0),
    "MPI_Finalized": stored(lambda _: 0, 0),
    "MPI_Abort": LIBC["abort"],
    **dict.fromkeys(("MPI_Wtime", "MPI_Wtick"), drawn_result),
    "MPI_Comm_rank": stored(lambda call: rank_in(call, members(call, 0)), 1),
    "MPI_Comm_size": stored(lambda call: len(members(call, 0)), 1),
    "MPI_Group_rank": stored(lambda call: rank_in(call, members(call, 0)), 1),
    "MPI_Group_size": stored(lambda call: len(members(call, 0)), 1),
    "MPI_Comm_group": _group,
    "MPI_Win_get_group": _window_group,
    "MPI_Group_compare": _compared(is_of_groups=True),
    "MPI_Comm_compare": _compared(is_of_groups=False),
    "MPI_Group_incl": _chosen(is_included=True),
    "MPI_Group_excl": _chosen(is_included=False),
    "MPI_Alloc_mem": _alloc_mem,
    "MPI_Win_sync": _win_sync,
    "MPI_Barrier": _barrier,
}
MPI: Final[Mapping[str, Handler]] = {name: _CALLS.get(name, _refused) for name in DECLARATIONS}
"""The handlers of all functions of MPI that our header declares: those that are not modelled refuse."""
