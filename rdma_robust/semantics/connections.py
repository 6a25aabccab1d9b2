"""Which message takes which receive, and which receive completion is polled by which poll: all by counting.

The k-th message from a thread to another matches the k-th receive of the other from the first, of which the posted ones
come first, and the k-th RP of the other polls it. Source: docs/deployed.md, "Events".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cell, Program, Recv, Step, steps
from rdma_robust.semantics.trace import EventType

Place = tuple[int, int]
"""A thread's number and a position in its program order."""


class ConnectionEvent(Protocol):
    """What matching asks of an event."""

    @property
    def type(self) -> EventType: ...

    @property
    def peer(self) -> str | None: ...

    @property
    def step(self) -> Step | None: ...


@dataclass(frozen=True, slots=True)
class MatchedMessage:
    """A message, the V and the buffer that it takes, and the RP that polls it, as places.

    `receive` is None for a posted receive, `buffer` where the receive is missing, `poll` while there is none.
    """

    message: Place
    receive: Place | None
    buffer: Cell | None
    poll: Place | None


@dataclass(frozen=True, slots=True)
class Connections:
    """What is matched, in program order of the senders, and the RPs that find no message."""

    matched: tuple[MatchedMessage, ...]
    idle: tuple[Place, ...]

    @property
    def complete(self) -> bool:
        """Whether every message has a receive, and every RP a message."""
        return not self.idle and all(match.buffer is not None for match in self.matched)


def takes_buffer(event: ConnectionEvent) -> bool:
    """Return whether an event is one that takes a receive buffer."""
    return event.type is EventType.NRW and event.peer is not None


def connect(program: Program, threads: Sequence[Sequence[ConnectionEvent]]) -> Connections:
    """Match the messages, V and RP of `threads`, the events of every thread in program order.

    Raises InternalError for a V without a step: nothing else says which buffer it posts.
    """
    numbers = {thread.name: number for number, thread in enumerate(program.threads)}
    receives: dict[tuple[int, int], list[tuple[Place | None, Cell]]] = {}
    messages: dict[tuple[int, int], list[Place]] = {}
    polls: dict[tuple[int, int], list[Place]] = {}
    for u, thread in enumerate(program.threads):
        for sender, cell in thread.posted:
            receives.setdefault((numbers[sender], u), []).append((None, cell))
    for t, events in enumerate(threads):
        for position, event in enumerate(events):
            if event.peer is None:
                continue
            other = numbers[event.peer]
            if event.type is EventType.V:
                receives.setdefault((other, t), []).append(((t, position), _buffer(event)))
            elif event.type is EventType.RP:
                polls.setdefault((other, t), []).append((t, position))
            else:
                messages.setdefault((t, other), []).append((t, position))
    found, idle = [], []
    for connection in dict.fromkeys((*messages, *polls)):
        sent, asked = messages.get(connection, []), polls.get(connection, [])
        got = receives.get(connection, [])
        for k, message in enumerate(sent):
            receive, buffer = got[k] if k < len(got) else (None, None)
            found.append(MatchedMessage(message, receive, buffer, asked[k] if k < len(asked) else None))
        idle += asked[len(sent) :]
    return Connections(tuple(found), tuple(idle))


def _buffer(event: ConnectionEvent) -> Cell:
    if event.step is None or not isinstance(event.step.op, Recv):
        raise InternalError("a V without the step that makes it")
    return event.step.op.cell


def buffers_of(program: Program, connection: tuple[int, int]) -> tuple[Cell, ...]:
    """Return the words that can be receive buffers of a connection, of two threads by number, each once."""
    sender, receiver = program.threads[connection[0]], program.threads[connection[1]]
    posted = (cell for name, cell in receiver.posted if name == sender.name)
    received = (s.op.cell for _, _, s in steps(receiver) if isinstance(s.op, Recv) and s.op.sender == sender.name)
    return tuple(dict.fromkeys((*posted, *received)))
