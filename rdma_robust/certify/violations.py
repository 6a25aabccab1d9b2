"""NOT ROBUST certificates: a trace of the program that RDMA allows and sequential consistency does not.

Source: docs/model.md, "Consistency"; docs/deployed.md, "Consistency". The threads are followed along their events by
the checker's own reading of the flow graphs, and the orders judged by its own copy of the axioms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Final

from rdma_robust.certify.consistency import Execution, halves, polls_from, rdma_cycle, sc_cycle
from rdma_robust.certify.document import integer, json_array, json_members, json_word, mapping, natural, reject, string
from rdma_robust.certify.hardware import READS, WRITES, EventKind, Platform
from rdma_robust.certify.message_receives import MessageReceives
from rdma_robust.certify.remembered import Value
from rdma_robust.certify.thread_events import Completion, EventRecord, LocalState, ThreadEvent, ThreadMove
from rdma_robust.certify.thread_reading import ThreadReading, readings_of
from rdma_robust.language.flow.cfg import Cell, Program

KIND: Final = "trace"

INITIAL: Final = "initial"
"""What a read from an initial write reads from."""

_KINDS: Final = tuple(kind.value for kind in EventKind)
_MEMBERS: Final = ("thread", "position", "line", "type", "remote", "cell", "read", "written", "reads_from")
_LATER: Final = ("peer", "buffer", "completion")
"""Members that an event has only where one says something: of messages and their receives, and of unsignaled operations."""

LANE: Final = "lane"
"""The member of an event that is about messages on a lane: that of the sender."""

TAKES: Final = "takes"
"""The member of a message that takes a receive which is not of its turn: the number of that on its connection, from 0."""

MEETS: Final = "meets"
"""The member of an event at a barrier: the names of its threads."""

JOINED: Final = "joined"
"""The member, true, of an event that a locked section makes at the same moment as the event before it."""


def usual_completion(kind: EventKind) -> Completion:
    """What an event says of completion if the certificate does not say it."""
    return Completion.SIGNALED if kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES) else Completion.NONE


def check_not_robust(program: Program, platform: Platform, evidence: object) -> str:
    """Check that the trace proves `program` not robust and return what it is, in a few words. Raises InvalidCertificate."""
    found = json_members(evidence, "`evidence`", ("kind", "events", "mo"))
    trace, claimed = claimed_trace(program, platform, found["events"], found["mo"])
    if (cycle := rdma_cycle(trace, platform)) is not None:
        reject(f"RDMA does not allow the trace: {_shown(trace, cycle)}")
    if sc_cycle(trace) is None:
        reject("sequential consistency allows the trace, so it proves nothing")
    return f"a trace of {len(claimed)} events"


def claimed_trace(
    program: Program, platform: Platform, events: object, written: object
) -> tuple[Execution, Sequence[EventRecord]]:
    """Return the trace of a certificate, whose threads can make their events, with these. Raises InvalidCertificate."""
    claimed = claimed_events(program, events)
    first = len(program.cells)
    order = [
        sorted((i for i, c in enumerate(claimed) if c.event.thread == t), key=lambda i: claimed[i].position)
        for t in range(len(program.threads))
    ]
    for number, reading in enumerate(readings_of(program, platform)):
        for i, event in zip(order[number], _follow(reading, [claimed[i] for i in order[number]]), strict=True):
            claimed[i] = replace(claimed[i], event=event)
    threads = [[first + i for i in mine] for mine in order]
    matched = MessageReceives(program, platform, claimed, order).matched().behind(first)
    trace = Execution(
        (*(None for _ in program.cells), *(c.event for c in claimed)),
        threads,
        _reads_from(claimed, program.cells),
        _modification_order(written, claimed, program.cells),
        matched.filled,
        matched.heard,
        (
            *((first + a, first + b) for mine in order for a, b in pairwise(mine) if claimed[b].joined),
            *((first + a, first + b) for a, b in _meetings(program, claimed, order)),
        ),
        matched.turns,
    )
    _check_polls(trace)
    if platform.ranked:
        _check_ranks(trace)
    return trace, claimed


def claimed_events(program: Program, events: object) -> list[EventRecord]:
    """Read the events of a trace, in the order of the certificate. Raises InvalidCertificate for what are none."""
    return json_array(events, "`evidence.events`", _Reader(program).event)


class _Reader:
    """Events of a certificate, read without trust."""

    def __init__(self, program: Program) -> None:
        self._threads = {thread.name: number for number, thread in enumerate(program.threads)}
        self._cells = {str(cell): cell for cell in program.cells}
        self._queue_pairs = [{*program.nodes, *(lane for lane, _ in thread.lanes)} for thread in program.threads]

    def event(self, value: object, where: str) -> EventRecord:
        more = tuple(name for name in (JOINED, LANE, MEETS, TAKES) if isinstance(value, dict) and name in value)
        item, joined = json_members(value, where, (*_MEMBERS, *more), _LATER), JOINED in more
        if joined and item[JOINED] is not True:
            reject(f"{where}.joined is not true")

        def number(name: str) -> Value:
            return None if item[name] is None else integer(item[name], f"{where}.{name}")

        thread = self._thread(item["thread"], f"{where}.thread")
        remote = None if item["remote"] is None else string(item["remote"], f"{where}.remote")
        if remote is not None and remote not in self._queue_pairs[self._threads[thread]]:
            reject(f"{where}.remote: {thread} has no queue pair {remote!r:.60}")
        kind = EventKind(json_word(item["type"], f"{where}.type", _KINDS))
        source = -1 if item["reads_from"] == INITIAL else number("reads_from")
        if source is not None and source < -1:
            reject(f"{where}.reads_from is negative")
        said = item.get("completion", usual_completion(kind).value)
        completion = Completion(json_word(said, f"{where}.completion", tuple(c.value for c in Completion)))
        peer = item.get("peer")
        if peer is not None:
            self._thread(peer, f"{where}.peer")
        return EventRecord(
            ThreadEvent(
                self._threads[thread],
                kind,
                self._cell(item["cell"], f"{where}.cell"),
                remote,
                completion,
                None if peer is None else string(peer, f"{where}.peer"),
                self._cell(item.get("buffer"), f"{where}.buffer"),
                lane=string(item.get(LANE, ""), f"{where}.lane"),
                meets=tuple(json_array(item.get(MEETS, []), f"{where}.meets", self._thread)),
            ),
            natural(item["position"], f"{where}.position"),
            natural(item["line"], f"{where}.line"),
            number("read"),
            number("written"),
            source,
            joined,
            natural(item[TAKES], f"{where}.takes") if TAKES in more else None,
        )

    def _thread(self, value: object, where: str) -> str:
        name = string(value, where)
        return name if name in self._threads else reject(f"{where}: the program has no {name!r:.60}")

    def _cell(self, value: object, where: str) -> Cell | None:
        if value is None:
            return None
        name = string(value, where)
        return self._cells[name] if name in self._cells else reject(f"{where}: the program has no {name!r:.60}")


def _follow(reading: ThreadReading, claimed: Sequence[EventRecord]) -> Iterator[ThreadEvent]:
    """Check that the thread can make these events, one after the other. Of them only the values read are believed.

    Yields the events as the thread makes them. The read of a remote atomic that is the last event of its thread is that of
    one which would write only if every reading of the thread says so.
    """
    for number, (claim, ways) in enumerate(zip(claimed, _ways(reading, claimed), strict=True)):
        moves = [move for _, move in ways.values() if move is not None]
        if not moves:
            yield claim.event
            continue
        following = claimed[number + 1].event.kind if number + 1 < len(claimed) else None
        swaps = following is EventKind.ATOMIC_WRITES or (following is None and all(move.event.swaps for move in moves))
        yield replace(moves[0].event, cell=claim.event.cell, swaps=swaps and claim.event.kind is EventKind.ATOMIC_READS)


def moves_of(reading: ThreadReading, claimed: Sequence[EventRecord]) -> list[ThreadMove | None]:
    """Return moves one after the other by which the thread makes these events; None for those of locked sections."""
    layers = list(_ways(reading, claimed))
    found: list[ThreadMove | None] = []
    local = next(iter(layers[-1])) if layers else reading.start
    for ways in reversed(layers):
        local, move = ways[local]
        found.append(move)
    return found[::-1]


_Ways = dict[LocalState, tuple[LocalState, ThreadMove | None]]
"""Where a thread can be, each with where it was before its last event, and the move between; None in a locked section."""


def _ways(reading: ThreadReading, claimed: Sequence[EventRecord]) -> Iterator[_Ways]:
    """Yield the ways in which the thread makes each event. Raises InvalidCertificate if there is none."""
    if [c.position for c in claimed] != list(range(len(claimed))):
        reject(f"the events of thread {reading.name} have not the positions 0 to {len(claimed) - 1}")
    here: _Ways = {reading.start: (reading.start, None)}
    for number, claim in enumerate(claimed):
        if claim.joined or (claimed[number + 1 : number + 2] and claimed[number + 1].joined):
            if claim.joined and number:
                here = {local: (local, None) for local in here}
            else:
                here = _after_section(reading, here, claimed, number)
            yield here
            continue
        if (claim.read is not None) != (claim.event.kind in READS or claim.event.kind is EventKind.RECEIVES):
            reject(f"event {number} of {reading.name}, {claim.event}, has a wrong kind of `read`")
        ways: _Ways = {}
        for local in here:
            for ahead in reading.ahead(local):
                for move in reading.moves(ahead, claim.read):
                    if _is_meant(move, claim):
                        ways.setdefault(move.after, (local, move))
        if not ways:
            reject(f"thread {reading.name} cannot make event {number} of the trace: {claim.event} of line {claim.line}")
        here = ways
        yield here


def _after_section(reading: ThreadReading, here: _Ways, claimed: Sequence[EventRecord], first: int) -> _Ways:
    """Check that the thread can make the events from number `first` on that are joined, all at once."""
    mine = [claimed[first], *takewhile(lambda claim: claim.joined, claimed[first + 1 :])]
    if claimed[first].joined:
        reject(f"event {first} of {reading.name}, {claimed[first].event}, belongs to nothing before it")
    read = tuple(claim.read for claim in mine if claim.read is not None)
    found: _Ways = {
        move.after: (local, None)
        for local in here
        for ahead in reading.ahead(local)
        if len(ahead.words) == len(read) > 0
        for move in reading.moves(ahead, read)
        if _are_meant(reading, move, mine)
    }
    return found or reject(f"thread {reading.name} cannot make its events from {first} on at one moment, as a section")


def _are_meant(reading: ThreadReading, move: ThreadMove, mine: Sequence[EventRecord]) -> bool:
    """Whether the events are those of the move of a section. One that writes nothing has a fence before its reads, where
    there is a store buffer."""
    stores = iter(move.stores)
    made: list[tuple[ThreadEvent, Value]] = []
    if reading.buffered and not move.stores:
        made.append((ThreadEvent(reading.number, EventKind.MEMORY_FENCE), None))
    for cell, writes in move.event.words:
        kind = EventKind.SWAP if writes else EventKind.LOCAL_READ
        made.append((ThreadEvent(reading.number, kind, cell), next(stores) if writes else None))
    reads = all((claim.read is not None) == (claim.event.kind in READS) for claim in mine)
    return reads and [(*each, move.line) for each in made] == [(c.event, c.written, c.line) for c in mine]


def _is_meant(move: ThreadMove, claim: EventRecord) -> bool:
    """Whether the move is the event claimed: of a message that fills a buffer, which one that is remains to be seen."""
    made = replace(move.event, swaps=False, fills=False)
    if move.event.fills and claim.event.cell is not None:
        made = replace(made, cell=claim.event.cell)
    return (made, move.written, move.line) == (claim.event, claim.written, claim.line)


def _meetings(program: Program, claimed: Sequence[EventRecord], order: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield the events of the first thread of each barrier with those of each other one: the k-th ones of all are a round.

    Raises InvalidCertificate for a round to which one of its threads does not come.
    """
    found: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for thread, mine in zip(program.threads, order, strict=True):
        for i in mine:
            if claimed[i].event.kind is EventKind.BARRIER:
                found.setdefault(claimed[i].event.meets, {}).setdefault(thread.name, []).append(i)
    for meets, came in found.items():
        rounds = [came.get(name, []) for name in meets]
        if len({len(each) for each in rounds}) > 1:
            reject(f"the threads {', '.join(meets)} do not come to their barrier equally often")
        for first, *others in zip(*rounds, strict=True):
            yield from ((first, other) for other in others)


