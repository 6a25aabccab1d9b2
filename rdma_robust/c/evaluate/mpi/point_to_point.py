"""MPI: messages of a known source and tag, or from any where only one can be meant. Those that do not block have requests.

The library reads what is sent until the request is complete: it is put from its memory, on a queue pair of its own. What is
received is stored where the request is waited for; until then nobody may access that memory, and who does is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Final

from rdma_robust.c.evaluate.c_values import known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, further
from rdma_robust.c.evaluate.mpi.handles import communicator, process_of_rank
from rdma_robust.c.evaluate.mpi.mpi_collectives import Message, collective_message
from rdma_robust.c.evaluate.mpi.window_memory import memory_of_windows
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.one_sided.tellings import (
    NextTelling,
    Telling,
    expect,
    hear,
    heard,
    look_whether_told,
    tell,
    tell_late,
)
from rdma_robust.c.evaluate.one_sided.transfers import not_modelled
from rdma_robust.c.evaluate.operations import ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import UnfilledBuffer
from rdma_robust.c.libraries.mpi import NUMBERS, STATUS_IGNORE

ANY: Final = NUMBERS["ANY_TAG"]
RECEIVED: Final = "received"
"""What the handle of a request for a message says instead of a queue pair."""
_Party = tuple[Telling, str, Message | None]
"""A message: what is told, the process at the other end, and where the data is."""


def _sent_message(call: CallContext, first: int, communicator_at: int) -> _Party | None:
    """Return the message that a call sends; None if it is to nobody. Behind the three arguments of the data are the rank and
    the tag."""
    context, processes = communicator(call, communicator_at)
    peer, tag = process_of_rank(call, first + 3, processes), call.number(first + 4, "the tag")
    call.run.world.found.said.add(("message", context, peer, call.run.process, tag))
    return None if peer is None else (Telling(("message", context, tag), "message"), peer, collective_message(call, first))


def _received_message(call: CallContext, first: int, communicator_at: int, status: int | None = None) -> _Party | None:
    """Return the message that a call receives, and store its status where an argument says; None for one from nobody."""
    context, processes = communicator(call, communicator_at)
    any_source, tag = call.number(first + 3, "the rank") == ANY, call.number(first + 4, "the tag")
    peer = None if any_source else process_of_rank(call, first + 3, processes)
    if any_source or (tag == ANY and peer is not None):
        peer, tag = _the_only(call, context, [peer] if peer is not None else processes, tag)
    message = None if peer is None else collective_message(call, first)
    if status is not None and known_scalar(call.arguments[status]) not in (0, STATUS_IGNORE):
        told = (NUMBERS["PROC_NULL"], ANY) if peer is None else (processes.index(peer), tag)
        for offset, value in zip((0, 4, 12), (*told, 0 if message is None else message[1]), strict=True):
            call.set_private(further(call.arguments[status], offset), 4, value, "this status")
    return None if peer is None else (Telling(("message", context, tag), "message"), peer, message)


def _sent_to_this(call: CallContext, context: str) -> set[tuple[str, int]]:
    """Return who sends messages to this process on a communicator, with their tags."""
    start = ("message", context, call.run.process)
    said = [each for each in call.run.world.known.said if isinstance(each, tuple) and each[:3] == start]
    return {(str(source), int(tag)) for *_, source, tag in said}


def _the_only(call: CallContext, context: str, peers: Sequence[str], tag: int) -> tuple[str, int]:
    """Return the process that sends and the tag, which are any in a call: those of all messages to this process that fit, if
    they are the same. Where none is sent, a message is awaited that never comes. Raises Refusal where there are several."""
    own = call.run.process
    fitting = sorted((source, at) for source, at in _sent_to_this(call, context) if source in peers and tag in (ANY, at))
    if len(fitting) > 1:
        which = "MPI_ANY_SOURCE" if len({source for source, _ in fitting}) > 1 else "MPI_ANY_TAG"
        remedy = "the rank and the tag that are meant; `messages check` has any, for messages alone"
        raise Refusal("RR814", f"{which} is not modelled where several are sent", remedy)
    return fitting[0] if fitting else (next((each for each in peers if each != own), own), ANY)


def _ended(call: CallContext, found: list[ThreadStatement]) -> Result:
    return call.step(found) if found else 0


def _sent(call: CallContext, first: int, communicator_at: int) -> list[ThreadStatement]:
    found = _sent_message(call, first, communicator_at)
    return [] if found is None else tell(call, *found)


def _heard(call: CallContext, first: int, communicator_at: int, status: int) -> list[ThreadStatement]:
    found = _received_message(call, first, communicator_at, status)
    return [] if found is None else hear(call, *found)


def _sendrecv(call: CallContext) -> Result:
    return _ended(call, [*_sent(call, 0, 10), *_heard(call, 5, 10, 11)])


# requests


def _free_slot(call: CallContext) -> int:
    keys = (key for key in call.state.numbers if isinstance(key, tuple))
    used = {key[2] for key in keys if key[0] == "request"} | set(_unfilled(call))
    return next(number for number in count(1) if number not in used)


def _isend(call: CallContext) -> Result:
    """`MPI_Isend`: data, rank, tag, communicator, where the request goes."""
    found = _sent_message(call, 0, 5)
    slot = _free_slot(call)
    data = None if found is None else found[2]
    if found is None or data is None:
        call.set_private(call.arguments[6], 8, 0, "this request")
        return _ended(call, [] if found is None else tell(call, *found))
    telling, peer, _ = found
    connection, puts, told = tell_late(call, telling, peer, data, f"sent{slot}_")
    call.state.numbers["completions", connection] = call.state.numbers["request", connection, slot] = len(puts)
    store_handle(call, call.arguments[6], "request", (connection, slot, len(puts)))
    return call.step([*puts, *told])


def _irecv(call: CallContext) -> Result:
    """`MPI_Irecv`: data, rank, tag, communicator, where the request goes."""
    found = _received_message(call, 0, 5)
    if found is None:
        call.set_private(call.arguments[6], 8, 0, "this request")
        return 0
    telling, peer, data = found
    slot, expected = _free_slot(call), expect(call, telling, peer)
    buffer = UnfilledBuffer(slot, None, 0, 0, 0, expected)
    if data is not None:
        (name, offset), size, element = data
        if name in memory_of_windows(call):
            said = f"a message that `MPI_Irecv` takes into a window, `{name.name}`, is not modelled"
            raise Refusal("RR814", said, "MPI_Recv")
        call.run.own(name, "receive into")
        call.run.note(call.state, name, offset, size, is_write=True)
        call.run.world.share(name, offset, size)
        buffer = UnfilledBuffer(slot, name, offset, size, element, expected)
    call.state.numbers[buffer] = 1
    store_handle(call, call.arguments[6], "request", (RECEIVED, slot, 0))
    return 0


def _unfilled(call: CallContext) -> dict[int, UnfilledBuffer]:
    return {each.slot: each for each in call.state.numbers if isinstance(each, UnfilledBuffer)}


def message_received(call: CallContext, slot: int) -> list[ThreadStatement]:
    """Return what waits for the message of a request, and stores it."""
    buffer = _unfilled(call)[slot]
    del call.state.numbers[buffer]
    assert isinstance(buffer.expected, NextTelling)
    data = None if buffer.object is None else ((buffer.object, buffer.offset), buffer.size, buffer.element)
    return heard(call, buffer.expected, data)


def look_for_message(call: CallContext, slot: int) -> Result:
    """Return the step that looks whether the message of a request has come."""
    expected = _unfilled(call)[slot].expected
    assert isinstance(expected, NextTelling)
    looks, value = look_whether_told(call, expected)
    return call.stay([looks], value)


def _iprobe(call: CallContext) -> Result:
    """`MPI_Iprobe`: source, tag, communicator, whether there is a message. There is none where none is ever sent."""
    context, _ = communicator(call, 2)
    if _sent_to_this(call, context):
        raise not_modelled(call, "it is where no message is sent to the process that asks; MPI_Recv is")
    call.set_private(call.arguments[3], 4, 0, "the answer")
    return 0


MESSAGES: Final[dict[str, Handler]] = {
    "MPI_Send": lambda call: _ended(call, _sent(call, 0, 5)),
    "MPI_Recv": lambda call: _ended(call, _heard(call, 0, 5, 6)),
    "MPI_Sendrecv": _sendrecv,
    "MPI_Isend": _isend,
    "MPI_Irecv": _irecv,
    "MPI_Iprobe": _iprobe,
}
"""The handlers of messages between two processes."""
