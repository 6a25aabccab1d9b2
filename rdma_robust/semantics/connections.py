"""Connections: a message and the receive that it takes, a receive completion and its poll, all by counting.

A connection is that of one thread to another on one lane of the first, or on its queue pair without a name. On each, the
k-th message from a thread to another matches the k-th receive of the other from the first, of which the posted ones
come first, and the k-th RP of the other polls it. A message with data takes no receive without room. Where messages may
take any receive, an event says which one it takes if that is not the one of its turn.

Source: docs/deployed.md, "Events".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from rdma_robust.digraph import by_key
from rdma_robust.errors import InternalError
from rdma_robust.kept import Kept
from rdma_robust.language.flow.cfg import (
    NAMELESS,
    Cell,
    Program,
    Recv,
    RecvPoll,
    Send,
    Step,
    Thread,
    fills,
    named_lane,
    steps,
)
from rdma_robust.semantics.event_table import Agent, cases_of
from rdma_robust.semantics.trace import EventType

MOST_OPEN: Final = 64
"""Receives of one connection that are posted and not polled, up to which it is found out whether they are of one buffer."""

Place = tuple[int, int]
"""A thread's number and a position in its program order."""


Connection = tuple[int, int, str]
"""The sender and the receiver, by number, and the lane of the sender."""


ConnectionEnd = tuple[str, str]
"""The thread at the other end of a connection, and the lane of the sender."""


class UnheardMessage(NamedTuple):
    """A message that is still to come: its receiver, its lane, and whether it fills the buffer that it takes."""

    receiver: str
    lane: str
    fills: bool


