"""The claims about message programs, and what proves each: a run, all states of the normal form, or a proof.

States in normal form, made by the interpreter: where every process waits, has ended or has stopped, but for names.

Lemma 1 of docs/theory-messages.md: from these states matches reach all others of the kind. Under `any` a send that is waited
for gets a buffer at once or never, since a buffer that comes later may as well come at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final

import networkx as nx

from rdma_robust.certify.document import integer, json_array, json_members, json_word, mapping, reject
from rdma_robust.certify.messages.proved_formulas import MESSAGE_PROOF, check_proof
from rdma_robust.certify.messages.unfolding import LOOKS
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import (
    BufferGrant,
    MatchedPair,
    MatchMove,
    Move,
    OperationId,
    ProcessStep,
    Schedule,
)
from rdma_robust.messages.replay.interpreter import Interpreter, NotEnabled
from rdma_robust.messages.replay.replaying import replay_schedule, state_ending
from rdma_robust.messages.replay.world import (
    Active,
    ActiveCall,
    ActiveReceive,
    ActiveSend,
    BlockPoint,
    Delivery,
    ForTest,
    HeldMessage,
    ReplayProcess,
    ReplayState,
    RequestArray,
    ReturnPoint,
    UnmatchedReceive,
    UnmatchedSend,
)


class EndlessProcessError(Exception):
    """A process computes without end, so it is never settled."""


@dataclass(frozen=True, slots=True)
class SettledWorlds:
    """The settled states that follow a state while no process waits, and what is violated on the way, by kinds."""

    worlds: frozenset[ReplayState]
    violations: frozenset[str]


def settled_worlds(rules: Interpreter, world: ReplayState, look: Callable[[], None]) -> SettledWorlds:
    """Let all processes run until they wait, in every way that choices and buffers allow. Raises EndlessError.

    A process may stay before what completes requests as long as not all of them can be. `look` is called now and then, and
    may raise what it likes.
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


def matched(rules: Interpreter, world: ReplayState) -> Iterator[tuple[ReplayState, str]]:
    """Yield the states after each match that a state allows, with the kind of violation that it is, '' for none."""
    for receive in world.receives:
        for send in world.sends:
            if rules.can_match(world, receive, send):
                new, event = rules.after(world, MatchMove(MatchedPair(receive.name, send.name)))
                yield new, "" if event is None else event.kind


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
        case ActiveCall() | None:
            return active


RECORDS: Final[Mapping[str, type]] = {
    "At": BlockPoint,
    "Counting": ForTest,
    "Called": ReturnPoint,
    "ActiveSend": ActiveSend,
    "ActiveReceive": ActiveReceive,
    "RequestArray": RequestArray,
    "Process": ReplayProcess,
    "Send": UnmatchedSend,
    "Receive": UnmatchedReceive,
    "Delivered": Delivery,
    "World": ReplayState,
    "Issued": OperationId,
}
"""The records by the words that certificates have for them, which stay when a class is renamed."""

_WORDS: Final = {record: word for word, record in RECORDS.items()}
_LEFT_OUT: Final[Mapping[type, tuple[str, ...]]] = {
    ReplayProcess: ("entered",),
    ReplayState: ("calls", "left_early"),
    Delivery: (),
    OperationId: (),
}
"""The parts that are not written where they are as they begin; of others all that can be left out."""
_DEEPEST: Final = 200


def world_as_json(value: object) -> object:
    """Return a state, or a part of one, as what JSON has."""
    match value:
        case None | int() | str():
            return value
        case frozenset():
            return ["set", *(world_as_json(each) for each in sorted(value))]
        case tuple() if type(value) in _WORDS:
            return [_WORDS[type(value)], *(world_as_json(each) for each in _said(value))]
        case tuple():
            return ["list", *(world_as_json(each) for each in value)]
        case _:
            assert is_dataclass(value)
            return [_WORDS[type(value)], *(world_as_json(getattr(value, each.name)) for each in fields(value))]


def _said(record: tuple[object, ...]) -> tuple[object, ...]:
    """Return the parts of a record without the last ones that are as they are where they are left out."""
    parts, known = list(record), getattr(record, "_field_defaults", {})
    for name in [name for name in reversed(known) if name in _LEFT_OUT.get(type(record), known)]:
        if parts[-1] != known[name]:
            break
        parts.pop()
    return tuple(parts)


def read(value: object, where: str, depth: int = 0) -> Any:
    """Return the state, or the part of one, that `value` says. Raises InvalidCertificate if it says none.

    Whether it is a state of some program is not asked: one that is none proves nothing.
    """
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        reject(f"{where} is not a state")
    if depth > _DEEPEST:
        reject(f"{where} is nested too deeply")
    kind, *parts = value
    items = [read(each, where, depth + 1) for each in parts]
    if kind == "list":
        return tuple(items)
    try:
        return frozenset(items) if kind == "set" else RECORDS[kind](*items)
    except (KeyError, TypeError):
        reject(f"{where} is not a state")


