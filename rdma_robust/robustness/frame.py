"""What the two instrumentations share: names of the variables they add, event effects, and the oppo rule as bit masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.counters.program import Add, Assign, Forget, Require, Statement
from rdma_robust.errors import UsageError
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, Ite, Name, constants, disj, negate, substitute
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.model import Model
from rdma_robust.robustness.event_graph import EventEdge, EventGraph, Kept, event_graph
from rdma_robust.robustness.reductions.specialise import specialise
from rdma_robust.semantics.order_table import oppo_scope
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, READ_TYPES, WRITE_TYPES, EventType

NIC_BITS = {t: 1 << i for i, t in enumerate((EventType.NLR, EventType.NRW, EventType.NRR, EventType.NLW, EventType.NF))}
"""One bit per NIC event type, for the set of types a queue pair has in the second part."""

QueuePair = tuple[int, str]


@dataclass(frozen=True, slots=True)
class PivotClass:
    """Pivots that the search treats alike: accesses of `cell` by `thread` that write (or, if not `writes`, only read)."""

    thread: int
    cell: Cell
    writes: bool


@dataclass(frozen=True, slots=True)
class EventLabel:
    """What one transition of the instrumented program does.

    `part` is 1 for tau1 / alpha (also all of phase 1), 2 for tau2 / beta, 0 for the pivot itself and for silent steps.
    `starts` is set on the transition that leaves phase 1 for that pivot class.
    """

    edge: EventEdge
    part: int
    starts: PivotClass | None = None

    def __str__(self) -> str:
        where = {0: "", 1: " in the first part", 2: " in the second part"}[self.part]
        start = (
            f", after a pivot that {'writes' if self.starts.writes else 'reads'} {self.starts.cell}" if self.starts else ""
        )
        return f"{self.edge}{where}{start}"


@dataclass(frozen=True)
class Frame:
    """A program prepared for instrumentation: event graphs, cells by number, queue pairs, and the names of variables."""

    program: Program
    model: Model
    graphs: tuple[EventGraph, ...]

    @staticmethod
    def to_instrument(program: Program, model: Model) -> Frame:
        """Return the frame of `program` under a model whose violations have a normal form. Raises UsageError for others."""
        if not model.has_normal_form:
            raise UsageError(f"no search is proven to decide robustness under this model: {model}")
        return Frame.of(program, model)

    @staticmethod
    def of(program: Program, model: Model, kept: Sequence[Kept] = ()) -> Frame:
        """Return the frame of `program`; `kept` says for each thread what its graph keeps, by default what events need."""
        every = kept or (Kept.EVENTS,) * len(program.threads)
        return Frame(program, model, tuple(event_graph(program, t, k) for t, k in enumerate(every)))

    def specialised(self) -> Frame:
        """The same program with fewer registers, see :mod:`specialise`."""
        cells = {e.cell for g in self.graphs for e in g.edges if e.cell is not None}
        return Frame(self.program, self.model, specialise(self.graphs, cells))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that some event writes, in order of declaration; the others are constants."""
        written = {e.cell for g in self.graphs for e in g.edges if writes(e)}
        return tuple(c for c in self.program.cells if c in written)

    @cached_property
    def cell_bit(self) -> dict[Cell, int]:
        return {c: 1 << i for i, c in enumerate(self.cells)}

    def bit(self, cell: Cell | None) -> int:
        """The bit of a cell in sets of cells; 0 for a constant one, on which nothing conflicts."""
        return self.cell_bit.get(cell, 0) if cell is not None else 0

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
                    found.setdefault((e.thread, e.remote), set()).add(e.type)
        return {qp: frozenset(types) for qp, types in found.items()}

    @cached_property
    def queue_pairs(self) -> tuple[QueuePair, ...]:
        return tuple(qp for qp, types in self.types.items() if types & NIC_BITS.keys())

    @cached_property
    def polled(self) -> tuple[QueuePair, ...]:
        return tuple(qp for qp, types in self.types.items() if EventType.P in types)

    @cached_property
    def fence_flagged(self) -> frozenset[QueuePair]:
        """Queue pairs on which the nlW / nF / nlR rule can matter."""
        needed = {EventType.NLW, EventType.NF, EventType.NLR}
        return frozenset(qp for qp, types in self.types.items() if needed <= types)

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
        return edge.target in self._polls_ahead.get(_qp(edge), ())

    @cached_property
    def value_range(self) -> tuple[int, int]:
        """The least and greatest value that a register or cell can hold.

        With a `domain` every assignment is guarded by it; without one there is no arithmetic, so that values are
        constants of the program or truth values.
        """
        found = {0, 1, *(self.program.domain or ()), *(c.init for c in self.program.cells)}
        found |= {v for g in self.graphs for _, v in g.registers}
        for edge in (e for g in self.graphs for e in g.edges):
            for expr in (*(e for _, e in edge.assigns), *(() if edge.written is None else (edge.written,))):
                found |= {sign * value for value in constants(expr) for sign in (1, -1)}
        return min(found), max(found)

    def registers(self) -> tuple[tuple[str, int], ...]:
        return tuple(r for g in self.graphs for r in g.registers)

    def carried(self, thread: int) -> str:
        """The value between the two events of a put or get."""
        return f"carried[{self.graphs[thread].name}]"

    def carriers(self) -> tuple[int, ...]:
        return tuple(t for t, g in enumerate(self.graphs) if any(e.type in (EventType.NLR, EventType.NRR) for e in g.edges))

    def beta(self, qp: QueuePair) -> str:
        """The set of NIC event types of this queue pair in the second part."""
        return f"beta[{self._qp_name(qp)}]"

    def forced(self, qp: QueuePair) -> str:
        """1 once some completion of this queue pair forces its poll into the second part."""
        return f"forced[{self._qp_name(qp)}]"

    def fenced(self, qp: QueuePair) -> str:
        """1 once an nF of the first part has a po-earlier nlW of the same queue pair in the second."""
        return f"fenced[{self._qp_name(qp)}]"

    def unpolled(self, qp: QueuePair) -> str:
        """Counter: completions not yet polled."""
        return f"unpolled[{self._qp_name(qp)}]"

    def early(self, qp: QueuePair) -> str:
        """Counter: those of them before the first that forces its poll; what a poll of the first part may consume."""
        return f"early[{self._qp_name(qp)}]"

    def _qp_name(self, qp: QueuePair) -> str:
        return f"{self.graphs[qp[0]].name}>{qp[1]}"

    def oppo_forces(self, edge: EventEdge) -> Expr:
        """The event of `edge` has an oppo-earlier event of its thread or queue pair in the second part."""
        assert edge.type is not None
        by_cpu = has_bit(CPU_BETA, 1 << edge.thread)
        if edge.type in CPU_TYPES:
            return by_cpu
        return disj(by_cpu, self.nic_forces(edge))

    def nic_forces(self, edge: EventEdge) -> Expr:
        """The NIC event of `edge` may not go to the first part because of a NIC event of its queue pair in the second.

        Covers oppo and the one additional [Inst];ib rule: no nlR once an nF overtook an nlW. Source: Appendix D.1.
        """
        qp = _qp(edge)
        overtaken = Name(self.fenced(qp)) if edge.type is EventType.NLR and qp in self.fence_flagged else FALSE
        return disj(has_bit(self.beta(qp), self.nic_forcing_types(edge)), overtaken)

    def nic_forcing_types(self, edge: EventEdge) -> int:
        """The NIC event types of the queue pair, as bits, that are oppo-before the NIC event of `edge`."""
        present = self.types[_qp(edge)]
        return sum(
            bit for t, bit in NIC_BITS.items() if t in present and edge.type and oppo_scope(t, edge.type, self.model) == "qp"
        )

    def forces_poll(self, edge: EventEdge) -> Expr:
        """The NIC write of `edge`, put into the second part, forces its poll to follow it there (pf and [Inst];ib).

        An nlW always does; an nrW if an nlR or nF of its queue pair is in the second part before it, and that nF would
        have forced the put's nlR there as well. Source: Appendix D.1.
        """
        qp = _qp(edge)
        if edge.type is EventType.NLW:
            return TRUE
        return disj(Name(self.forced(qp)), has_bit(self.beta(qp), NIC_BITS[EventType.NLR]))

    def first_part(self, edge: EventEdge) -> tuple[tuple[Statement, ...], ...]:
        """What an event of the first part does to polls, completions and fence flags, as alternatives."""
        if edge.remote is None:
            return ((),)
        qp = _qp(edge)
        if edge.type is EventType.P:
            return ((Add(self.unpolled(qp), -1), Add(self.early(qp), -1)),)
        if edge.type in NIC_WRITE_TYPES and self.counted(edge):
            forced = Name(self.forced(qp))
            return (Require(negate(forced)), *self._completion(edge, True)), (
                Require(forced),
                *self._completion(edge, False),
            )
        if edge.type is EventType.NF and qp in self.fence_flagged:
            overtakes = has_bit(self.beta(qp), NIC_BITS[EventType.NLW])
            return ((Assign(((self.fenced(qp), Ite(overtakes, Const(1), Name(self.fenced(qp)))),)),),)
        return ((),)

    def second_part(self, edge: EventEdge) -> tuple[tuple[Statement, ...], ...]:
        """What an event of the second part does to the sets of types, polls and completions, as alternatives."""
        if edge.type in CPU_TYPES:
            taken = (Add(self.unpolled(_qp(edge)), -1),) if edge.type is EventType.P else ()
            forget = (Forget(self.early(qp)) for qp in self.polled if qp[0] == edge.thread)
            return ((*taken, Assign((set_bit(CPU_BETA, 1 << edge.thread),)), *forget),)
        assert edge.type is not None
        qp = _qp(edge)
        added = Assign((set_bit(self.beta(qp), NIC_BITS[edge.type]),))
        if edge.type not in NIC_WRITE_TYPES or qp not in self.polled:
            return ((added,),)
        forces = self.forces_poll(edge)
        late = (Require(forces), Assign(((self.forced(qp), Const(1)),)), added, *self._completion(edge, False))
        early = (Require(negate(forces)), added, *self._completion(edge, True))
        return (late,) if forces == TRUE else (late, early)

    def _completion(self, edge: EventEdge, early: bool) -> tuple[Statement, ...]:
        """Count the completion of a NIC write; `early` if it does not come after one that forces its poll."""
        if not self.counted(edge):
            return ()
        added = Add(self.unpolled(_qp(edge)), 1)
        return (added, Add(self.early(_qp(edge)), 1)) if early else (added,)

    def counters(self) -> tuple[str, ...]:
        return tuple(name for qp in self.polled for name in (self.unpolled(qp), self.early(qp)))

    def counter_order(self) -> tuple[tuple[str, str], ...]:
        """Which counters are at most which others."""
        return tuple((self.early(qp), self.unpolled(qp)) for qp in self.polled)

    def part_sizes(self) -> tuple[tuple[str, int], ...]:
        """The bits of those :meth:`part_variables` that are sets."""
        return ((CPU_BETA, len(self.graphs)), *((self.beta(qp), len(NIC_BITS)) for qp in self.queue_pairs))

    def part_variables(self) -> tuple[tuple[str, int], ...]:
        """The variables both instrumentations use to keep the two parts RDMA-consistent, initially all 0."""
        return (
            (CPU_BETA, 0),
            *((self.beta(qp), 0) for qp in self.queue_pairs),
            *((self.forced(qp), 0) for qp in self.polled),
            *((self.fenced(qp), 0) for qp in self.queue_pairs if qp in self.fence_flagged),
        )


