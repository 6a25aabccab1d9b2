"""Building a trace from a total order of its events (Definition 4 of the paper, read backwards)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.connections import connect
from rdma_robust.semantics.kinds import kinds_of
from rdma_robust.semantics.order_table import nfo_between, nfo_pairs_of
from rdma_robust.semantics.trace import READ_TYPES, WRITE_TYPES, Event, EventType, Relation, Trace
from rdma_robust.semantics.vertices import read_modify_writes


def trace_of_order(order: Sequence[Event], program: Program, model: Model = RDMA) -> Trace:
    """Return T(order): the trace in which every event takes effect at its place in `order`.

    `order` holds events without initial writes; their `index` is ignored, `thread` and `position` give program order.
    The result's events are one initial write per cell of `program.cells`, then the events of `order` in that order, so
    event i of `order` has index `len(program.cells) + i`. rf is the last write before, or under tso the last store of
    the CPU's own that is po-earlier, if that comes later in the order: it is still in the store buffer. mo, nfo and rao
    follow the order, the k-th poll of a queue pair polls its k-th signaled completion in program order if there is one,
    and what messages take and RPs poll is counted as well. Nothing is checked: use `check_well_formed` on the result.
    Source: Definition 4 of the paper; docs/deployed.md, "Consistency".
    """
    events = [Event(i, EventType.INIT, cell=c, written=c.init) for i, c in enumerate(program.cells)]
    events += [replace(e, index=len(program.cells) + i) for i, e in enumerate(order)]
    n = len(events)
    threads = in_threads(program, events)
    return Trace(
        tuple(events),
        po=po_of_positions(events),
        pf=pf_of_positions(events),
        rf=Relation.of(n, _reads_from(events, _forwarded(threads) if model.cpu == "tso" else {})),
        mo=Relation.of(n, _modification_order(events)),
        nfo=Relation.of(n, ((a, b) for a, b in nfo_pairs(events, model) if a < b)),
        rao=rao_of_order(events, threads, model, n),
        **relations_of_messages(program, events, threads),
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


def nfo_pairs(events: Sequence[Event], model: Model = RDMA) -> Iterable[tuple[int, int]]:
    """Yield every ordered pair (both ways) of NIC events that nfo must order."""
    if not nfo_pairs_of(model):
        return
    kinded = list(zip(events, kinds_of(events), strict=True))
    for a, one in kinded:
        for b, two in kinded:
            near = a.thread == b.thread and a.remote == b.remote
            if a.thread >= 0 <= b.thread and nfo_between(one, two, model, of_one_pair=near):
                yield a.index, b.index


Threads = Sequence[Sequence[Event]]
"""The events of every thread, in program order."""


def in_threads(program: Program, events: Iterable[Event]) -> Threads:
    """Return the events of every thread of the program, in program order; those of no thread are left out."""
    found: list[list[Event]] = [[] for _ in program.threads]
    for e in events:
        if 0 <= e.thread < len(found):
            found[e.thread].append(e)
    return [sorted(mine, key=lambda e: e.position) for mine in found]


def rao_of_order(order: Sequence[Event], threads: Threads, model: Model, size: int) -> Relation | None:
    """Return rao, over `size` events, where the remote read-modify-writes of every word read in this order.

    An earlier one, with its naR and its naW, is before the naR of a later one. None if there are none.
    """
    reads: dict[Cell | None, list[int]] = {}
    for e in order if model.atomics == "hca" else ():
        if e.type is EventType.NAR:
            reads.setdefault(e.cell, []).append(e.index)
    if not reads:
        return None
    writes = {mine[r].index: mine[w].index for mine in threads for r, w in read_modify_writes(mine)}
    pairs = []
    for chain in reads.values():
        for i, a in enumerate(chain):
            firsts = (a, writes[a]) if a in writes else (a,)
            pairs += [(first, b) for b in chain[i + 1 :] for first in firsts]
    return Relation.of(size, pairs)


def relations_of_messages(program: Program, events: Sequence[Event], threads: Threads) -> dict[str, Relation | None]:
    """Return `sm`, `rpf` and `turns` of events with these indices, None for what is empty, or no other than sm."""
    if not any(e.peer is not None for e in events):
        return {"sm": None, "rpf": None, "turns": None}
    found = connect(program, threads).matched

    def relation(pairs: Iterable[tuple[int, int]]) -> Relation | None:
        listed = list(pairs)
        return Relation.of(len(events), listed) if listed else None

    def index(place: tuple[int, int]) -> int:
        return threads[place[0]][place[1]].index

    return {
        "sm": relation((index(m.receive), index(m.message)) for m in found if m.receive is not None),
        "rpf": relation((index(m.message), index(m.poll)) for m in found if m.poll is not None),
        "turns": relation((index(m.turn), index(m.message)) for m in found if m.turn is not None)
        if any(m.turn != m.receive for m in found)
        else None,
    }


def _forwarded(threads: Threads) -> dict[int, int]:
    """Return for every read of a CPU its own last store to the word that is po-earlier, if there is one."""
    found = {}
    for mine in threads:
        last: dict[Cell | None, int] = {}
        for e in mine:
            if e.type is EventType.LR and e.cell in last:
                found[e.index] = last[e.cell]
            if e.type is EventType.LW:
                last[e.cell] = e.index
    return found


def _reads_from(events: Sequence[Event], own: Mapping[int, int]) -> Iterable[tuple[int, int]]:
    last: dict[Cell | None, int] = {}
    for e in events:
        if e.type in READ_TYPES and e.cell in last:
            store = own.get(e.index, -1)
            yield store if store > e.index else last[e.cell], e.index
        if e.type in WRITE_TYPES and e.cell is not None:
            last[e.cell] = e.index


def _modification_order(events: Sequence[Event]) -> Iterable[tuple[int, int]]:
    earlier: dict[Cell | None, list[int]] = {}
    for e in events:
        if e.type in WRITE_TYPES and e.cell is not None:
            writes = earlier.setdefault(e.cell, [])
            for w in writes:
                yield w, e.index
            writes.append(e.index)
