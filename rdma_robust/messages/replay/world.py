"""States of the machine as section by section defined: program points, registers, requests, and the unmatched operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from rdma_robust.messages.language.message_program import SendMode
from rdma_robust.messages.language.message_terms import Value
from rdma_robust.messages.message_answers import MatchedPair, OperationId


@dataclass(frozen=True, slots=True)
class BlockPoint:
    """Before statement `index` of a block, by its number; of a `wait`, before an element of one of its places."""

    block: int
    index: int
    place: int = 0
    element: int = 0


@dataclass(frozen=True, slots=True)
class ForTest:
    """Before the test of a `for`, which is statement `index` of a block."""

    block: int
    index: int
    following: int
    last: int


@dataclass(frozen=True, slots=True)
class ReturnPoint:
    """Where a function returns to: what lies below it."""

    name: str


Point = tuple[BlockPoint | ForTest | ReturnPoint, ...]
"""What is still to be done, the next on top, which is last."""

Target = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ActiveSend:
    """A request that is active for a send."""

    send: OperationId


@dataclass(frozen=True, slots=True)
class ActiveReceive:
    """A request that is active for a receive, and where value, sender and tag are stored."""

    receive: OperationId
    stores: tuple[Target | None, ...]


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """A request that holds the message of a send, which came on a port with a tag."""

    send: OperationId
    port: int
    tag: int


@dataclass(frozen=True, slots=True)
class ActiveCall:
    """A request that is active for the nth call of a process in a group, and where what it gets is stored."""

    process: int
    group: int
    nth: int
    target: Target | None


Active = ActiveSend | ActiveReceive | ActiveCall | HeldMessage


@dataclass(frozen=True, slots=True)
class RequestArray:
    """An array of requests."""

    elements: tuple[Active | None, ...]


class ReplayProcess(NamedTuple):
    """One process: its point, whether it runs, ended or stopped, its registers and requests in the order of their names'
    declaration, and how many sends and receives it has issued, and calls in each group."""

    point: Point
    status: Literal["runs", "ended", "stopped"]
    registers: tuple[Value, ...]
    requests: tuple[Active | RequestArray | None, ...]
    sent: int = 0
    received: int = 0
    entered: tuple[int, ...] = ()


class UnmatchedSend(NamedTuple):
    """An issued send that nothing has matched; a request may hold its message."""

    name: OperationId
    to: int
    port: int
    tag: int
    value: Value
    mode: SendMode = "standard"
    of_type: int | None = None
    size: int | None = None
    held: bool = False


class UnmatchedReceive(NamedTuple):
    """An issued receive that nothing has matched; source and tag are None for `any`. What is held is taken `of` its send."""

    name: OperationId
    port: int
    source: int | None
    tag: int | None
    of: OperationId | None = None
    of_type: int | None = None
    room: int | None = None
    at: BlockPoint | None = None


class UnfinishedCall(NamedTuple):
    """A call of a collective operation that is not over for all members of its group; it was made `at` a statement."""

    process: int
    group: int
    nth: int
    name: str
    blocking: bool
    root: int | None
    op: int | str | None
    sig: int | None
    value: Value
    at: BlockPoint


class Delivery(NamedTuple):
    """The values that the wait for a matched receive will give."""

    receive: OperationId
    value: Value
    sender: int
    tag: int


class ReplayState(NamedTuple):
    """A state. The operations of one process are in issue order; `delivered` are not waited for yet."""

    processes: tuple[ReplayProcess, ...]
    sends: tuple[UnmatchedSend, ...] = ()
    receives: tuple[UnmatchedReceive, ...] = ()
    delivered: tuple[Delivery, ...] = ()
    sent_off: frozenset[OperationId] = frozenset()
    buffered: frozenset[OperationId] = frozenset()
    pairs: frozenset[MatchedPair] = frozenset()
    calls: tuple[UnfinishedCall, ...] = ()
    left_early: frozenset[tuple[int, int, int]] = frozenset()


class StepViolation(NamedTuple):
    """A violation that a step is: what kind, by which process, at which statement's place; and others that it is too."""

    process: int
    kind: str
    statement: BlockPoint
    more: tuple[StepViolation, ...] = ()
