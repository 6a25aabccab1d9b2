"""A program prepared for instrumentation: its event graphs, cells and queue pairs, and the effect of an event on them.

The search takes some compare-and-swaps as ones that write what they have read where they fail. What is compared may be an
operand in memory. Where a card, or another thread, writes such an operand, it may depend on the pivot, and then the
operation goes the other way without the pivot although its word does not change: what reads the word behind one that has
failed depends on the pivot, and sc does not lead there. If it writes back what it has read, at once, sc does, values flow
as through every atomic that writes, and a violation stays one: from an SC order what is written back can be left out. So a
program is robust if it is with these. Nothing comes between such a read and its write (`may_tear` of an edge). The witness
has the operations as they are (:mod:`lift`). Stores of the own thread need none of this: an operand that reads one which
comes behind it in program order is on a cycle with it. Source: docs/theory-atomics.md, "Operands of atomics in memory".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rdma_robust.counters.program import Assign, Require, Statement
from rdma_robust.errors import UsageError
from rdma_robust.expr import FALSE, VALUE, Binary, Const, Expr, Name, conj, constants, is_value, names, substitute, value_of
from rdma_robust.language.flow.cfg import NAMELESS, Cell, Program, RemoteRmw, steps
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.robustness.barriers import Barriers
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import EventGraph, GraphDetail, event_graph
from rdma_robust.robustness.messages import NO_MARKS, TAKEN, Messages, takes_buffer, with_faults
from rdma_robust.robustness.reductions.specialise import specialise
from rdma_robust.robustness.searched_orders import not_searched
from rdma_robust.semantics.connections import Connection, buffers_of, connections
from rdma_robust.semantics.event_table import Agent, cells_written, operands_read
from rdma_robust.semantics.kinds import Kind, kind_of
from rdma_robust.semantics.trace import CPU_TYPES, EventType


def compared_with_changes(program: Program, thread: int) -> frozenset[RemoteRmw]:
    """Return the atomics of a thread that compare with a word which a card or another thread writes."""
    ops = (step.op for _, _, step in steps(program.threads[thread]))
    compared = {op: cells for op in ops if isinstance(op, RemoteRmw) and (cells := _compared(op))}
    changed = _written_by_others(program, thread) if compared else frozenset()
    return frozenset(op for op, cells in compared.items() if cells & changed)


def with_writes_back(program: Program, graph: EventGraph, model: Model) -> EventGraph:
    """Return the event graph of a thread in which such atomics write what they have read where they fail."""
    back = compared_with_changes(program, graph.thread)
    kind, also = (EventType.NA, None) if model.atomics == "glob" else (EventType.NAR, EventType.NAW)
    edges = (
        replace(e, type=kind, also=also, written=VALUE, back=True)
        if e.type is EventType.NAR and e.also is None and e.step.op in back
        else e
        for e in graph.edges
    )
    return replace(graph, edges=tuple(edges)) if back else graph


def _compared(op: RemoteRmw) -> frozenset[Cell]:
    used = set(names(op.when))
    return frozenset(cell for name, cell in operands_read(op).items() if name in used)


def _written_by_others(program: Program, thread: int) -> frozenset[Cell]:
    """The words that something else than the CPU of the thread writes."""
    found = {cell for each in connections(program) for cell in buffers_of(program, each)}
    for number, each in enumerate(program.threads):
        for _, _, step in steps(each):
            found |= cells_written(step.op, Agent.NIC if number == thread else None)
    return frozenset(found)


QueuePair = tuple[int, str]


@dataclass(frozen=True, slots=True)
class PivotClass:
    """Pivots that the search treats alike: accesses of `cell` by `thread` that write (or, if not `writes`, only read).

    Those by the naR of a remote read-modify-write, which others of its word must not take apart, are classes of their own.
    With `receive` they are the V by which the thread posts `cell` for that connection: see :mod:`receiving`.
    """

    thread: int
    cell: Cell
    writes: bool
    atomic: bool = False
    receive: Connection | None = None

    @property
    def verb(self) -> str:
        return "posts" if self.receive else "writes" if self.writes else "reads"


@dataclass(frozen=True, slots=True)
class EventLabel:
    """The label of one transition of the instrumented program.

    `part` is 1 for tau1 / alpha (also all of phase 1), 2 for tau2 / beta, 0 for the pivot itself and for silent steps; a
    remote read-modify-write whose naR is in the first and whose naW is in the second part is `torn`.
    `starts` is set on the transition that leaves phase 1 for that pivot class.
    """

    edge: EventEdge
    part: int
    starts: PivotClass | None = None
    torn: bool = False

    def __str__(self) -> str:
        where = {0: "", 1: " in the first part", 2: " in the second part"}[self.part]
        where += ", its write in the second" * self.torn
        start = f", after a pivot that {self.starts.verb} {self.starts.cell}" if self.starts else ""
        return f"{self.edge}{where}{start}"


@dataclass(frozen=True)
class InstrumentationFrame:
    """A program prepared for instrumentation: event graphs, cells by number, queue pairs, and the names of variables."""

    program: Program
    model: Model
    graphs: tuple[EventGraph, ...]
    limits: Limits = field(default=NO_LIMITS, compare=False)
    """Of the passes that the frame goes through."""
    recv_depth: int = RECV_DEPTH
    """The receives of one connection that can be posted, or filled and not polled."""

    @staticmethod
    def to_instrument(
        program: Program, model: Model, limits: Limits = NO_LIMITS, recv_depth: int = RECV_DEPTH
    ) -> InstrumentationFrame:
        """Return the frame of `program`, with the faults of messages, under a model whose violations have a normal form.
        Raises UsageError for others."""
        if why := not_searched(program, model):
            raise UsageError(why)
        frame = InstrumentationFrame.of(program, model, limits=limits, recv_depth=recv_depth).with_faults()
        return replace(frame, graphs=tuple(with_writes_back(program, graph, model) for graph in frame.graphs))

    @staticmethod
    def of(
        program: Program,
        model: Model,
        kept: Sequence[GraphDetail] = (),
        limits: Limits = NO_LIMITS,
        recv_depth: int = RECV_DEPTH,
    ) -> InstrumentationFrame:
        """Return the frame of `program`; `kept` says for each thread what its graph keeps, by default what events need."""
        every = kept or (GraphDetail.EVENTS,) * len(program.threads)
        poll = limits.poll("building the event graph")
        graphs = tuple(event_graph(program, t, k, poll, model) for t, k in enumerate(every))
        return InstrumentationFrame(program, model, graphs, limits, recv_depth)

    def with_faults(self) -> InstrumentationFrame:
        """The same program with an edge for every message and receive that can find no room, see :mod:`messages`."""
        if not any(e.connection for g in self.graphs for e in g.edges):
            return self
        graphs = tuple(with_faults(self.program, g) for g in self.graphs)
        return replace(self, graphs=graphs)

    @cached_property
    def messages(self) -> Messages:
        """The connections of the program."""
        return Messages.of(self.program, self.graphs, self.value_range, self.recv_depth)

    @cached_property
    def barriers(self) -> Barriers:
        """The barriers of the program."""
        return Barriers(self.graphs)

    def specialised(self) -> InstrumentationFrame:
        """The same program with fewer registers, see :mod:`specialise`."""
        cells = {cell for g in self.graphs for e in g.edges for cell, _, _ in e.accesses}
        return replace(self, graphs=specialise(self.graphs, cells, self.limits.poll("specialising")))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that some event writes, in order of declaration; the others are constants."""
        written = {cell for g in self.graphs for e in g.edges for cell, _, writing in e.accesses if writing}
        return tuple(c for c in self.program.cells if c in written)

    @cached_property
    def cell_bit(self) -> dict[Cell, int]:
        return {c: 1 << i for i, c in enumerate(self.cells)}

    def bit(self, cell: Cell | None) -> int:
        """The bit of a cell in sets of cells; 0 for a constant one, on which nothing conflicts."""
        return self.cell_bit.get(cell, 0) if cell is not None else 0

    def read_by(self, edge: EventEdge) -> int:
        """The bits of the cells that an event reads."""
        return sum(self.bit(cell) for cell, reading, _ in edge.accesses if reading)

    def written_by(self, edge: EventEdge) -> int:
        """The bits of the cells that an event writes."""
        return sum(self.bit(cell) for cell, _, writing in edge.accesses if writing)

    def touched_by(self, edge: EventEdge) -> int:
        """The bits of the cells that an event reads or writes."""
        return sum(self.bit(cell) for cell, _, _ in edge.accesses)

    def beside_cells(self, edge: EventEdge) -> tuple[int, int]:
        """The bits, behind those of the cells, of barriers that wait for an event, and of the queues and the barrier that it
        changes."""
        queues, barriers = len(self.cells), len(self.cells) + 2 * len(self.messages.channels)
        waiting, changed = self.barriers.footprint(edge)
        return waiting << barriers, self.messages.touched(edge) << queues | changed << barriers

    def values_for(self, edge: EventEdge, copy: str = "") -> dict[str, Expr]:
        """What an event that takes its values from memory reads there, by the names that its expressions have for it."""
        if edge.section:
            read = (touch for touch in edge.section if touch.cell is not None)
            return {value_of(t.number).name: self.memory(t.cell, copy) for t in read if t.cell is not None}
        taken = {value_of(k).name: self._operand(edge, k) for k in range(len(edge.operands))}
        return taken if edge.cell is None else {VALUE.name: self.memory(edge.cell, copy), **taken}

    def _operand(self, edge: EventEdge, number: int) -> Expr:
        """What the card has read of an operand of the edge's operation."""
        cell = edge.operands[number]
        return Name(self.operand(edge.thread, number)) if self.bit(cell) else Const(cell.init)

    def memory(self, cell: Cell, copy: str = "") -> Expr:
        """The value of a cell (in the memory copy of that name)."""
        return Name(f"{cell}{copy}") if cell in self.cell_bit else Const(cell.init)

    @cached_property
    def types(self) -> dict[QueuePair, frozenset[EventType]]:
        """The event types (polls included) that occur on each queue pair."""
        found: dict[QueuePair, set[EventType]] = {}
        for graph in self.graphs:
            for e in graph.edges:
                if e.remote is not None and e.type is not None:
                    found.setdefault((e.thread, e.remote), set()).update({e.type, e.also or e.type})
        return {qp: frozenset(types) for qp, types in found.items()}

    @cached_property
    def kinds(self) -> dict[QueuePair, frozenset[Kind]]:
        """The kinds of NIC events that occur on each queue pair."""
        found: dict[QueuePair, set[Kind]] = {qp: set() for qp in self.types}
        for edge in (e for graph in self.graphs for e in graph.edges):
            if edge.remote is not None and edge.type is not None and edge.type not in CPU_TYPES:
                found[qp_of(edge)] |= {kind_of(edge.type, edge), kind_of(edge.also or edge.type, edge)}
        return {qp: frozenset(kinds) for qp, kinds in found.items()}

    @cached_property
    def polled(self) -> tuple[QueuePair, ...]:
        return tuple(qp for qp, types in self.types.items() if EventType.P in types)

    @cached_property
    def _polls_ahead(self) -> dict[QueuePair, frozenset[int]]:
        ahead: dict[QueuePair, frozenset[int]] = {}
        for t, remote in self.polled:
            graph = self.graphs[t]
            at = {e.source for e in graph.edges if e.type is EventType.P and e.remote == remote}
            ahead[t, remote] = graph.leading_to(at)
        return ahead

    def counted(self, edge: EventEdge) -> bool:
        """Whether a completion made by this edge can still be polled: otherwise no counter needs to know it."""
        return edge.target in self._polls_ahead.get(qp_of(edge), ())

    @cached_property
    def value_range(self) -> tuple[int, int]:
        """The least and greatest value that a register or cell can hold.

        With a `domain` every assignment is guarded by it; without one there is no arithmetic, so that values are
        constants of the program or truth values.
        """
        found = {0, 1, *(self.program.domain or ()), *(c.init for c in self.program.cells)}
        found |= {v for g in self.graphs for _, v in g.registers}
        for edge in (e for g in self.graphs for e in g.edges):
            stored = (edge.written, *(touch.written for touch in edge.section))
            for expr in (*(e for _, e in edge.assigns), *(e for e in stored if e is not None)):
                found |= {sign * value for value in constants(expr) for sign in (1, -1)}
        return min(found), max(found)

    def registers(self) -> tuple[tuple[str, int], ...]:
        return tuple(r for g in self.graphs for r in g.registers)

    def carried(self, thread: int) -> str:
        """The value between the two events of a put or get."""
        return f"carried[{self.graphs[thread].name}]"

    def operand(self, thread: int, number: int) -> str:
        """The value of an operand between its read and that of the word of the atomic."""
        return f"operand{number}[{self.graphs[thread].name}]"

    def carriers(self) -> tuple[int, ...]:
        return tuple(t for t, g in enumerate(self.graphs) if any(e.carries for e in g.edges))

    @cached_property
    def taking_operands(self) -> tuple[int, ...]:
        """The threads with operands of atomics in memory that others can change."""
        return tuple(t for t in range(len(self.graphs)) if self.operands(t))

    def operands(self, thread: int) -> tuple[str, ...]:
        """The variables for operands of the thread's atomics that others can change."""
        mine = {e.operand: None for e in self.graphs[thread].edges if e.operand is not None and self.bit(e.cell)}
        return tuple(self.operand(thread, k) for k in mine)

    def in_flight(self) -> tuple[str, ...]:
        """The variables for what is on its way from one word to another."""
        return (*map(self.carried, self.carriers()), *(name for t in self.taking_operands for name in self.operands(t)))

    def unpolled(self, qp: QueuePair) -> str:
        """Counter: completions not yet polled."""
        return f"unpolled[{self.qp_name(qp)}]"

    def qp_name(self, qp: QueuePair) -> str:
        """How names of variables call a queue pair."""
        return f"{self.graphs[qp[0]].name}>{qp[1]}"


