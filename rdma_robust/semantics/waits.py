"""Faults where a message, or a receive, waits for the other end of its connection."""

from __future__ import annotations

from dataclasses import replace

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Fault, ImmPut, Program, Recv, Send, Step, on_lane


def messages_wait(program: Program) -> bool:
    """Return whether a message that finds no buffer waits (`hardware rnr wait`); else that is a fault."""
    return program.hardware.rnr == "wait"


def where_none_waits(program: Program) -> Program:
    """Return the program where a message that finds no buffer is a fault. Both have the same runs under sequential
    consistency up to there."""
    return replace(program, hardware=replace(program.hardware, rnr=None)) if messages_wait(program) else program


def no_buffer(step: Step, sender: str) -> Fault:
    """Return the fault of a message of thread `sender` that finds no buffer: the receiver is not ready. Raises InternalError
    for a step without a message."""
    if not isinstance(step.op, Send | ImmPut):
        raise InternalError("a step without a message waits for no buffer")
    wanted = "with room for it" if step.op.word > 1 or step.op.goes_on else "posted"
    said = f"a message from {sender} to {step.op.to}{on_lane(step.op.lane)} can find no receive buffer {wanted}"
    return Fault("rnr", said, step.span, step.text)


def no_room(step: Step, receiver: str) -> Fault:
    """Return the fault of a receive of thread `receiver` that cannot be posted. Raises InternalError for another step."""
    if not isinstance(step.op, Recv):
        raise InternalError("a step that is no receive waits for no room")
    said = f"{receiver} can find its receive queue for {step.op.sender}{on_lane(step.op.lane)} full (--recv-depth)"
    return Fault("receive queue full", said, step.span, step.text)
