"""The rule `match`: which unmatched receive may take which unmatched send, and what a look could take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rdma_robust.messages.machine.process_state import ANYTHING, LocalState, ProcessFrame, ReceiveOp, SendOp
from rdma_robust.messages.message_answers import MatchedPair


class Meeting(NamedTuple):
    """A match that is enabled: which unmatched receive of the receiver, and which unmatched send of the sender."""

    receive: int
    send: int


def receive_accepts(receive: ReceiveOp, send: SendOp, sender: int) -> bool:
    """Whether a receive takes a send of process `sender` to its process: port, source and tag fit, and who holds it."""
    fits = receive.port == send.port and receive.source in (ANYTHING, sender) and receive.tag in (ANYTHING, send.tag)
    return fits and receive.key == send.key


def pair_mismatch(receive: ReceiveOp, send: SendOp) -> str:
    """Return the kind of violation that a match is, '' if it is none: another type, or more than there is room for."""
    (wanted, room), (given, size) = receive.said, send.said
    if wanted is not None and given is not None and wanted != given:
        return "type"
    return "room" if room is not None and size is not None and size > room else ""


def acceptable_sends(receive: ReceiveOp, receiver: int, sender: int, sends: Sequence[SendOp]) -> Iterator[int]:
    """Yield which unmatched send of a process a receive can take: the first of the channel that it accepts.

    That is the first condition of `match`: no earlier unmatched send of the channel is accepted.
    """
    for at, send in enumerate(sends):
        if send.to == receiver and receive_accepts(receive, send, sender):
            yield at
            return


def is_taken_earlier(send: SendOp, sender: int, earlier: Sequence[ReceiveOp]) -> bool:
    """Whether a receive that is posted earlier accepts the send: what the second condition of `match` forbids."""
    return any(receive_accepts(each, send, sender) for each in earlier)


def meetings(
    receiver: int, receives: LocalState | ProcessFrame, sender: int, sends: LocalState | ProcessFrame
) -> Iterator[Meeting]:
    """Yield the matches that are enabled between a receiving and a sending process: the rule `match`."""
    for at, op in enumerate(receives.receives):
        for number in acceptable_sends(op, receiver, sender, sends.sends):
            if not is_taken_earlier(sends.sends[number], sender, receives.receives[:at]):
                yield Meeting(at, number)


def seen_by(
    look: ReceiveOp, receiver: int, receives: LocalState | ProcessFrame, sender: int, sends: LocalState | ProcessFrame
) -> Iterator[int]:
    """Yield which unmatched send of a process a look can see: what a receive posted there could take."""
    for number in acceptable_sends(look, receiver, sender, sends.sends):
        if not is_taken_earlier(sends.sends[number], sender, receives.receives):
            yield number


def are_enabled(pair: MatchedPair, receives: ProcessFrame, sends: ProcessFrame) -> bool:
    """Whether the match of two operations is enabled, which are unmatched or not issued."""
    sender = pair.send.process
    at = next((at for at, op in enumerate(receives.receives) if op.nth == pair.receive.nth), None)
    for number in () if at is None else acceptable_sends(receives.receives[at], pair.receive.process, sender, sends.sends):
        if sends.sends[number].nth == pair.send.nth:
            return not is_taken_earlier(sends.sends[number], sender, receives.receives[:at])
    return False


def is_expected(message: SendOp, sends: Sequence[SendOp], sender: int, receiver: LocalState | ProcessFrame) -> bool:
    """Return whether a posted receive could take a message at once that its sender sends behind these: the rule `match`."""
    all_sends = [*sends, message]
    return any(
        len(sends) in acceptable_sends(op, message.to, sender, all_sends)
        and not is_taken_earlier(message, sender, receiver.receives[:at])
        for at, op in enumerate(receiver.receives)
    )
