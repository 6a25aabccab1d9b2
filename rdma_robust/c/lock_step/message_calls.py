"""Sends, receives and probes of MPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Literal, TypeVar

from rdma_robust.c.evaluate.c_values import Scalar, UnknownValue, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, further
from rdma_robust.c.evaluate.mpi.datatypes import datatype_of
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.libraries.mpi import NUMBERS, STATUS_IGNORE
from rdma_robust.c.lock_step.call_arguments import PROC_NULL, Envelope, envelope_at, peer_at, tag_at, with_arguments, wrong
from rdma_robust.c.lock_step.channels import ANY, Communicator, Message, PostedReceive
from rdma_robust.c.lock_step.message_layouts import NOTHING, delivered_into, forget, message_data
from rdma_robust.c.lock_step.rank_machine import Blocked, Facts, RankMachine, rank_of
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language import message_program as mp

RECEIVED: Final = "v"
"""The register that receives of a program of messages store into: the data itself is followed here."""
SENDER, TAG, FLAG = "s", "t", "f"
"""The registers for sender and tag of a message, and for whether a test has succeeded."""
_SEND, _RECEIVE = mp.Place("$send"), mp.Place("$recv")
NULL_STATUS: Final = (PROC_NULL, ANY, 0)
R = TypeVar("R", bound=RequestRecord)


# operations


def issue_send(rank: RankMachine, state: State, record: RequestRecord, envelope: Envelope, mode: mp.SendMode) -> None:
    """Issue a message: its data is what is there now."""
    record.status = None
    if envelope.peer == PROC_NULL:
        rank.begin(record, None, writes=False)
        return
    rank.note_layout(state, envelope.layout, is_write=False)
    payload = message_data(rank, state, envelope.layout)
    port, span = rank.job.port(envelope.communicator.name), rank.job.place(record.chain)
    kind = None if payload.basic is None else Const(payload.basic)
    to, tag, size = Const(envelope.peer), Const(envelope.tag), Const(payload.size)
    carried = Const(rank.job.number_of((port, rank.number, envelope.peer, envelope.tag), payload))
    at = rank.emit(mp.IssueSend(record.places[0], carried, to, port, tag, span, mode, kind, size))
    if mode == "sync":  # it is over behind the call that receives, which is not followed
        rank.job.unordered = f"{record.call} of line {record.chain[0].line}"
    rank.sent += 1
    name = envelope.communicator.name
    message = Message(name, rank.number, envelope.peer, envelope.tag, payload, at, rank.stamp(), rank.sent)
    rank.job.channels.send(message)
    rank.begin(record, envelope.layout, writes=False)


def issue_receive(rank: RankMachine, state: State, record: RequestRecord, envelope: Envelope) -> None:
    """Post a receive."""
    record.status = NULL_STATUS
    if envelope.peer == PROC_NULL:
        rank.begin(record, None, writes=True)
        return
    rank.note_layout(state, envelope.layout, is_write=True)
    layout, group = envelope.layout, envelope.communicator
    source = None if envelope.peer == ANY else Const(envelope.peer)
    tag = None if envelope.tag == ANY else Const(envelope.tag)
    kind = None if layout.basic is None else Const(layout.basic)
    port, place = rank.job.port(group.name), record.places[0]
    number = suffix_of(place)
    at = rank.emit(
        mp.IssueReceive(
            place,
            received_into(rank, place),
            source,
            port,
            tag,
            mp.Place(f"{SENDER}{number}") if rank.follows and source is None else None,
            mp.Place(f"{TAG}{number}") if rank.follows and tag is None else None,
            span=rank.job.place(record.chain),
            of_type=kind,
            room=Const(layout.size),
        )
    )
    rank.questions += 1
    record.question = rank.questions
    receive = PostedReceive(group.name, rank.number, envelope.peer, envelope.tag, layout, at, rank.questions)
    rank.job.channels.post(receive)

    record.is_ready = lambda: rank.job.channels.may_complete(receive)
    record.finish = partial(_finish_receive, rank, record, receive, group)
    rank.begin(record, layout, writes=True)


def _finish_receive(
    rank: RankMachine, record: RequestRecord, receive: PostedReceive, group: Communicator, now: State
) -> None:
    """Store what a receive has taken, if that is known, and say it in the status of its request."""
    message = receive.message
    if receive.is_open or message is None:
        reason = f"what {record.call} of line {record.chain[0].line} takes, which may differ from run to run"
        rank.job.unordered, rank.job.is_open = reason, True
        forget(rank, now, [receive.layout], reason)
        unknown = UnknownValue(reason)
        known = group.peers.index(receive.source) if receive.source != ANY else unknown
        record.status = known, unknown if receive.tag == ANY else receive.tag, unknown
        return
    rank.join(message.clock)
    channel, place = (rank.job.port(group.name), message.sender, rank.number, message.tag), record.places[0]
    carried = Name(received_into(rank, place).name), rank.job.number_of(channel, message.payload)
    rank.learn(carried, *told_by(message, receive, suffix_of(place)))
    delivered_into(rank, now, message.payload, receive.layout)
    record.status = group.peers.index(message.sender), message.tag, min(message.payload.size, receive.layout.size)


def suffix_of(request: mp.Place) -> str:
    """Return what names the registers of a request apart from those of others that are active at the same time."""
    return request.name[1:] if request.name.startswith("r") else ""


def received_into(rank: RankMachine, request: mp.Place) -> mp.Place:
    """Return the register that a receive stores into: one for each request where every way is followed."""
    return mp.Place(f"{RECEIVED}{suffix_of(request) if rank.follows else ''}")


def told_by(message: Message, pattern: PostedReceive, number: str = "") -> Facts:
    """Return what a receive or a probe tells of its message, where its pattern does not."""
    sender = ((Name(f"{SENDER}{number}"), message.sender),) if pattern.source == ANY else ()
    return (*sender, *(((Name(f"{TAG}{number}"), message.tag),) if pattern.tag == ANY else ()))


def new_record(rank: RankMachine, call: CallContext, places: tuple[mp.Place, ...]) -> RequestRecord:
    """Return a new request of a process."""
    return number_request(rank, RequestRecord(0, call.name, call.chain, places))


def number_request(rank: RankMachine, record: R) -> R:
    """Return a request that is one of a process now, whose handles name it by its number."""
    record.number = max(rank.requests, default=0) + 1
    rank.requests[record.number] = record
    return record


def _awaited(rank: RankMachine) -> tuple[RequestRecord, ...]:
    """Complete the requests of the call that is ongoing. Raises Blocked while one is not ready."""
    records = rank.ongoing
    assert isinstance(records, tuple)
    if not all(each.is_ready() for each in records):
        raise Blocked
    for each in records:
        rank.complete(each)
    rank.ongoing = None
    return records


def store_status(call: CallContext, address: Value, status: tuple[Value, Value, Value] | None) -> None:
    """Store a status, unless the program ignores it: source, tag, bytes."""
    if status is None or known_scalar(address) == STATUS_IGNORE:
        return
    for offset, value in zip((0, 4, 12), status, strict=True):
        call.set_private(further(address, offset), 4, value, "this status")


# blocking calls


def _send(mode: mp.SendMode) -> Handler:
    def handler(call: CallContext) -> Result:
        rank, envelope = rank_of(call), envelope_at(call, 0, 5, receives=False)
        record = new_record(rank, call, () if envelope.peer == PROC_NULL else (_SEND,))
        issue_send(rank, call.state, record, envelope, mode)
        rank.emit_wait([record], call.chain)
        rank.complete(record)
        return 0

    return handler


def _receive(call: CallContext) -> Result:
    rank = rank_of(call)
    if rank.ongoing is None:
        envelope = envelope_at(call, 0, 5, receives=True)
        record = new_record(rank, call, () if envelope.peer == PROC_NULL else (_RECEIVE,))
        issue_receive(rank, call.state, record, envelope)
        rank.emit_wait([record], call.chain)
        rank.ongoing = (record,)
    (done,) = _awaited(rank)
    store_status(call, call.arguments[6], done.status)
    return 0


def _exchange(call: CallContext, outgoing: Envelope, incoming: Envelope, status: int) -> Result:
    """A send and a receive together: both are issued, and then waited for."""
    rank = rank_of(call)
    if rank.ongoing is None:
        second = new_record(rank, call, () if incoming.peer == PROC_NULL else (_RECEIVE,))
        first = new_record(rank, call, () if outgoing.peer == PROC_NULL else (_SEND,))
        if outgoing.layout == incoming.layout:  # one buffer: its data goes first
            issue_send(rank, call.state, first, outgoing, "standard")
            rank.unused(first)
            issue_receive(rank, call.state, second, incoming)
        else:
            issue_receive(rank, call.state, second, incoming)
            issue_send(rank, call.state, first, outgoing, "standard")
        rank.emit_wait([second, first], call.chain)
        rank.ongoing = (second, first)
    done, _ = _awaited(rank)
    store_status(call, call.arguments[status], done.status)
    return 0


def _sendrecv(call: CallContext) -> Result:
    outgoing, incoming = envelope_at(call, 0, 10, receives=False), envelope_at(call, 5, 10, receives=True)
    if outgoing.layout.overlaps(incoming.layout):
        raise wrong(call, "buffer-alias", "send and receive buffer overlap (use MPI_Sendrecv_replace)")
    return _exchange(call, outgoing, incoming, 11)


def _sendrecv_replace(call: CallContext) -> Result:
    """Buffer, count, type, destination, its tag, source, its tag, communicator, status."""
    outgoing = envelope_at(call, 0, 7, receives=False)
    peer, tag = peer_at(call, 5, outgoing.communicator, any_source=True), tag_at(call, 6, any_tag=True)
    layout = outgoing.layout
    if outgoing.peer == PROC_NULL and peer != PROC_NULL:
        layout = envelope_at_receive(call).layout
    incoming = Envelope(NOTHING if peer == PROC_NULL else layout, peer, tag, outgoing.communicator)
    return _exchange(call, outgoing, incoming, 8)


def envelope_at_receive(call: CallContext) -> Envelope:
    """Return the receiving side of a call with one buffer."""
    arguments = [*call.arguments[:3], call.arguments[5], call.arguments[6], *call.arguments[7:]]
    return envelope_at(with_arguments(call, arguments), 0, 5, receives=True)


# calls with requests


def _isend(mode: mp.SendMode) -> Handler:
    def handler(call: CallContext) -> Result:
        rank, envelope = rank_of(call), envelope_at(call, 0, 5, receives=False)
        record = new_record(rank, call, () if envelope.peer == PROC_NULL else (rank.new_place(),))
        issue_send(rank, call.state, record, envelope, mode)
        store_handle(call, call.arguments[6], "request", (record.number,))
        return 0

    return handler


def _ireceive(call: CallContext) -> Result:
    rank, envelope = rank_of(call), envelope_at(call, 0, 5, receives=True)
    record = new_record(rank, call, () if envelope.peer == PROC_NULL else (rank.new_place(),))
    issue_receive(rank, call.state, record, envelope)
    store_handle(call, call.arguments[6], "request", (record.number,))
    return 0


def _persistent(mode: mp.SendMode | None) -> Handler:
    """A request that is made now and issued by each start; without a mode it receives."""

    def handler(call: CallContext) -> Result:
        rank, envelope = rank_of(call), envelope_at(call, 0, 5, receives=mode is None)
        record = new_record(rank, call, ())
        record.is_active = False

        def again(state: State, made: RequestRecord) -> None:
            made.places = () if envelope.peer == PROC_NULL else (rank.new_place(),)
            if mode is None:
                issue_receive(rank, state, made, envelope)
            else:
                issue_send(rank, state, made, envelope, mode)

        record.again = again
        store_handle(call, call.arguments[6], "request", (record.number,))
        return 0

    return handler


# signals and statuses


def exchange_signals(
    call: CallContext, group: Communicator, peers: Sequence[int], tag: int, ways: Sequence[Literal["send", "receive"]]
) -> None:
    """Tell processes something by messages without data, or hear it from all of them, or both. Raises Blocked."""
    rank = rank_of(call)
    if rank.ongoing is None:
        asked = [(way, peer) for way in ways for peer in peers]
        records = [new_record(rank, call, (rank.new_place(),)) for _ in asked]
        for record, (way, peer) in zip(records, asked, strict=True):
            envelope = Envelope(NOTHING, peer, tag, group)
            if way == "send":
                issue_send(rank, call.state, record, envelope, "buffered")
            else:
                issue_receive(rank, call.state, record, envelope)
        rank.emit_wait(records, call.chain)
        rank.ongoing = tuple(records)
    _awaited(rank)


def _get_count(call: CallContext) -> Result:
    """Status, type, where the number of elements goes."""
    size, kind = known_scalar(call.private(further(call.arguments[0], 12), 4, "this status")), datatype_of(call.arguments[1])
    found: Scalar = size
    if isinstance(size, int):
        found = 0 if not kind.size else size // kind.size if size % kind.size == 0 else NUMBERS["UNDEFINED"]
    call.set_private(call.arguments[2], 4, found, "the answer")
    return 0


MODES: Final[Mapping[str, mp.SendMode]] = {"": "standard", "s": "sync", "b": "buffered", "r": "ready"}
"""The modes of sends by the letter in their names."""
MESSAGE_CALLS: Final[dict[str, Handler]] = {
    **{f"MPI_{f'{letter}send'.capitalize()}": _send(mode) for letter, mode in MODES.items()},
    **{f"MPI_I{letter}send": _isend(mode) for letter, mode in MODES.items()},
    "MPI_Recv": _receive,
    "MPI_Irecv": _ireceive,
    "MPI_Sendrecv": _sendrecv,
    "MPI_Sendrecv_replace": _sendrecv_replace,
    **{f"MPI_{f'{letter}send_init'.capitalize()}": _persistent(mode) for letter, mode in MODES.items()},
    "MPI_Recv_init": _persistent(None),
    "MPI_Get_count": _get_count,
    "MPI_Get_elements": _get_count,
}
