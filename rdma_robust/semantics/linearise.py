"""Building a trace from a total order of its events (Definition 4 of the paper, read backwards)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.semantics.order_table import NFO_PAIRS
from rdma_robust.semantics.relation import Relation
from rdma_robust.semantics.trace import READ_TYPES, WRITE_TYPES, Event, EventType, Trace


def trace_of_order(order: Sequence[Event], program: Program) -> Trace:
    """Return T(order): the trace in which every event takes effect at its place in `order`.

    `order` holds events without initial writes; their `index` is ignored, `thread` and `position` give program order.
    The result's events are one initial write per cell of `program.cells`, then the events of `order` in that order, so
    event i of `order` has index `len(program.cells) + i`. rf is the last write before, mo and nfo follow the order, the
    k-th poll of a queue pair polls its k-th NIC write in program order if there is one. Nothing is checked: use
    `check_well_formed` on the result. Source: Definition 4.
    """
    events = [Event(i, EventType.INIT, cell=c, written=c.init) for i, c in enumerate(program.cells)]
    events += [replace(e, index=len(program.cells) + i) for i, e in enumerate(order)]
    n = len(events)
    return Trace(
        tuple(events),
        po=po_of_positions(events),
        pf=pf_of_positions(events),
        rf=Relation.of(n, _reads_from(events)),
        mo=Relation.of(n, _modification_order(events)),
        nfo=Relation.of(n, ((a, b) for a, b in nfo_pairs(events) if a < b)),
    )


def po_of_positions(events: Sequence[Event]) -> Relation:
    """Return program order: pairs of events of one thread by increasing `position` (none for initial writes)."""
    pairs = ((a.index, b.index) for a in events for b in events if a.thread == b.thread >= 0 and a.position < b.position)
    return Relation.of(len(events), pairs)


def pf_of_positions(events: Sequence[Event]) -> Relation:
    """Return polls-from: the k-th completion and the k-th poll of each queue pair, in program order, where both exist."""
    writes: dict[tuple[int, str | None], list[int]] = {}
    polls: dict[tuple[int, str | None], list[int]] = {}
    for e in sorted(events, key=lambda e: (e.thread, e.position)):
        if e.completes:
            writes.setdefault((e.thread, e.remote), []).append(e.index)
        elif e.type is EventType.P:
            polls.setdefault((e.thread, e.remote), []).append(e.index)
    return Relation.of(len(events), (pair for qp, ps in polls.items() for pair in zip(writes.get(qp, []), ps, strict=False)))


def nfo_pairs(events: Sequence[Event]) -> Iterable[tuple[int, int]]:
    """Yield every ordered pair (both ways) of NIC events of one queue pair that nfo must order."""
    for a in events:
        for b in events:
            if a.thread == b.thread >= 0 and a.remote == b.remote and frozenset({a.type, b.type}) in NFO_PAIRS:
                yield a.index, b.index


def _reads_from(events: Sequence[Event]) -> Iterable[tuple[int, int]]:
    last: dict[Cell | None, int] = {}
    for e in events:
        if e.type in READ_TYPES and e.cell in last:
            yield last[e.cell], e.index
        if e.type in WRITE_TYPES:
            last[e.cell] = e.index


def _modification_order(events: Sequence[Event]) -> Iterable[tuple[int, int]]:
    earlier: dict[Cell | None, list[int]] = {}
    for e in events:
        if e.type in WRITE_TYPES:
            writes = earlier.setdefault(e.cell, [])
            for w in writes:
                yield w, e.index
            writes.append(e.index)
