"""From a run of the instrumented program back to a trace of the RDMA program, and its confirmation by the axioms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rdma_robust.errors import InternalError
from rdma_robust.expr import VALUE, evaluate
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.model import RDMA, Model
from rdma_robust.outcome import Witness
from rdma_robust.robustness.event_graph import EventEdge, register_names
from rdma_robust.robustness.frame import EventLabel, stores_carried
from rdma_robust.robustness.messages import is_message
from rdma_robust.robustness.rules import buffers_stores
from rdma_robust.semantics.axioms import rdma_violation, sc_violation
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.trace import (
    COMPLETING_TYPES,
    CPU_TYPES,
    READ_TYPES,
    STORE_TYPES,
    WRITE_TYPES,
    Event,
    EventType,
    Trace,
)
from rdma_robust.semantics.wellformed import check_well_formed

_INIT = -1
"""Edge number of the initial register values in a thread's replay."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """A trace alpha . m . beta that should be violating, see :class:`Witness` for `before`, `pivot` and `run`."""

    trace: Trace
    before: int
    pivot: Event | None
    run: tuple[Event, ...]


def lift(program: Program, run: Sequence[EventLabel], target: EventLabel | None, model: Model = RDMA) -> Lifted:
    """Return the trace of a run of a program instrumented for `model`.

    `run` has the labels of the run in the order of the search; `target` that of the pivot (None for the paper's
    instrumentation, which has none). The events of part 1, the pivot, and those of part 2 are put in this order, and the
    values are computed anew along it; a read before a store of its own CPU that it comes after in program order, which is
    still in the store buffer, takes its value. Raises InternalError if they cannot be.
    Source: Theorem 5.1 (normal form), Definition 4 (the trace of an order).
    """
    replay = _Replay(program, buffers_stores(model))
    for label in run:
        replay.add(label.edge)
    pivot = None
    if target is not None:
        pivot = replay.add(target.edge)
    events = {i: label for i, label in enumerate(run) if label.edge.type is not None}
    alpha = [i for i, label in events.items() if label.part == 1]
    beta = [i for i, label in events.items() if label.part == 2]
    middle = [] if pivot is None else [pivot]
    for i in (*alpha, *middle, *beta):
        replay.happen(i)
    order = [replay.done[i] for i in (*alpha, *middle, *beta)]
    trace = trace_of_order(order, program, model)
    place = {i: trace.events[len(program.cells) + k] for k, i in enumerate((*alpha, *middle, *beta))}
    return Lifted(trace, len(alpha), None if pivot is None else place[pivot], tuple(place[i] for i in events))


def confirm(program: Program, lifted: Lifted, model: Model) -> Witness:
    """Return the witness of a trace that is well-formed, RDMA-consistent and not SC-consistent, through its pivot.

    Raises InternalError if it is not. Source: Definitions 1 to 3 and 5 (the axioms of semantics.md).
    """
    trace, pivot = lifted.trace, lifted.pivot
    check_well_formed(program, trace, model)
    if (cycle := rdma_violation(trace, model)) is not None:
        raise InternalError("the witness is not RDMA-consistent: " + "; ".join(map(str, cycle.edges)))
    violation = sc_violation(trace, None if pivot is None else pivot.index)
    if violation is None:
        raise InternalError("the witness is SC-consistent" if pivot is None else "no SC cycle passes through the pivot")
    relaxed = tuple(
        (e.target, e.source) if e.target.position < e.source.position else (e.source, e.target)
        for e in violation.edges
        if e.relation == "po" and e.source.index > e.target.index
    )
    return Witness(trace, trace.events[len(program.cells) :], lifted.before, pivot, lifted.run, violation, relaxed)


@dataclass
class _Thread:
    """One thread's replay: its edges in program order (as run indices), its registers after `applied` of them, and those
    `before` each of these."""

    edges: list[int]
    registers: dict[str, int]
    before: dict[int, dict[str, int]] = field(default_factory=dict)
    applied: int = 0
    events: int = 0


