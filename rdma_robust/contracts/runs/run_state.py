"""A run so far: what each process has, messages under way, the path of its inputs, events with their clocks, collates."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from rdma_robust.contracts.language.contract_program import PathClause
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_terms import Condition, Number
from rdma_robust.contracts.runs.spec_reading import Snapshot
from rdma_robust.contracts.runs.symbolic_data import Data
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_terms import FaultError

Clock = tuple[int, ...]
"""For each process how many of its events come before, or are it: `e` happens before `f` if the clock of `f` counts `e`."""

Traffic = dict[tuple[int, int, int], int]
"""Numbers of messages by the other process, port and tag."""


# Requests of one process: receives that it has posted, what they have got, and sends that are not waited for.

IDLE: Final = 0
BUFFERED: Final = -1
"""A send that is complete, and a wait for it passes."""

Slot = int | tuple[int, ...]
"""What a request is: IDLE, BUFFERED, a posted receive by its number and 1, or minus the number of a send and 2."""


class Match(NamedTuple):
    """A posted receive has got a message. `clock` counts the events and `after` has the matches that come before it."""

    value: Data
    sender: int
    tag: int
    number: int
    """Of the message, among those of its sender."""
    clock: tuple[int, ...]
    after: int


class Post(NamedTuple):
    """A receive that was posted at a point of the code; source and tag are None for any.

    `indices` are those of the places where something is stored. `clock` and `after` are as it was posted.
    """

    point: int
    source: int | None
    port: int
    tag: int | None
    indices: tuple[tuple[int, ...], ...]
    clock: tuple[int, ...]
    after: int
    got: Match | None = None
    over: bool = False

    def accepts(self, sender: int, port: int, tag: int) -> bool:
        return self.port == port and self.source in (None, sender) and self.tag in (None, tag)


class TakenSend(NamedTuple):
    """A send that somebody's receive has got: it is complete."""

    number: int
    to: int
    port: int
    tag: int
    value: Data
    clock: tuple[int, ...]
    after: int