class ConnectionEvent(Protocol):
    """An event as matching sees it."""

    @property
    def type(self) -> EventType: ...

    @property
    def peer(self) -> str | None: ...

    @property
    def step(self) -> Step | None: ...

    @property
    def takes(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class MatchedMessage:
    """A message, the V and the buffer that it takes, and the RP that polls it, as places.

    `receive` is None for a posted receive, `buffer` where the receive is missing, `poll` while there is none. `turn` is the
    V that the message takes where all take them in order, but the message itself if it fills another buffer than that.
    """

    message: Place
    receive: Place | None
    buffer: Cell | None
    poll: Place | None
    turn: Place | None


@dataclass(frozen=True, slots=True)
class Connections:
    """The matched pairs, in program order of the senders, the RPs that find no message, and the buffers that are `left`."""

    matched: tuple[MatchedMessage, ...]
    idle: tuple[Place, ...]
    left: Mapping[Connection, Sequence[Cell]]

    @property
    def complete(self) -> bool:
        """Whether every message has a receive, and every RP a message."""
        return not self.idle and all(match.buffer is not None for match in self.matched)


def takes_buffer(event: ConnectionEvent) -> bool:
    """Return whether an event is one that takes a receive buffer."""
    return event.type is EventType.NRW and event.peer is not None


@dataclass(frozen=True, slots=True)
class ConnectionEnds:
    """The receives of each connection, with the places of those that are no posted ones, its messages and its RPs, each in
    program order."""

    receives: Mapping[Connection, Sequence[tuple[Place | None, Cell]]]
    messages: Mapping[Connection, Sequence[Place]]
    polls: Mapping[Connection, Sequence[Place]]


def connection_ends(program: Program, threads: Sequence[Sequence[ConnectionEvent]]) -> ConnectionEnds:
    """Return what `threads`, the events of every thread in program order, do on each connection.

    Raises InternalError for a V without a step: nothing else says which buffer it posts.
    """
    numbers = {thread.name: number for number, thread in enumerate(program.threads)}
    receives: dict[Connection, list[tuple[Place | None, Cell]]] = {}
    messages: dict[Connection, list[Place]] = {}
    polls: dict[Connection, list[Place]] = {}
    for u, thread in enumerate(program.threads):
        for sender, cell, lane in thread.posted:
            receives.setdefault((numbers[sender], u, lane), []).append((None, cell))
    for t, events in enumerate(threads):
        for position, event in enumerate(events):
            if event.peer is None:
                continue
            other, lane = numbers[event.peer], NAMELESS if event.step is None else named_lane(event.step.op)
            if event.type is EventType.V:
                receives.setdefault((other, t, lane), []).append(((t, position), _buffer(event)))
            elif event.type is EventType.RP:
                polls.setdefault((other, t, lane), []).append((t, position))
            else:
                messages.setdefault((t, other, lane), []).append((t, position))
    return ConnectionEnds(receives, messages, polls)


def connect(program: Program, threads: Sequence[Sequence[ConnectionEvent]]) -> Connections:
    """Match the messages, V and RP of `threads`, the events of every thread in program order.

    Raises InternalError for a V without a step.
    """
    ends = connection_ends(program, threads)
    found: list[MatchedMessage] = []
    idle: list[Place] = []
    left: dict[Connection, list[Cell]] = {}
    for connection in dict.fromkeys((*ends.messages, *ends.polls, *ends.receives)):
        sent, asked = ends.messages.get(connection, ()), ends.polls.get(connection, ())
        got, taken = ends.receives.get(connection, ()), set()
        for k, message in enumerate(sent):
            event = threads[message[0]][message[1]]
            number = k if event.takes is None else event.takes
            taken.add(number)
            poll = asked[k] if k < len(asked) else None
            if number < len(got) and finds_room(event.step, got[number][1]):
                (receive, buffer), (turn, wanted) = got[number], got[min(k, len(got) - 1)]
                filling = event.step is not None and fills(event.step.op)
                turn = message if filling and wanted != buffer else turn
                found.append(MatchedMessage(message, receive, buffer, poll, turn))
            else:
                found.append(MatchedMessage(message, None, None, poll, None))
        idle += asked[len(sent) :]
        left[connection] = [cell for number, (_, cell) in enumerate(got) if number not in taken]
    return Connections(tuple(found), tuple(idle), left)


def finds_room(message: Step | None, buffer: Cell) -> bool:
    """Return whether the message of a step can take the receive of a buffer."""
    return not (buffer.void and message is not None and fills(message.op))


def connections(program: Program) -> tuple[Connection, ...]:
    """Return every connection over which messages or receives may go, in order."""
    return tuple(connection_numbers(program))


_NUMBERS: Final = Kept[None, Mapping[Connection, int]]()


def connection_numbers(program: Program) -> Mapping[Connection, int]:
    """Return the :func:`connections` with their numbers, found once for each program."""
    return _NUMBERS.of(program, None, lambda: {each: i for i, each in enumerate(sorted(_used(program)))})


def _used(program: Program) -> set[Connection]:
    numbers = {thread.name: i for i, thread in enumerate(program.threads)}
    found: set[Connection] = set()
    for t, thread in enumerate(program.threads):
        found |= {(numbers[sender], t, lane) for sender, _, lane in thread.posted}
        for _, _, step in steps(thread):
            for act in (act for case in cases_of(step.op) for act in case.acts if act.peer is not None):
                ends = (t, numbers[act.peer or ""])
                found.add((*(ends if act.agent is Agent.NIC else ends[::-1]), named_lane(step.op)))
    return found


def buffers_for(receiver: Thread, sender: str, lane: str) -> tuple[Cell, ...]:
    """Return the words that messages of a connection can fill, each once."""
    posted = (cell for name, cell, on in receiver.posted if (name, on) == (sender, lane))
    ops = (step.op for _, _, step in steps(receiver))
    received = (op.cell for op in ops if isinstance(op, Recv) and (op.sender, op.lane) == (sender, lane))
    return tuple(dict.fromkeys(cell for cell in (*posted, *received) if not cell.void))


def has_long_messages(program: Program) -> bool:
    """Return whether messages of some connection have several words."""
    return any(words > 1 for _, words in program.words)


def has_choice_of_buffers(program: Program) -> bool:
    """Return whether it makes a difference which posted receive a message takes: where receives of several buffers of one
    connection, whose messages fill them, can be posted and not polled.

    If they are all of one, a message that takes another one does what it does with its own. An RP comes behind its message
    and those of the RPs before it, so as many receives as that were taken by then.
    Source: docs/theory-orders.md, "Any posted receive".
    """
    numbers = {thread.name: i for i, thread in enumerate(program.threads)}
    ops = ((t, step.op) for t, thread in enumerate(program.threads) for _, _, step in steps(thread))
    filling = {(t, numbers[op.to], op.lane) for t, op in ops if isinstance(op, Send) and fills(op)}
    return any(_has_choice(program.threads[each[1]], each, numbers) for each in sorted(filling))


def _has_choice(receiver: Thread, connection: Connection, numbers: Mapping[str, int]) -> bool:
    """Whether receives of several buffers of the connection can be posted and not polled at one point of the receiver."""
    out = by_key((source, (target, step)) for source, target, step in steps(receiver))
    posted = tuple(cell for name, cell, on in receiver.posted if (numbers[name], on) == (connection[0], connection[2]))
    first = (receiver.entry, posted)
    seen, left = {first}, [first]
    while left:
        point, open_ = left.pop()
        if len(set(open_)) > 1 or len(open_) > MOST_OPEN:
            return True
        for target, step in out.get(point, ()):
            op, after = step.op, open_
            if isinstance(op, Recv | RecvPoll) and (numbers[op.sender], op.lane) == (connection[0], connection[2]):
                if isinstance(op, RecvPoll) and not open_:
                    continue
                after = (*open_, op.cell) if isinstance(op, Recv) else open_[1:]
            if (target, after) not in seen:
                seen.add((target, after))
                left.append((target, after))
    return False


def _buffer(event: ConnectionEvent) -> Cell:
    if event.step is None or not isinstance(event.step.op, Recv):
        raise InternalError("a V without the step that makes it")
    return event.step.op.cell


def buffers_of(program: Program, connection: Connection) -> tuple[Cell, ...]:
    """Return the words that messages of a connection can fill, each once."""
    sender, receiver, lane = connection
    return buffers_for(program.threads[receiver], program.threads[sender].name, lane)
