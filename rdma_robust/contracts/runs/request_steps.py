"""Steps of requests: posting, matching and waiting.

A match is no event. It comes after the send and the posting; after the matches of earlier receives that accept the message;
and after those of earlier messages of the channel that the receive accepts. So it has a clock, and what waits for it comes
after it. Only for a receive from any it is open which message it gets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rdma_robust.contracts.runs.run_state import (
    BUFFERED,
    IDLE,
    Actor,
    AwaitedReceive,
    Clock,
    ClockedEvent,
    Match,
    Post,
    SymbolicRun,
    TakenSend,
    joined_clock,
    ticked,
)
from rdma_robust.contracts.runs.term_code import AwaitPoint, PostPoint, Spot
from rdma_robust.messages.language.message_terms import FaultError

if TYPE_CHECKING:
    from rdma_robust.contracts.runs.run_machine import RunMachine
    from rdma_robust.contracts.runs.symbolic_data import Data


class PostMatch(NamedTuple):
    """A posted receive of a process, by its number, and the message that it may get: its sender and place in the channel."""

    post: int
    source: int
    at: int


def request_key(machine: RunMachine, actor: Actor, place: Spot) -> tuple[str, int | None]:
    """Return a request as its name and index. Raises FaultError if there is none."""
    slot = actor.asked.slot(place.name)
    if isinstance(slot, int) == bool(place.indices):
        raise FaultError("kind")
    return place.name, index_of(machine, actor, place)


def index_of(machine: RunMachine, actor: Actor, place: Spot) -> int | None:
    """Return the index of a request, None if it has none. Raises FaultError."""
    if not place.indices:
        return None
    slot = actor.asked.slot(place.name)
    number = machine.on.number(place.indices[0](actor.registers, machine.on))
    if isinstance(slot, int):
        raise FaultError("kind")
    found = machine.on.among(number, len(slot))
    if found is None:
        raise FaultError("index")
    return found


def state_of_send(actor: Actor, *, rendezvous: bool) -> int:
    """Return the state of a request for the next send of a process."""
    return -(sum(actor.sent.values()) + 2) if rendezvous else BUFFERED


def post(machine: RunMachine, process: int, actor: Actor, point: PostPoint) -> None:
    """Let a process post a receive."""
    receive, registers, on = point.receive, actor.registers, machine.on
    source = None if receive.source is None else machine.process_number(receive.source(registers, on), "source")
    tag = None if receive.tag is None else machine.tag(receive.tag(registers, on))
    spots = receive.target, receive.sender, receive.which
    indices = tuple(
        () if spot is None else tuple([on.some(on.number(each(registers, on)), "an index") for each in spot.indices])
        for spot in spots
    )
    name, index = request_key(machine, actor, point.request)
    asked = actor.asked
    made = Post(actor.at, source, receive.port, tag, indices, actor.clock, asked.after)
    if source is None:
        actor.any_receives = (*actor.any_receives, (actor.clock[process], receive.port, tag))
    actor.asked = asked.set(name, index, len(asked.posts) + 1)._replace(posts=(*asked.posts, made))
    actor.at += 1


def pairs(run: SymbolicRun, process: int) -> Iterator[PostMatch]:
    """Yield what may match: the first message of a channel that a receive accepts, unless an earlier one accepts it."""
    posts = run.actors[process].asked.posts
    waiting = [(number, each) for number, each in enumerate(posts) if each.got is None]
    for number, receive in waiting:
        sources = range(len(run.actors)) if receive.source is None else (receive.source,)
        for source in sources:
            messages = run.channels.get((source, process, receive.port), ())
            at = next((at for at, each in enumerate(messages) if receive.tag in (None, each.tag)), None)
            if at is not None:
                tag = messages[at].tag
                if not any(before < number and each.accepts(source, receive.port, tag) for before, each in waiting):
                    yield PostMatch(number, source, at)


def match(run: SymbolicRun, process: int, pair: PostMatch, *, rendezvous: bool) -> None:
    """Let a posted receive get a message."""
    actor = run.actors[process]
    number, source, at = pair
    receive = actor.asked.posts[number]
    channel = source, process, receive.port
    messages = run.channels[channel]
    message = messages[at]
    run.channels[channel] = (*messages[:at], *messages[at + 1 :])
    clock, after = joined_clock(receive.clock, message.clock), receive.after | message.after | 1 << bit(run, process, number)
    for each in actor.asked.posts[:number]:
        got = each.got
        overtaken = (
            got is not None
            and (got.sender, each.port) == (source, receive.port)
            and got.number < message.number
            and receive.tag in (None, got.tag)
        )
        if got is not None and (overtaken or each.accepts(source, receive.port, message.tag)):
            clock, after = joined_clock(clock, got.clock), after | got.after
    made = Match(message.value, source, message.tag, message.number, clock, after)
    actor.asked = actor.asked.with_post(number, receive._replace(got=made))
    if rendezvous:
        taken = TakenSend(message.number, process, receive.port, message.tag, message.value, clock, after)
        sender = run.actors[source]
        sender.asked = sender.asked._replace(taken=(*sender.asked.taken, taken))


def bit(run: SymbolicRun, process: int, number: int) -> int:
    """Return which bit stands for the match of a posted receive of a process."""
    return number * len(run.actors) + process


def wait(machine: RunMachine, run: SymbolicRun, process: int, point: AwaitPoint) -> None:
    """Let a process wait for a request, for those of an array one after the other; it waits on where one is not complete."""
    actor = run.actors[process]
    actor.waited = None
    index = index_of(machine, actor, point.place)
    while actor.status == "runs":
        _, state = actor.asked.waited(point.place.name, index)
        if state > IDLE:
            _take(machine, run, process, point, state - 1)
        elif state < BUFFERED:
            _complete(machine, run, process, point, -state - 2)
        if actor.status != "runs":
            return
        actor.asked, more = actor.asked.passed(point.place.name, index)
        if not more:
            actor.at += 1
            return


def _take(machine: RunMachine, run: SymbolicRun, process: int, point: AwaitPoint, number: int) -> None:
    """Let a process take what its receive has got, and store it."""
    actor = run.actors[process]
    receive = actor.asked.posts[number]
    got = receive.got
    if got is None:
        actor.status, actor.waited = "awaits", AwaitedReceive(receive.source, receive.port, receive.tag, ())
        return
    posting = machine.codes[process].code[receive.point]
    assert isinstance(posting, PostPoint)
    spots = (posting.receive.target, posting.receive.sender, posting.receive.which)
    stored: dict[str, Data] = {}
    fault = ""
    try:
        for spot, indices, value in zip(spots, receive.indices, (got.value, got.sender, got.tag), strict=True):
            if spot is not None:
                before = stored.get(spot.name, actor.registers[spot.name])
                stored[spot.name] = machine.on.stored(before, indices, value)
    except FaultError as why:
        fault = why.kind
    clock = joined_clock(ticked(actor.clock, process), got.clock)
    event = ClockedEvent(
        process, "recv", clock, "", 0, got.sender, got.tag, receive.port, got.value, actor.choices, point.span
    )
    machine.event(run, actor, event)
    actor.asked = actor.asked._replace(after=actor.asked.after | got.after)
    key = got.sender, receive.port, got.tag
    actor.got[key] = actor.got.get(key, 0) + 1
    actor.registers |= stored
    if fault:
        actor.status = "faulted"
        machine.watcher.faulted(run, process, fault, point.span)


def _complete(machine: RunMachine, run: SymbolicRun, process: int, point: AwaitPoint, number: int) -> None:
    """Let a process go on behind a send that was got."""
    actor = run.actors[process]
    found = next((each for each in actor.asked.taken if each.number == number), None)
    if found is None:
        actor.status = "awaits"
        return
    clock = joined_clock(ticked(actor.clock, process), found.clock)
    event = ClockedEvent(
        process, "complete", clock, "", 0, found.to, found.tag, found.port, found.value, actor.choices, point.span
    )
    machine.event(run, actor, event)
    rest = tuple(each for each in actor.asked.taken if each is not found)
    actor.asked = actor.asked._replace(after=actor.asked.after | found.after, taken=rest)


class Interference(NamedTuple):
    """A message from outside may come to a receive from any of a process; `clock` are the events before."""

    other: int
    port: int
    tag: int | None
    clock: Clock


def interfered(run: SymbolicRun, process: int) -> Iterator[Interference]:
    """Yield each receive from any that may be posted and have got nothing when another has left and all it sent was got.

    What comes before that are the events and matches before the other's exit, the posting, and the matches of its messages.
    """
    actor = run.actors[process]
    for number, receive in enumerate(actor.asked.posts):
        for other, sender in enumerate(run.actors):
            if receive.source is not None or other == process or sender.status != "left":
                continue
            messages = run.channels.get((other, process, receive.port), ())
            if any(receive.tag in (None, each.tag) for each in messages):
                continue
            clock, after = joined_clock(sender.clock, receive.clock), sender.asked.after | receive.after
            for each in actor.asked.posts:
                got = each.got
                if got is not None and receive.accepts(got.sender, each.port, got.tag) and got.sender == other:
                    clock, after = joined_clock(clock, got.clock), after | got.after
            inside = actor.status not in ("faulted", "pruned", "left") or clock[process] < actor.clock[process]
            if inside and not after >> bit(run, process, number) & 1:
                yield Interference(other, receive.port, receive.tag, clock)
