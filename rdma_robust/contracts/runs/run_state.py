"""A run so far: what each process has, messages under way, the path of its inputs, events with their clocks, collates."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from rdma_robust.contracts.language.contract_program import PathClause
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_requests import NOTHING_ASKED, RequestTable
from rdma_robust.contracts.runs.run_terms import Condition, Number
from rdma_robust.contracts.runs.spec_reading import Snapshot
from rdma_robust.contracts.runs.symbolic_data import Data
from rdma_robust.errors import NO_SPAN, Span

Clock = tuple[int, ...]
"""For each process how many of its events come before, or are it: `e` happens before `f` if the clock of `f` counts `e`."""

Traffic = dict[tuple[int, int, int], int]
"""Numbers of messages by the other process, port and tag."""


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
    """What one process has. `open` are the places of entries it has not left, `wildcards` by port and tag."""

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
