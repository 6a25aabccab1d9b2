"""A message program without branches: for each process the events that it may go through, in program order, with guards.

A process goes through its events from first to last. One whose guard is 0 it passes over; what guards are made of is known
by then, as it was received before. It can only be held up at a :class:`WaitEvent` or a
:class:`LookEvent`, and it stops at an :class:`AssumeEvent`
that is false, at a :class:`FaultEvent` and at a :class:`CutEvent`; the guards of all later events say that it did not. So
two events of one process that both happen do so in the order of the tuple. Definition: docs/theory-messages.md, encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.encoding.symbolic_terms import Symbol, SymbolicValue, Symbols
from rdma_robust.messages.language.message_program import Buffer, MessageProgram, SendMode, completion_of
from rdma_robust.messages.language.message_terms import FaultKind

Shape = tuple["Shape", ...] | None
"""None for a number, else the shapes of an array's elements."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """Guesses of what receives get: of the k-th one of a process, and of a statement where that is not known."""

    known: Mapping[tuple[int, int], Shape] = field(default_factory=dict)
    of_statement: Mapping[tuple[int, Span], Shape] = field(default_factory=dict)

    def guess(self, process: int, nth: int, span: Span) -> Shape:
        """Return the shape; a number where nothing is known."""
        if (process, nth) in self.known:
            return self.known[process, nth]
        return self.of_statement.get((process, span))


class NotEncodedError(Exception):
    """The program cannot be expressed; the message is what, such as "an array of unknown length"."""


@dataclass(frozen=True, slots=True)
class GuardedEvent:
    """An event of a process: its place among those of that, and the guard that says where it happens if it is reached."""

    process: int
    position: int
    guard: Symbol


@dataclass(frozen=True, slots=True)
class SendEvent(GuardedEvent):
    """Send `number` of all sends of the program is issued. `rank` is how many its process has issued before.

    `elements` are those of its value.
    """

    number: int
    value: SymbolicValue
    to: Symbol
    port: int
    tag: Symbol
    rank: Symbol
    mode: SendMode = "standard"
    elements: int = 1
    span: Span = field(default=NO_SPAN, compare=False)
    of_type: Symbol | None = None
    size: Symbol | None = None


@dataclass(frozen=True, slots=True)
class ReceiveEvent(GuardedEvent):
    """Receive `number` of all is issued; None for any source, any tag. `shape` is that of all messages it can get.

    `rank` is how many receives its process has issued before.
    """

    number: int
    source: Symbol | None
    port: int
    tag: Symbol | None
    rank: Symbol
    shape: Shape = None
    span: Span = field(default=NO_SPAN, compare=False)
    of_type: Symbol | None = None
    room: Symbol | None = None

    @property
    def is_checked(self) -> bool:
        """Return whether a match of it can be a violation."""
        return self.of_type is not None or self.room is not None


@dataclass(frozen=True, slots=True)
class WaitedBeside:
    """An operation that completes a process's step as well as another one, where `guard` holds."""

    guard: Symbol
    kind: Literal["send", "receive"]
    operation: int


@dataclass(frozen=True, slots=True)
class WaitEvent(GuardedEvent):
    """Wait for the send, or the receive, of this number. No operation has two waits whose guards can both be 1.

    A process that completes one of several requests has chosen which. It is held up only as long as none of those `beside`
    is matched either, and one that only `tests` never: it had not chosen to complete any.
    """

    kind: Literal["send", "receive"]
    operation: int
    span: Span = field(default=NO_SPAN, compare=False)
    beside: tuple[WaitedBeside, ...] = ()
    tests: bool = False

    def holds_sends(self, symbols: Symbols) -> Symbol:
        """Return where it is the wait for a send, among others perhaps."""
        if not self.beside:
            return symbols.const(int(self.kind == "send"))
        return symbols.any_of(each.guard for each in self.beside if each.kind == "send")


@dataclass(frozen=True, slots=True)
class AssertEvent(GuardedEvent):
    """Where the condition is 0 that is a violation."""

    condition: Symbol
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class FaultEvent(GuardedEvent):
    """Where the guard is 1 that is a violation, and the process stops."""

    kind: FaultKind
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class AssumeEvent(GuardedEvent):
    """Where the condition is 0 the process stops."""

    condition: Symbol
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CutEvent(GuardedEvent):
    """Where the guard is 1 the process would go beyond the bound of loops; what it does then is not known."""

    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ChoiceEvent(GuardedEvent):
    """Choice `number`, a number from 0 to `options` - 1."""

    number: int
    options: int
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class LookEvent(GuardedEvent):
    """Look `number` for a message that a receive with this pattern would take here; None for any source, any tag.

    It sees one of process `choice` - 1, with the "seen" tag; with choice 0 none. One that `waits` goes on where it sees one.
    """

    number: int
    source: Symbol | None
    port: int
    tag: Symbol | None
    choice: Symbol
    waits: bool
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ReadyEvent(GuardedEvent):
    """A message is to be sent ready: `number` is that of the truth "expected", whether a posted receive takes it here."""

    number: int
    to: Symbol
    port: int
    tag: Symbol
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CollectiveEvent(GuardedEvent):
    """A library procedure is called. `rank` is how many its process has called before; a root that is a fault is -1."""

    rank: Symbol
    name: str
    root: Symbol | None = None
    span: Span = field(default=NO_SPAN, compare=False)


