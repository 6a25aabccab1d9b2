"""The events that moves of the machines make happen."""

from __future__ import annotations

from rdma_robust.language.flow.cfg import Cell, Step
from rdma_robust.semantics.event_table import acts_of, remote_of
from rdma_robust.semantics.machines.machine import Action, Verb, act_of
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
    EventType.NAR: Verb.NIC_READ,
    EventType.NA: Verb.NIC_READ,
    EventType.F: Verb.ACCESS,
    EventType.V: Verb.RECV,
    EventType.RP: Verb.RPOLL,
    EventType.BAR: Verb.ACCESS,
    EventType.FL: Verb.ACCESS,
    EventType.NO: Verb.FENCE,
}
"""The move of the SC machine with which an event takes effect."""


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
    members = act.members if known and act is not None else ()
    return Event(
        index,
        kind,
        action.thread,
        position,
        remote_of(step.op),
        cell,
        action.read,
        action.written,
        step,
        peer=peer,
        members=members,
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