@dataclass
class _Replay:
    """Replays edges on one memory in any order that keeps each thread's CPU events in program order.

    Register updates of an edge are made when a later event of the thread needs them: NIC events, stores and silent steps do
    not read values into registers, and CPU events that do have happened by then.
    """

    program: Program
    buffered: bool = False
    edges: list[EventEdge] = field(default_factory=list)
    position: list[int] = field(default_factory=list)
    done: dict[int, Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory: dict[Cell, int] = {c: c.init for c in self.program.cells}
        self.threads = []
        for i, thread in enumerate(self.program.threads):
            names = register_names(self.program, i)
            initial = {names[r]: value for r, value in thread.registers}
            self.threads.append(_Thread([], initial))

    def add(self, edge: EventEdge) -> int:
        """Append an edge to its thread's program order; return its number."""
        number = len(self.edges)
        thread = self.threads[edge.thread]
        self.edges.append(edge)
        self.position.append(thread.events if edge.type is not None else _INIT)
        thread.events += edge.type is not None
        thread.edges.append(number)
        return number

    def happen(self, number: int) -> None:
        """Let the event of edge `number` take effect now."""
        edge = self.edges[number]
        assert edge.type is not None
        read = written = None
        if edge.cell is not None and edge.type in READ_TYPES:
            store = self._in_buffer(number) if edge.type is EventType.LR else None
            read = self.memory[edge.cell] if store is None else self._stored(store, None)
        if edge.type in WRITE_TYPES:
            written = self._stored(number, self._carried(number) if stores_carried(edge) else read)
        elif edge.type in CPU_TYPES:
            self._registers_before(number)
        if edge.type is EventType.RP:
            read = self._received(number)
        if edge.cell is not None and edge.type in WRITE_TYPES:
            assert written is not None
            self.memory[edge.cell] = written
        self.done[number] = Event(
            -1,
            edge.type,
            edge.thread,
            self.position[number],
            edge.remote,
            edge.cell,
            read,
            written,
            edge.step,
            unsignaled=edge.completing and not edge.completes,
            within=edge.type in COMPLETING_TYPES and not edge.completing,
            peer=edge.peer,
        )

    def _received(self, number: int) -> int | None:
        """The immediate of the message that the RP takes: of the k-th one the k-th. None for that of a send."""
        poll = self.edges[number]
        assert poll.connection is not None
        mine = [i for i in self.threads[poll.thread].edges if self.edges[i].connection == poll.connection]
        polls = [i for i in mine if self.edges[i].type is EventType.RP]
        sent = self.threads[poll.connection[0]].edges
        messages = [i for i in sent if self.edges[i].connection == poll.connection and is_message(self.edges[i])]
        place = polls.index(number)
        message = self.done.get(messages[place]) if place < len(messages) else None
        if message is None:
            raise InternalError("the witness has a receive completion before its message")
        return message.written if message.cell is None else None

    def _stored(self, number: int, value: int | None) -> int | None:
        """What the event of edge `number` writes, if VALUE is `value` there."""
        edge = self.edges[number]
        if edge.written is None:
            return value
        env = self._registers_before(number)
        return evaluate(edge.written, env if value is None else {**env, VALUE.name: value})

    def _in_buffer(self, number: int) -> int | None:
        """The last store of the same CPU to the word of edge `number` that comes before it and has not taken effect."""
        if not self.buffered:
            return None
        edge = self.edges[number]
        mine = self.threads[edge.thread].edges
        earlier = (i for i in reversed(mine[: mine.index(number)]) if self.edges[i].type is EventType.LW)
        return next((i for i in earlier if self.edges[i].cell == edge.cell and i not in self.done), None)

    def _carried(self, number: int) -> int:
        """What the last event before this one that reads, which is of the same operation, has read."""
        thread = self.threads[self.edges[number].thread]
        before = thread.edges[: thread.edges.index(number)]
        source = next(i for i in reversed(before) if self.edges[i].type in READ_TYPES)
        found = self.done[source].read if source in self.done else None
        if found is None:
            raise InternalError("the witness has a NIC write before its read")
        return found

    def _after(self, number: int, registers: dict[str, int]) -> dict[str, int]:
        """The thread's registers after edge `number`. Raises InternalError if that is a CPU event to come."""
        edge, event = self.edges[number], self.done.get(number)
        if event is None and edge.type in CPU_TYPES and not (self.buffered and edge.type in STORE_TYPES):
            raise InternalError("the witness has an event before an earlier CPU event of its thread")
        if not edge.assigns:
            return registers
        value = event.read if event is not None and edge.type in CPU_TYPES else None
        if edge.type is EventType.RP:
            value = value or 0
        env = registers if value is None else {**registers, VALUE.name: value}
        return {**registers, **{r: evaluate(e, env) for r, e in edge.assigns}}

    def _registers_before(self, number: int) -> dict[str, int]:
        """The thread's registers just before edge `number`. Raises InternalError if a CPU event came too early."""
        thread = self.threads[self.edges[number].thread]
        while number not in thread.before:
            earlier = thread.edges[thread.applied]
            thread.before[earlier] = thread.registers
            if earlier == number:
                break
            thread.registers = self._after(earlier, thread.registers)
            thread.applied += 1
        return thread.before[number]
