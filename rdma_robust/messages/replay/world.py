"""States of the machine as section by section defined: program points, registers, requests, and the unmatched operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from rdma_robust.messages.language.message_terms import Value
from rdma_robust.messages.message_answers import Issued, Pair


@dataclass(frozen=True, slots=True)
class At:
    """Before statement `index` of a block, by its number; of a `wait`, before an element of one of its places."""

    block: int
    index: int
    place: int = 0
    element: int = 0


@dataclass(frozen=True, slots=True)
class Counting:
    """Before the test of a `for`, which is statement `index` of a block."""

    block: int
    index: int
    following: int
    last: int


@dataclass(frozen=True, slots=True)
class Called:
    """Where a function returns to: what lies below it."""

    name: str


Point = tuple[At | Counting | Called, ...]
"""What is still to be done, the next on top, which is last."""

Target = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ActiveSend:
    """A request that is active for a send."""

    send: Issued


@dataclass(frozen=True, slots=True)
class ActiveReceive:
    """A request that is active for a receive, and where value, sender and tag are stored."""

    receive: Issued
    stores: tuple[Target | None, ...]


Active = ActiveSend | ActiveReceive


@dataclass(frozen=True, slots=True)
class RequestArray:
    """An array of requests."""

    elements: tuple[Active | None, ...]


class Process(NamedTuple):
    """One process: its point, whether it runs, ended or stopped, its registers and requests in the order of their names'
    declaration, and how many sends and receives it has issued."""

    point: Point
    status: Literal["runs", "ended", "stopped"]
    registers: tuple[Value, ...]
    requests: tuple[Active | RequestArray | None, ...]
    sent: int = 0
    received: int = 0


class Send(NamedTuple):
    """An issued send that nothing has matched."""

    name: Issued
    to: int
    port: int
    tag: int
    value: Value


class Receive(NamedTuple):
    """An issued receive that nothing has matched; source and tag are None for `any`."""

    name: Issued
    port: int
    source: int | None
    tag: int | None


class Delivered(NamedTuple):
    """What the wait for a matched receive will give."""

    receive: Issued
    value: Value
    sender: int
    tag: int


class World(NamedTuple):
    """A state. The operations of one process are in issue order; `delivered` are not waited for yet."""

    processes: tuple[Process, ...]
    sends: tuple[Send, ...] = ()
    receives: tuple[Receive, ...] = ()
    delivered: tuple[Delivered, ...] = ()
    sent_off: frozenset[Issued] = frozenset()
    buffered: frozenset[Issued] = frozenset()
    pairs: frozenset[Pair] = frozenset()


class Event(NamedTuple):
    """A violation that a step is: what kind, by which process, at which statement's place."""

    process: int
    kind: str
    statement: At