LaneThing = tuple[str, int, str]
"""`lane`, its thread by number, and its name."""

QueuePairThing = tuple[str, str] | LaneThing


def things_of(program: Program, connection: Connection) -> tuple[tuple[str, int] | QueuePairThing, ...]:
    """What a connection is of: two threads, and a lane of the first if it has a name."""
    sender, receiver, lane = connection
    ends = ("thread", sender), ("thread", receiver)
    return ends if lane == NAMELESS else (*ends, thing_of(program, (sender, lane)))


def thing_of(program: Program, qp: QueuePair) -> QueuePairThing:
    """What the name of a queue pair is, for who exchanges things: a node, or a lane, which is its thread's alone."""
    thread, name = qp
    return ("node", name) if name in program.nodes else ("lane", thread, name)


def qp_of(edge: EventEdge) -> QueuePair:
    """The queue pair of an event of the NIC or a poll."""
    assert edge.remote is not None
    return edge.thread, edge.remote


def has_bit(variable: str, mask: int) -> Expr:
    """Non-zero iff `variable` and `mask` share a bit."""
    return Binary("&", Name(variable), Const(mask)) if mask else FALSE


def set_bit(variable: str, mask: int) -> tuple[str, Expr]:
    return variable, Binary("|", Name(variable), Const(mask))


