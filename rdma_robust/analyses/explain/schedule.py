"""The machine run behind a witness: the order of its effects completed by what has none, as posting an operation.

A witness says in which order its events take effect. The operational machine has moves besides: the CPU posts an operation,
a NIC write enters the write buffer. Those are put in as late as possible, so that a run shows how long an operation
was under way. The run is made of moves of :class:`RdmaMachine`, so it is a proof that the hardware can do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.outcome import Witness
from rdma_robust.semantics.event_table import remote_of
from rdma_robust.semantics.machines.chosen import AnyRdmaMachine, machine_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.rdma import DONE, ISSUED, RdmaMachine, RdmaState
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, Event, EventType

_NIC_READS = (EventType.NLR, EventType.NRR)

Numbers = tuple[tuple[tuple[int, ...], ...], ...]
"""For each thread and queue pair the remote operations in the machine's queue, by number, in its order."""


@dataclass(frozen=True, slots=True)
class RemoteOperation:
    """A put, get or remote fence of the trace: its events, as far as the trace goes, and its place in program order."""

    number: int
    thread: int
    remote: str
    position: int
    events: tuple[Event, ...]

    def event(self, verb: Verb) -> Event | None:
        """Return the event that takes effect when the NIC reads, writes memory, or passes the fence."""
        wanted = {
            Verb.NIC_READ: _NIC_READS,
            Verb.NIC_WRITE: tuple(NIC_WRITE_TYPES),
            Verb.FLUSH: tuple(NIC_WRITE_TYPES),
            Verb.FENCE: (EventType.NF,),
        }
        return next((e for e in self.events if e.type in wanted[verb]), None)


@dataclass(frozen=True, slots=True)
class RunStep:
    """One move: the event of the trace that takes effect, and the remote operation it is about, None if there is none.

    For a poll that is the operation whose completion it takes. `write` is the write that enters a buffer, where the
    operation makes several.
    """

    action: Action
    event: Event | None
    operation: int | None
    write: Event | None = None


@dataclass(frozen=True, slots=True)
class Run:
    operations: tuple[RemoteOperation, ...]
    steps: tuple[RunStep, ...]


@dataclass(frozen=True, slots=True)
class _Point:
    """A place in the search: the machine's state, events that have happened, operations posted by each thread, and which
    operations the entries of the queues are."""

    state: RdmaState
    happened: int
    posted: tuple[int, ...]
    numbers: Numbers


class Point(Protocol):
    """A place in the search for a run: hashable, with how many events have happened."""

    @property
    def happened(self) -> int: ...


AnyPoint = TypeVar("AnyPoint", bound=Point)


@dataclass(frozen=True, slots=True)
class _Branch(Generic[AnyPoint]):
    """A point of the current path, how the search came to it, and the ways on that are still untried."""

    point: AnyPoint
    step: RunStep | None
    ways: Iterator[tuple[RunStep, AnyPoint]]


def first_run(
    starts: Iterable[AnyPoint], ways: Callable[[AnyPoint], Iterator[tuple[RunStep, AnyPoint]]], events: int
) -> tuple[RunStep, ...]:
    """Return the steps to the first point at which so many events have happened, depth first; `ways` come in their order.

    Raises InternalError if there is none.
    """
    seen: set[AnyPoint] = set()
    for start in starts:
        path = [_Branch(start, None, ways(start))]
        while path:
            if path[-1].point.happened == events:
                return tuple(branch.step for branch in path if branch.step is not None)
            for step, point in path[-1].ways:
                if point not in seen:
                    seen.add(point)
                    path.append(_Branch(point, step, ways(point)))
                    break
            else:
                path.pop()
    raise InternalError("the machine has no run with the effects of the witness")


def machine_run(program: Program, witness: Witness, model: Model) -> Run:
    """Return a run of the machine whose effects are the events of `witness.order`, in this order.

    It exists because that order extends ob: see docs/model.md, "The machine". Raises InternalError if not.
    """
    if isinstance(machine := machine_of(program, model), DeployedMachine):
        from rdma_robust.analyses.explain.deployed_schedule import deployed_run  # noqa: PLC0415 - it needs this module

        return deployed_run(machine, witness)
    operations = remote_operations(witness)
    scheduler = _Scheduler(machine, witness.order, operations)
    return Run(operations, scheduler.run())


def remote_operations(witness: Witness) -> tuple[RemoteOperation, ...]:
    """Return the remote operations of the trace, thread by thread in program order."""
    nic = sorted(
        (e for e in witness.order if e.type not in CPU_TYPES and e.thread >= 0), key=lambda e: (e.thread, e.position)
    )
    groups: list[list[Event]] = []
    for event in nic:
        if event.type in NIC_WRITE_TYPES:
            groups[-1].append(event)
        else:
            groups.append([event])
    return tuple(RemoteOperation(n, g[0].thread, g[0].remote or "", g[0].position, tuple(g)) for n, g in enumerate(groups))


def begun_for(machine: AnyRdmaMachine, order: Sequence[Event]) -> Iterator[Move]:
    """Yield the starts, first those from which each thread can take its first step of those that have events in `order`."""
    first = {e.thread: e.step for e in sorted(order, key=lambda e: -e.position) if e.step is not None}
    return machine.initial().before(machine.codes, first)


