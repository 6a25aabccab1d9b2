"""What goes wrong where a message, or a receive, waits for the other end of its connection."""

from __future__ import annotations

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Fault, ImmPut, Recv, Send, Step, on_lane


def no_buffer(step: Step, sender: str) -> Fault:
    """Return the fault of a message of thread `sender` that finds no buffer: the receiver is not ready. Raises InternalError
    for a step without a message."""
    if not isinstance(step.op, Send | ImmPut):
        raise InternalError("a step without a message waits for no buffer")
    said = f"a message from {sender} to {step.op.to}{on_lane(step.op.lane)} can find no receive buffer posted"
    return Fault("rnr", said, step.span, step.text)


def no_room(step: Step, receiver: str) -> Fault:
    """Return the fault of a receive of thread `receiver` that cannot be posted. Raises InternalError for another step."""
    if not isinstance(step.op, Recv):
        raise InternalError("a step that is no receive waits for no room")
    said = f"{receiver} can find its receive queue for {step.op.sender}{on_lane(step.op.lane)} full (--recv-depth)"
    return Fault("receive queue full", said, step.span, step.text)
