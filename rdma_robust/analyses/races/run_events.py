"""The events of a run of the sequentially consistent machine, as those of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program, Step
from rdma_robust.model import Model
from rdma_robust.semantics.event_table import Act, cases_of, placed, remote_of, requests_to
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.trace import Event, EventType


def events_of_move(action: Action, model: Model) -> tuple[Event, ...]:
    """Return the events of a move, in program order: none of a start, several of a locked section, and of a remote atomic,
    which is one move, its read and its write where the cards of `model` have two events for it."""
    if action.verb is Verb.START or action.step is None:
        return ()
    return tuple(_events(action, action.step, model))


def events_of_run(program: Program, actions: Iterable[Action], model: Model) -> list[tuple[Action, tuple[Event, ...]]]:
    """Return the moves of a run with their events, which have their places in the program order of their threads."""
    numbers = {thread.name: t for t, thread in enumerate(program.threads)}
    found: list[tuple[Action, tuple[Event, ...]]] = []
    made: dict[int, int] = {}
    sent: dict[tuple[int, int, str], list[Event]] = {}
    for action in actions:
        mine: list[Event] = []
        for event in events_of_move(action, model):
            position = made.get(event.thread, 0)
            made[event.thread] = position + 1
            if event.type is EventType.NRW and event.peer is not None:
                sent.setdefault((event.thread, numbers[event.peer], event.lane), []).append(event)
            elif event.type is EventType.RP and event.peer is not None:
                message = sent[numbers[event.peer], event.thread, event.lane].pop(0)
                event = event if message.cell is None else replace(event, read=None)
            mine.append(replace(event, position=position))
        found.append((action, tuple(mine)))
    return found


def _events(action: Action, step: Step, model: Model) -> Iterator[Event]:
    read, written = action.read, action.written
    if action.act is not None:
        act = placed(action.act, action.cell)
        if act.type is not EventType.NA or model.atomics == "glob":
            yield _event(action, step, act, read, written)
            return
        yield _event(
            action, step, replace(act, type=EventType.NAR, writes=(), completes=False, completing=False), read, None
        )
        yield _event(action, step, replace(act, type=EventType.NAW, reads=()), None, written)
        return
    words = iter(action.words)
    for act in _by_cpu(action, step, model):
        word = next(words, None) if act.reads else None
        yield _event(action, step, act, *(word or (read, written)))


def _by_cpu(action: Action, step: Step, model: Model) -> Sequence[Act]:
    """The events of a step of the CPU; of a request that which the CPU makes of it when it posts."""
    cases = cases_of(step.op, model)
    if requests_to(step.op) is not None:
        return cases[0].acts[:1]
    did = (action.read is not None, action.written is not None)
    for case in cases:
        last = case.acts[-1:]
        if not last or not last[0].cell or (bool(last[0].reads), bool(last[0].writes)) == did:
            return case.acts
    raise InternalError("a step of a CPU goes in no way that the event table has")


def _event(action: Action, step: Step, act: Act, read: int | None, written: int | None) -> Event:
    return Event(
        -1,
        act.type,
        action.thread,
        -1,
        remote_of(step.op),
        None if act.fills and not act.writes else act.cell,
        read if act.reads or act.type is EventType.RP else None,
        written if act.writes or act.message is not None else None,
        step,
        unsignaled=act.completing and not act.completes,
        completing=act.completing,
        peer=act.peer,
        joined=act.joined,
        members=act.members,
    )
