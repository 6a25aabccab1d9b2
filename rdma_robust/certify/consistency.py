"""What RDMA and sequential consistency allow, for traces in certificates: the checker's own copy of the axioms.

Written from semantics.md ("Trace", "Preserved order") alone. Events are numbered; a relation is a list with, for each event,
the set of its successors as bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.certify.hardware import NIC_WRITES, Kind, issued_in_order, observed_in_order
from rdma_robust.certify.thread_reading import Event

Relation = list[int]


@dataclass(frozen=True, slots=True)
class Execution:
    """A trace. The first events are the initial writes, None in `events`; `threads` lists the others of each thread in
    program order. `reads_from` names the write of every read, `written` the writes of each cell in modification order,
    the initial one first. NIC events of one queue pair took effect in the order of their numbers.
    """

    events: Sequence[Event | None]
    threads: Sequence[Sequence[int]]
    reads_from: Mapping[int, int]
    written: Sequence[Sequence[int]]


def rdma_cycle(trace: Execution, ordered_reads: bool) -> list[int] | None:
    """Return a cycle of ob, which shows that RDMA does not allow the trace; None if there is none."""
    size = len(trace.events)
    oppo = _preserved(trace, lambda a, b, same: observed_in_order(a, b, same, ordered_reads))
    ippo = _preserved(trace, lambda a, b, same: issued_in_order(a, b, same, ordered_reads))
    rf = _relation(size, ((w, r) for r, w in trace.reads_from.items()))
    pf, nfo = _relation(size, polled(trace)), _relation(size, _flushed(trace))
    ib = _closure(_union(ippo, rf, pf, nfo))
    kinds = [None if e is None else e.kind for e in trace.events]
    visible = [row if kinds[e] is Kind.GET_WRITES else 0 for e, row in enumerate(pf)]
    instantaneous = [0 if kinds[e] in NIC_WRITES else row for e, row in enumerate(ib)]
    return _cycle(_union(oppo, rf, visible, nfo, _before(trace), _modified(trace), instantaneous))


def sc_cycle(trace: Execution) -> list[int] | None:
    """Return a cycle of sc, which shows that no sequentially consistent execution is the trace; None if there is none."""
    size = len(trace.events)
    po = _relation(size, ((a, b) for thread in trace.threads for i, a in enumerate(thread) for b in thread[i + 1 :]))
    rf = _relation(size, ((w, r) for r, w in trace.reads_from.items()))
    return _cycle(_union(po, rf, _before(trace), _modified(trace)))


def polled(trace: Execution) -> Iterator[tuple[int, int]]:
    """Yield polls-from: the k-th poll of a queue pair polls its k-th NIC write, both counted in program order."""
    for thread in trace.threads:
        waiting: dict[str, list[int]] = {}
        polls: dict[str, int] = {}
        for e in thread:
            event = trace.events[e]
            if event is None or event.remote is None:
                continue
            if event.kind in NIC_WRITES:
                waiting.setdefault(event.remote, []).append(e)
            elif event.kind is Kind.POLL:
                k = polls.get(event.remote, 0)
                polls[event.remote] = k + 1
                if k < len(waiting.get(event.remote, ())):
                    yield waiting[event.remote][k], e


def _preserved(trace: Execution, kept: Callable[[Kind, Kind, bool], bool]) -> Relation:
    """The program order that hardware keeps."""

    def pairs() -> Iterator[tuple[int, int]]:
        for thread in trace.threads:
            for i, a in enumerate(thread):
                for b in thread[i + 1 :]:
                    one, two = trace.events[a], trace.events[b]
                    if one is not None and two is not None and kept(one.kind, two.kind, _same_queue(one, two)):
                        yield a, b

    return _relation(len(trace.events), pairs())


def _flushed(trace: Execution) -> Iterator[tuple[int, int]]:
    """nfo: the NIC reads and the NIC writes on the same side of a queue pair, in the order in which they took effect."""
    sides = ({Kind.PUT_READS, Kind.GET_WRITES}, {Kind.GET_READS, Kind.PUT_WRITES})
    for thread in trace.threads:
        for a in thread:
            for b in thread:
                one, two = trace.events[a], trace.events[b]
                if a < b and one is not None and two is not None and {one.kind, two.kind} in sides and _same_queue(one, two):
                    yield a, b


def _before(trace: Execution) -> Relation:
    """rb: a read before every write that comes after the one that it reads from; a swap not before itself."""

    def pairs() -> Iterator[tuple[int, int]]:
        later = {write: order[i + 1 :] for order in trace.written for i, write in enumerate(order)}
        for read, write in trace.reads_from.items():
            yield from ((read, after) for after in later[write] if after != read)

    return _relation(len(trace.events), pairs())


def _modified(trace: Execution) -> Relation:
    pairs = ((a, b) for order in trace.written for i, a in enumerate(order) for b in order[i + 1 :])
    return _relation(len(trace.events), pairs)


def _same_queue(one: Event, two: Event) -> bool:
    return one.thread == two.thread and one.remote is not None and one.remote == two.remote


def _relation(size: int, pairs: Iterator[tuple[int, int]]) -> Relation:
    rows = [0] * size
    for a, b in pairs:
        rows[a] |= 1 << b
    return rows


def _union(*relations: Relation) -> Relation:
    rows = [0] * len(relations[0])
    for relation in relations:
        rows = [a | b for a, b in zip(rows, relation, strict=True)]
    return rows


def _closure(relation: Relation) -> Relation:
    """Everything that can be reached by at least one edge."""
    rows = list(relation)
    for middle in range(len(rows)):
        through = 1 << middle
        rows = [row | rows[middle] if row & through else row for row in rows]
    return rows


def _cycle(relation: Relation) -> list[int] | None:
    """Return the events of a cycle in order, None if there is none."""
    path: list[int] = []
    on_path: set[int] = set()
    done: set[int] = set()
    for root in range(len(relation)):
        todo = [(root, relation[root])]
        while todo:
            event, rest = todo.pop()
            if event not in on_path:
                if event in done:
                    continue
                path.append(event)
                on_path.add(event)
            if rest:
                low = rest & -rest
                after = low.bit_length() - 1
                if after in on_path:
                    return path[path.index(after) :]
                todo += [(event, rest ^ low), (after, relation[after])]
            else:
                path.pop()
                on_path.remove(event)
                done.add(event)
    return None