MESSAGE_STATES: Final = "message-states"
MESSAGE_RUN: Final = "message-run"


CLAIMS: Final = ("holds", "violated", "deadlock-free", "deadlocks")
"""Each claim about assertions and faults, or about deadlocks."""

POSITIVE: Final = ("holds", "deadlock-free")


def check_message_claim(program: MessageProgram, buffer: Buffer, claim: str, evidence: object) -> str:
    """Return what proves the claim. Raises InvalidCertificate if the evidence does not."""
    if claim in POSITIVE:
        if program.looks:
            reject(LOOKS)
        kind = mapping(evidence, "`evidence`").get("kind")
        if json_word(kind, f"`evidence.kind` for the claim {claim!r}", (MESSAGE_STATES, MESSAGE_PROOF)) == MESSAGE_PROOF:
            check_proof(program, buffer, "holds" if claim == "holds" else "deadlock-free", evidence)
            return "a refutation of all matchings"
        _check_states(Interpreter(program, buffer), claim, evidence)
        return "all states of the normal form"
    _check_run(program, buffer, claim, evidence)
    return "a run"


def _check_states(rules: Interpreter, claim: str, evidence: object) -> None:
    """Check that the first states and those after each match are among those listed, and that none breaks the claim."""
    found = json_members(evidence, "`evidence`", ("kind", "states"))
    listed = json_array(found["states"], "`evidence.states`", _state)
    states = set(listed)
    _enter(rules, rules.start(), claim, states, "at the start")
    for number, state in enumerate(listed):
        where = f"after state {number}"
        try:
            if claim == "deadlock-free" and state_ending(rules, state) == "deadlock":
                reject(f"state {number} is a deadlock")
            for new, wrong in matched(rules, state):
                if claim == "holds" and wrong:
                    reject(f"{where} a match is a violation: {wrong}")
                _enter(rules, new, claim, states, where)
        except (LookupError, TypeError, ValueError, AssertionError, AttributeError):
            reject(f"state {number} is none of this program")


def _state(value: object, where: str) -> ReplayState:
    state = read(value, where)
    try:
        hash(state)
    except TypeError:
        reject(f"{where} is not a state")
    return state if isinstance(state, ReplayState) else reject(f"{where} is not a state")


def _enter(rules: Interpreter, world: ReplayState, claim: str, states: AbstractSet[ReplayState], where: str) -> None:
    try:
        onward = settled_worlds(rules, world, lambda: None)
    except EndlessProcessError:
        reject(f"{where} a process computes forever")
    if claim == "holds" and onward.violations:
        reject(f"{where} something is violated: {', '.join(sorted(onward.violations))}")
    if not onward.worlds <= states:
        reject(f"{where} comes a state that is not listed")


def _check_run(program: MessageProgram, buffer: Buffer, claim: str, evidence: object) -> None:
    found = json_members(evidence, "`evidence`", ("kind", "moves"))
    json_word(found["kind"], f"`evidence.kind` for the claim {claim!r}", (MESSAGE_RUN,))
    schedule: Schedule = tuple(json_array(found["moves"], "`evidence.moves`", _move))
    try:
        end = replay_schedule(program, buffer, schedule)
    except NotEnabled as refused:
        reject(f"the run is none: {refused}")
    if claim == "violated" and not end.violations:
        reject("the run violates nothing")
    if claim == "deadlocks" and end.ending != "deadlock":
        reject("the run does not end in a deadlock")


def _move(value: object, where: str) -> Move:
    if isinstance(value, dict) and "match" in value:
        pair = json_array(json_members(value, where, ("match",))["match"], where, integer)
        if len(pair) != 4:
            reject(f"{where} does not name a receive and a send by process and number")
        return MatchMove(MatchedPair(OperationId(pair[0], pair[1]), OperationId(pair[2], pair[3])))
    if isinstance(value, dict) and "buffer" in value:
        return BufferGrant(integer(json_members(value, where, ("buffer",))["buffer"], where))
    found = json_members(value, where, ("step",), ("choice",))
    return ProcessStep(integer(found["step"], where), integer(found["choice"], where) if "choice" in found else None)


def move_json(move: Move) -> dict[str, object]:
    """Return a move as certificates have it."""
    match move:
        case MatchMove(MatchedPair(receive, send)):
            return {"match": [*receive, *send]}
        case BufferGrant(process):
            return {"buffer": process}
        case ProcessStep(process, None):
            return {"step": process}
        case ProcessStep(process, choice):
            return {"step": process, "choice": choice}
