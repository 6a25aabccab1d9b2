"""Handles of MPI that a process makes and frees: what it owns has to be freed before MPI_Finalize, and once."""

from __future__ import annotations

from rdma_robust.c.evaluate.c_values import Pointer, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.operations import Chain
from rdma_robust.c.libraries.mpi import ROWS
from rdma_robust.c.lock_step.call_arguments import datatype_at, wrong
from rdma_robust.c.lock_step.rank_machine import RankMachine, rank_of


def own_handle(rank: RankMachine, kind: str, key: tuple[object, ...], name: str, chain: Chain) -> None:
    """Note that a process has made what a handle is."""
    rank.owned.setdefault((kind, key), []).append((name, chain))


def freeing(kind: str, what: str, null: int = 0) -> Handler:
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


def making(kind: str, handler: Handler) -> Handler:
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
            own_handle(rank_of(call), kind, stored.object.key, call.name, call.chain)
        return result

    return counted
