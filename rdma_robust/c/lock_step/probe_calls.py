"""Probes of MPI: looks for messages, those that take what they see, and the receives of what was taken."""

from __future__ import annotations

from typing import Final

from rdma_robust.c.evaluate.c_values import Pointer, Scalar, UnknownValue, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.c.lock_step.call_arguments import (
    PROC_NULL,
    communicator_at,
    count_at,
    datatype_at,
    layout_of,
    peer_at,
    tag_at,
    wrong,
)
from rdma_robust.c.lock_step.channels import ANY, Message, PostedReceive
from rdma_robust.c.lock_step.message_calls import (
    FLAG,
    NULL_STATUS,
    SENDER,
    TAG,
    new_record,
    received_into,
    store_status,
    told_by,
)
from rdma_robust.c.lock_step.message_layouts import NOTHING, delivered_into
from rdma_robust.c.lock_step.rank_machine import Blocked, RankMachine, rank_of
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language import message_program as mp

_HANDLE: Final = 8


def _probe(call: CallContext) -> Result:
    probed(call, 3)
    return 0


def probed(call: CallContext, status: int, *, tests: bool = False, takes: bool = False) -> bool:
    """Look for a message: of a source, with a tag, of a communicator. Its status goes to an argument. Return whether there
    is one, which something that only `tests` may always miss. One that `takes` it holds it, for the argument before. Raises
    Blocked."""
    rank, group = rank_of(call), communicator_at(call, 2, has_two_groups=True)
    peer, tag = peer_at(call, 0, group, any_source=True), tag_at(call, 1, any_tag=True)
    if peer == PROC_NULL:
        store_status(call, call.arguments[status], NULL_STATUS)
        if takes:
            call.set_private(call.arguments[status - 1], _HANDLE, NUMBERS["MESSAGE_NO_PROC"], "this message")
        return True
    if takes and not rank.follows:
        rank.job.is_open = True
        raise Refusal("RR814", f"`{call.name}` is not modelled beside windows", "MPI_Probe, or MPI_Iprobe")
    wanted = PostedReceive(group.name, rank.number, peer, tag, NOTHING, 0)
    source, named = None if peer == ANY else Const(peer), None if tag == ANY else Const(tag)
    if rank.ongoing is None:
        sender = mp.Place(SENDER) if rank.follows and source is None else None
        which = mp.Place(TAG) if rank.follows and named is None else None
        seen = mp.Place(FLAG) if tests else None
        port, span, taken = rank.job.port(group.name), rank.job.place(call.chain), rank.new_place() if takes else None
        rank.emit(mp.Probe(source, port, named, sender, which, seen, span, taken))
        rank.questions += 1
        rank.ongoing, rank.taking = (), taken
    message = _probed_message(rank, wanted, tests=tests)
    if message is None and not tests:
        raise Blocked
    rank.ongoing = None
    found = ((Name(FLAG), int(message is not None)),) if tests else ()
    if message is None:
        rank.release([rank.taking] if rank.taking else [])
        rank.learn(*found)
        rank.fails(call.chain, call.name)
        return False
    if not rank.follows and rank.job.channels.is_open_to(wanted):
        rank.job.is_open = True
        unknown = UnknownValue(f"the message that {call.name} of line {call.chain[0].line} sees")
        known: Scalar = unknown if peer == ANY else group.peers.index(peer)
        store_status(call, call.arguments[status], (known, unknown if tag == ANY else tag, unknown))
    else:
        if rank.taking is not None:
            message.is_taken = True
            rank.held[rank.questions] = message, rank.taking, group.peers.index(message.sender)
            store_handle(call, call.arguments[status - 1], "message", (rank.questions,))
        rank.join(message.clock)
        rank.learn(*found, *told_by(message, wanted))
        store_status(call, call.arguments[status], (group.peers.index(message.sender), message.tag, message.payload.size))
    return True


def _probed_message(rank: RankMachine, wanted: PostedReceive, *, tests: bool) -> Message | None:
    """Return the message that a probe sees: the first that fits, or one that was decided, or none where it only `tests`.
    Raises Blocked until then."""
    channels, key = rank.job.channels, (wanted.communicator, wanted.receiver)
    if channels.decided is None:
        return channels.first(wanted)
    waiting = channels.settle(key, channels.decided)
    possible = channels.possible(wanted, waiting)
    is_closed = channels.is_closed(wanted, waiting, possible, rank.others())
    answer = rank.answer([each.answer for each in possible] + [()] * tests, is_closed=is_closed)
    return channels.message(key, answer)


def _mprobe(call: CallContext) -> Result:
    """Source, tag, communicator, where the message goes, status."""
    probed(call, 4, takes=True)
    return 0


def _receive_taken(call: CallContext, message: int) -> RequestRecord:
    """Issue the receive of a message that a probe has taken: buffer, number, type; the message is an argument."""
    rank, count, kind = rank_of(call), count_at(call, 1), datatype_at(call, 2)
    name, offset = call.address(message, "this message")
    found = known_scalar(call.run.raw_read(call.state, name, offset, _HANDLE))
    if found == NUMBERS["MESSAGE_NO_PROC"]:
        record = new_record(rank, call, ())
        record.status = NULL_STATUS
        return record
    number = int(str(found.object.key[0])) if isinstance(found, Pointer) and found.object.name == "message" else 0
    if number not in rank.held:
        raise wrong(call, "invalid-argument", "the message is MPI_MESSAGE_NULL, or was received already")
    taken, held, source = rank.held.pop(number)
    call.run.raw_write(call.state, name, offset, _HANDLE, 0)
    layout, record = layout_of(call, call.arguments[0], count, kind), new_record(rank, call, (rank.new_place(),))
    rank.note_layout(call.state, layout, is_write=True)
    basic, span, port = layout.basic, rank.job.place(call.chain), rank.job.port(taken.communicator)
    target, of_type = received_into(rank, record.places[0]), None if basic is None else Const(basic)
    room = Const(layout.size)
    at = rank.emit(mp.IssueReceive(record.places[0], target, None, port, None, None, None, span, held, of_type, room))
    rank.release([held])
    posted = PostedReceive(taken.communicator, rank.number, taken.sender, taken.tag, layout, at, message=taken)
    rank.job.channels.receives.setdefault((taken.communicator, rank.number), []).append(posted)

    def finish(state: State) -> None:
        channel = port, taken.sender, rank.number, taken.tag
        rank.learn((Name(target.name), rank.job.number_of(channel, taken.payload)))
        delivered_into(rank, state, taken.payload, layout)
        size = min(taken.payload.size, layout.size)
        record.status = source, taken.tag, size

    record.finish = finish
    rank.begin(record, layout, writes=True)
    return record


def _mrecv(call: CallContext) -> Result:
    """Buffer, number, type, message, status."""
    rank = rank_of(call)
    record = _receive_taken(call, 3)
    rank.emit_wait([record], call.chain)
    rank.complete(record)
    store_status(call, call.arguments[4], record.status)
    return 0


def _imrecv(call: CallContext) -> Result:
    """Buffer, number, type, message, where the request goes."""
    store_handle(call, call.arguments[4], "request", (_receive_taken(call, 3).number,))
    return 0


PROBE_CALLS: Final[dict[str, Handler]] = {
    "MPI_Probe": _probe,
    "MPI_Mprobe": _mprobe,
    "MPI_Mrecv": _mrecv,
    "MPI_Imrecv": _imrecv,
}
