"""The rule `match` between two processes, and all moves of a state, each found in the pairs of its local states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rdma_robust.messages.machine.process_state import ANYTHING, Frame, Local, ReceiveOp, SendOp


class Meeting(NamedTuple):
    """A match that is enabled: which unmatched receive of the receiver, and which unmatched send of the sender."""

    receive: int
    send: int


def accepts(receive: ReceiveOp, send: SendOp, sender: int) -> bool:
    """Whether a receive takes a send of process `sender` to its process: port, source and tag fit."""
    return receive.port == send.port and receive.source in (ANYTHING, sender) and receive.tag in (ANYTHING, send.tag)


def meetings(receiver: int, receives: Local | Frame, sender: int, sends: Local | Frame) -> Iterator[Meeting]:
    """Yield the matches that are enabled between a receiving and a sending process.

    No earlier send of the channel is accepted by the receive: messages do not overtake one another. No earlier receive of
    the endpoint accepts the send: nor do receives.
    """
    for at, op in enumerate(receives.receives):
        if op.source not in (ANYTHING, sender):
            continue
        for number, send in enumerate(sends.sends):
            if send.to == receiver and accepts(op, send, sender):
                if not any(accepts(earlier, send, sender) for earlier in receives.receives[:at]):
                    yield Meeting(at, number)
                break
