"""The memory of the checker's normal form about an order of events: marks since the first of beta, and messages.

Source: docs/theory-search.md, "The search"; docs/theory-deployed.md, "Store buffers" and "Messages".

Values of source expressions where some are not known, as the checker computes them.

Source: docs/language.md, "Values".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rdma_robust.certify.hardware import REMOTE_WRITES, EventKind
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary
from rdma_robust.language.flow.cfg import Cell

Value = int | None
"""None is unknown."""

Seen = Value | tuple[int, ...]
"""What an event reads: a value, or, of a locked section of several locations, that of each."""


def evaluated(expr: Expr, values: Mapping[str, Value]) -> Value:
    """Return the value of a source expression, None where it is unknown (or, after something unknown, has none).

    Division truncates towards zero, as in C.
    """
    match expr:
        case Const(value):
            return value
        case Name(name):
            return values[name]
        case Unary(operator, arg):
            inner = evaluated(arg, values)
            return None if inner is None else -inner if operator == "-" else int(inner == 0)
        case Binary("&&", left, right):
            return _both(evaluated(left, values), right, values)
        case Binary("||", left, right):
            either = _both(_not(evaluated(left, values)), Unary("!", right), values)
            return _not(either)
        case Binary(operator, left, right):
            return _operation(operator, evaluated(left, values), evaluated(right, values))
        case Ite():
            raise AssertionError("a source program has no conditional expressions")


def _not(value: Value) -> Value:
    return None if value is None else int(value == 0)


def _both(left: Value, right: Expr, values: Mapping[str, Value]) -> Value:
    """Whether both sides are true; the right one is not looked at where the left one is false."""
    if left == 0:
        return 0
    second = evaluated(right, values)
    if second == 0:
        return 0
    return None if left is None or second is None else 1


def _operation(operator: str, a: Value, b: Value) -> Value:
    if a is None or b is None:
        return None
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            return _divided(operator, a, b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "<":
            return int(a < b)
        case "<=":
            return int(a <= b)
        case ">":
            return int(a > b)
        case ">=":
            return int(a >= b)
        case _:
            raise AssertionError(f"a source program has no operator {operator}")


def _divided(operator: str, a: int, b: int) -> Value:
    if b == 0:
        return None
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if operator == "/" else a - b * quotient


QueuePair = tuple[int, str]
"""A thread's number and the remote node."""


class WriteGroup(NamedTuple):
    """The writes of a queue pair into one memory: those at the other side, or `answers` in one of the thread's own card."""

    memory: str = ""
    answers: bool = False

    @property
    def kinds(self) -> tuple[EventKind, ...]:
        return (EventKind.GET_WRITES,) if self.answers else tuple(REMOTE_WRITES)


BESIDE: Final = WriteGroup()
"""Those beside the card at the other side."""


@dataclass(frozen=True, slots=True)
class PivotAccesses:
    """A class of pivots: accesses of `cell` by `thread` that write it, or that only read it; `atomic` are the reads of
    remote atomics."""

    thread: int
    cell: Cell
    writes: bool
    atomic: bool = False


class Tag(NamedTuple):
    """Of what posts a buffer, or of a message: whether what waits for it is forced into beta, whether it is tainted, and the
    memories behind cards of which it tells that a write of beta was issued there."""

    beta: bool = False
    tainted: bool = False
    memories: frozenset[str] = frozenset()


UNTAGGED = Tag()


class Buffer(NamedTuple):
    """A receive buffer that is posted."""

    cell: Cell
    tag: Tag


class Letter(NamedTuple):
    """A message whose completion is not taken: the immediate that it carries, or 0."""

    carries: int
    tag: Tag


class Mailbox(NamedTuple):
    """Between two threads: the buffers that are posted and not filled, and the messages that are not taken, oldest first."""

    posted: tuple[Buffer, ...]
    arrived: tuple[Letter, ...]


Mail = tuple[Mailbox, ...]
"""Of every two threads of which one sends messages to the other."""


TrailName = tuple[str, str]
"""What a trail begins with, and the memory behind a card that this is about."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The events to which ob leads, within a part, from some first ones about a memory behind a card.

    `threads` have a CPU event there; of NIC events it has queue pair, kind and memory, of accesses the words. `tells` are
    the queue pairs of which a completion tells of one, and `writes` the writes of beta to the memory that it is about:
    all, or those that come behind reads.
    """

    threads: frozenset[int] = frozenset()
    events: frozenset[tuple[QueuePair, EventKind, str]] = frozenset()
    read: frozenset[Cell] = frozenset()
    written: frozenset[Cell] = frozenset()
    tells: frozenset[QueuePair] = frozenset()
    writes: frozenset[tuple[QueuePair, EventKind]] = frozenset()


EMPTY_TRAIL = Trail()