class RequestTable(NamedTuple):
    """The requests of a process. `posts` are all receives that it has posted, in that order.

    `after` are the matches that come before what it does next, as bits. `cursor` is the element of an array of requests that
    a wait has come to. `taken` are sends that were got and not waited for, where sends are complete only then.
    """

    slots: tuple[tuple[str, Slot], ...] = ()
    posts: tuple[Post, ...] = ()
    taken: tuple[TakenSend, ...] = ()
    after: int = 0
    cursor: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether no request is active, and no receive is posted that was not waited for."""
        active = (each for _, slot in self.slots for each in (slot if isinstance(slot, tuple) else (slot,)))
        return all(each.over for each in self.posts) and not any(active)

    def slot(self, name: str) -> Slot:
        return dict(self.slots).get(name, IDLE)

    def _with(self, name: str, slot: Slot) -> RequestTable:
        return self._replace(slots=tuple(sorted({**dict(self.slots), name: slot}.items())))

    def declared(self, name: str, size: int | None) -> RequestTable:
        """Return this after `req name`, or `req name[size]`."""
        return self._with(name, IDLE if size is None else (IDLE,) * size)

    def set(self, name: str, index: int | None, state: int) -> RequestTable:
        """Return this with another state of one request; what it was is lost."""
        slot = self.slot(name)
        if isinstance(slot, int) or index is None:
            return self._with(name, state)
        return self._with(name, (*slot[:index], state, *slot[index + 1 :]))

    def waited(self, name: str, index: int | None) -> tuple[int | None, int]:
        """Return the index and the state of what a wait has come to; IDLE for an empty array. Raises FaultError."""
        slot = self.slot(name)
        if isinstance(slot, int):
            if index is not None:
                raise FaultError("kind")
            return None, slot
        at = self.cursor if index is None else index
        return at, slot[at] if slot else IDLE

    def passed(self, name: str, index: int | None) -> tuple[RequestTable, bool]:
        """Return this after the wait for one request, and whether it goes on with the next element of an array."""
        at, state = self.waited(name, index)
        made = self if state == IDLE else self.set(name, at, IDLE)
        if state > IDLE:
            made = made.with_post(state - 1, self.posts[state - 1]._replace(over=True))
        slot = self.slot(name)
        more = index is None and isinstance(slot, tuple) and self.cursor + 1 < len(slot)
        return made._replace(cursor=self.cursor + 1 if more else 0), more

    def with_post(self, number: int, post: Post) -> RequestTable:
        """Return this with another one of its posted receives."""
        return self._replace(posts=(*self.posts[:number], post, *self.posts[number + 1 :]))


NOTHING_ASKED: Final = RequestTable()


class ClockedEvent(NamedTuple):
    """A visible event. `clock` counts it. `call` is the place of an entry or exit among those of its process.

    `complete` is the end of the wait for a send, where that takes a receive.
    """

    process: int
    kind: Literal["enter", "exit", "send", "recv", "complete"]
    clock: Clock
    function: str = ""
    call: int = 0
    peer: int = 0
    tag: int = 0
    port: int = 0
    value: Data = 0
    choices: tuple[int, ...] = ()
    span: Span = NO_SPAN

    @property
    def number(self) -> int:
        """Return how many events of its process come before it."""
        return self.clock[self.process] - 1


class SentMessage(NamedTuple):
    """A message, the `number`-th of its sender; `after` are the matches of posted receives before it."""

    tag: int
    value: Data
    clock: Clock
    number: int
    after: int


class Promise(NamedTuple):
    """A path clause as its process evaluated it when it entered: for whom, which tag, until whom, and whether at all.

    `low` and `high` are the ends of a set, `others` is one without the own process. Where it is `faulty`, a fault occurs.
    """

    clause: PathClause
    process: int
    active: Condition
    low: Number
    high: Number
    others: bool
    tag: Number | None
    until: tuple[Number, Number, bool] | None
    faulty: Condition = False


@dataclass(frozen=True, slots=True, eq=False)
class CollatePassing:
    """A process passes an entry or exit of a collective function: `opened` is the place of the entry of an exit.

    `sent` and `got` count messages up to here. `promises` are the path clauses that are evaluated at an entry.
    """

    kind: Literal["enter", "exit"]
    function: str
    snapshot: Snapshot
    clock: Clock
    sent: Traffic
    got: Traffic
    opened: int
    promises: tuple[Promise, ...] = ()
    span: Span = NO_SPAN

    def key(self) -> tuple[object, ...]:
        """Return what later checks look at."""
        state = self.snapshot
        return (
            self.kind, self.function, self.clock, tuple(state.globals.values()), tuple(state.parameters.values()),
            state.result, tuple(self.sent.items()), tuple(self.got.items()), self.promises,
        )  # fmt: skip


class AwaitedReceive(NamedTuple):
    """A receive that a process waits for; `source` and `tag` are None for any."""

    source: int | None
    port: int
    tag: int | None
    indices: tuple[tuple[int, ...], ...]


class Wildcard(NamedTuple):
    """The last receive from any of a pattern: `before` are the events of its process before it, `got` what that took."""

    before: int
    got: tuple[tuple[tuple[int, int, int], int], ...]


Status = Literal["runs", "waits", "awaits", "calls", "left", "halted", "faulted", "pruned"]
"""`waits` at a receive; `awaits` a request."""


@dataclass(slots=True)
class Actor:
    """One process in a state of a run. `open` are the places of entries it has not left, `wildcards` by port and tag."""

    at: int
    registers: dict[str, Data]
    clock: Clock
    status: Status = "runs"
    waited: AwaitedReceive | None = None
    choices: tuple[int, ...] = ()
    steps: int = 0
    calls: tuple[CollatePassing, ...] = ()
    open: tuple[int, ...] = ()
    sent: Traffic = field(default_factory=dict)
    got: Traffic = field(default_factory=dict)
    wildcards: tuple[tuple[tuple[int, int | None], Wildcard], ...] = ()
    any_receives: tuple[tuple[int, int, int | None], ...] = ()
    """Each receive from any: how many events its process had before it, port and tag."""
    asked: RequestTable = NOTHING_ASKED

    def copy(self) -> Actor:
        return replace(self, registers=dict(self.registers), sent=dict(self.sent), got=dict(self.got))


class Outstanding(NamedTuple):
    """A send to a process that may still enter a call after whose exit the sender sent it: a place and the send."""

    opened: int
    send: ClockedEvent


@dataclass(slots=True)
class SymbolicRun:
    """A run so far. `channels` are by sender, receiver and port; `events` in the order of this run."""

    actors: list[Actor]
    path: Path
    channels: dict[tuple[int, int, int], tuple[SentMessage, ...]]
    events: list[ClockedEvent]
    inputs: tuple[Snapshot, ...]
    outstanding: tuple[Outstanding, ...] = ()

    def copy(self) -> SymbolicRun:
        actors = [each.copy() for each in self.actors]
        return SymbolicRun(actors, self.path.copy(), dict(self.channels), list(self.events), self.inputs, self.outstanding)

    def key(self) -> tuple[object, ...]:
        """Return all on which the rest of the run and its checks depend: two runs with one key go on alike."""
        done = min(len(actor.calls) for actor in self.actors)
        return (
            tuple(
                (
                    actor.at, actor.status, actor.waited, tuple(actor.registers.values()), actor.clock, actor.wildcards,
                    frozenset(actor.sent.items()), frozenset(actor.got.items()), actor.asked,
                    tuple([(each.function, each.clock[me], each.promises) for each in actor.calls]),
                    tuple([each.key() for each in actor.calls[done:]]),
                )
                for me, actor in enumerate(self.actors)
            ),
            frozenset((key, value) for key, value in self.channels.items() if value),
            self.path.key(),
            frozenset((each.opened, each.send.process, each.send.peer, each.send.tag, each.send.port)
                      for each in self.outstanding),
        )  # fmt: skip


def order_key(run: SymbolicRun) -> tuple[object, ...]:
    """Return what two runs have in common whose events are the same and in the same order, as far as there is one."""
    return frozenset((each.process, each.kind, each.peer, each.tag, each.port, each.clock) for each in run.events), tuple(
        each.any_receives for each in run.actors
    )


def joined_clock(one: Clock, other: Clock) -> Clock:
    """Return the clock that counts what one of two counts."""
    return tuple(map(max, one, other))


def ticked(clock: Clock, process: int) -> Clock:
    """Return the clock of the next event of a process."""
    return (*clock[:process], clock[process] + 1, *clock[process + 1 :])


def past(events: list[ClockedEvent], clock: Clock) -> list[ClockedEvent]:
    """Return the events that a clock counts, in their order: by Lemma 2 they are a run."""
    return [each for each in events if each.number < clock[each.process]]
