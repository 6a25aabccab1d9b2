"""Receive queues and arrived messages as finite control: what messages, V and RP wait for and what they change.

Of each connection two queues are kept: the receive buffers that are posted and not yet filled, and the immediates of the
messages that have arrived and that no RP has taken. In phase 2 every entry also has marks: whether its V, or its message,
is in beta, and whether that is tainted. At most `--recv-depth` receives are posted, or filled and not polled.

What a message writes is known by the buffer at the head of the queue, so a message is one edge for each buffer.

Source: docs/deployed.md, "Events" (which message takes which receive); docs/theory-deployed.md, "Messages".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rdma_robust.digraph import by_key, components
from rdma_robust.errors import InternalError
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Name, disj, equals, negate
from rdma_robust.language.flow.cfg import Cell, Program, Recv, Silent, on_lane
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.fifo import Fifo
from rdma_robust.semantics.connections import Connection, buffers_of
from rdma_robust.semantics.trace import EventType
from rdma_robust.semantics.waits import no_buffer, no_room

IN_BETA, TAINTED = 1, 2
"""Marks of an entry."""

_MARKS = 2
"""Bits of these marks; above them there is one for each memory behind a card, see :func:`mark_of_memory`."""


MOST_MEMORIES: Final = 2
"""Memories behind cards of which is followed what was issued to them: the alternatives of an event are their product."""


def mark_of_memory(memory: int) -> int:
    """Return the mark of an entry whose message comes behind the issue of a write of beta to the memory of this number."""
    return 1 << _MARKS + memory


NO_MARKS: Final = Const(0)

TAKEN: Final = "taken'"
"""Behind a message: whether the V that it has taken is in beta. Behind an RP: the marks of memories of what it has taken."""


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """The state of a connection. Entries of `posted` are numbers of `buffers`, from 1 on, entries of `arrived` are
    immediates, `least` being 1; above these are the marks. `most` are the receives that there can be in one run, None for
    any number. The last of the buffers may be `void`: no message with data takes it.
    """

    connection: Connection
    name: str
    buffers: tuple[Cell, ...]
    first: tuple[int, ...]
    posted: Fifo
    arrived: Fifo
    least: int
    depth: int
    most: int | None
    kept: int = _MARKS
    """Bits of the marks of an entry."""

    @property
    def held(self) -> str:
        """How many receives are posted, or filled and not polled."""
        return f"held[{self.name}]"

    @property
    def limited(self) -> bool:
        """Whether there can be more receives than the queue has room for."""
        return self.most is None or self.most > self.depth

    @property
    def is_void(self) -> Expr:
        """Whether the oldest buffer that is posted has no room."""
        return equals(self.oldest, Const(len(self.buffers))) if self.buffers and self.buffers[-1].void else FALSE

    @property
    def oldest(self) -> Expr:
        """The number of the oldest buffer that is posted."""
        return self.posted.oldest(self.marks(self.posted, 1) - 1)

    def marks(self, queue: Fifo, marks: int) -> int:
        """These marks as bits of an entry."""
        return marks << queue.width - self.kept

    def marked(self, queue: Fifo, marks: int) -> Expr:
        """Non-zero iff the oldest entry has one of these marks."""
        return queue.oldest(self.marks(queue, marks))

    def entry(self, queue: Fifo, value: Expr, marks: Expr) -> Expr:
        if isinstance(value, Const) and isinstance(marks, Const):
            return Const(value.value | self.marks(queue, marks.value))
        if marks == NO_MARKS:
            return value
        return Binary("|", value, Binary("*", marks, Const(self.marks(queue, 1))))

    def variables(self) -> Iterator[tuple[str, int, int]]:
        """Yield the variables with their first and greatest values."""
        for queue, entries in ((self.posted, self.first if self.posted.capacity else ()), (self.arrived, ())):
            values = dict(queue.holding(entries))
            yield from ((name, values[name], (1 << bits) - 1) for name, bits in queue.variables())
        if self.limited:
            yield self.held, len(self.first), max(self.depth, len(self.first))


@dataclass(frozen=True)
class Messages:
    """The connections of a program."""

    channels: dict[Connection, ConnectionState]

    @staticmethod
    def of(program: Program, graphs: Sequence[EventGraph], values: tuple[int, int], depth: int) -> Messages:
        """Return the connections on which something is sent or received. `values` are the least and the greatest value
        of a register. What is posted from the start has room, even where that is more than `depth`."""
        used = dict.fromkeys(e.connection for g in graphs for e in g.edges)
        return Messages({c: _channel(program, graphs, c, values, depth) for c in used if c is not None})

    def channel(self, edge: EventEdge) -> ConnectionState:
        assert edge.connection is not None
        return self.channels[edge.connection]

    def variables(self) -> tuple[tuple[str, int], ...]:
        """Return the variables with their first values."""
        return tuple((name, first) for c in self.channels.values() for name, first, _ in c.variables())

    def ranges(self) -> tuple[tuple[str, int, int], ...]:
        return tuple((name, 0, most) for c in self.channels.values() for name, _, most in c.variables())

    def taints_of(self, edge: EventEdge) -> tuple[tuple[str, int], ...]:
        """The marks of taint of everything that the event can take."""
        if edge.connection is None or not (takes_buffer(edge) or edge.type is EventType.RP):
            return ()
        channel = self.channel(edge)
        queue = channel.arrived if edge.type is EventType.RP else channel.posted
        return tuple(queue.everywhere(channel.marks(queue, TAINTED)))

    @cached_property
    def taints(self) -> tuple[tuple[str, int], ...]:
        """Every variable that has marks of taint, and these as bits."""
        queues = ((c, queue) for c in self.channels.values() for queue in (c.posted, c.arrived))
        return tuple(place for c, queue in queues for place in queue.everywhere(c.marks(queue, TAINTED)))

    def posted_by(self, thread: int) -> Iterator[tuple[Connection, Cell]]:
        """Yield what a thread has posted at first: for which connection, and the buffer."""
        for connection, channel in self.channels.items():
            if connection[1] == thread:
                yield from ((connection, channel.buffers[number - 1]) for number in channel.first)

    def enabled(self, edge: EventEdge) -> Expr:
        """What the event, or the fault, of an edge waits for."""
        if edge.connection is None:
            return TRUE
        channel = self.channel(edge)
        fault = None if edge.step.fault is None else edge.step.fault.kind
        match edge.type:
            case EventType.RP:
                return channel.arrived.some()
            case EventType.V:
                return negate(self._full(channel))
            case None:
                return self._full(channel) if fault == "receive queue full" else self.waits(edge)
            case _ if edge.cell is None:
                return channel.posted.some()
            case _:
                return equals(channel.oldest, Const(channel.buffers.index(edge.cell) + 1))

    def waits(self, edge: EventEdge) -> Expr:
        """Whether the message of the edge finds no buffer, or one without room for it."""
        return disj(self.unposted(edge), self.channel(edge).is_void) if edge.fills else self.unposted(edge)

    def unposted(self, edge: EventEdge) -> Expr:
        """Whether no buffer is posted for the message of the edge."""
        return negate(self.channel(edge).posted.some())

    def value(self, edge: EventEdge) -> Expr | None:
        """The immediate that an RP takes, None for every other event."""
        if edge.type is not EventType.RP:
            return None
        channel = self.channel(edge)
        entry = channel.arrived.oldest(channel.marks(channel.arrived, 1) - 1)
        return Binary("+", entry, Const(channel.least - 1)) if channel.least != 1 else entry

    def updates(self, edge: EventEdge, marks: Expr = NO_MARKS) -> list[tuple[str, Expr]]:
        """What the event does to the queues, if it gets these marks."""
        if edge.connection is None or edge.type is None:
            return []
        channel = self.channel(edge)
        found: dict[str, Expr] = {}
        match edge.type:
            case EventType.RP:
                found = channel.arrived.without_oldest()
                if channel.limited:
                    found[channel.held] = Binary("-", Name(channel.held), Const(1))
            case EventType.V:
                number = Const(1 + channel.buffers.index(posted_in(edge)))
                found = channel.posted.with_newest(channel.entry(channel.posted, number, marks))
                if channel.limited:
                    found[channel.held] = Binary("+", Name(channel.held), Const(1))
            case _:
                sent = immediate(edge)
                code = Const(sent.value - channel.least + 1) if isinstance(sent, Const) else sent
                if code is sent and channel.least != 1:
                    code = Binary("-", sent, Const(channel.least - 1))
                arrived = channel.arrived.with_newest(channel.entry(channel.arrived, code, marks))
                found = {**channel.posted.without_oldest(), **arrived}
        return list(found.items())

    def marked(self, edge: EventEdge, mark: int) -> Expr:
        """Whether what the event waits for, a V or a message, has the mark."""
        if edge.connection is None or edge.type in (EventType.V, None):
            return FALSE
        channel = self.channel(edge)
        return channel.marked(channel.arrived if edge.type is EventType.RP else channel.posted, mark)

    def looked_at(self, edge: EventEdge) -> Expr:
        """What is looked at of what the event takes before it is taken, see :data:`TAKEN`."""
        if takes_buffer(edge):
            return self.marked(edge, IN_BETA)
        memories = self.channel(edge).kept - _MARKS if edge.type is EventType.RP else 0
        return self.marked(edge, sum(map(mark_of_memory, range(memories)))) if memories else FALSE

    def taken_behind(self, edge: EventEdge, memory: int) -> Expr:
        """Whether the message that an RP has just taken comes behind the issue of a write of beta to this memory."""
        if edge.type is not EventType.RP:
            return FALSE
        channel = self.channel(edge)
        return Binary("&", Name(TAKEN), Const(channel.marks(channel.arrived, mark_of_memory(memory))))

    def touched(self, edge: EventEdge) -> int:
        """The queues that the event changes, as bits."""
        if edge.connection is None:
            return 0
        posted = 1 << 2 * list(self.channels).index(edge.connection)
        return {EventType.RP: 2, EventType.V: 1, None: 1}.get(edge.type, 3) * posted

    def _full(self, channel: ConnectionState) -> Expr:
        return Binary("<=", Const(channel.depth), Name(channel.held)) if channel.limited else FALSE


def takes_buffer(edge: EventEdge) -> bool:
    """Return whether the event takes a receive buffer."""
    return edge.type is EventType.NRW and edge.connection is not None


def takes(later: EventEdge, earlier: EventEdge) -> bool:
    """Return whether, of two events of one connection, `later` is a message that can take the V, or an RP the message."""
    if later.type is EventType.RP:
        return takes_buffer(earlier)
    if not takes_buffer(later) or earlier.type is not EventType.V:
        return False
    return later.cell in (None, posted_in(earlier))


def buffer_of(edge: EventEdge) -> Cell | None:
    """Return the buffer that a V posts, None for every other event."""
    return edge.step.op.cell if edge.type is EventType.V and isinstance(edge.step.op, Recv) else None


def posted_in(edge: EventEdge) -> Cell:
    """Return the buffer that a V posts. Raises InternalError if it is none."""
    cell = buffer_of(edge)
    if cell is None:
        raise InternalError(f"{edge} posts no buffer")
    return cell


def with_faults(program: Program, graph: EventGraph) -> EventGraph:
    """Return the graph with an edge for each fault that messages and receives of the thread can meet, see :class:`Fault`.

    The thread goes on from none of them: each leads to a point of its own kind, of which there is one.
    """
    point = max(graph.points) + 1
    faults: dict[tuple[int, Expr, Connection, str, bool], EventEdge] = {}
    for edge in graph.edges:
        if edge.connection is None:
            continue
        if takes_buffer(edge):
            fault = no_buffer(edge.step, program.threads[edge.thread].name)
        elif edge.type is EventType.V:
            fault = no_room(edge.step, program.threads[edge.thread].name)
        else:
            continue
        step = replace(edge.step, op=Silent(), fault=fault)
        bare = EventEdge(
            edge.thread, edge.source, point, None, edge.guard, (), step, connection=edge.connection, fills=edge.fills
        )
        faults.setdefault((edge.source, edge.guard, edge.connection, fault.kind, edge.fills), bare)
    if not faults:
        return graph
    return replace(graph, edges=(*graph.edges, *faults.values()), points=graph.points | {point})


def immediate(edge: EventEdge) -> Expr:
    """The immediate of a message."""
    return Const(0) if edge.cell is not None or edge.written is None else edge.written


def _channel(
    program: Program,
    graphs: Sequence[EventGraph],
    connection: Connection,
    values: tuple[int, int],
    depth: int,
) -> ConnectionState:
    edges = [e for g in graphs for e in g.edges if e.connection == connection]
    sender, receiver, lane = program.threads[connection[0]].name, program.threads[connection[1]], connection[2]
    cells = [cell for name, cell, on in receiver.posted if (name, on) == (sender, lane)]
    void = [cell for cell in (*cells, *map(buffer_of, edges)) if cell is not None and cell.void]
    buffers = (*buffers_of(program, connection), *void[:1])
    first = tuple(buffers.index(cell) + 1 for cell in cells)
    depth *= program.words_of(*connection)
    received = _most_received(graphs[connection[1]], connection)
    most = None if received is None else len(first) + received
    room = max(len(first), depth if most is None else min(depth, most))
    found = {0}
    for imm in map(immediate, filter(takes_buffer, edges)):
        found |= {imm.value} if isinstance(imm, Const) else set(values)
    kept = _MARKS + len(program.memories[:MOST_MEMORIES])
    width = len(buffers).bit_length() + kept, (max(found) - min(found) + 1).bit_length() + kept
    name = f"{sender}>{receiver.name}{on_lane(lane)}"
    return ConnectionState(
        connection,
        name,
        buffers,
        first,
        Fifo(f"posted[{name}]", width[0], room if any(map(takes_buffer, edges)) else 0),
        Fifo(f"arrived[{name}]", width[1], room if any(e.type is EventType.RP for e in edges) else 0),
        min(found),
        depth,
        most,
        kept,
    )


def _most_received(graph: EventGraph, connection: Connection) -> int | None:
    """The most receives that the thread can post for the connection, None for any number."""
    leaving = by_key((e.source, (e.target, e.type is EventType.V and e.connection == connection)) for e in graph.edges)
    most: dict[int, int] = {}
    for members in components({at: [to for to, _ in found] for at, found in leaving.items()}):
        inside = set(members)
        steps = [(to, gain) for at in members for to, gain in leaving.get(at, ())]
        if any(gain for to, gain in steps if to in inside):
            return None
        most |= dict.fromkeys(members, max((gain + most[to] for to, gain in steps if to not in inside), default=0))
    return most.get(graph.entry, 0)
