"""Threads in the checker's words: events, where a thread is between them, and the cells that they access.

Source: docs/model.md, "Events"; docs/deployed.md, "Events".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rdma_robust.certify.hardware import READS, WRITES, EventKind, EventWords, Platform, of_variant
from rdma_robust.certify.remembered import Value
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import Cell, RemoteRmw


class OperationStage(StrEnum):
    """The place in a step of which a thread has made an event."""

    CARRIES = "carries"
    """The event that writes what has been read: of a put or get, a send, the answer of a remote atomic."""
    MESSAGE = "message"
    """The message of a write with immediate, behind its put."""
    FENCED = "fenced"
    """The read of a compare-and-swap that fails: the store buffer is empty."""
    OPERANDS = "operands"
    """A further operand of a remote atomic, or the read of its word."""
    HALF = "half"
    """The write of a remote atomic."""
    STOPPED = "stopped"
    """Nothing: the thread ends behind the read of a remote atomic."""


class Completion(StrEnum):
    """Completion with an event: whether an operation completes there, and whether a poll can take that."""

    NONE = "none"
    UNSIGNALED = "unsignaled"
    SIGNALED = "signaled"


@dataclass(frozen=True, slots=True)
class LocalState:
    """Where a thread is: at a program point, with the values of its registers in the order of their declaration.

    Between the events of one operation, `operation` is the number of its step, `point` where that starts, `carried` the
    value that it has read, or what it writes next of that, and `stage` says what comes next; else they are None. `operands`
    are what the card has read of those in memory, up to the write of the atomic.
    """

    point: int
    registers: tuple[Value, ...]
    operation: int | None = None
    carried: Value = None
    stage: OperationStage | None = None
    operands: tuple[Value, ...] = ()

    def leaving_open(self, free: Sequence[bool]) -> LocalState:
        """Return the same, but for registers that are left open: those that are `free`."""
        registers = tuple(None if is_free else value for is_free, value in zip(free, self.registers, strict=True))
        return self if registers == self.registers else replace(self, registers=registers)


def fetches_nothing(op: RemoteRmw) -> bool:
    """Return whether a remote atomic brings nothing back: it has no answer, and does not look at what it finds."""
    return op.target is None and op.when == TRUE


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """An event of a thread, but for its values: polls and fences have no cell, CPU accesses no remote node.

    `remote` is what the thread calls the queue pair: a lane, or the other node. `peer` is the other thread of a message, or
    of what posts a buffer or takes a receive completion, and `lane` that of the sender, if it has a name. What posts a
    `buffer` does not access it. A message that `fills` the buffer that it finds has that for its cell, once it is known.
    A read `swaps` if it is that of a remote atomic that writes, or that is taken as one that writes what it has read,
    `at_once`. What the card does for a send, or for an atomic that fetches nothing, is a `variant`. A SWAP without a cell is
    a locked section: at one moment it reads all of its `words` and writes some of them. A BARRIER `meets` those of these
    threads; a whole round of it is an event of its first thread and of the `others`. An answer knows the word that its
    request has `asked`; a read is that of an `operand`, or that of an atomic which `takes` some.
    """

    thread: int
    kind: EventKind
    cell: Cell | None = None
    remote: str | None = None
    completion: Completion = Completion.NONE
    peer: str | None = None
    buffer: Cell | None = None
    fills: bool = False
    swaps: bool = False
    words: tuple[tuple[Cell, bool], ...] = ()
    lane: str = ""
    meets: tuple[str, ...] = ()
    others: tuple[int, ...] = ()
    asked: Cell | None = field(default=None, compare=False)
    operand: bool = field(default=False, compare=False)
    takes: bool = field(default=False, compare=False)
    variant: bool = field(default=False, compare=False)
    at_once: bool = False

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads whose event it is: one, but for a round of a barrier."""
        return (self.thread, *self.others)

    @property
    def regions(self) -> EventWords:
        """Which words of the event are in a relaxed region, and in which memory behind a card."""
        own, asked = ((False, "") if c is None else (c.relaxed, c.node if c.via else "") for c in (self.cell, self.asked))
        return EventWords(own[0], asked[0], own[1], asked[1], variant=self.variant)

    def kind_in_beta(self, platform: Platform) -> EventKind:
        """What beta has with the event."""
        if self.kind is EventKind.GET_WRITES and self.regions.own:
            return EventKind.ANSWERS_RELAXED
        return of_variant(self.kind, self.variant and platform.variants_apart)

    @property
    def read(self) -> tuple[Cell, ...]:
        """The cells that the event reads."""
        if self.words:
            return tuple(cell for cell, _ in self.words)
        return (self.cell,) if self.cell is not None and self.kind in READS else ()

    @property
    def written(self) -> tuple[Cell, ...]:
        """The cells that the event writes."""
        if self.words:
            return tuple(cell for cell, writes in self.words if writes)
        return (self.cell,) if self.cell is not None and self.kind in WRITES else ()

    @property
    def is_message(self) -> bool:
        return self.peer is not None and self.kind is EventKind.PUT_WRITES

    def __str__(self) -> str:
        about = self.remote if self.cell is None else self.cell
        return f"{self.kind}({about or self.peer or ''})"


@dataclass(frozen=True, slots=True)
class ThreadMove:
    """An event that a thread can make: the value that it writes (None also where it writes none), where the thread is
    afterwards, and the line of the statement; of a locked section `stores` are the values that it writes, in order, and of a
    round of a barrier `elsewhere` is where the other threads are afterwards."""

    event: ThreadEvent
    written: Value
    after: LocalState
    line: int
    stores: tuple[Value, ...] = ()
    elsewhere: tuple[LocalState, ...] = ()


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event as the certificate has it; `source` is the number of the write that it reads from, -1 for the initial one. An
    event that is `joined` belongs to the locked section of the event before it. A message `takes` the receive of that number
    of its connection, or that of its turn."""

    event: ThreadEvent
    position: int
    line: int
    read: Value
    written: Value
    source: int | None
    joined: bool = False
    takes: int | None = None


@dataclass(frozen=True, slots=True)
class CellAccess:
    """A cell that an event accesses, whether it writes there, and whether it is the read of a remote atomic."""

    cell: Cell
    writes: bool
    atomic: bool = False
