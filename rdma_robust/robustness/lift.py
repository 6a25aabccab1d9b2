"""From a run of the instrumented program back to a trace of the RDMA program, and its confirmation by the axioms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rdma_robust.errors import InternalError
from rdma_robust.expr import VALUE, evaluate, value_of
from rdma_robust.language.flow.cfg import BarrierWait, Cell, Program
from rdma_robust.model import RDMA, Model
from rdma_robust.outcome import Witness
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import register_names
from rdma_robust.robustness.frame import EventLabel, stores_carried
from rdma_robust.robustness.messages import takes_buffer
from rdma_robust.robustness.rules import buffers_stores
from rdma_robust.semantics.axioms import rdma_violation, sc_violation
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.reads_placed import with_reads_placed
from rdma_robust.semantics.trace import CPU_TYPES, STORE_TYPES, WRITE_TYPES, Event, EventType, Trace
from rdma_robust.semantics.wellformed import check_well_formed


@dataclass(frozen=True, slots=True)
class LiftedTrace:
    """A trace alpha . m . beta that should be violating, see :class:`Witness` for `before`, `pivot` and `run`."""

    trace: Trace
    before: int
    pivot: Event | None
    run: tuple[Event, ...]


def lift(program: Program, run: Sequence[EventLabel], target: EventLabel | None, model: Model = RDMA) -> LiftedTrace:
    """Return the trace of a run of a program instrumented for `model`.

    `run` has the labels of the run in the order of the search; `target` that of the pivot (None for the paper's
    instrumentation, which has none). The events of part 1, the pivot, and those of part 2 are put in this order, and the
    values are computed anew along it; a read before a store of its own CPU that it comes after in program order, which is
    still in the store buffer, takes its value. A remote read-modify-write of part 2 may write where it does not in the run,
    or the other way round. Where reads land writes to memories behind cards the order may be another one of the same
    accesses, see :mod:`reads_placed`. Raises InternalError if they cannot be.
    Source: Theorem 5.1 (normal form), Definition 4 of the paper.
    """
    replay = _Replay(program, model)
    for label in run:
        replay.add(label.edge)
    pivot = None
    if target is not None:
        pivot = replay.add(target.edge)
    events = {i: label for i, label in enumerate(run) if label.edge.type is not None}
    for i, label in events.items():
        if label.part == 1:
            replay.happen(i, label.torn)
    before = len(replay.order)
    if pivot is not None:
        replay.happen(pivot)
    for i, label in events.items():
        if label.part == 2:
            replay.happen(i)
        elif label.torn:
            replay.write_of(i)
    replay.order = [replay.order[k] for k in with_reads_placed(replay.in_order(), program, model)]
    if pivot is not None:
        before = replay.order.index(replay.of(pivot)[0])
    trace = trace_of_order(replay.in_order(), program, model)
    place = {n: trace.events[len(program.cells) + k] for k, n in enumerate(replay.order)}
    at_pivot = None if pivot is None else place[replay.of(pivot)[-1]]
    return LiftedTrace(trace, before, at_pivot, tuple(place[n] for i in events for n in replay.of(i)))


def confirm(program: Program, lifted: LiftedTrace, model: Model) -> Witness:
    """Return the witness of a trace that is well-formed, RDMA-consistent and not SC-consistent, through its pivot.

    Raises InternalError if it is not. Source: Definitions 1 to 3 and 5 (docs/model.md, "Consistency").
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


def _unshown(message: EventEdge) -> bool:
    """Whether an RP may take the message before it takes effect: it goes to a memory behind the card."""
    return message.cell is not None and bool(message.cell.memory)


@dataclass
class _Thread:
    """One thread's replay: its edges in program order (as run indices), its registers after `applied` of them, and those
    `before` each of these."""

    edges: list[int]
    registers: dict[str, int]
    before: dict[int, dict[str, int]] = field(default_factory=dict)
    applied: int = 0