def _reads_from(claimed: Sequence[EventRecord], cells: Sequence[Cell]) -> dict[int, int]:
    """Return the write that each read reads from: of the same cell and the same value."""
    found = {}
    for i, read in enumerate(claimed):
        if (read.source is not None) != (read.event.kind in READS):
            reject(f"event {i} of the trace, {read.event}, {'reads' if read.source is None else 'does not read'}")
        if read.source is None or read.event.cell is None:
            continue
        if read.source >= len(claimed) or read.source == i:
            reject(f"event {i} of the trace reads from event {read.source}, which it cannot")
        if read.source == -1:
            write, cell, value = cells.index(read.event.cell), read.event.cell, read.event.cell.init
        else:
            source = claimed[read.source]
            if source.event.kind not in WRITES or source.event.cell is None or source.written is None:
                reject(f"event {i} of the trace reads from event {read.source}, which does not write")
            write, cell, value = len(cells) + read.source, source.event.cell, source.written
        if cell != read.event.cell or value != read.read:
            reject(f"event {i} of the trace, {read.event}, cannot read {read.read} from a write of {value} to {cell}")
        found[len(cells) + i] = write
    return found


def _modification_order(value: object, claimed: Sequence[EventRecord], cells: Sequence[Cell]) -> list[list[int]]:
    """Return the writes of each cell in modification order, behind the initial one."""
    orders = mapping(value, "`evidence.mo`")
    writes: dict[str, list[int]] = {}
    for i, claim in enumerate(claimed):
        if claim.event.kind in WRITES and claim.event.cell is not None:
            writes.setdefault(str(claim.event.cell), []).append(i)
    if orders.keys() != writes.keys():
        reject(f"`evidence.mo` is about {sorted(orders)}, and the trace writes {sorted(writes)}")
    found = []
    for number, cell in enumerate(cells):
        if str(cell) in writes:
            order = json_array(orders[str(cell)], f"`evidence.mo`[{str(cell)!r}]", natural)
            if sorted(order) != writes[str(cell)]:
                reject(f"`evidence.mo` does not list every write to {cell} once")
            found.append([number, *(len(cells) + i for i in order)])
        else:
            found.append([number])
    return found


def _check_polls(trace: Execution) -> None:
    answered = {poll for _, poll in polls_from(trace)}
    for number, event in enumerate(trace.events):
        if event is not None and event.kind is EventKind.POLL and number not in answered:
            reject(f"a poll of the trace, {event}, has nothing to poll")


def _check_ranks(trace: Execution) -> None:
    """The atomics of one word stand in their order; one that has not written yet, but will, can only be the last."""
    written = {read for read, _ in halves(trace)}
    unfinished: set[Cell | None] = set()
    for number, event in enumerate(trace.events):
        if event is not None and event.kind is EventKind.ATOMIC_READS:
            if event.cell in unfinished:
                reject(f"an atomic of the trace, {event}, comes before the write of an earlier one on its location")
            if event.swaps and number not in written:
                unfinished.add(event.cell)


def _shown(trace: Execution, cycle: Sequence[int]) -> str:
    """Name the events of a cycle, each of which RDMA lets take effect before the next."""
    names = [str(trace.events[e] or "an initial write") for e in cycle]
    return " before ".join([*names, names[0]])
