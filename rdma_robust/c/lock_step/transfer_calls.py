"""Transfers of MPI between windows beside messages (MPI 4.1, 12.3): put, get, accumulates, and their forms with requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rdma_robust.c.evaluate.c_values import UnknownValue, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.mpi.datatypes import Datatype
from rdma_robust.c.evaluate.one_sided.contributions import reduced
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.libraries.mpi import OPERATIONS
from rdma_robust.c.lock_step.call_arguments import count_at, datatype_at, layout_of, mpi_handle, wrong
from rdma_robust.c.lock_step.message_calls import new_record
from rdma_robust.c.lock_step.message_layouts import NOTHING, BufferLayout, MessageData, delivered_into, forget, message_data
from rdma_robust.c.lock_step.own_windows import OwnWindow, TransferUnderWay
from rdma_robust.c.lock_step.rank_machine import RankMachine, rank_of
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.c.lock_step.window_calls import target_at, window_at
from rdma_robust.c.lock_step.window_conflicts import WindowAccess

_COMBINED: Final = {"SUM": "sum", "PROD": "prod", "MIN": "min", "MAX": "max", "BAND": "and", "BOR": "or", "BXOR": "xor"}
_OPEN: Final = "what a transfer has read or written beside others, whose order is open"


@dataclass(frozen=True, slots=True)
class _Buffer:
    """Arguments that are a buffer: address, number of elements (one if there is none), type."""

    address: int
    count: int | None
    kind: int

    def layout(self, call: CallContext) -> BufferLayout:
        """Return its memory."""
        count = 1 if self.count is None else count_at(call, self.count)
        return layout_of(call, call.arguments[self.address], count, datatype_at(call, self.kind))


@dataclass(frozen=True, slots=True)
class _Transfer:
    """A one-sided call: what it reads here and what it writes here, and the arguments that are rank (displacement behind
    it), number of elements and type there, operation, and window. Without an operation it puts, or gets."""

    origin: tuple[_Buffer, ...]
    result: _Buffer | None
    rank: int
    count: int | None
    kind: int
    operation: int | str | None
    window: int

    def operation_of(self, call: CallContext) -> str:
        """Return the name of its operation, "" for put and get. Raises WrongCallError for none."""
        if self.operation is None or isinstance(self.operation, str):
            return self.operation or ""
        found = mpi_handle(call, self.operation, "operation", "operation")
        if not isinstance(found, int) or not 1 <= found <= len(OPERATIONS):
            said = "MPI_OP_NULL" if found == 0 else "not a predefined one"
            raise wrong(call, "invalid-operation", f"the operation is {said}")
        return OPERATIONS[found - 1]

    def __call__(self, call: CallContext, record: RequestRecord) -> None:
        """Issue it, with what its request is to know."""
        rank, window, operation = rank_of(call), window_at(call, self.window), self.operation_of(call)
        kind = datatype_at(call, self.kind)
        reading = [] if operation == "NO_OP" else [each.layout(call) for each in self.origin]
        writing = None if self.result is None else self.result.layout(call)
        target = target_at(call, self.rank, window)
        if target is None:
            return
        if not window.is_open_for(target):
            raise wrong(call, "epoch", f"no epoch of the window is open for process {window.group.rank(target)}")
        there = self._there(call, window, target, kind)
        for each in (*reading, *([] if writing is None else [writing])):
            _agree(call, each, there)
        for each in reading:
            rank.note_layout(call.state, each, is_write=False)
        if writing is not None:
            rank.note_layout(call.state, writing, is_write=True)
        access = WindowAccess(
            rank.number,
            record.call,
            record.chain[0].line if record.chain else 0,
            there.ranges,
            writes=bool(reading),
            start=tuple(rank.clock),
            combines=(there.predefined, operation) if operation else None,
            elements=tuple((each.name, each.whole) for each in there.runs),
            is_exclusive=window.locks.get(target, False),
        )
        movement = _Movement(rank, rank.job.ranks[target], access, reading, writing, there, operation)
        transfer = TransferUnderWay(record, access, target, movement, reads=not reading)
        if there.object is not None:
            rank.begin_access(there.object, access, of_owner=False)
        for each in reading:
            rank.begin(record, each, writes=False)
        rank.begin(record, writing, writes=True)
        window.under_way.append(transfer)
        record.finish = lambda _: transfer.finish(rank.clock[rank.number]) if writing is not None else None

    def _there(self, call: CallContext, window: OwnWindow, target: int, kind: Datatype) -> BufferLayout:
        """Return the memory of the target. Raises WrongCallError outside of its window."""
        count = 1 if self.count is None else count_at(call, self.count)
        other = rank_of(call).job.ranks[target].windows[window.name]
        at = call.number(self.rank + 1, "the displacement") * other.unit
        if at < 0:
            raise wrong(call, "invalid-argument", f"the displacement is {at // other.unit}")
        runs = tuple(kind.laid_out(count))
        if not any(each.size for each in runs):
            return NOTHING
        low, high = at + min(each.offset for each in runs), at + max(each.offset + each.size for each in runs)
        if other.base is None or low < 0 or high > other.size:
            said = f"bytes {low} to {high} of the window of process {window.group.rank(target)}, which has {other.size}"
            raise wrong(call, "buffer-overflow", said)
        return BufferLayout(other.base.object, other.base.offset + at, runs)


def _agree(call: CallContext, here: BufferLayout, there: BufferLayout) -> None:
    """Raises WrongCallError for two ends whose data differs."""
    if here.size != there.size:
        raise wrong(call, "type-mismatch", f"{here.size} bytes at the origin, {there.size} at the target")
    if here.size and here.basic != there.basic and None not in (here.basic, there.basic):
        raise wrong(call, "type-mismatch", "the elements at the origin and at the target are of other types")


@dataclass(frozen=True, slots=True)
class _Movement:
    """The data that a transfer of a process moves at its end: what it reads here, writes here, and its memory there."""

    rank: RankMachine
    other: RankMachine
    access: WindowAccess
    reading: list[BufferLayout]
    writing: BufferLayout | None
    there: BufferLayout
    operation: str

    def __call__(self) -> None:
        """Move it, where the order with others that overlap is the same in every run; of others nothing is known."""
        rank, other, there = self.rank, self.other, self.there
        if there.object is None:
            return
        if self.writing is not None:
            if self.operation or self.access.is_open:
                forget(rank, rank.state, [self.writing], _OPEN)
            else:
                delivered_into(rank, rank.state, message_data(other, other.state, there), self.writing)
        if not self.access.writes:
            return
        if self.access.is_open or self.operation == "cas":
            forget(other, other.state, [there], _OPEN)
            return
        given = message_data(rank, rank.state, self.reading[0])
        if self.operation not in ("", "REPLACE"):
            given = _combined(message_data(other, other.state, there), given, there, self.operation)
        delivered_into(other, other.state, given, there)


def _combined(old: MessageData, given: MessageData, there: BufferLayout, operation: str) -> MessageData:
    """Return what an accumulate makes of data."""
    block, element = ObjectBytes(), there.runs[0].element
    is_known = operation in _COMBINED and there.basic is not None and element.size <= 8
    width = element.size if is_known else there.size
    for at in range(0, there.size, width):
        values = [known_scalar(each.block.read(at, width, "data")) for each in (old, given)] if is_known else []
        block.write(at, width, reduced(_COMBINED[operation], values, element) if is_known else UnknownValue(_OPEN))
    return MessageData(block, there.size, there.basic)


def _plain(transfer: _Transfer) -> Handler:
    def handler(call: CallContext) -> Result:
        transfer(call, RequestRecord(0, call.name, call.chain))
        return 0

    return handler


def _with_request(transfer: _Transfer) -> Handler:
    def handler(call: CallContext) -> Result:
        record = new_record(rank_of(call), call, ())
        transfer(call, record)
        store_handle(call, call.arguments[-1], "request", (record.number,))
        return 0

    return handler


def _both(name: str, transfer: _Transfer) -> dict[str, Handler]:
    return {f"MPI_{name}": _plain(transfer), f"MPI_R{name.lower()}": _with_request(transfer)}


_ORIGIN: Final = _Buffer(0, 1, 2)
TRANSFER_CALLS: Final[dict[str, Handler]] = {
    **_both("Put", _Transfer((_ORIGIN,), None, 3, 5, 6, None, 7)),
    **_both("Get", _Transfer((), _ORIGIN, 3, 5, 6, None, 7)),
    **_both("Accumulate", _Transfer((_ORIGIN,), None, 3, 5, 6, 7, 8)),
    **_both("Get_accumulate", _Transfer((_ORIGIN,), _Buffer(3, 4, 5), 6, 8, 9, 10, 11)),
    "MPI_Fetch_and_op": _plain(_Transfer((_Buffer(0, None, 2),), _Buffer(1, None, 2), 3, None, 2, 5, 6)),
    "MPI_Compare_and_swap": _plain(
        _Transfer((_Buffer(0, None, 3), _Buffer(1, None, 3)), _Buffer(2, None, 3), 4, None, 3, "cas", 6)
    ),
}
