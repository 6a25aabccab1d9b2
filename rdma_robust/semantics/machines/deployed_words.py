"""A state of the machine of RDMA as deployed in words: store buffers, queue pairs, receives, and locked words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rdma_robust.language.flow.cfg import Program, on_lane
from rdma_robust.semantics.connections import Connection
from rdma_robust.semantics.machines.inboxes import Inboxes
from rdma_robust.semantics.machines.machine import describe_parts
from rdma_robust.semantics.machines.queues import BUFFERED, OVER, TO_COME, PostedRequest, Queue, events_of_request
from rdma_robust.semantics.machines.requests import NOWHERE, CardEvent, CardRequest
from rdma_robust.semantics.machines.threadcode import ThreadCode
from rdma_robust.semantics.trace import EventType

if TYPE_CHECKING:
    from rdma_robust.semantics.machines.deployed_card import BufferEntry


def entry_shown(program: Program, code: ThreadCode, requests: Sequence[CardRequest | None], entry: BufferEntry) -> str:
    """Return an entry of a store buffer: what a store writes, or the statement of a request or receive."""
    command = code.commands[entry.command]
    if command.target == NOWHERE or requests[entry.command] is not None:
        return command.step.text
    return f"{program.cells[command.target]} = {entry.value}"


def shown_buffer(
    program: Program, code: ThreadCode, requests: Sequence[CardRequest | None], buffer: Sequence[BufferEntry]
) -> Iterator[str]:
    """Yield a line for a store buffer that is not empty."""
    if buffer:
        shown = ", ".join(entry_shown(program, code, requests, entry) for entry in buffer)
        yield f"{code.thread.name} store buffer: [{shown}]"


def in_buffers(program: Program, request: CardRequest, posted: PostedRequest) -> Iterator[tuple[CardEvent, str]]:
    """Yield the writes of a request that are in a write buffer, with what each writes."""
    if posted.way == NOWHERE:
        return
    for part, stage in zip(events_of_request(request, posted), posted.stages, strict=True):
        if stage == BUFFERED:
            yield part, written_shown(program, part, posted)


def written_shown(program: Program, part: CardEvent, posted: PostedRequest) -> str:
    """Return what a write of the card writes where, as in `B.y = 1`, or that it is a message without data, or an order."""
    evaluator = part.value or part.imm
    if evaluator is None:
        return "order"
    value = evaluator((*posted.env, posted.value), 0)
    cell = posted.buffer if part.message and part.value is not None else part.cell
    return f"message with {value}" if cell == NOWHERE else f"{program.cells[cell]} = {value}"


def in_pipe(request: CardRequest, posted: PostedRequest) -> str:
    """Return a request that has events to come, with what it has read; "" if it has left the pipe."""
    if posted.way != NOWHERE and TO_COME not in posted.stages:
        return ""
    read = posted.way != NOWHERE and any(
        part.reads and not part.act.operand and stage == OVER
        for part, stage in zip(events_of_request(request, posted), posted.stages, strict=True)
    )
    return f"{request.step.text} (read {posted.value})" if read else request.step.text


def shown_queue(
    program: Program, thread: str, remote: str, requests: Sequence[CardRequest | None], queue: Queue
) -> Iterator[str]:
    """Yield a line for a queue pair on which something is under way or waits for a poll."""
    asked = [(request, posted) for posted in queue if (request := requests[posted.command]) is not None]
    buffered = [each for request, posted in asked for each in in_buffers(program, request, posted)]
    parts = {
        "pipe": [text for request, posted in asked if (text := in_pipe(request, posted))],
        "wbR": [text for part, text in buffered if part.type is not EventType.NLW],
        "wbL": [text for part, text in buffered if part.type is EventType.NLW],
        "unpolled": [request.step.text for request, posted in asked if not posted.polled],
    }
    yield from describe_parts(f"{thread} -> {remote}", parts)


def shown_inboxes(program: Program, found: Sequence[Connection], inboxes: Inboxes) -> Iterator[str]:
    """Yield a line for each connection with receives that wait or have been filled."""
    for (sender, receiver, lane), inbox in zip(found, inboxes, strict=True):
        posted = [str(program.cells[cell]) for cell in inbox.posted]
        ends = f"{program.threads[receiver].name} receives from {program.threads[sender].name}{on_lane(lane)}"
        yield from describe_parts(ends, {"posted": posted, "arrived": [str(imm) for imm in inbox.arrived]})


def shown_locks(program: Program, locked: Sequence[int]) -> Iterator[str]:
    """Yield a line for the words that remote atomics hold."""
    if locked:
        yield "locked by atomics: " + ", ".join(str(program.cells[cell]) for cell in locked)
