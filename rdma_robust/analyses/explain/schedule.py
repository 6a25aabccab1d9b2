"""The machine run behind a witness: the order of its effects completed by what has none, as posting an operation.

A witness says in which order its events take effect. The operational machine has moves besides: the CPU posts an operation,
a store enters the store buffer, a request leaves it, a write of the card enters its write buffer. Those are put in as late
as possible, so that a run shows how long an operation was under way. The run is made of moves of the machine, so it is a
proof that the hardware can do it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.outcome import Witness
from rdma_robust.semantics.event_table import Act, Agent, cases_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import DeployedState
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.run_history import request_of
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType


@dataclass(frozen=True, slots=True)
class RemoteOperation:
    """A put, get or remote fence of the trace: its events, as far as the trace goes, and its place in program order."""

    number: int
    thread: int
    remote: str
    position: int
    events: tuple[Event, ...]


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
class MachineRun:
    operations: tuple[RemoteOperation, ...]
    steps: tuple[RunStep, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """The events that one step of a thread has made, in program order, of which `own` the CPU makes."""

    events: tuple[Event, ...]
    own: int
    requests: bool

    @property
    def position(self) -> int:
        return self.events[0].position


def segments(program: Program, events: Sequence[Event], model: Model) -> list[list[Segment]]:
    """Return the events of every thread by the steps that have made them. Raises InternalError if they are of none."""
    found: list[list[Segment]] = []
    for t in range(len(program.threads)):
        left = sorted((e for e in events if e.thread == t), key=lambda e: e.position)
        mine: list[Segment] = []
        while left:
            acts = _case(left, model)
            made = tuple(left[: len(acts)])
            own = sum(e.type in CPU_TYPES for e in made)
            mine.append(Segment(made, own, any(act.agent is Agent.NIC for act in acts)))
            left = left[len(made) :]
        found.append(mine)
    return found


def _case(events: Sequence[Event], model: Model) -> tuple[Act, ...]:
    """Return the acts of the first step of `events`, as far as they go: those of the case that they follow furthest."""
    step = events[0].step
    assert step is not None
    best: tuple[int, tuple[Act, ...]] = (0, ())
    for case in cases_of(step.op, model):
        same = 0
        for act, event in zip(case.acts, events, strict=False):
            if act.type is not event.type or event.step != step:
                break
            same += 1
        if same > best[0] or (same == best[0] and len(case.acts) < len(best[1])):
            best = (same, case.acts)
    if not best[0]:
        raise InternalError(f"{events[0]} is no event of its step")
    return best[1]


def operations_of(every: Sequence[Sequence[Segment]]) -> tuple[RemoteOperation, ...]:
    """Return the remote operations, thread by thread in program order."""
    requests = [s for mine in every for s in mine if s.requests]
    return tuple(
        RemoteOperation(n, s.events[0].thread, s.events[0].remote or "", s.position, s.events)
        for n, s in enumerate(requests)
    )


@dataclass(frozen=True, slots=True)
class _Point:
    """A place in the search: the machine's state, events that have happened, segments that each thread has started."""

    state: DeployedState
    happened: int
    started: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Branch:
    """A point of the current path, how the search came to it, and the ways on that are still untried."""

    point: _Point
    step: RunStep | None
    ways: Iterator[tuple[RunStep, _Point]]


def machine_run(program: Program, witness: Witness, model: Model) -> MachineRun:
    """Return a run of the machine whose effects are the events of `witness.order`, in this order.

    It exists because that order extends ob: see docs/model.md, "The machine". Raises InternalError if not.
    """
    machine = DeployedMachine(program, model, numbered=True)
    every = segments(program, witness.order, model)
    scheduler = _Scheduler(machine, witness.order, every)
    found = (each for step in scheduler.run() for each in _with_section(step, every))
    return MachineRun(operations_of(every), tuple(found))


def _with_section(step: RunStep, every: Sequence[Sequence[Segment]]) -> Iterator[RunStep]:
    """The step, or, if it is a locked section, one for each of its events: the machine makes them with one move."""
    if step.event is None or not step.event.joined:
        yield step
        return
    mine = next(s for s in every[step.event.thread] if step.event in s.events)
    yield from (replace(step, event=event) for event in mine.events if event.cell is not None)


