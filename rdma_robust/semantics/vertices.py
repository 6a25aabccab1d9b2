"""Events that are one vertex of a trace: the naR and the naW of a remote read-modify-write, those of a locked section, those
of a round of a barrier.

For sequential consistency all are one step. What happens between `lock` and `unlock` is one for everybody, and so is a round
of a barrier: in ib and ob as well, whatever comes before or after one of its events does so for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

from rdma_robust.language.flow.cfg import Step
from rdma_robust.semantics.connections import Place
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, READ_TYPES, Event, EventType, Relation, Trace

CARD_READS: Final = READ_TYPES - CPU_TYPES


TOGETHER: Final = (
    (EventType.NLR, EventType.NRW),
    (EventType.NRR, EventType.NLW),
    (EventType.NAR, EventType.NAW),
    (EventType.NAR, EventType.NLW),
    (EventType.NA, EventType.NLW),
    (EventType.NLR, EventType.NAR),
    (EventType.NLR, EventType.NA),
)
"""The types of a card's read of one operation and of what it carries a value to: a write, or the read behind an operand."""


class OperationEvent(Protocol):
    """An event of an operation, as far as it is asked for."""

    @property
    def type(self) -> EventType: ...

    @property
    def remote(self) -> str | None: ...

    @property
    def step(self) -> Step | None: ...

    @property
    def peer(self) -> str | None: ...

    @property
    def completing(self) -> bool | None: ...


def read_and_writes(events: Sequence[OperationEvent]) -> Iterator[tuple[int, int]]:
    """Yield (read, write) for what the card reads and then writes in one operation, as places in `events`; also each of its
    operands with the read behind them.

    `events` are those of one thread in program order. Such pairs are always ordered, whatever the order table says: the
    write carries the value that was read, or is that of the same read-modify-write.
    """
    read = -1
    operands: list[int] = []
    for place, event in enumerate(events):
        if event.type in CARD_READS:
            yield from ((operand, place) for operand in operands if _together(events[operand], event))
            operands = [*operands, place] if event.type is EventType.NLR else []
            read = place
        elif read >= 0 and event.type in NIC_WRITE_TYPES and _together(events[read], event):
            yield read, place
            operands = []
        else:
            read, operands = -1, []


def data_and_messages(events: Sequence[OperationEvent]) -> Iterator[tuple[int, int]]:
    """Yield (write, message) for each write with immediate of a thread's events, as places in `events`."""
    for place, (write, message) in enumerate(pairwise(events)):
        both = write.type is message.type is EventType.NRW and write.remote == message.remote
        if both and message.peer is not None and write.peer is None and not write.completing:
            yield place, place + 1


def read_modify_writes(events: Sequence[OperationEvent]) -> Iterator[tuple[int, int]]:
    """Yield (naR, naW) for each read-modify-write of a thread's events, as places in `events`."""
    for read, write in read_and_writes(events):
        if events[write].type is EventType.NAW:
            yield read, write


def _together(read: OperationEvent, write: OperationEvent) -> bool:
    of_one_step = read.step is None or write.step is None or read.step == write.step
    return (read.type, write.type) in TOGETHER and read.remote == write.remote and of_one_step


class BarrierEvent(Protocol):
    """An event of a thread, as far as counting asks: of a barrier its threads, of any other nothing."""

    @property
    def members(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class BarrierRound:
    """The events of one round of the threads `members`, as places, by thread."""

    members: tuple[str, ...]
    places: tuple[Place, ...]

    @property
    def complete(self) -> bool:
        """Whether every thread has come to it: the event of a thread is there only then."""
        return len(self.places) == len(self.members)


def rounds_of(threads: Sequence[Sequence[BarrierEvent]]) -> tuple[BarrierRound, ...]:
    """Return the rounds of which some event is there; `threads` are the events of threads in program order."""
    found: dict[tuple[tuple[str, ...], int], list[Place]] = {}
    for t, events in enumerate(threads):
        passed: dict[tuple[str, ...], int] = {}
        for position, event in enumerate(events):
            if event.members:
                passed[event.members] = k = passed.get(event.members, 0) + 1
                found.setdefault((event.members, k), []).append((t, position))
    return tuple(BarrierRound(members, tuple(places)) for (members, _), places in found.items())


def of_threads(trace: Trace) -> list[list[Event]]:
    """The events of every thread that has some, in program order."""
    found: dict[int, list[Event]] = {}
    for e in trace.events:
        if e.thread >= 0:
            found.setdefault(e.thread, []).append(e)
    return [sorted(mine, key=lambda e: e.position) for mine in found.values()]


def sections(trace: Trace) -> dict[int, int]:
    """Return the first event of the locked section of each event that is joined to one before it, and of the round of each
    event of a barrier."""
    if not any(e.joined or e.members for e in trace.events):
        return {}
    found: dict[int, int] = {}
    threads = of_threads(trace)
    for mine in threads:
        for before, e in pairwise(mine):
            if e.joined:
                found[e.index] = found.get(before.index, before.index)
    for each in rounds_of(threads):
        first, *others = (threads[t][position].index for t, position in each.places)
        found |= dict.fromkeys(others, first)
    return found


def at_once(relation: Relation, trace: Trace) -> Relation:
    """The relation with every locked section, and every round of a barrier, as one vertex: what is before or after one event
    of it is so for all."""
    first = sections(trace)
    if not first:
        return relation
    members: dict[int, int] = {}
    for e, head in first.items():
        members[head] = members.get(head, 1 << head) | 1 << e
    rows = list(relation.rows)
    for each in members.values():
        inside = [a for a in range(len(rows)) if each >> a & 1]
        rows = [row | each if row & each else row for row in rows]
        after = 0
        for a in inside:
            after |= rows[a]
        # An edge from the section to itself is none if it leads forward in it, as program order does.
        back = any((relation.rows[a] & each) >> b & 1 for a in inside for b in inside if (a, b) not in trace.po)
        rows = [(after & ~each) | (each if back else 0) if each >> a & 1 else row for a, row in enumerate(rows)]
    return Relation(tuple(rows))


def steps_of(trace: Trace) -> dict[int, int]:
    """The naR of every naW, and the first event of the section of those that are joined to it."""
    found = sections(trace)
    if any(e.type is EventType.NAW for e in trace.events):
        found |= {mine[w].index: mine[r].index for mine in of_threads(trace) for r, w in read_modify_writes(mine)}
    return found


def within_step(trace: Trace, steps: Mapping[int, int], a: int, b: int) -> bool:
    """Whether an edge leads forward inside of one step."""
    return steps.get(b, b) == steps.get(a, a) and a != b and trace.events[a].position < trace.events[b].position


def edge_inside(trace: Trace, before: int) -> str:
    """What the edge between two events of one step is called."""
    kind = trace.events[before].type
    return {EventType.NAW: "rmw", EventType.NAR: "po", EventType.BAR: "barrier"}.get(kind, "section")


def as_steps(trace: Trace, relation: Relation, steps: Mapping[int, int]) -> Relation:
    """The relation with every event put together with its step; what leads from one to a later one of it is no edge."""
    if not steps:
        return relation
    pairs = ((a, b) for a, b in relation if not within_step(trace, steps, a, b))
    return Relation.of(len(relation.rows), ((steps.get(a, a), steps.get(b, b)) for a, b in pairs))
