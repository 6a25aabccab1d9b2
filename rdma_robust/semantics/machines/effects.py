"""What has taken effect in a run of the RDMA machine and what is still to come, as events in program order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.language.flow.cfg import Cell, Step
from rdma_robust.semantics.event_table import acts_of, remote_of
from rdma_robust.semantics.machines.machine import Action, Move, Verb, act_of
from rdma_robust.semantics.machines.rdma import RdmaState
from rdma_robust.semantics.machines.threadcode import Registers
from rdma_robust.semantics.trace import Event, EventType

SC_VERBS = {
    EventType.LR: Verb.ACCESS,
    EventType.LW: Verb.ACCESS,
    EventType.CAS: Verb.ACCESS,
    EventType.P: Verb.POLL,
    EventType.NF: Verb.FENCE,
    EventType.NLR: Verb.NIC_READ,
    EventType.NRR: Verb.NIC_READ,
    EventType.NRW: Verb.NIC_WRITE,
    EventType.NLW: Verb.NIC_WRITE,
}
"""The move of the SC machine with which an event takes effect."""


@dataclass(slots=True)
class Effect:
    """One event. `step` is the step of the run (from 1) with which it takes effect, None while it is still to come.

    `posted` is the step with which the CPU did it or posted its operation. `landing` is where the thread goes on after it
    under SC: after a CPU event or a fence, and after the second event of a put or get.
    """

    event: Event
    posted: int
    step: int | None = None
    landing: tuple[int, Registers] | None = None


def event_type(action: Action) -> EventType | None:
    """Return the type of the event that takes effect with a move of the RDMA machine, None if none does."""
    act = None if action.verb is Verb.NIC_WRITE else act_of(action)
    return None if act is None else act.type


def cell_of(step: Step, kind: EventType) -> Cell | None:
    """Return the word that the event of that type of the step's operation touches."""
    return next((act.cell for act in acts_of(step.op) if act.type is kind), None)


def event_of(action: Action, kind: EventType, index: int = -1, position: int = -1) -> Event:
    """Return the event of type `kind` that the move with this cause makes happen."""
    step = action.step
    assert step is not None
    act = act_of(action)
    known = act is not None and act.type is kind
    cell = act.cell if known and act is not None else cell_of(step, kind)
    peer = act.peer if known and act is not None else None
    return Event(
        index, kind, action.thread, position, remote_of(step.op), cell, action.read, action.written, step, peer=peer
    )


def events_of_section(action: Action) -> list[Event]:
    """Return the reads and writes of the move of a locked section; none for other moves."""
    if action.step is None:
        return []
    acts = [act for act in acts_of(action.step.op) if act.reads]
    return [
        Event(-1, act.type, action.thread, -1, None, act.cell, read, written, action.step, joined=act.joined)
        for act, (read, written) in zip(acts, action.words, strict=False)
    ]


class Taken(Protocol):
    """A step of a run: its move, the state after it, and the number of the remote operation that it is about."""

    @property
    def move(self) -> Move | None: ...

    @property
    def state(self) -> object: ...

    @property
    def operation(self) -> int | None: ...


def effects(points: Sequence[Taken]) -> list[Effect]:
    """Return the events of a run of the RDMA machine, given by its steps.

    An event's index is its place in the result; `position` is the program order. The events of an operation that has been
    posted are there from then on.
    """
    history = _History()
    for number, point in enumerate(points, 1):
        history.add(number, point)
    return history.effects


class _History:
    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.positions: dict[int, int] = {}
        self.waiting: dict[int, list[Effect]] = {}

    def add(self, number: int, point: Taken) -> None:
        assert point.move is not None
        action = point.move.action
        kind = event_type(action)
        if action.step is None:
            return
        if action.verb is Verb.ISSUE:
            assert point.operation is not None
            mine = [self._append(action, act.type, number) for act in acts_of(action.step.op)]
            mine[-1].landing = _place(point, action.thread)
            self.waiting[point.operation] = mine
        elif kind is not None and action.verb in (Verb.ACCESS, Verb.POLL):
            effect = self._append(action, kind, number)
            effect.step = number
            effect.landing = _place(point, action.thread)
        elif kind is not None:
            assert point.operation is not None
            effect = next(e for e in self.waiting[point.operation] if e.event.type is kind)
            effect.step = number
            effect.event = event_of(action, kind, effect.event.index, effect.event.position)

    def _append(self, action: Action, kind: EventType, number: int) -> Effect:
        position = self.positions.get(action.thread, 0)
        self.positions[action.thread] = position + 1
        effect = Effect(event_of(action, kind, len(self.effects), position), number)
        self.effects.append(effect)
        return effect


def _place(point: Taken, thread: int) -> tuple[int, Registers]:
    state = point.state
    assert isinstance(state, RdmaState)
    return state.threads[thread].point, state.threads[thread].registers