@dataclass
class _Replay:
    """Replays edges on one memory in any order that keeps each thread's CPU events in program order.

    Register updates of an edge are made when a later event of the thread needs them: NIC events, stores and silent steps do
    not read values into registers, and CPU events that do have happened by then. An edge makes one event, or two (naR and
    naW); `order` has them as (edge, number of the event) in the order in which they happen.
    """

    program: Program
    model: Model
    edges: list[EventEdge] = field(default_factory=list)
    done: dict[tuple[int, int], Event] = field(default_factory=dict)
    order: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.buffered = buffers_stores(self.model)
        self.memory: dict[Cell, int] = {c: c.init for c in self.program.cells}
        self.threads = []
        for i, thread in enumerate(self.program.threads):
            names = register_names(self.program, i)
            initial = {names[r]: value for r, value in thread.registers}
            self.threads.append(_Thread([], initial))

    def add(self, edge: EventEdge) -> int:
        """Append an edge to its thread's program order; return its number."""
        self.edges.append(edge)
        self.threads[edge.thread].edges.append(len(self.edges) - 1)
        return len(self.edges) - 1

    def of(self, number: int) -> list[tuple[int, int]]:
        """The events of an edge."""
        most = max(2, len(self.edges[number].section))
        return [(number, k) for k in range(most) if (number, k) in self.done]

    def in_order(self) -> list[Event]:
        """The events in the order in which they happened, with their places in program order."""
        position: dict[tuple[int, int], int] = {}
        for thread in self.threads:
            mine = [n for number in thread.edges for n in self.of(number)]
            position.update((n, k) for k, n in enumerate(mine))
        return [replace(self.done[n], position=position[n]) for n in self.order]

    def happen(self, number: int, torn: bool = False) -> None:
        """Let the event of edge `number` take effect now; of a remote read-modify-write that is `torn` its read."""
        edge = self.edges[number]
        assert edge.type is not None
        if edge.section:
            self._lock(number)
            return
        if edge.rmw is not None:
            self._modify(number, torn or edge.stops)
            return
        read = written = None
        if edge.cell is not None and edge.reads:
            store = self._in_buffer(number) if edge.type is EventType.LR else None
            read = self.memory[edge.cell] if store is None else self._stored(store, None)
        if edge.type is EventType.NAW:
            written = self._behind_read(number)
        elif edge.type in WRITE_TYPES:
            written = self._stored(number, self._carried(number) if stores_carried(edge) else read)
        elif edge.type in CPU_TYPES:
            self._registers_before(number)
        if edge.type is EventType.RP:
            read = self._received(number)
        self._note(number, edge.type, read, written)

    def _lock(self, number: int) -> None:
        """Let a locked section take effect, all of its events at once."""
        edge = self.edges[number]
        read = {value_of(t.number).name: self.memory[t.cell] for t in edge.section if t.cell is not None}
        env = {**self._registers_before(number), **read}
        for k, touch in enumerate(edge.section):
            written = None if touch.written is None else evaluate(touch.written, env)
            value = None if touch.cell is None else read[value_of(touch.number).name]
            if touch.cell is not None and written is not None:
                self.memory[touch.cell] = written
            self.order.append((number, k))
            self.done[number, k] = Event(
                -1, touch.type, edge.thread, -1, None, touch.cell, value, written, edge.step, joined=k > 0
            )

    def _modify(self, number: int, read_only: bool) -> None:
        """Let a remote read-modify-write take effect: in one event if it excludes every access, else in two."""
        edge = self.edges[number]
        assert edge.cell is not None
        read = self.memory[edge.cell]
        written = self._new_value(number, read)
        if self.model.atomics == "glob" and written is not None:
            self._note(number, EventType.NA, read, written)
            return
        self._note(number, EventType.NAR, read, None)
        if not read_only:
            self.write_of(number)

    def write_of(self, number: int) -> None:
        """Let the naW of a remote read-modify-write take effect now, if what its naR has read makes it write."""
        read = self.done[number, 0].read
        assert read is not None
        written = self._new_value(number, read)
        if written is not None:
            self._note(number, EventType.NAW, None, written)

    def _behind_read(self, number: int) -> int:
        """What a naW writes that is the pivot without its naR, which is before it. Raises InternalError if it does not."""
        mine = self.threads[self.edges[number].thread].edges
        read = mine[mine.index(number) - 1]
        found = self.done[read, 0].read if (read, 0) in self.done else None
        written = None if found is None else self._new_value(read, found)
        if written is None:
            raise InternalError("the witness has no write behind the read of an atomic")
        return written

    def _new_value(self, number: int, read: int) -> int | None:
        """What a remote read-modify-write that has read this writes, None if it does not."""
        rmw = self.edges[number].rmw
        assert rmw is not None
        env = {**self._registers_before(number), **self._operands_of(number), VALUE.name: read}
        return evaluate(rmw[1], env) if evaluate(rmw[0], env) else None

    def _operands_of(self, number: int) -> dict[str, int]:
        """What the card has read of the operands of a remote read-modify-write. Raises InternalError if one is to come."""
        taken = len(self.edges[number].operands)
        mine = self.threads[self.edges[number].thread].edges
        at = mine.index(number)
        found = {value_of(k).name: self.done.get((i, 0)) for k, i in enumerate(mine[at - taken : at])}
        if any(event is None for event in found.values()):
            raise InternalError("the witness has an atomic before the read of its operand")
        return {name: event.read or 0 for name, event in found.items() if event is not None}

    def _writes_next(self, number: int, kind: EventType, read: int | None) -> bool:
        """Whether the event is the naR of a remote read-modify-write that goes on with its naW."""
        return kind is EventType.NAR and read is not None and self._new_value(number, read) is not None

    def _note(self, number: int, kind: EventType, read: int | None, written: int | None) -> None:
        """Let an event of edge `number` take effect now, with these values."""
        edge = self.edges[number]
        if edge.cell is not None and kind in WRITE_TYPES:
            assert written is not None
            self.memory[edge.cell] = written
        n = number, int((number, 0) in self.done)
        self.order.append(n)
        self.done[n] = Event(
            -1,
            kind,
            edge.thread,
            -1,
            edge.remote,
            edge.cell,
            read,
            written,
            edge.step,
            unsignaled=edge.completing and not edge.completes,
            completing=edge.completing and not self._writes_next(number, kind, read),
            peer=edge.peer,
            members=edge.step.op.threads if isinstance(edge.step.op, BarrierWait) else (),
        )

    def _received(self, number: int) -> int | None:
        """The immediate of the message that the RP takes: of the k-th one the k-th. None for that of a send."""
        poll = self.edges[number]
        assert poll.connection is not None
        mine = [i for i in self.threads[poll.thread].edges if self.edges[i].connection == poll.connection]
        polls = [i for i in mine if self.edges[i].type is EventType.RP]
        sent = self.threads[poll.connection[0]].edges
        messages = [i for i in sent if self.edges[i].connection == poll.connection and takes_buffer(self.edges[i])]
        place = polls.index(number)
        message = self.done.get((messages[place], 0)) if place < len(messages) else None
        if message is None and place < len(messages) and _unshown(self.edges[messages[place]]):
            return None
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
        return next((i for i in earlier if self.edges[i].cell == edge.cell and (i, 0) not in self.done), None)

    def _carried(self, number: int) -> int:
        """What the last event before this one that reads, which is of the same operation, has read."""
        thread = self.threads[self.edges[number].thread]
        before = thread.edges[: thread.edges.index(number)]
        source = next(i for i in reversed(before) if self.edges[i].reads)
        found = self.done[source, 0].read if (source, 0) in self.done else None
        if found is None:
            raise InternalError("the witness has a NIC write before its read")
        return found

    def _after(self, number: int, registers: dict[str, int]) -> dict[str, int]:
        """The thread's registers after edge `number`. Raises InternalError if that is a CPU event to come."""
        edge, event = self.edges[number], self.done.get((number, 0))
        if event is None and edge.type in CPU_TYPES and not (self.buffered and edge.type in STORE_TYPES):
            raise InternalError("the witness has an event before an earlier CPU event of its thread")
        if not edge.assigns:
            return registers
        value = event.read if event is not None and edge.type in CPU_TYPES else None
        if edge.type is EventType.RP:
            value = value or 0
        env = registers if value is None else {**registers, VALUE.name: value}
        if edge.section:
            env = {**registers, **self._read_in(number)}
        return {**registers, **{r: evaluate(e, env) for r, e in edge.assigns}}

    def _read_in(self, number: int) -> dict[str, int]:
        """What the locked section of edge `number` has read."""
        events = ((touch, self.done[number, k]) for k, touch in enumerate(self.edges[number].section))
        return {value_of(touch.number).name: e.read for touch, e in events if e.read is not None}

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