@dataclass(frozen=True, slots=True)
class Marks:
    """Memory of the events since the first of beta.

    `beta` has, for each queue pair, the kinds of its NIC events in beta, but for those on words of a memory behind a card,
    which `behind` has with that memory, `cpu` the threads with a CPU event there, those
    apart that wait in a store buffer, which `stores` has. `forced` are the queue pairs on which some completion forces
    its poll into beta, `settled` those on which a poll of alpha has told of a write of beta, with its group, `overtaken`
    those on which a fence of alpha came after the local write of a get in beta, `awaited` those with a message whose buffer
    was posted in beta. `under_way` has, of the request that a thread is making, the events in beta, on networks that keep
    the order of its events only, and `on_words` the words of atomics in beta, by queue pair, on those that keep these in
    order on one word. `read` and `written` are cells that beta has accessed, `forwarding` those whose last
    write is a store of the thread in beta, `atomics` those that a remote atomic has read in beta, `poisoned` those whose
    value depends on the pivot, `poison_carried` threads whose NIC carries such a value, and `poison_taken` those of which it
    has taken an operand with one. Taint means reached from the
    pivot by sc: threads, and cells that tainted events have read or written. Once `closed`, sc leads back to the pivot,
    and taint is forgotten. `alpha_value` is what the pivot's cell held before beta first wrote it, None where that is
    unknown or has not happened. `half`: the pivot is the write of a remote atomic whose read is made. `split`: an atomic
    on the pivot's cell has its read in alpha, but not its write. `trails` are those that are not empty.
    """

    pivot: PivotAccesses
    beta: frozenset[tuple[QueuePair, EventKind]] = frozenset()
    cpu: frozenset[int] = frozenset()
    forced: frozenset[QueuePair] = frozenset()
    overtaken: frozenset[QueuePair] = frozenset()
    read: frozenset[Cell] = frozenset()
    written: frozenset[Cell] = frozenset()
    poisoned: frozenset[Cell] = frozenset()
    poison_carried: frozenset[int] = frozenset()
    tainted_threads: frozenset[int] = frozenset()
    tainted_reads: frozenset[Cell] = frozenset()
    tainted_writes: frozenset[Cell] = frozenset()
    closed: bool = False
    alpha_value: Value = None
    stores: frozenset[int] = frozenset()
    forwarding: frozenset[tuple[Cell, int]] = frozenset()
    atomics: frozenset[Cell] = frozenset()
    awaited: frozenset[QueuePair] = frozenset()
    half: bool = False
    split: bool = False
    under_way: frozenset[tuple[QueuePair, EventKind]] = frozenset()
    settled: frozenset[tuple[QueuePair, WriteGroup]] = frozenset()
    on_words: frozenset[tuple[QueuePair, Cell]] = frozenset()
    poison_taken: frozenset[int] = frozenset()
    behind: frozenset[tuple[QueuePair, EventKind, str]] = frozenset()
    trails: frozenset[tuple[TrailName, Trail]] = frozenset()

    def trail(self, name: TrailName) -> Trail:
        """Return a trail, empty if nothing is on it."""
        return next((trail for known, trail in self.trails if known == name), EMPTY_TRAIL)

    def with_trails(self, changed: Mapping[TrailName, Trail]) -> Marks:
        """The same marks with these trails."""
        kept = {**dict(self.trails), **changed}
        trails = frozenset((name, trail) for name, trail in kept.items() if trail != EMPTY_TRAIL)
        return self if trails == self.trails else replace(self, trails=trails)

    def without_value(self) -> Marks:
        """The same marks with the pivot's value left open."""
        return self if self.alpha_value is None else replace(self, alpha_value=None)


@dataclass(frozen=True, slots=True)
class TraceParts:
    """An event put into a part: the marks after it, and its effect on the completions of its queue pair.

    `counts` are added to what is not polled yet, to those of them before the first that forces its poll, and, if the
    hardware asks for it, to those before the first remote write of beta, then for each memory behind a card that cards read
    to those ahead of all that tell of one of its two trails; empty stands for zeros. Where negative, there must be as many.
    `tag` is what is to be known of a message, or of a buffer that is posted.
    """

    marks: Marks | None
    counts: tuple[int, ...] = ()
    tag: Tag = UNTAGGED
    in_beta: bool = False


def untainted(mail: Mail) -> Mail:
    """The same messages with their taint forgotten."""
    tags = (item.tag for channel in mail for items in (channel.posted, channel.arrived) for item in items)
    if not any(tag.tainted for tag in tags):
        return mail
    return tuple(
        Mailbox(
            tuple(buffer._replace(tag=buffer.tag._replace(tainted=False)) for buffer in channel.posted),
            tuple(letter._replace(tag=letter.tag._replace(tainted=False)) for letter in channel.arrived),
        )
        for channel in mail
    )