class _Scheduler:
    """A depth-first search through the machine's moves; a move that makes the next event happen is always tried first."""

    def __init__(self, machine: RdmaMachine, order: tuple[Event, ...], operations: tuple[RemoteOperation, ...]) -> None:
        self.machine = machine
        self.order = order
        self.operations = operations
        threads = range(len(machine.codes))
        self.of_thread = [[o for o in operations if o.thread == t] for t in threads]

    def run(self) -> tuple[RunStep, ...]:
        empty = tuple(tuple(() for _ in code.remotes) for code in self.machine.codes)
        nothing = (0,) * len(self.machine.codes)
        starts = (_Point(start.state, 0, nothing, empty) for start in begun_for(self.machine, self.order))
        return first_run(starts, self.ways, len(self.order))

    def ways(self, point: _Point) -> Iterator[tuple[RunStep, _Point]]:
        event = self.order[point.happened] if point.happened < len(self.order) else None
        if event is None:
            return iter(())
        found: list[tuple[bool, RunStep, _Point]] = []
        for action, state, _ in self.machine.successors(point.state):
            if action.thread == event.thread:
                moved = self.moved(point, action, state)
                step = self.step(point, action, event, moved)
                if step is not None:
                    found.append((step.event is None, step, self.after(point, step, state)))
        return iter([(step, after) for _, step, after in sorted(found, key=lambda way: way[0])])

    def step(self, point: _Point, action: Action, event: Event, moved: int | None) -> RunStep | None:
        """Return the move as a step of the run, None if it has no place before or at the next event."""
        match action.verb:
            case Verb.ACCESS:
                fits = (event.read, event.written) == (action.read, action.written) and event.type is not EventType.P
                return RunStep(action, event, None) if fits and _same(event, action) else None
            case Verb.POLL:
                return RunStep(action, event, moved) if event.type is EventType.P and _same(event, action) else None
            case Verb.ISSUE:
                mine = self.of_thread[action.thread]
                posted = point.posted[action.thread]
                if (
                    posted == len(mine)
                    or mine[posted].position > event.position
                    or not _same(mine[posted].events[0], action)
                ):
                    return None
                return RunStep(action, None, mine[posted].number)
        assert moved is not None
        operation = self.operations[moved]
        effect = operation.event(action.verb)
        if action.verb is Verb.NIC_WRITE:
            useful = operation.remote == event.remote and operation.position <= event.position
            return RunStep(action, None, moved) if useful and effect is not None else None
        if effect is None or effect != event:
            return None
        value = event.read if action.verb is Verb.NIC_READ else event.written
        return RunStep(action, event, moved) if value in (action.read, action.written) else None

    def moved(self, point: _Point, action: Action, state: RdmaState) -> int | None:
        """Return the number of the operation that a move of the NIC, or a poll, is about."""
        thread = action.thread
        if action.verb in (Verb.ACCESS, Verb.ISSUE):
            return None
        before, after = point.state.threads[thread].queues, state.threads[thread].queues
        commands = self.machine.codes[thread].commands
        for qp, queue in enumerate(before):
            numbers = point.numbers[thread][qp]
            if action.verb is Verb.POLL:
                assert action.step is not None
                if self.machine.codes[thread].remotes[qp] == remote_of(action.step.op):
                    return next(n for n, e in zip(numbers, queue, strict=True) if not e.polled)
            elif queue != after[qp]:
                if action.verb is Verb.FENCE:
                    return next(n for n, e in zip(numbers, queue, strict=True) if len(commands[e.command].nic) == 1)
                if action.verb is Verb.FLUSH:
                    kind = type(None if action.step is None else action.step.op)
                    return next(
                        n
                        for n, e in zip(numbers, queue, strict=True)
                        if e.stage == ISSUED and type(commands[e.command].step.op) is kind
                    )
                return next(n for n, old, new in zip(numbers, queue, after[qp], strict=True) if old != new)
        raise InternalError("a move of the machine's NIC changed no queue")

    def after(self, point: _Point, step: RunStep, state: RdmaState) -> _Point:
        """Return the point behind `step`: what left the queues is what was done and polled."""
        t = step.action.thread
        rows = []
        for qp, queue in enumerate(state.threads[t].queues):
            numbers = point.numbers[t][qp]
            stages = [(n, e) for n, e in zip(numbers, point.state.threads[t].queues[qp], strict=True)]
            if step.action.verb is Verb.ISSUE and len(queue) > 0 and self._issues_to(t, qp, step):
                assert step.operation is not None
                numbers = (*[n for n, _ in stages], step.operation)
            if len(queue) < len(numbers):
                gone = {n for n, e in stages if e.stage == DONE}
                if step.action.verb in (Verb.FLUSH, Verb.FENCE) or len(queue) > len(numbers) - len(gone):
                    gone = {step.operation} if step.operation is not None else set()
                numbers = tuple(n for n in numbers if n not in gone)
            if len(numbers) != len(queue):
                raise InternalError("the operations in the machine's queue are not those expected")
            rows.append(numbers)
        posted = list(point.posted)
        posted[t] += step.action.verb is Verb.ISSUE
        numbers_of = (*point.numbers[:t], tuple(rows), *point.numbers[t + 1 :])
        return _Point(state, point.happened + (step.event is not None), tuple(posted), numbers_of)

    def _issues_to(self, thread: int, qp: int, step: RunStep) -> bool:
        assert step.operation is not None
        return self.machine.codes[thread].remotes[qp] == self.operations[step.operation].remote


def _same(event: Event, action: Action) -> bool:
    return event.thread == action.thread and event.step == action.step