def edge_reads(edge: EventEdge) -> bool:
    return edge.reads


def writes(edge: EventEdge) -> bool:
    return edge.writes


def stores_carried(edge: EventEdge) -> bool:
    """Whether the event stores what depends on the value that its operation carries from an earlier event."""
    return writes(edge) and not edge_reads(edge) and (edge.written is None or VALUE.name in names(edge.written))


def conflicts(edge: EventEdge, cell: Cell, other_writes: bool) -> bool:
    """Whether the edge's event and an access of `cell` (writing or not) conflict."""
    return any(cell == touched and (writing or other_writes) for touched, _, writing in edge.accesses)


def edge_effect(
    frame: InstrumentationFrame, edge: EventEdge, copy: str = "", marks: Expr = NO_MARKS, *, credit: bool = False
) -> tuple[Statement, ...]:
    """The edge's guard and its effect on registers, queues and on the memory copy of that name.

    `marks` are those of the event in the queues, see :mod:`messages`. On `credit` a message takes a V that is still to come.
    """
    value = frame.values_for(edge, copy)
    received = frame.messages.value(edge)
    if received is not None:
        value = {VALUE.name: received}
    updates = [(r, substitute(e, value)) for r, e in edge.assigns]
    if edge.carries and edge_reads(edge):
        updates.append((frame.carried(edge.thread), value[VALUE.name]))
    if edge.operand is not None and frame.bit(edge.cell):
        updates.append((frame.operand(edge.thread, edge.operand), value[VALUE.name]))
    updates += [(frame.operand(edge.thread, k), Const(0)) for k, cell in enumerate(edge.operands) if frame.bit(cell)]
    if edge.section:
        updates += [(f"{t.cell}{copy}", substitute(t.written, value)) for t in edge.section if t.written is not None]
    elif writes(edge):
        taken = stores_carried(edge)
        stored = edge.written or VALUE
        if taken or (edge.written is not None and any(map(is_value, names(edge.written)))):
            stored = substitute(stored, {VALUE.name: Name(frame.carried(edge.thread))} if taken else value)
        updates.append((f"{edge.cell}{copy}", stored))
        if taken and not edge.carries:
            updates.append((frame.carried(edge.thread), Const(0)))
    if not credit:
        updates += frame.messages.updates(edge, marks)
    updates += frame.barriers.updates(edge)
    enabled = frame.messages.unposted(edge) if credit else frame.messages.enabled(edge)
    guard = Require(conj(frame.barriers.enabled(edge), enabled, substitute(edge.guard, value)))
    looks_at: Expr = Const(1) if credit else frame.messages.looked_at(edge)
    looked = (Assign(((TAKEN, looks_at),)),) if takes_buffer(edge) or looks_at != FALSE else ()
    return (guard, *looked, Assign(tuple(updates))) if updates else (guard, *looked)
