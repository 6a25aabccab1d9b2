"""States in normal form, made by the interpreter: where every process waits, has ended or has stopped, but for names.

Lemma 1 of docs/theory-messages.md: from these states matches reach all others of the kind. Under `any` a send that is waited
for gets a buffer at once or never, since a buffer that comes later may as well come at once. A process may stay before what
completes requests as long as not all of them can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import networkx as nx

from rdma_robust.messages.message_answers import BufferGrant, MatchedPair, MatchMove, Move, OperationId, ProcessStep
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.replay.world import (
    Active,
    ActiveReceive,
    ActiveSend,
    HeldMessage,
    ReplayProcess,
    ReplayState,
    RequestArray,
)


class EndlessProcessError(Exception):
    """A process computes without end, so it is never settled."""


@dataclass(frozen=True, slots=True)
class SettledWorlds:
    """What follows a state while no process waits: the settled states, and what is violated on the way, by kinds."""

    worlds: frozenset[ReplayState]
    violations: frozenset[str]


def settled_worlds(rules: Interpreter, world: ReplayState, look: Callable[[], None]) -> SettledWorlds:
    """Let all processes run until they wait, in every way that choices and buffers allow. Raises EndlessError.

    `look` is called now and then, and may raise what it likes.
    """
    worlds, violations = {world}, set[str]()
    for me in range(len(world.processes)):
        ends: set[ReplayState] = set()
        for each in worlds:
            ends |= _run(rules, each, me, violations, look)
        worlds = ends
    return SettledWorlds(frozenset(canonical_world(each) for each in worlds), frozenset(violations))


def _run(
    rules: Interpreter, first: ReplayState, me: int, violations: set[str], look: Callable[[], None]
) -> set[ReplayState]:
    after: dict[ReplayState, list[ReplayState]] = {}
    todo, ends, again = [first], set[ReplayState](), False
    while todo:
        world = todo.pop()
        if world in after:
            again = True
            continue
        look()
        after[world] = []
        moves = list(_moves(rules, world, me))
        if rules.may_pause(world, me) or not any(isinstance(move, ProcessStep) for move in moves):
            ends.add(world)
        for move in moves:
            new, event = rules.after(world, move)
            if event is not None:
                violations.add(event.kind)
            after[world].append(new)
            todo.append(new)
    graph = nx.DiGraph((world, new) for world, news in after.items() for new in news) if again else nx.DiGraph()
    if not nx.is_directed_acyclic_graph(graph):
        raise EndlessProcessError
    return ends


def _moves(rules: Interpreter, world: ReplayState, me: int) -> Iterator[Move]:
    process = world.processes[me]
    if process.status != "runs":
        return
    if rules.can_step(world, me):
        yield from (ProcessStep(me, choice) for choice in rules.choices(world, me))
    elif rules.can_buffer(world, rules.performer.awaited(me, process)):
        yield BufferGrant(me)


def matched(rules: Interpreter, world: ReplayState) -> Iterator[ReplayState]:
    """Yield the states after each match that a state allows."""
    for receive in world.receives:
        for send in world.sends:
            if rules.can_match(world, receive, send):
                yield rules.after(world, MatchMove(MatchedPair(receive.name, send.name)))[0]


def canonical_world(world: ReplayState) -> ReplayState:
    """Return a state that goes on in the same way, and is the same for states that differ in names and in the past only.

    Operations that nothing can ask for any more are left out, and the others are numbered anew, in their order; so are the
    registers of processes that are over. Rules ask only which operation came first.
    """
    over = [each.status != "runs" for each in world.processes]
    processes = tuple(
        each._replace(registers=(), requests=()) if gone else each for each, gone in zip(world.processes, over, strict=True)
    )
    delivered = tuple(each for each in world.delivered if not over[each.receive.process])
    actives = [active for process in processes for active in _actives(process)]
    sends = {each.name for each in world.sends} | {each.send for each in actives if isinstance(each, ActiveSend)}
    receives = {each.name for each in world.receives} | {each.receive for each in delivered}
    receives |= {each.receive for each in actives if isinstance(each, ActiveReceive)}
    new_sends, new_receives = _numbered(sends), _numbered(receives)

    def renamed(process: ReplayProcess, me: int) -> ReplayProcess:
        requests = tuple(_renamed(each, new_sends, new_receives) for each in process.requests)
        sent, received = (sum(name.process == me for name in names) for names in (sends, receives))
        return process._replace(requests=requests, sent=sent, received=received)

    return ReplayState(
        tuple(renamed(process, me) for me, process in enumerate(processes)),
        tuple(each._replace(name=new_sends[each.name]) for each in world.sends),
        tuple(each._replace(name=new_receives[each.name], of=each.of and new_sends[each.of]) for each in world.receives),
        tuple(sorted(each._replace(receive=new_receives[each.receive]) for each in delivered)),
        frozenset(new_sends[each] for each in world.sent_off if each in sends),
        frozenset(new_sends[each] for each in world.buffered if each in sends),
    )


def _numbered(names: set[OperationId]) -> dict[OperationId, OperationId]:
    """Return new names that count from 0 in each process, in the same order."""
    counts: dict[int, int] = {}
    found = {}
    for name in sorted(names):
        nth = counts.get(name.process, 0)
        counts[name.process] = nth + 1
        found[name] = OperationId(name.process, nth)
    return found


def _actives(process: ReplayProcess) -> Iterator[Active]:
    for request in process.requests:
        for each in request.elements if isinstance(request, RequestArray) else (request,):
            if each is not None:
                yield each


Renamed = dict[OperationId, OperationId]


def _renamed(request: Active | RequestArray | None, sends: Renamed, receives: Renamed) -> Active | RequestArray | None:
    if isinstance(request, RequestArray):
        return RequestArray(tuple(_one_renamed(each, sends, receives) for each in request.elements))
    return _one_renamed(request, sends, receives)


def _one_renamed(active: Active | None, sends: Renamed, receives: Renamed) -> Active | None:
    match active:
        case ActiveSend(send):
            return ActiveSend(sends[send])
        case ActiveReceive(receive, stores):
            return ActiveReceive(receives[receive], stores)
        case HeldMessage(send):
            return replace(active, send=sends[send])
        case None:
            return None
