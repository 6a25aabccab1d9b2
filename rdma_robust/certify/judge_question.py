"""A counterexample as the extracted checker reads it: what each thread does, and the order in which it takes effect.

Source: docs/theory.md, "The normal form" (Theorem 5: alpha, m, beta); proofs/judge (`judge_sound`). The judge is asked
of label sequences: that threads of the program make them is checked here, by `violations`, before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.hardware import READS, WRITES, EventKind, Platform
from rdma_robust.certify.thread_events import Completion, EventRecord, ThreadEvent
from rdma_robust.errors import RdmaRobustError
from rdma_robust.language.flow.cfg import Cell, Program

VERSION: Final = "judge 1"
"""The first line of a question."""

Place = tuple[int, int]
"""An event: its thread, and how many events come before it there."""

_NIC: Final = frozenset({EventKind.PUT_READS, EventKind.PUT_WRITES, EventKind.GET_READS, EventKind.GET_WRITES})
_KNOWN: Final = _NIC | {
    EventKind.LOCAL_READ,
    EventKind.LOCAL_WRITE,
    EventKind.SWAP,
    EventKind.POLL,
    EventKind.FENCE,
    EventKind.MEMORY_FENCE,
}
_UNKNOWN: Final[Mapping[EventKind, str]] = {
    EventKind.ATOMIC_READS: "remote atomics",
    EventKind.ATOMIC_WRITES: "remote atomics",
    EventKind.ATOMIC: "remote atomics",
    EventKind.POSTS_BUFFER: "messages",
    EventKind.RECEIVES: "messages",
    EventKind.FLUSH: "flushes",
    EventKind.ORDER: "`order` statements",
    EventKind.BARRIER: "barriers",
}


NOTHING_PROMISED: Final = "hardware of which nothing is promised between two requests (order none)"

OTHER_WORDS: Final = "relaxed regions, or memory behind a NIC"


class NotCovered(RdmaRobustError):
    """The extracted checker cannot judge this; the message says what is beyond it."""


@dataclass(frozen=True, slots=True)
class EventLabels:
    """An event as the judge is told of it: `queue` is the number of the queue pair in its thread, `cell` that of the
    cell, -1 where there is none. An operation that is `inline` has no read of its own."""

    kind: EventKind
    queue: int = -1
    cell: int = -1
    read: int = 0
    written: int = 0
    signaled: bool = True
    inline: bool = False

    @property
    def reads(self) -> bool:
        return self.kind in READS

    @property
    def writes(self) -> bool:
        return self.kind in WRITES

    def __str__(self) -> str:
        words: list[object] = [f"{self.kind}-inline" if self.inline else self.kind]
        if self.kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES):
            words.append("s" if self.signaled else "u")
        words += [number for number in (self.queue, self.cell) if number >= 0]
        words += [self.read] * self.reads + [self.written] * self.writes
        return " ".join(map(str, words))


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """The question for the judge: whether the trace in which the events of `alpha`, the pivot, and those of `beta` take
    effect one after the other is violating. `cycle` has numbers of events in that order, each with its edge of sc to the
    next.
    """

    weaker: bool
    ordered_reads: bool
    cells: tuple[int, ...]
    threads: tuple[tuple[EventLabels, ...], ...]
    alpha: tuple[Place, ...]
    pivot: Place
    beta: tuple[Place, ...]
    cycle: tuple[tuple[int, str], ...]

    @property
    def order(self) -> tuple[Place, ...]:
        return (*self.alpha, self.pivot, *self.beta)

    def text(self) -> str:
        """Return the lines that the judge reads."""
        late = frozenset(self.beta)
        lines = [VERSION, f"order {'weaker' if self.weaker else 'default'}"]
        lines.append(f"reads {'ordered' if self.ordered_reads else 'unordered'}")
        lines.append(" ".join(map(str, ("cells", *self.cells))))
        for number, labels in enumerate(self.threads):
            lines.append("thread")
            lines += [f"{'b' if (number, at) in late else 'a'} {label}" for at, label in enumerate(labels)]
        for name, places in (("alpha", self.alpha), ("pivot", (self.pivot,)), ("beta", self.beta)):
            lines.append(" ".join([name, *(f"{thread}.{at}" for thread, at in places)]))
        lines.append(" ".join(["cycle", *(f"{at} {edge}" for at, edge in self.cycle)]))
        return "\n".join([*lines, "end", ""])


def question_of(program: Program, platform: Platform, claimed: Sequence[EventRecord]) -> JudgeQuestion:
    """Return what the judge is asked of a trace, whose events are in the order in which they take effect.

    Raises NotCovered for what the proof does not cover, and where the order is not made of alpha, a pivot and beta.
    """
    if not platform.promised:
        raise NotCovered(NOTHING_PROMISED)
    if platform.buffered:
        raise NotCovered("store buffers")
    check_polls(platform, any(claim.event.kind is EventKind.POLL for claim in claimed))
    if not program.plain:
        raise NotCovered(OTHER_WORDS)
    for claim in claimed:
        if claim.joined:
            raise NotCovered("locked sections of several locations")
        check_covered(claim.event)
    threads = [tuple(_labels(program, claimed, number)) for number in range(len(program.threads))]
    order = tuple((claim.event.thread, claim.position) for claim in claimed)
    size = _size_of_first_part(order, [len(labels) for labels in threads])
    return JudgeQuestion(
        platform.weaker,
        platform.ordered_reads,
        tuple(cell.init for cell in program.cells),
        tuple(threads),
        order[: size - 1],
        order[size - 1],
        order[size:],
        judged_cycle(order, threads),
    )


def check_polls(platform: Platform, polls: bool) -> None:
    """Raise NotCovered where a poll may put operations in order: the proofs know the table of `order multipath` only; and
    under a table that a certificate brings along."""
    if platform.own is not None:
        raise NotCovered("order tables of their own")
    if polls and platform.completions_order:
        raise NotCovered(f"polls under `order {platform.order}`, where completions give order")


def check_in_order(claimed: Sequence[EventRecord], mo: Mapping[str, Sequence[int]]) -> None:
    """Check that the events stand in the order in which they take effect: rf and mo are that order. Raises NotCovered."""
    last: dict[Cell, int] = {}
    for number, claim in enumerate(claimed):
        cell = claim.event.cell
        if cell is not None:
            if claim.source is not None and claim.source != last.get(cell, -1):
                raise NotCovered("events that do not stand in the order in which they take effect")
            if claim.event.kind in WRITES:
                last[cell] = number
    if any(list(writes) != sorted(writes) for writes in mo.values()):
        raise NotCovered("writes that do not stand in the order in which they take effect")


def _labels(program: Program, claimed: Sequence[EventRecord], thread: int) -> list[EventLabels]:
    """What a thread does, in program order."""
    queues: dict[str, int] = {}
    labels: list[EventLabels] = []
    for claim in sorted((c for c in claimed if c.event.thread == thread), key=lambda c: c.position):
        event = claim.event
        queue = -1 if event.remote is None else queues.setdefault(event.remote, len(queues))
        read_before = bool(labels) and (labels[-1].kind, labels[-1].queue) == (EventKind.PUT_READS, queue)
        labels.append(
            EventLabels(
                event.kind,
                queue,
                -1 if event.cell is None else program.cells.index(event.cell),
                claim.read or 0,
                claim.written or 0,
                event.completion is Completion.SIGNALED,
                event.kind is EventKind.PUT_WRITES and not read_before,
            )
        )
    return labels


def check_covered(event: ThreadEvent) -> None:
    """Raise NotCovered for events that the proofs of the judge do not know."""
    if event.kind not in _KNOWN:
        raise NotCovered(_UNKNOWN[event.kind])
    if event.peer is not None or (
        event.kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES) and event.completion is Completion.NONE
    ):
        raise NotCovered("messages")


def _size_of_first_part(order: Sequence[Place], lengths: Sequence[int]) -> int:
    """Return how many events are alpha and the pivot: po is forward there, and in the rest. If it can be chosen, the pivot
    is the last event of its thread."""
    forward = [n for n in range(1, len(order) + 1) if _forward(order[:n]) and _forward(order[n:])]
    if not forward:
        raise NotCovered("an order that is not made of alpha, a pivot and beta, each in program order")
    last = [n for n in forward if order[n - 1][1] + 1 == lengths[order[n - 1][0]]]
    return (last or forward)[0]


def _forward(order: Sequence[Place]) -> bool:
    reached: dict[int, int] = {}
    for thread, at in order:
        if at < reached.get(thread, 0):
            return False
        reached[thread] = at
    return True


def judged_cycle(order: Sequence[Place], threads: Sequence[Sequence[EventLabels]]) -> tuple[tuple[int, str], ...]:
    """Return a shortest cycle of sc in the trace that the order is: numbers of events with their edges; () if none is."""
    edges = [dict(_edges(n, order, threads)) for n in range(len(order))]
    # rf, rb and mo lead forward: a cycle goes back by an edge of po
    best: tuple[tuple[int, str], ...] = ()
    for start in (n for n, after in enumerate(edges) if any(target < n for target in after)):
        parent: dict[int, int] = {}
        layer = [start]
        while layer and start not in parent:
            after: list[int] = []
            for n in layer:
                for target in edges[n]:
                    if target not in parent:
                        parent[target] = n
                        after.append(target)
            layer = after
        if start in parent:
            at, found = parent[start], [(parent[start], edges[parent[start]][start])]
            while at != start:
                found.insert(0, (parent[at], edges[parent[at]][at]))
                at = parent[at]
            best = min(filter(None, (best, tuple(found))), key=len)
    return best


def _edges(n: int, order: Sequence[Place], threads: Sequence[Sequence[EventLabels]]) -> Iterator[tuple[int, str]]:
    """Yield the events to which an edge of sc leads from event number n of the order, with its name."""
    thread, at = order[n]
    mine = threads[thread][at]
    for other, (its_thread, its_at) in enumerate(order):
        if its_thread == thread and at < its_at:
            yield other, "po"
    overwritten = False
    for other in range(n + 1, len(order)):
        label = threads[order[other][0]][order[other][1]]
        if label.cell != mine.cell or not (mine.reads or mine.writes):
            continue
        if mine.writes and label.reads and not overwritten:
            yield other, "rf"
        elif label.writes:
            yield other, "mo" if mine.writes else "rb"
        overwritten = overwritten or label.writes
