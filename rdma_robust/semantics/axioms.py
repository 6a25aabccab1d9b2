"""The axioms over traces: every derived relation under its paper name, and the two consistency conditions.

Source: semantics.md, "Preserved order"; Definitions 2 and 3 of the paper. A trace handed to these functions is assumed
well-formed (:func:`rdma_robust.semantics.wellformed.check_well_formed`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import pairwise

from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.order_table import Scope, ippo_scope, oppo_scope
from rdma_robust.semantics.relation import Relation
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, Cycle, CycleEdge, EventType, Trace
from rdma_robust.semantics.wellformed import check_well_formed

__all__ = [
    "check_well_formed",
    "ib",
    "ib_parts",
    "inst",
    "ippo",
    "is_violating",
    "nlw",
    "ob",
    "ob_parts",
    "oppo",
    "rb",
    "rdma_violation",
    "same_qp",
    "sc",
    "sc_parts",
    "sc_violation",
    "trace_of_order",
]


Links = dict[int, dict[int, tuple[int, str]]]
"""For every edge its cost and the name of its relation."""

BASE_EDGE = 100
"""What an edge costs when cycles are compared."""


def events_of(trace: Trace, types: Collection[EventType]) -> int:
    """Return the set of events of these types, as bits."""
    return sum(1 << e.index for e in trace.events if e.type in types)


def inst(trace: Trace) -> int:
    """Return Inst as bits: the instantaneous events, which are all but the NIC writes."""
    return ((1 << len(trace.events)) - 1) & ~events_of(trace, NIC_WRITE_TYPES)


def nlw(trace: Trace) -> int:
    """Return the NIC local writes as bits."""
    return events_of(trace, (EventType.NLW,))


def same_qp(trace: Trace) -> Relation:
    """Return the pairs of events of one queue pair (thread, remote node); polls belong to theirs."""
    members: dict[tuple[int, str], int] = {}
    for e in trace.events:
        if e.remote is not None:
            members[e.thread, e.remote] = members.get((e.thread, e.remote), 0) | 1 << e.index
    return Relation(tuple(0 if e.remote is None else members[e.thread, e.remote] for e in trace.events))


def _preserved(trace: Trace, scope: Callable[[EventType, EventType, Model], Scope], model: Model) -> Relation:
    """Row by row: of what is po-after an event, the events of the types that the table keeps everywhere, or on its queue
    pair."""
    members = {t: events_of(trace, (t,)) for t in dict.fromkeys(e.type for e in trace.events) if t is not EventType.INIT}
    everywhere = {EventType.INIT: 0}
    nearby = {EventType.INIT: 0}
    for t in members:
        scopes = {later: scope(t, later, model) for later in members}
        everywhere[t] = sum(members[later] for later, kept in scopes.items() if kept == "all")
        nearby[t] = sum(members[later] for later, kept in scopes.items() if kept == "qp")
    qp = same_qp(trace).rows
    po = trace.po.rows
    return Relation(tuple((everywhere[e.type] | nearby[e.type] & qp[e.index]) & po[e.index] for e in trace.events))


def ippo(trace: Trace, model: Model = RDMA) -> Relation:
    """Return issue-preserved program order."""
    return _preserved(trace, ippo_scope, model)


def oppo(trace: Trace, model: Model = RDMA) -> Relation:
    """Return observation-preserved program order."""
    return _preserved(trace, oppo_scope, model)


def rb(trace: Trace) -> Relation:
    """Return reads-before: rf^-1 ; mo without identity (a CAS does not read before its own write)."""
    return trace.rf.inverse().then(trace.mo).without_identity()


def ib_parts(trace: Trace, model: Model = RDMA) -> dict[str, Relation]:
    """Return the relations whose union's transitive closure is ib, by name."""
    return {"ippo": ippo(trace, model), "rf": trace.rf, "pf": trace.pf, "nfo": trace.nfo}


def ib(trace: Trace, model: Model = RDMA) -> Relation:
    """Return issued-before: (ippo + rf + pf + nfo)+."""
    return _union(ib_parts(trace, model)).closure()


def ob_parts(trace: Trace, model: Model = RDMA) -> dict[str, Relation]:
    """Return the relations whose union's transitive closure is ob, by name."""
    return {
        "oppo": oppo(trace, model),
        "rf": trace.rf,
        "[nlW];pf": trace.pf.restrict(nlw(trace)),
        "nfo": trace.nfo,
        "rb": rb(trace),
        "mo": trace.mo,
        "[Inst];ib": ib(trace, model).restrict(inst(trace)),
    }


