"""A counterexample on any hardware as the judge reads it: what each thread does, what each read reads from, an order.

Source: docs/deployed.md ("Events", "Consistency"); proofs/judge (`judge_deployed_sound`). The judge is asked of label
sequences: that threads of the program make them is checked here, by `violations`, before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.hardware import EventKind, Platform
from rdma_robust.certify.judge_question import NOTHING_PROMISED, OTHER_WORDS, NotCovered, Place, check_polls
from rdma_robust.certify.remembered import Value, evaluated
from rdma_robust.certify.thread_events import Completion, EventRecord
from rdma_robust.certify.thread_reading import ThreadReading, readings_of
from rdma_robust.certify.violations import moves_of
from rdma_robust.expr import TRUE, VALUE, Binary
from rdma_robust.language.check.meaning import wrapped
from rdma_robust.language.flow.cfg import Program, RemoteRmw

VERSION: Final = "judge 2"
"""The first line of a question."""

Source = Place | int
"""What is read from: an event, or the initial write of a cell, which is its number."""

_UNKNOWN: Final = {EventKind.FLUSH: "flushes", EventKind.ORDER: "`order` statements", EventKind.BARRIER: "barriers"}
"""What the proofs of the judge do not know."""

_ATOMICS: Final = (EventKind.ATOMIC_READS, EventKind.ATOMIC)
_NO_ANSWER: Final = "remote atomics without an answer"
_WORDS: Final[Mapping[Completion, str]] = {Completion.SIGNALED: "s", Completion.UNSIGNALED: "u"}


@dataclass(frozen=True, slots=True)
class EventAccount:
    """An event as the judge is told of it: `queue` is the number of the queue pair in its thread, `cell` that of a cell,
    `peer` that of the other thread of a connection, -1 where there is none. `read` is what the CPU says that it reads,
    `written` what the CPU says that is written: None where a card writes what it has read. A remote atomic has its
    `operation`, in words."""

    kind: EventKind
    queue: int = -1
    cell: int = -1
    read: Value = None
    written: Value = None
    completion: Completion = Completion.SIGNALED
    peer: int = -1
    operation: str = ""
    joined: bool = False

    @property
    def word(self) -> str:
        """The word that the judge has for it."""
        if self.kind is not EventKind.PUT_WRITES:
            return self.kind.value
        if self.peer >= 0 and self.cell < 0:
            return "imm"
        name = "send" if self.peer >= 0 else "put" if self.completion is Completion.NONE else "nrW"
        return name if self.written is None else f"{name}-inline"

    def __str__(self) -> str:
        words: list[object] = [*["joined"] * self.joined, self.word]
        if self.kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES) and self.completion is not Completion.NONE:
            words.append(_WORDS[self.completion])
        words += [number for number in (self.queue, self.peer, self.cell) if number >= 0]
        words += [value for value in (self.read, self.written) if value is not None]
        return " ".join(map(str, [*words, *self.operation.split()]))


@dataclass(frozen=True, slots=True)
class Account:
    """The question for the judge: whether the trace is violating in which the threads do this, reads read from the
    `sources` named, nfo and rao are as in `order`, and mo is as in `modified`. `posted` are (thread, sender, buffers)
    that are posted at first."""

    platform: Platform
    cells: tuple[int, ...]
    posted: tuple[tuple[int, int, tuple[int, ...]], ...]
    threads: tuple[tuple[EventAccount, ...], ...]
    sources: tuple[tuple[Source, Place], ...]
    order: tuple[Place, ...]
    modified: tuple[Place, ...]

    def text(self) -> str:
        """Return the lines that the judge reads."""
        return "\n".join([*self._lines(), ""])

    def _lines(self) -> Iterator[str]:
        yield VERSION
        yield f"cpu {self.platform.cpu}"
        yield f"atomics {self.platform.atomics}"
        yield f"order {self.platform.order}"
        yield f"reads {'ordered' if self.platform.ordered_reads else 'unordered'}"
        yield _line("cells", self.cells)
        for thread, sender, buffers in self.posted:
            yield _line("posted", (thread, sender, *buffers))
        for deeds in self.threads:
            yield "thread"
            yield from map(str, deeds)
        yield _line("rf", (place_word(each) for pair in self.sources for each in pair))
        yield _line("events", map(place_word, self.order))
        if self.modified != self.order:
            yield _line("mo", map(place_word, self.modified))
        yield "end"


def place_word(place: Source) -> str:
    """Return how an event is written, or the initial write of a cell."""
    return f"i{place}" if isinstance(place, int) else f"{place[0]}.{place[1]}"


def _line(name: str, words: Iterable[object]) -> str:
    return " ".join([name, *map(str, words)])


def account_of(
    program: Program, platform: Platform, claimed: Sequence[EventRecord], mo: Mapping[str, Sequence[int]] | None = None
) -> Account:
    """Return what the judge is asked of a trace, whose events are in the order in which they take effect, and which the
    checker has accepted; `mo` lists the writes of each cell in their order, if that is another one. Raises NotCovered for a
    remote operation, or hardware, that the judge does not know, and for messages on lanes: it matches those of two threads
    as a whole.
    """
    check_polls(platform, any(claim.event.kind is EventKind.POLL for claim in claimed))
    if any(claim.event.lane for claim in claimed) or any(lane for thread in program.threads for _, _, lane in thread.posted):
        raise NotCovered("messages on a queue pair with a name")
    if not platform.promised:
        raise NotCovered(NOTHING_PROMISED)
    if not program.plain:
        raise NotCovered(OTHER_WORDS)
    numbers = {thread.name: number for number, thread in enumerate(program.threads)}
    readings = readings_of(program, platform)
    deeds = []
    for number, reading in enumerate(readings):
        mine = sorted((c for c in claimed if c.event.thread == number), key=lambda c: c.position)
        deeds.append(tuple(_deeds(program, numbers, mine, _operations(program, reading, mine))))
    order = tuple((claim.event.thread, claim.position) for claim in claimed)
    sources: list[tuple[Source, Place]] = []
    for claim, place in zip(claimed, order, strict=True):
        if claim.source is not None and claim.event.cell is not None:
            sources.append((program.cells.index(claim.event.cell) if claim.source < 0 else order[claim.source], place))
    return Account(
        platform,
        tuple(cell.init for cell in program.cells),
        tuple(_posted(program, numbers)),
        tuple(deeds),
        tuple(sources),
        order,
        _modified(order, mo or {}),
    )


def _modified(order: Sequence[Place], mo: Mapping[str, Sequence[int]]) -> tuple[Place, ...]:
    """The order, if it is one of mo as well; else the writes of the cells, one cell after the other."""
    if all(list(writes) == sorted(writes) for writes in mo.values()):
        return tuple(order)
    return tuple(order[write] for writes in mo.values() for write in writes)


def _posted(program: Program, numbers: Mapping[str, int]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    for number, thread in enumerate(program.threads):
        for sender in dict.fromkeys(name for name, _, _ in thread.posted):
            mine = (cell for name, cell, _ in thread.posted if name == sender)
            yield number, numbers[sender], tuple(map(program.cells.index, mine))


def _deeds(
    program: Program, numbers: Mapping[str, int], mine: Sequence[EventRecord], operations: Mapping[int, str]
) -> Iterator[EventAccount]:
    """What a thread does, in program order."""
    queues: dict[str, int] = {}
    before = EventAccount(EventKind.FENCE)
    for claim in mine:
        event = claim.event
        if event.kind in (*_ATOMICS, EventKind.ATOMIC_WRITES) and event.completion is not Completion.NONE:
            raise NotCovered(_NO_ANSWER)
        if event.kind in _UNKNOWN:
            raise NotCovered(_UNKNOWN[event.kind])
        queue = -1 if event.remote is None else queues.setdefault(event.remote, len(queues))
        cell = event.buffer if event.kind is EventKind.POSTS_BUFFER else event.cell
        fetched = before.kind is EventKind.PUT_READS and before.queue == queue
        says = event.kind in (EventKind.LOCAL_WRITE, EventKind.SWAP) or (event.kind is EventKind.PUT_WRITES and not fetched)
        hears = event.kind in (EventKind.LOCAL_READ, EventKind.SWAP, EventKind.RECEIVES)
        before = EventAccount(
            event.kind,
            queue,
            -1 if cell is None else program.cells.index(cell),
            claim.read if hears else None,
            claim.written if says else None,
            event.completion,
            -1 if event.peer is None else numbers[event.peer],
            operations.get(claim.position, ""),
            claim.joined,
        )
        yield before


def _operations(program: Program, reading: ThreadReading, mine: Sequence[EventRecord]) -> dict[int, str]:
    """Return what the remote atomics of a thread do, by the positions of their reads."""
    if not any(claim.event.kind in _ATOMICS for claim in mine):
        return {}
    found = {}
    for claim, move in zip(mine, moves_of(reading, mine), strict=True):
        if claim.event.kind in _ATOMICS and move is not None and move.after.operation is not None:
            op = reading.steps[move.after.operation][2].op
            assert isinstance(op, RemoteRmw)
            known = dict(zip(reading.names, move.after.registers, strict=True))
            found[claim.position] = _operation(op, known, program.domain)
    return found


def _operation(op: RemoteRmw, known: Mapping[str, Value], domain: tuple[int, int] | None) -> str:
    """Say with its operands what a remote atomic writes. Raises NotCovered if it is none of those of the language."""
    if op.target is None:
        raise NotCovered(_NO_ANSWER)
    unread = {**known, VALUE.name: None}
    match op.when:
        case Binary("==", left, expected) if left == VALUE:
            words = ["cas", evaluated(expected, unread), evaluated(op.new, unread)]
        case when if when == TRUE:
            words = ["swap", evaluated(op.new, unread)]
            for sum_ in _sums(op.new):
                amount = evaluated(sum_.right, unread)
                if op.new == sum_:
                    words = ["faa", amount]
                elif domain is not None and op.new == wrapped(sum_, domain):
                    words = ["faa", amount, *domain]
        case _:
            words = [None]
    if None in words:
        raise NotCovered("a remote atomic that is no compare-and-swap, fetch-and-add or swap")
    return " ".join(map(str, words))


def _sums(expr: object) -> Iterator[Binary]:
    """Yield every sum of VALUE and something in an expression."""
    if isinstance(expr, Binary):
        if expr.op == "+" and expr.left == VALUE:
            yield expr
        yield from _sums(expr.left)
        yield from _sums(expr.right)
