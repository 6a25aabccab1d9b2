"""The state of one process between two moves: all of a state of the machine, since unmatched operations are listed with
the process that issued them, in the order in which it did: that is the order of each channel and of each endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from rdma_robust.messages.language.message_program import Buffer
from rdma_robust.messages.language.message_terms import FaultKind, Value
from rdma_robust.messages.machine.flat_code import FlatProcess

ANYTHING = -1
"""The source or tag of a receive that takes any."""

Status = Literal["runs", "waits", "looks", "paused", "endless", "ended", "stopped"]
"""`runs` it has a step; `waits` at a request that is not open, or for a message to see; `looks` for one, or goes on without,
or stands before a step that others see; `paused` it runs on, but the search does not follow; `endless` it computes
forever; `stopped` by a false assume or a fault."""


FREE: Final = -1
"""The key of a message that nobody holds, and of a receive for those."""


class SendOp(NamedTuple):
    """An unmatched send, the `nth` of its process; its receiver holds the message under a `key`, or may still see it.

    Type and size are `said`, if they are.
    """

    nth: int
    to: int
    port: int
    tag: int
    value: Value
    key: int = FREE
    said: tuple[int | None, int | None] = (None, None)


class ReceiveOp(NamedTuple):
    """An unmatched receive, the `nth` of its process; source and tag may be ANYTHING. A `key` is of what it is for.

    What is `said` are type and room, in the instruction `at`.
    """

    nth: int
    port: int
    source: int
    tag: int
    key: int = FREE
    said: tuple[int | None, int | None] = (None, None)
    at: int = 0


Spot = tuple[str, tuple[int, ...]]
"""A place whose indices are evaluated."""


@dataclass(frozen=True, slots=True)
class SendHandle:
    """An active request of a send; `nth` is ANYTHING once its wait is open. Only a match opens that of a `matched` one."""

    nth: int
    matched: bool = True


@dataclass(frozen=True, slots=True)
class ReceiveHandle:
    """An active request of a receive; `got` is the value, sender and tag of its message, and `nth` ANYTHING from then on."""

    nth: int
    target: Spot
    sender: Spot | None
    which: Spot | None
    got: tuple[Value, int, int] | None = None


@dataclass(frozen=True, slots=True)
class MessageHandle:
    """A request that holds a message: whose, on which port, with which tag, and the key by which its receive finds it."""

    sender: int
    port: int
    tag: int
    key: int


Gotten = tuple[Value, ...] | FaultKind | None
"""What a call gets: nothing or one value, or a fault; None where that is not known."""


class CollectiveOp(NamedTuple):
    """A call of a collective operation that is kept, number `nth` of those of its process and group, and what it says.

    It was made by the instruction `at`, and is open as the `rule` says; its `stage` is how far it is.
    """

    group: int
    nth: int
    name: str
    blocking: bool
    root: int | None
    op: int | str | None
    sig: int | None
    value: Value
    at: int
    rule: Buffer
    stage: int = 0


@dataclass(frozen=True, slots=True)
class CollectiveHandle:
    """An active request of a call; `nth` is ANYTHING once its wait is open."""

    group: int
    nth: int
    target: Spot | None
    got: Gotten = None
    is_open: bool = False


PendingHandle = SendHandle | ReceiveHandle | CollectiveHandle
"""The request of what is issued and can be waited for."""
Handle = PendingHandle | MessageHandle
Slot = Handle | tuple[Handle | None, ...] | None
"""What a request is: active or inactive, or an array of such."""


def singles(slot: Slot) -> Iterable[tuple[int, Handle | None]]:
    """Return one request or those of an array, each with its index, ANYTHING if it is in no array."""
    return enumerate(slot) if isinstance(slot, tuple) else ((ANYTHING, slot),)


class LocalState(NamedTuple):
    """A process between two moves. `calls` are its library procedures so far, `taken` what its receives took, as the
    number of the receive, the sender and the number of its send, if that is kept."""

    pc: int
    cursor: int
    status: Status
    registers: tuple[Value, ...]
    requests: tuple[Slot, ...]
    sends: tuple[SendOp, ...]
    receives: tuple[ReceiveOp, ...]
    sent: int
    received: int
    calls: tuple[str, ...] = ()
    taken: tuple[tuple[int, int, int], ...] = ()
    ops: tuple[CollectiveOp, ...] = ()


class ProcessFrame:
    """A process while it makes moves: a Local that changes."""

    __slots__ = (
        "calls",
        "cursor",
        "ops",
        "pc",
        "received",
        "receives",
        "registers",
        "requests",
        "sends",
        "sent",
        "status",
        "taken",
    )

    def __init__(self, process: FlatProcess, local: LocalState) -> None:
        self.pc = local.pc
        self.cursor = local.cursor
        self.status: Status = local.status
        self.registers = dict(zip(process.registers, local.registers, strict=True))
        self.requests = dict(zip(process.requests, local.requests, strict=True))
        self.sends = list(local.sends)
        self.receives = list(local.receives)
        self.sent = local.sent
        self.received = local.received
        self.calls = local.calls
        self.taken = local.taken
        self.ops = local.ops

    def frozen(self) -> LocalState:
        """Return what it is like now."""
        return LocalState(
            self.pc,
            self.cursor,
            self.status,
            tuple(self.registers.values()),
            tuple(self.requests.values()),
            tuple(self.sends),
            tuple(self.receives),
            self.sent,
            self.received,
            self.calls,
            self.taken,
            self.ops,
        )

    def copy(self) -> ProcessFrame:
        new = ProcessFrame.__new__(ProcessFrame)
        new.pc, new.cursor, new.status = self.pc, self.cursor, self.status
        new.registers, new.requests = dict(self.registers), dict(self.requests)
        new.sends, new.receives = list(self.sends), list(self.receives)
        new.sent, new.received = self.sent, self.received
        new.calls, new.taken, new.ops = self.calls, self.taken, self.ops
        return new


def initial(process: FlatProcess) -> LocalState:
    """Return the start: registers are 0, requests inactive."""
    status: Status = "ended" if process.start == process.end else "runs"
    return LocalState(process.start, 0, status, (0,) * len(process.registers), (None,) * len(process.requests), (), (), 0, 0)


def nameless(local: LocalState) -> LocalState:
    """Return `local` with unmatched operations numbered from 0, and nothing of what came before: what it does is the same.

    So two of them are equal exactly if nothing but names and the past tells them apart.
    """
    sends = {op.nth: number for number, op in enumerate(local.sends)}
    receives = {op.nth: number for number, op in enumerate(local.receives)}

    def renamed(slot: Slot) -> Slot:
        match slot:
            case SendHandle(nth, matched) if nth != ANYTHING:
                return SendHandle(sends[nth], matched)
            case ReceiveHandle(nth, target, sender, which, None):
                return ReceiveHandle(receives[nth], target, sender, which)
            case tuple():
                return tuple(_handle(renamed(each)) for each in slot)
            case _:
                return slot

    return local._replace(
        requests=tuple(renamed(each) for each in local.requests),
        sends=tuple(op._replace(nth=number) for number, op in enumerate(local.sends)),
        receives=tuple(op._replace(nth=number) for number, op in enumerate(local.receives)),
        sent=len(sends),
        received=len(receives),
        calls=(),
        taken=(),
    )


def _handle(slot: Slot) -> Handle | None:
    assert not isinstance(slot, tuple)
    return slot