def ob(trace: Trace, model: Model = RDMA) -> Relation:
    """Return observed-before: (oppo + rf + [nlW];pf + nfo + rb + mo + [Inst];ib)+."""
    return _union(ob_parts(trace, model)).closure()


def sc_parts(trace: Trace) -> dict[str, Relation]:
    """Return the relations whose union is sc, by name."""
    return {"po": trace.po, "rf": trace.rf, "mo": trace.mo, "rb": rb(trace)}


def sc(trace: Trace) -> Relation:
    """Return sc = po + rf + rb + mo (not closed)."""
    return _union(sc_parts(trace))


def rdma_violation(trace: Trace, model: Model = RDMA) -> Cycle | None:
    """Return an ob cycle, or None iff the trace is RDMA-consistent (Definition 3, Theorem 4.1).

    The cycle has the fewest base edges, where those inside an `[Inst];ib` edge count a little more; such an edge carries a
    shortest ib path in `via`.
    """
    parts = ob_parts(trace, model)
    if _union(parts).closure().is_irreflexive():
        return None
    issued = ib_parts(trace, model)
    via = {(a, b): _shortest_path(trace, _links(issued), a, b) for a, b in parts["[Inst];ib"]}
    links = _links(parts, {pair: (BASE_EDGE + 1) * len(path) for pair, path in via.items()})
    cycle = _shortest_cycle(trace, links)
    assert cycle is not None

    def expand(edge: CycleEdge) -> CycleEdge:
        path = via[edge.source.index, edge.target.index] if edge.relation == "[Inst];ib" else ()
        return replace(edge, via=path)

    return Cycle(tuple(expand(edge) for edge in cycle.edges))


def sc_violation(trace: Trace, through: int | None = None) -> Cycle | None:
    """Return a shortest sc cycle, or None iff the trace is SC-consistent (Definition 3).

    With `through`, only cycles through that event count. As po is transitive, a shortest cycle visits each thread at
    most once, with at most two events there (section 6.5 of the paper).
    """
    if sc(trace).closure().is_irreflexive():
        return None
    return _shortest_cycle(trace, _links(sc_parts(trace)), through)


def is_violating(trace: Trace, model: Model = RDMA) -> bool:
    """Return whether the trace is RDMA-consistent but not SC-consistent (Definition 3)."""
    return not sc(trace).closure().is_irreflexive() and ob(trace, model).is_irreflexive()


def _union(parts: Mapping[str, Relation]) -> Relation:
    first, *rest = parts.values()
    for part in rest:
        first = first | part
    return first


def _links(parts: Mapping[str, Relation], costs: Mapping[tuple[int, int], int] | None = None) -> Links:
    """Name every edge after the first relation that has it; edges of [Inst];ib alone cost what `costs` says."""
    links: Links = {}
    for name, part in parts.items():
        for a, b in part:
            cost = costs[a, b] if costs is not None and name == "[Inst];ib" else BASE_EDGE
            links.setdefault(a, {}).setdefault(b, (cost, name))
    return links


def _shortest_cycle(trace: Trace, links: Links, through: int | None = None) -> Cycle | None:
    best: tuple[int, tuple[CycleEdge, ...]] | None = None
    for start in sorted(links) if through is None else [through]:
        edges = _shortest_path(trace, links, start, start)
        cost = sum(links[e.source.index][e.target.index][0] for e in edges)
        if edges and (best is None or cost < best[0]):
            best = (cost, edges)
    return None if best is None else Cycle(best[1])


def _shortest_path(trace: Trace, links: Links, start: int, goal: int) -> tuple[CycleEdge, ...]:
    """Return a cheapest path with at least one edge, or nothing if there is none (Dijkstra's algorithm)."""
    parent: dict[int, int] = {}
    heap = [(cost, b, start) for b, (cost, _) in links.get(start, {}).items()]
    heapify(heap)
    while heap and goal not in parent:
        cost, point, before = heappop(heap)
        if point not in parent:
            parent[point] = before
            for b, (more, _) in links.get(point, {}).items():
                heappush(heap, (cost + more, b, point))
    if goal not in parent:
        return ()
    points = [goal]
    while len(points) == 1 or points[-1] != start:
        points.append(parent[points[-1]])
    return tuple(CycleEdge(trace.events[a], links[a][b][1], trace.events[b]) for b, a in pairwise(points))[::-1]
