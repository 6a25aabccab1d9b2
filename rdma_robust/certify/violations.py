"""NOT ROBUST certificates: a trace of the program that RDMA allows and sequential consistency does not.

Source: semantics.md ("Trace", "violating"). The threads are followed along their events by the checker's own reading of the
flow graphs, and the orders judged by its own copy of the axioms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.consistency import Execution, polled, rdma_cycle, sc_cycle
from rdma_robust.certify.document import array, integer, mapping, members, natural, one_of, reject, string
from rdma_robust.certify.hardware import READS, WRITES, Kind
from rdma_robust.certify.thread_reading import Event, Local, ThreadReading, Value
from rdma_robust.language.flow.cfg import Cell, Program

KIND: Final = "trace"

INITIAL: Final = "initial"
"""What a read from an initial write reads from."""

_KINDS: Final = tuple(kind.value for kind in Kind)
_MEMBERS: Final = ("thread", "position", "line", "type", "remote", "cell", "read", "written", "reads_from")


@dataclass(frozen=True, slots=True)
class _Claimed:
    """An event as the certificate has it; `source` is the number of the write that it reads from, -1 for the initial one."""

    event: Event
    position: int
    line: int
    read: Value
    written: Value
    source: int | None


def check_not_robust(program: Program, ordered_reads: bool, evidence: object) -> str:
    """Check that the trace proves `program` not robust and return what it is, in a few words. Raises InvalidCertificate."""
    found = members(evidence, "`evidence`", ("kind", "events", "mo"))
    threads = {thread.name: number for number, thread in enumerate(program.threads)}
    cells = {str(cell): cell for cell in program.cells}
    nodes = frozenset(program.nodes)
    claimed = array(found["events"], "`evidence.events`", lambda item, at: _event(item, at, threads, cells, nodes))
    first = len(program.cells)
    order = [
        sorted((i for i, c in enumerate(claimed) if c.event.thread == t), key=lambda i: claimed[i].position)
        for t in range(len(program.threads))
    ]
    for number, thread in enumerate(program.threads):
        _follow(ThreadReading(thread, number), [claimed[i] for i in order[number]])
    trace = Execution(
        (*(None for _ in program.cells), *(c.event for c in claimed)),
        [[first + i for i in mine] for mine in order],
        _reads_from(claimed, program.cells),
        _modification_order(found["mo"], claimed, program.cells),
    )
    _check_polls(trace)
    if (cycle := rdma_cycle(trace, ordered_reads)) is not None:
        reject(f"RDMA does not allow the trace: {_shown(trace, cycle)}")
    if sc_cycle(trace) is None:
        reject("sequential consistency allows the trace, so it proves nothing")
    return f"a trace of {len(claimed)} events"


def _event(
    value: object, where: str, threads: Mapping[str, int], cells: Mapping[str, Cell], nodes: frozenset[str]
) -> _Claimed:
    item = members(value, where, _MEMBERS)

    def number(name: str) -> Value:
        return None if item[name] is None else integer(item[name], f"{where}.{name}")

    def known(name: str) -> str | None:
        return None if item[name] is None else string(item[name], f"{where}.{name}")

    cell, remote, thread = known("cell"), known("remote"), string(item["thread"], f"{where}.thread")
    if cell is not None and cell not in cells:
        reject(f"{where}.cell: the program has no {cell!r:.60}")
    if remote is not None and remote not in nodes:
        reject(f"{where}.remote: the program has no node {remote!r:.60}")
    if thread not in threads:
        reject(f"{where}.thread: the program has no {thread!r:.60}")
    kind = Kind(one_of(item["type"], f"{where}.type", _KINDS))
    source = -1 if item["reads_from"] == INITIAL else number("reads_from")
    if source is not None and source < -1:
        reject(f"{where}.reads_from is negative")
    return _Claimed(
        Event(threads[thread], kind, None if cell is None else cells[cell], remote),
        natural(item["position"], f"{where}.position"),
        natural(item["line"], f"{where}.line"),
        number("read"),
        number("written"),
        source,
    )


def _follow(reading: ThreadReading, claimed: Sequence[_Claimed]) -> None:
    """Check that the thread can make these events, one after the other. Of them only the values read are believed."""
    if [c.position for c in claimed] != list(range(len(claimed))):
        reject(f"the events of thread {reading.name} have not the positions 0 to {len(claimed) - 1}")
    here: set[Local] = {reading.start}
    for number, claim in enumerate(claimed):
        if (claim.read is not None) != (claim.event.kind in READS):
            reject(f"event {number} of {reading.name}, {claim.event}, has a wrong kind of `read`")
        here = {
            move.after
            for local in here
            for ahead in reading.ahead(local)
            for move in reading.moves(ahead, claim.read)
            if (move.event, move.written, move.line) == (claim.event, claim.written, claim.line)
        }
        if not here:
            reject(f"thread {reading.name} cannot make event {number} of the trace: {claim.event} of line {claim.line}")


def _reads_from(claimed: Sequence[_Claimed], cells: Sequence[Cell]) -> dict[int, int]:
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


def _modification_order(value: object, claimed: Sequence[_Claimed], cells: Sequence[Cell]) -> list[list[int]]:
    """Return the writes of each cell in modification order, behind the initial one."""
    orders = mapping(value, "`evidence.mo`")
    writes: dict[str, list[int]] = {}
    for i, claim in enumerate(claimed):
        if claim.event.kind in WRITES:
            writes.setdefault(str(claim.event.cell), []).append(i)
    if orders.keys() != writes.keys():
        reject(f"`evidence.mo` is about {sorted(orders)}, and the trace writes {sorted(writes)}")
    found = []
    for number, cell in enumerate(cells):
        if str(cell) in writes:
            order = array(orders[str(cell)], f"`evidence.mo`[{str(cell)!r}]", natural)
            if sorted(order) != writes[str(cell)]:
                reject(f"`evidence.mo` does not list every write to {cell} once")
            found.append([number, *(len(cells) + i for i in order)])
        else:
            found.append([number])
    return found


def _check_polls(trace: Execution) -> None:
    answered = {poll for _, poll in polled(trace)}
    for number, event in enumerate(trace.events):
        if event is not None and event.kind is Kind.POLL and number not in answered:
            reject(f"a poll of the trace, {event}, has nothing to poll")


def _shown(trace: Execution, cycle: Sequence[int]) -> str:
    """Name the events of a cycle, each of which RDMA lets take effect before the next."""
    names = [str(trace.events[e] or "an initial write") for e in cycle]
    return " before ".join([*names, names[0]])