CPU_BETA = "cpu_beta"
"""The set of threads with a CPU event in the second part."""


def _qp(edge: EventEdge) -> QueuePair:
    assert edge.remote is not None
    return edge.thread, edge.remote


def has_bit(variable: str, mask: int) -> Expr:
    """Non-zero iff `variable` and `mask` share a bit."""
    return Binary("&", Name(variable), Const(mask)) if mask else FALSE


def set_bit(variable: str, mask: int) -> tuple[str, Expr]:
    return variable, Binary("|", Name(variable), Const(mask))


def reads(edge: EventEdge) -> bool:
    return edge.type in READ_TYPES


def writes(edge: EventEdge) -> bool:
    return edge.type in WRITE_TYPES


def conflicts(edge: EventEdge, cell: Cell, other_writes: bool) -> bool:
    """Whether the edge's event and an access of `cell` (writing or not) conflict."""
    return edge.cell == cell and (writes(edge) or other_writes)


def effect(frame: Frame, edge: EventEdge, copy: str = "") -> tuple[Statement, ...]:
    """The edge's guard and its effect on registers and on the memory copy of that name."""
    value: dict[str, Expr] = {} if edge.cell is None else {VALUE.name: frame.memory(edge.cell, copy)}
    updates = [(r, substitute(e, value)) for r, e in edge.assigns]
    if edge.type in (EventType.NLR, EventType.NRR):
        updates.append((frame.carried(edge.thread), value[VALUE.name]))
    if edge.written is not None:
        updates.append((f"{edge.cell}{copy}", edge.written))
    elif edge.type in (EventType.NRW, EventType.NLW):
        carried = frame.carried(edge.thread)
        updates += [(f"{edge.cell}{copy}", Name(carried)), (carried, Const(0))]
    guard = Require(substitute(edge.guard, value))
    return (guard, Assign(tuple(updates))) if updates else (guard,)