class _Scheduler:
    """A depth-first search through the machine's moves; a move that makes the next event happen is always tried first."""

    def __init__(self, machine: DeployedMachine, order: Sequence[Event], every: list[list[Segment]]) -> None:
        self.machine = machine
        self.every = every
        waits = {s.events[0] for mine in every for s in mine if s.own > 1 and s.events[0].type is EventType.F}
        # An atomic that fails waits for the store buffer, which is an event without a move: it is part of that of the read.
        waits |= {a for mine in every for s in mine for a, b in pairwise(s.events) if b.joined}  # one move with the last
        self.order = [event for event in order if event not in waits]
        self.requests = [[segment for segment in mine if segment.requests] for mine in every]
        self.before = [sum(map(len, self.requests[:t])) for t in range(len(every))]

    def run(self) -> tuple[RunStep, ...]:
        """Return the steps to the first point at which all events have happened. Raises InternalError if there is none."""
        seen: set[_Point] = set()
        for start in self.starts():
            path = [_Branch(start, None, self.ways(start))]
            while path:
                if path[-1].point.happened == len(self.order):
                    return tuple(branch.step for branch in path if branch.step is not None)
                for step, point in path[-1].ways:
                    if point not in seen:
                        seen.add(point)
                        path.append(_Branch(point, step, self.ways(point)))
                        break
                else:
                    path.pop()
        raise InternalError("the machine has no run with the effects of the witness")

    def starts(self) -> Iterable[_Point]:
        """Yield the starts, first those from which each thread can take its first step of those that have events."""
        nothing = (0,) * len(self.every)
        first = {e.thread: e.step for e in sorted(self.order, key=lambda e: -e.position) if e.step is not None}
        return (_Point(m.state, 0, nothing) for m in self.machine.initial().before(self.machine.codes, first))

    def ways(self, point: _Point) -> Iterator[tuple[RunStep, _Point]]:
        if point.happened == len(self.order):
            return iter(())
        event = self.order[point.happened]
        found = []
        for move in self.machine.successors(point.state):
            if move.action.thread == event.thread and (way := self._way(point, move, event)) is not None:
                found.append(way)
        return iter(sorted(found, key=lambda way: way[0].event is None))

    def _way(self, point: _Point, move: Move, event: Event) -> tuple[RunStep, _Point] | None:
        """Return the move as a step of the run, None if it has no place before or at the next event."""
        action, t = move.action, move.action.thread
        starts = action.verb in (Verb.ACCESS, Verb.POLL, Verb.ISSUE, Verb.RECV, Verb.RPOLL)
        number = point.started[t]
        mine = self.every[t]
        if starts and (number == len(mine) or not _may_start(mine[number], action, event)):
            return None
        about = request_of(self.machine, point.state, move)
        segment = mine[number] if starts else None
        if segment is None and about is not None:
            segment = self.requests[t][about - 1]
        happens = self._event(point, move, segment)
        if happens is not None and not _same(happens, event, action):
            return None
        write = None
        if action.verb is Verb.NIC_WRITE:
            write = self._of_card(segment, action)
            if write is None or write.remote != event.remote or write.position > event.position:
                return None
        started = (*point.started[:t], number + 1, *point.started[t + 1 :]) if starts else point.started
        after = _Point(move.state, point.happened + (happens is not None), started)
        operation = None if about is None else self.before[t] + about - 1
        return RunStep(action, happens, operation, write), after

    def _event(self, point: _Point, move: Move, segment: Segment | None) -> Event | None:
        """Return the event that happens with a move, None if none does."""
        action = move.action
        t = action.thread
        match action.verb:
            case Verb.ISSUE:
                return segment.events[0] if segment is not None and segment.own else None
            case Verb.ACCESS | Verb.POLL | Verb.RECV | Verb.RPOLL:
                waits = len(move.state.threads[t].buffer) > len(point.state.threads[t].buffer)
                return None if waits or segment is None else segment.events[-1]
            case Verb.DRAIN if segment is None:
                stores = [s for s in self.every[t][: point.started[t]] if _buffered(s)]
                later = sum(entry.number == 0 for entry in point.state.threads[t].buffer)
                return stores[len(stores) - later].events[-1]
            case Verb.NIC_READ | Verb.FENCE | Verb.FLUSH:
                found = self._of_card(segment, action)
                # An event that the witness does not have must not happen before its last.
                return Event(-1, EventType.INIT) if found is None else found
        return None

    def _of_card(self, segment: Segment | None, action: Action) -> Event | None:
        """Return the event of the card that a move is about, None if the witness ends before it."""
        if segment is None or action.at is None:
            return None
        events = segment.events[segment.own :]
        return events[action.at[2]] if action.at[2] < len(events) else None


def _may_start(segment: Segment, action: Action, event: Event) -> bool:
    """Whether a thread may begin the segment with this move, before or at the next event of the order."""
    return segment.position <= event.position and segment.events[0].step == action.step


def _buffered(segment: Segment) -> bool:
    return segment.events[-1].type in (EventType.LW, EventType.V)


def _same(happens: Event, event: Event, action: Action) -> bool:
    """Whether the event that happens is the next of the order, with its values."""
    if (happens.thread, happens.position, happens.type) != (event.thread, event.position, event.type):
        return False
    if action.verb in (Verb.DRAIN, Verb.RPOLL, Verb.RECV, Verb.POLL):
        return True
    if event.type in CPU_TYPES and action.verb is Verb.ISSUE:
        return event.read == action.read
    return (event.read, event.written) == (action.read, action.written)
