"""Where reads of a memory behind a card land what was issued before them, so that a trace is consistent.

An order of events gives a trace in which nfo is that order. In a memory behind a card nfo relates events of different queue
pairs, of which sc says nothing; the same reads-from and modification order may be consistent with another nfo.

Source: docs/theory-orders.md, "Memory behind a NIC".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.semantics.axioms import ib, ob
from rdma_robust.semantics.kinds import kinds_of, memory_of
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, Event, Relation, Trace
from rdma_robust.semantics.vertices import sections

ReadAndWrite = tuple[int, int]
"""A card's read and a card's write of one memory behind a card."""


def with_reads_placed(order: Sequence[Event], program: Program, model: Model) -> list[int]:
    """Return the places of `order` in an order that gives the same trace but for nfo, and a consistent one if some nfo does;
    else those of `order` itself."""
    same = list(range(len(order)))
    trace = trace_of_order(order, program, model)
    if not program.memories or ob(trace, model).is_irreflexive():
        return same
    kinds = kinds_of(trace.events)
    pairs = [(a, b) if trace.events[b].type in NIC_WRITE_TYPES else (b, a) for a, b in trace.nfo if memory_of(kinds[a])]
    bare = replace(trace, nfo=trace.nfo.minus(Relation.of(len(trace.events), [*pairs, *((b, a) for a, b in pairs)])))
    placed = _placed(bare, tuple(pairs), model)
    if placed is None:
        return same
    import networkx as nx  # noqa: PLC0415 - slow, and few need it

    first = sections(placed)
    observed: nx.DiGraph[int] = nx.DiGraph(list(ob(placed, model)))
    observed.add_nodes_from(e.index for e in placed.events)
    found = [i for i in nx.lexicographical_topological_sort(observed) if i not in first]
    cells = len(program.cells)
    together = (e for i in found for e in (i, *(e for e, head in first.items() if head == i)))
    return [i - cells for i in together if i >= cells]


def _placed(trace: Trace, open_pairs: tuple[ReadAndWrite, ...], model: Model) -> Trace | None:
    """Return a consistent trace with all of the pairs in nfo, one way or the other, None if there is none."""
    while True:
        observed, issued = ob(trace, model), ib(trace, model)
        if not observed.is_irreflexive():
            return None
        known = {pair: way for pair in open_pairs if (way := way_of(*pair, observed, issued)) is not None}
        if not known:
            break
        trace = _ordered(trace, known.values())
        open_pairs = tuple(pair for pair in open_pairs if pair not in known)
    if not open_pairs:
        return trace
    (read, write), *rest = open_pairs
    tried = (_placed(_ordered(trace, [way]), tuple(rest), model) for way in ((read, write), (write, read)))
    return next((found for found in tried if found is not None), None)


def way_of(read: int, write: int, observed: Relation, issued: Relation) -> ReadAndWrite | None:
    """Return how nfo has to order a read and a write, None if that is open."""
    if (read, write) in observed:
        return read, write
    landed = issued.rows[write] & observed.inverse().rows[read] or (write, read) in issued
    return (write, read) if landed or (write, read) in observed else None


def _ordered(trace: Trace, pairs: Iterable[ReadAndWrite]) -> Trace:
    return replace(trace, nfo=trace.nfo | Relation.of(len(trace.events), pairs))
