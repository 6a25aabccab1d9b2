"""The run of the machine of RDMA as deployed behind a witness; see :mod:`schedule`, which does it for the fast machine.

What has no effect of its own is put in as late as possible: posting a request, a store that enters the store buffer, a
request that leaves it, a write of the card that enters its buffer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rdma_robust.analyses.explain.schedule import RemoteOperation, Run, RunStep, begun_for, first_run
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.outcome import Witness
from rdma_robust.semantics.event_table import Act, Agent, cases_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import DeployedState
from rdma_robust.semantics.machines.deployed_runs import Held, nothing_held, renumbered
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType


@dataclass(frozen=True, slots=True)
class Segment:
    """What one step of a thread has made: its events in program order, of which `own` the CPU makes."""

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
    """A place in the search: the machine's state, events that have happened, segments that each thread has started, those in
    its store buffer, and those of the requests in its queues, from 1."""

    state: DeployedState
    happened: int
    started: tuple[int, ...]
    held: tuple[Held, ...]


def deployed_run(machine: DeployedMachine, witness: Witness) -> Run:
    """Return a run of the machine whose effects are the events of `witness.order`, in this order. Raises InternalError if
    there is none: that order extends ob, so there is one."""
    every = segments(machine.program, witness.order, machine.model)
    scheduler = _Scheduler(machine, witness.order, every)
    found = (each for step in scheduler.run() for each in _with_section(step, every))
    return Run(operations_of(every), tuple(found))


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
        numbers: dict[tuple[int, int], int] = {}
        for t, mine in enumerate(every):
            for i, segment in enumerate(mine):
                if segment.requests:
                    numbers[t, i] = len(numbers)
        self.numbers = numbers

    def run(self) -> tuple[RunStep, ...]:
        nothing = (0,) * len(self.every)
        held = nothing_held(self.machine)
        starts = (_Point(start.state, 0, nothing, held) for start in begun_for(self.machine, self.order))
        return first_run(starts, self.ways, len(self.order))

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
        about, held = renumbered(self.machine, point.state, move, point.held, number + 1)
        segment = mine[number] if starts else None
        if segment is None and about is not None:
            segment = mine[about - 1]
        happens = self._event(point, move, segment)
        if happens is not None and not _same(happens, event, action):
            return None
        write = None
        if action.verb is Verb.NIC_WRITE:
            write = self._of_card(segment, action)
            if write is None or write.remote != event.remote or write.position > event.position:
                return None
        started = (*point.started[:t], number + 1, *point.started[t + 1 :]) if starts else point.started
        after = _Point(move.state, point.happened + (happens is not None), started, held)
        operation = None if about is None else self.numbers[t, about - 1]
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
                later = sum(n == 0 for n in point.held[t][-1])
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
