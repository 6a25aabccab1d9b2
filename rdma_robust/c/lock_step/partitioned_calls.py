"""Partitioned messages of MPI: a persistent request whose buffer goes in partitions, each as soon as it is marked ready.

The k-th request that a process makes to send to another one, on a communicator with a tag, belongs to the k-th that the
other one makes to receive from it. The two have a port of the program of messages for themselves, where a partition is a
message whose tag is its number. Both sides must have the same partitions; others are refused. Source: MPI 4.1 (2023),
section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, further
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.lock_step.call_arguments import (
    PROC_NULL,
    Envelope,
    count_at,
    datatype_at,
    envelope_at,
    layout_of,
    with_arguments,
    wrong,
)
from rdma_robust.c.lock_step.channels import ANY
from rdma_robust.c.lock_step.message_calls import RECEIVED, issue_receive, issue_send, number_request
from rdma_robust.c.lock_step.message_layouts import NOTHING
from rdma_robust.c.lock_step.polling_calls import test_or_wait
from rdma_robust.c.lock_step.rank_machine import Blocked, RankMachine, rank_of
from rdma_robust.c.lock_step.request_calls import request_with_handle
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.c.lock_step.topology_calls import numbers_at
from rdma_robust.expr import Const
from rdma_robust.messages.language import message_program as mp

_NEVER: Final = "never"
"""What stands for the communicator on which nobody sends."""
_SAME: Final = "as many partitions, of the same size, on both sides"


@dataclass(slots=True)
class PartitionedRequest(RequestRecord):
    """A partitioned request: the process, and the messages of its partitions, None for one that is not marked ready."""

    rank: RankMachine | None = None
    envelopes: tuple[Envelope, ...] = ()
    sends: bool = False
    messages: list[RequestRecord | None] = field(default_factory=list)

    def before_wait(self) -> None:
        """Emit what waits for a partition that nobody marks ready any more: a receive for which there is no message."""
        if self.rank is not None and None in self.messages:
            place, job, me = self.rank.new_place(), self.rank.job, Const(self.rank.number)
            self.rank.emit(mp.IssueReceive(place, mp.Place(RECEIVED), me, job.port(_NEVER), Const(0)))
            self.places += (place,)


def _made(sends: bool) -> Handler:
    """Buffer, partitions, elements of each, type, rank, tag, communicator, info, request."""

    def handler(call: CallContext) -> Result:
        rank, whole, envelopes = rank_of(call), *_envelopes(call, sends=sends)
        made = PartitionedRequest(0, call.name, call.chain, is_active=False, rank=rank, envelopes=envelopes, sends=sends)
        record = number_request(rank, made)
        null, group = whole.peer == PROC_NULL, whole.communicator
        status = (PROC_NULL, ANY, 0) if null else (group.peers.index(whole.peer), whole.tag, whole.layout.size)

        def again(state: State, _: RequestRecord) -> None:
            record.is_active, record.places, record.status = True, (), None if sends else status
            record.messages = [None] * len(envelopes)
            if not sends:
                for at in range(len(envelopes)):
                    _issue(rank, state, record, at)

        record.again, record.is_ready, record.finish = again, lambda: _is_ready(record), lambda _: _finish(rank, record)
        store_handle(call, call.arguments[8], "request", (record.number,))
        return 0

    return handler


def _envelopes(call: CallContext, *, sends: bool) -> tuple[Envelope, tuple[Envelope, ...]]:
    """Return the envelope of a whole buffer, and that of each partition, whose tag is its number. Raises Refusal where the
    other side has other partitions."""
    rank, arguments, count, each = rank_of(call), call.arguments, count_at(call, 1), count_at(call, 2)
    if not sends and call.number(4, "the rank") == ANY:
        raise wrong(call, "invalid-rank", "a partitioned receive names its source")
    whole = envelope_at(with_arguments(call, [arguments[0], count * each, *arguments[3:7]]), 0, 5, receives=not sends)
    kind, group, null = datatype_at(call, 3), whole.communicator, whole.peer == PROC_NULL
    step = each * kind.extent
    layouts = [NOTHING if null else layout_of(call, further(arguments[0], step * at), each, kind) for at in range(count)]
    if null:
        return whole, tuple(replace(whole, layout=each) for each in layouts)
    ends = (rank.number, whole.peer) if sends else (whole.peer, rank.number)
    own, other = (rank.job.partitioned.setdefault((group.name, *ends, whole.tag, way), []) for way in (sends, not sends))
    own.append(tuple(each.size for each in layouts))
    nth = len(own) - 1
    if nth < len(other) and other[nth] != own[nth]:
        if sum(other[nth]) != sum(own[nth]):
            said = f"{sum(own[nth])} bytes in all, and {sum(other[nth])} on the other side"
            raise wrong(call, "invalid-count", said)
        raise Refusal("RR814", "both sides of this partitioned message have other partitions", _SAME)
    port = replace(group, name=f"{group.name} partitioned {whole.tag} {nth} {ends}")
    return whole, tuple(Envelope(each, whole.peer, at, port) for at, each in enumerate(layouts))


def _issue(rank: RankMachine, state: State, record: PartitionedRequest, at: int) -> None:
    """Issue the message of a partition."""
    envelope = record.envelopes[at]
    message = RequestRecord(0, record.call, record.chain, () if envelope.peer == PROC_NULL else (rank.new_place(),))
    if record.sends:
        issue_send(rank, state, message, envelope, "standard")
    else:
        issue_receive(rank, state, message, envelope)
    record.messages[at] = message
    record.places += message.places


def _is_ready(record: PartitionedRequest) -> bool:
    return all(each is not None and (not each.is_active or each.is_ready()) for each in record.messages)


def _finish(rank: RankMachine, record: PartitionedRequest) -> None:
    """Complete the messages of all partitions but those that were waited for."""
    for each in record.messages:
        if each is not None and each.is_active:
            rank.complete(each)
    record.places = ()


def _partitioned(call: CallContext, index: int, *, sends: bool) -> PartitionedRequest:
    """Return the partitioned request that an argument is. Raises WrongCallError for another one."""
    record = request_with_handle(call, call.arguments[index])
    if not isinstance(record, PartitionedRequest) or record.sends != sends:
        raise wrong(call, "invalid-request", f"the request is not one to {'send' if sends else 'receive'} partitions")
    return record


def _partition(call: CallContext, record: PartitionedRequest, at: int) -> int:
    if not 0 <= at < len(record.envelopes):
        raise wrong(call, "invalid-argument", f"partition {at} of {len(record.envelopes)}")
    return at


def _ready(index: int, partitions: Callable[[CallContext], Iterable[int]]) -> Handler:
    """Mark partitions as ready: where the request is, and which partitions."""

    def handler(call: CallContext) -> Result:
        rank, record = rank_of(call), _partitioned(call, index, sends=True)
        if not record.is_active:
            raise wrong(call, "invalid-request", "the request is not started")
        for at in partitions(call):
            if record.messages[_partition(call, record, at)] is not None:
                raise wrong(call, "invalid-request", f"partition {at} is marked ready twice")
            _issue(rank, call.state, record, at)
        return 0

    return handler


def _range(call: CallContext) -> Iterable[int]:
    return range(call.number(0, "the partition"), call.number(1, "the partition") + 1)


def _list(call: CallContext) -> Iterable[int]:
    return numbers_at(call, 1, count_at(call, 0), "a partition")


def _arrival(call: CallContext) -> tuple[RankMachine, RequestRecord | None]:
    """Return what a call asks about: request, partition, where the answer goes. None if that is complete."""
    record = _partitioned(call, 0, sends=False)
    at = _partition(call, record, call.number(1, "the partition"))
    message = record.messages[at] if record.is_active else None
    return rank_of(call), message if message is not None and message.is_active else None


def _wait_for_partition(call: CallContext) -> None:
    """Wait for a partition, whose memory is free then. Raises Blocked."""
    rank, message = _arrival(call)
    if message is None:
        return
    if rank.ongoing is None:
        rank.ongoing = (message,)
        rank.emit_wait(rank.ongoing, call.chain)
    if not message.is_ready():
        raise Blocked
    rank.ongoing = None
    record = _partitioned(call, 0, sends=False)
    record.places = tuple(each for each in record.places if each not in message.places)
    rank.complete(message)


def _has_arrived(call: CallContext) -> bool:
    if _arrival(call)[1] is None:
        return True
    raise Refusal("RR814", "whether a partition has arrived decides something", "MPI_Wait, or a loop that only tests")


PARTITIONED_CALLS: Final[dict[str, Handler]] = {
    "MPI_Psend_init": _made(sends=True),
    "MPI_Precv_init": _made(sends=False),
    "MPI_Pready": _ready(1, lambda call: [call.number(0, "the partition")]),
    "MPI_Pready_range": _ready(2, _range),
    "MPI_Pready_list": _ready(2, _list),
    "MPI_Parrived": test_or_wait(2, {2: 0}, _wait_for_partition, _has_arrived),
}
