"""The dead ends of phase 2 (see :mod:`rdma_robust.robustness.reductions.dead_ends`) for a pivot instrumentation.

The moves are the events; free are those that can still go to alpha, open the threads without a CPU event in beta. A NIC
event is barred by the order table, any access by an access of beta that conflicts with it. Neither is ever lifted; what is
barred goes to beta; a CPU event in beta takes all that follows in its thread with it; an event of beta bars the reads of
what it writes. Taint spreads from events of beta to alpha only by a later event that overtakes one of its queue pair
(:mod:`relaxation`), or by marks that are there already; among events of alpha by program order and conflicts. It
closes the cycle at an event of alpha that conflicts with the pivot or is of its thread, or at one of beta that the pivot
overtakes. A message of beta into memory behind a card taints the RP of alpha that takes it, as one that overtakes it.

Under tso a store in beta bars later stores, CAS, mfence and NIC events of its thread. A store that is barred is passed, as a
NIC event is. A read that may forward is neither barred by a conflict, which its own store lifts, nor held up by the value
that is there, which its own barred store may replace.

What messages and RPs wait for is taken to be there, and not to bar them; taint leads to them from all that they can take.

Source: docs/theory-search.md, "The search".
"""

from __future__ import annotations

from collections.abc import Iterable

from rdma_robust.counters.program import pc
from rdma_robust.expr import FALSE, TRUE, VALUE, Expr, constants, evaluate, names
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.forwarding import StoreBuffers, buffered
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass, qp_of
from rdma_robust.robustness.marks import AccessMemory
from rdma_robust.robustness.pivot_classes import CLASS
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.dead_ends import WIDTH, DeadEnds, GuardedMove, GuardValues, Marks, PivotNeeds
from rdma_robust.robustness.rules import CPU_BETA, STORE_BETA, ForcingRules, thread_bits
from rdma_robust.semantics.trace import CPU_TYPES, EventType


def dead_ends(
    cycles: CriticalCycles,
    classes: Iterable[PivotClass],
    rules: ForcingRules,
    seen: AccessMemory,
    buffers: StoreBuffers,
    *,
    closed: str,
    frozen: str,
) -> DeadEnds:
    """Return the test for the instrumentation of `cycles.frame` with these classes and names of variables."""
    frame = cycles.frame
    threads = len(frame.graphs)
    return DeadEnds(
        tuple(_move(cycles, rules, seen, buffers, e) for e in cycles.events),
        tuple(_pivot(cycles, seen, c) for c in classes),
        tuple(map(pc, range(threads))),
        CLASS,
        closed,
        CPU_BETA,
        frozen,
        tuple(tuple(seen.tainted.parts(seen.marks.thread(t))) for t in range(threads)),
    )


def _move(
    cycles: CriticalCycles, rules: ForcingRules, seen: AccessMemory, buffers: StoreBuffers, e: EventEdge
) -> GuardedMove:
    frame, number = cycles.frame, cycles.number(e)
    bit = frame.touched_by(e)
    conflicting = seen.marks.conflicting(e)
    barring = seen.marks.written(e.cell) if e.may_tear else conflicting  # what forces the naR of a remote read-modify-write
    cpu = e.type in CPU_TYPES
    forwards = buffers.forwards(e) != FALSE
    waits = cpu and e.cell is not None and bit and e.type is not EventType.P and not forwards
    guard = _guard(frame, e.guard) if waits and e.cell not in _of_sections(frame) else None
    return GuardedMove(
        e.thread,
        e.source,
        e.target,
        () if e.type is None else _ordered(rules, e),
        () if forwards else tuple(seen.accessed.parts(barring)),
        not cpu or buffered(e, frame.model),
        str(e.cell) if bit and e.cell is not None else None,
        guard,
        bool(e.cell is not None and frame.written_by(e)),
        bool(bit or (e.type and e.connection) or e.members),
        (*seen.tainted.parts(conflicting | seen.marks.threads(e) * bool(e.members)), *frame.messages.taints_of(e)),
        cycles.overtaking[number] | (cycles.conflicting[number] if e.stops else 0) | cycles.taken_unshown(number),
        cycles.after[number],
        cycles.conflicting[number],
    )


def _of_sections(frame: InstrumentationFrame) -> frozenset[Cell]:
    """The cells that sections write: what they hold can change in ways that moves of one cell do not tell."""
    edges = (e for g in frame.graphs for e in g.edges if e.section)
    return frozenset(cell for e in edges for cell, _, written in e.accesses if written)


def _ordered(rules: ForcingRules, e: EventEdge) -> Marks:
    """What keeps an event out of alpha by a store of its thread, and an event of a queue pair by the order there."""
    stores = rules.forced_by_stores_of(e)
    found: list[tuple[str, int]] = [(STORE_BETA, stores)] if stores else []
    if e.members:
        found.append((CPU_BETA, thread_bits(e.members)))
    if e.remote is None:
        return tuple(found)
    qp = qp_of(e)
    mask = rules.nic_forcing_types(e)
    found += [(rules.beta(qp), mask)] if mask else []
    if e.type is EventType.NLR and qp in rules.fence_flagged:
        found.append((rules.fenced(qp), 1))
    if qp in rules.receive_flagged and (behind := rules.behind_receives(e)):
        found.append((rules.received(qp), behind))
    found += [(rules.settled(qp, told), 1) for told in rules.settled_forces(e)]
    return tuple(found)


def _pivot(cycles: CriticalCycles, seen: AccessMemory, c: PivotClass) -> PivotNeeds:
    frame, events, sites = cycles.frame, cycles.events, cycles.sites(c)
    numbers = [i for i in range(len(events)) if sites >> i & 1]
    asked = () if c.cell in _of_sections(frame) else numbers
    guards = {i: guard for i in asked if (guard := _guard(frame, events[i].possible)) is not None}
    if c.receive is not None:
        return PivotNeeds(c.thread, sites, 0, {}, CLASS, ())
    written = tuple(seen.accessed.parts(seen.marks.written(c.cell)))
    return PivotNeeds(c.thread, sites, cycles.meeting(c), guards, str(c.cell), written)


def _guard(frame: InstrumentationFrame, condition: Expr) -> GuardValues | None:
    """The values for which a condition on the value alone holds; None if it says nothing or looks at registers."""
    if condition == TRUE or set(names(condition)) != {VALUE.name}:
        return None
    found = [0, *constants(condition)]
    least = max(frame.value_range[0], min(found))
    looked_at = min(WIDTH, max(2, max(found) - least + 2))
    unknown = (1 << WIDTH) - (1 << looked_at)
    return GuardValues(least, unknown | sum(1 << i for i in range(looked_at) if _holds(condition, least + i)))


def _holds(condition: Expr, value: int) -> bool:
    """Whether a condition on the value alone holds for it; taken to hold where it has no value."""
    try:
        return bool(evaluate(condition, {VALUE.name: value}))
    except ZeroDivisionError:
        return True