Event = (
    SendEvent | ReceiveEvent | WaitEvent | AssertEvent | FaultEvent | AssumeEvent | CutEvent | ChoiceEvent | CollectiveEvent
    | LookEvent | ReadyEvent
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnrolledProgram:
    """An unrolled program.

    `events[p]` are those of process p. `ends[p]` is 1 where p ends if nothing holds it up, 0 where it stops before. `sends`
    and `receives` are in the order of their numbers, process by process in program order; so a number is smaller if the
    operation is issued earlier by the same process. `choices[n]` is the choice of number n.
    """

    program: MessageProgram
    loop_bound: int
    symbols: Symbols
    events: tuple[tuple[Event, ...], ...]
    ends: tuple[Symbol, ...]
    sends: tuple[SendEvent, ...]
    receives: tuple[ReceiveEvent, ...]
    choices: tuple[ChoiceEvent, ...]

    @property
    def fixed(self) -> bool:
        """Return whether every process goes through the same sends and receives in every run, as far as it gets."""
        return all(each.guard.constant for each in self.sends) and all(each.guard.constant for each in self.receives)

    def opened(self, wait: WaitEvent | WaitedBeside, buffer: Buffer) -> Buffer:
        """Return when a wait is open: `zero` at the match, `infinite` at once, `any` either."""
        return "zero" if wait.kind == "receive" else self.buffer_of(self.sends[wait.operation], buffer)

    def buffer_of(self, send: SendEvent, buffer: Buffer) -> Buffer:
        """Return when a send completes: as under `zero`, `infinite` or `any`."""
        return completion_of(send.mode, send.elements, buffer, self.program.eager)

    def has_rendezvous(self, buffer: Buffer) -> bool:
        """Return whether some send completes only when it is matched."""
        return any(self.buffer_of(each, buffer) == "zero" for each in self.sends)

    @property
    def cuts(self) -> tuple[CutEvent, ...]:
        return tuple(each for events in self.events for each in events if isinstance(each, CutEvent))


def conjunct_numbers(guard: Symbol) -> frozenset[int]:
    """Return the numbers of the truths that `guard` is the conjunction of."""
    found, todo = set(), [guard]
    while todo:
        each = todo.pop()
        if each.op == "&&":
            todo += each.operands
        elif not (each.constant and each.value):
            found.add(each.number)
    return frozenset(found)


class Guards:
    """The implications among guards, as far as their conjuncts show it."""

    def __init__(self) -> None:
        self._conjuncts: dict[int, frozenset[int]] = {}

    def of(self, guard: Symbol) -> frozenset[int]:
        """Return the conjuncts of a guard."""
        if guard.number not in self._conjuncts:
            self._conjuncts[guard.number] = conjunct_numbers(guard)
        return self._conjuncts[guard.number]

    def implies(self, guard: Symbol, other: Symbol) -> bool:
        """Return whether `other` surely holds where `guard` does."""
        return other is guard or other.constant or self.of(other) <= self.of(guard)


def pair_mismatches(
    symbols: Symbols, receive: ReceiveEvent, send: SendEvent
) -> Iterator[tuple[Literal["type", "room"], Symbol]]:
    """Yield what makes the match of two operations a violation, and where it does."""
    other = symbols.false
    if receive.of_type is not None and send.of_type is not None:
        other = symbols.apply("!=", receive.of_type, send.of_type)
        yield "type", other
    if receive.room is not None and send.size is not None:
        yield "room", symbols.conjunction(symbols.negation(other), symbols.apply(">", send.size, receive.room))


def acceptance(unrolled: UnrolledProgram, receive: ReceiveEvent | LookEvent, send: SendEvent | ReadyEvent) -> Symbol:
    """Return where `accepts(R, S)` of docs/theory-messages.md holds: same destination and port, source and tag fit.

    R may be a look too, and S what is to be sent ready. It says nothing of whether the two are issued.
    """
    symbols = unrolled.symbols
    if receive.port != send.port:
        return symbols.false
    fits = symbols.apply("==", send.to, symbols.const(receive.process))
    if receive.source is not None:
        fits = symbols.conjunction(fits, symbols.apply("==", receive.source, symbols.const(send.process)))
    if receive.tag is not None:
        fits = symbols.conjunction(fits, symbols.apply("==", receive.tag, send.tag))
    return fits
