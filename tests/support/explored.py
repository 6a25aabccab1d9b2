"""Walks through the machines for tests of the explorer, and what took effect on them, told without the explorer's code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from rdma_robust.language.flow.cfg import Cas, Get, Poll, Program, Put, RFence, Write
from rdma_robust.language.load import load_program
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import Buffer
from rdma_robust.model import rdma
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.machines.machine import Action, Machine, Move, Verb
from rdma_robust.semantics.trace import Event, EventType, Trace
from rdma_robust.teaching.explorer.address import ExplorerPlace, Side
from rdma_robust.teaching.explorer.message_session import MessageSession
from rdma_robust.teaching.explorer.session import Session

NIC_VERBS = (Verb.NIC_READ, Verb.NIC_WRITE, Verb.FLUSH, Verb.FENCE)

LITMUS = Path(__file__).parents[2] / "litmus"


def session(text: str, *, ordered_reads: bool = False) -> Session:
    return Session(load_program(text, "p.rdma"), model=rdma(ordered_reads))


def litmus(name: str) -> Session:
    path = LITMUS / f"{name}.rdma"
    return Session(load_program(path.read_text(encoding="utf-8"), path.name))


def message_litmus(name: str, buffer: Buffer = "any") -> MessageSession:
    path = LITMUS / "messages" / f"{name}.mp"
    return MessageSession(load_messages(path.read_text(encoding="utf-8"), path.name), buffer)


def walk(
    explored: Session, rng: Random, sides: tuple[Side, ...], steps: int, place: ExplorerPlace | None = None
) -> ExplorerPlace:
    """Return the place after random moves on random sides, fewer than `steps` if nothing can happen any more."""
    place = place or ExplorerPlace("free" if "sc" in sides else "follow")
    for _ in range(steps):
        side = rng.choice(sides)
        runs = explored.rdma if side == "rdma" else explored.sc
        moves = runs.moves(runs.point(place.track(side).now))
        if moves:
            place = explored.step(place, side, rng.randrange(len(moves)))
    return place


def drained(explored: Session, place: ExplorerPlace) -> ExplorerPlace:
    """Return the place after the NICs of the RDMA side have done all they can."""
    while True:
        moves = explored.rdma.moves(explored.rdma.point(place.rdma.now))
        nic = [i for i, move in enumerate(moves) if move.action.verb in NIC_VERBS]
        if not nic:
            return place
        place = explored.step(place, "rdma", nic[0])


def replayed(machine: Machine, choices: tuple[int, ...]) -> tuple[object, list[Move]]:
    """Return where a run ends, and its moves; a machine that starts in one way has started."""
    starts = machine.initial()
    state: object = starts[0].state if len(starts) == 1 else None
    moves = []
    for choice in choices:
        move = (starts if state is None else machine.successors(state))[choice]
        moves.append(move)
        state = move.state
    return state, moves


@dataclass
class _Operation:
    """A posted operation: its step, the place of its first event in program order, and the events that have happened."""

    action: Action
    position: int
    done: int = 0


def trace(program: Program, moves: list[Move]) -> Trace:
    """Return the trace of the effects of a run of either machine, in their order.

    Which operation a NIC move is about follows from the queue pairs' rules: events of a kind happen in the order of posting,
    but for reads of gets, of which the first with the same statement is taken.
    """
    events: list[Event] = []
    positions: dict[int, int] = {}
    posted: list[_Operation] = []

    def place(thread: int, events_there: int) -> int:
        at = positions.get(thread, 0)
        positions[thread] = at + events_there
        return at

    for move in moves:
        action = move.action
        op = None if action.step is None else action.step.op
        kind = _kind(action)
        if action.verb is Verb.ISSUE or (_is_sc_post(action) and not _waiting(posted, action, kind)):
            posted.append(_Operation(action, place(action.thread, 1 if isinstance(op, RFence) else 2)))
        if kind is None:
            continue
        fence_under_sc = kind is EventType.NF and not _waiting(posted, action, kind)
        if kind in (EventType.LR, EventType.LW, EventType.CAS, EventType.P) or fence_under_sc:
            position = place(action.thread, 1)
        else:
            mine = _waiting(posted, action, kind)[0]
            position = mine.position + mine.done
            mine.done += 1
        cell = getattr(op, "cell", None)
        if isinstance(op, Put | Get):
            cell = op.source if kind in (EventType.NLR, EventType.NRR) else op.target
        events.append(Event(-1, kind, action.thread, position, _remote(op), cell, action.read, action.written, action.step))
    return trace_of_order(events, program)


def conflicts(of: Trace) -> tuple[set[object], set[object]]:
    """Return rf and mo by (thread, position), so that traces with other orders can be compared; initial writes by cell."""

    def name(i: int) -> object:
        event = of.events[i]
        return str(event.cell) if event.type is EventType.INIT else (event.thread, event.position)

    return {(name(a), name(b)) for a, b in of.rf}, {(name(a), name(b)) for a, b in of.mo}


def _kind(action: Action) -> EventType | None:
    op = None if action.step is None else action.step.op
    match action.verb:
        case Verb.ACCESS if isinstance(op, Write):
            return EventType.LW
        case Verb.ACCESS if isinstance(op, Cas) and action.written is not None:
            return EventType.CAS
        case Verb.ACCESS:
            return EventType.LR
        case Verb.POLL:
            return EventType.P
        case Verb.FENCE:
            return EventType.NF
        case Verb.NIC_READ:
            return EventType.NLR if isinstance(op, Put) else EventType.NRR
        case Verb.FLUSH:
            return EventType.NRW if isinstance(op, Put) else EventType.NLW
    return None


def sc_trace(program: Program, moves: list[Move]) -> Trace:
    """Return the trace of a run of the SC machine, whose NIC writes take effect at once."""
    flushed = [
        move._replace(action=move.action._replace(verb=Verb.FLUSH)) if move.action.verb is Verb.NIC_WRITE else move
        for move in moves
    ]
    return trace(program, flushed)


def _is_sc_post(action: Action) -> bool:
    return action.verb is Verb.NIC_READ


def _waiting(posted: list[_Operation], action: Action, kind: EventType | None) -> list[_Operation]:
    first = kind in (EventType.NLR, EventType.NRR, EventType.NF)
    return [
        p
        for p in posted
        if p.action.thread == action.thread and p.action.step == action.step and p.done == (0 if first else 1)
    ]


def _remote(op: object) -> str | None:
    match op:
        case Put(target, _):
            return target.node
        case Get(_, source):
            return source.node
        case Poll(node) | RFence(node):
            return node
    return None
