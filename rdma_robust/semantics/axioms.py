"""The axioms over traces: every derived relation under its paper name, and the two consistency conditions.

Source: docs/model.md, "Preserved order"; docs/deployed.md, "Consistency"; Definitions 2 and 3 of the paper. A trace
handed to these functions is assumed well-formed (:func:`rdma_robust.semantics.wellformed.check_well_formed`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import pairwise

from rdma_robust.language.flow.cfg import Cell
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.kinds import Kind, kinds_of, memory_of, type_of
from rdma_robust.semantics.order_table import (
    Scope,
    behind_poll,
    delayed_types,
    ippo_scope,
    oppo_scope,
    receives_of_own,
    tells_of,
    visible_when_polled,
)
from rdma_robust.semantics.trace import Cycle, CycleEdge, Event, EventType, Relation, Trace
from rdma_robust.semantics.vertices import (
    TOGETHER,
    as_steps,
    at_once,
    data_and_messages,
    edge_inside,
    of_threads,
    read_and_writes,
    sections,
    steps_of,
    within_step,
)

Links = dict[int, dict[int, tuple[int, str]]]
"""For every edge its cost and the name of its relation."""

BASE_EDGE = 100
"""What an edge costs when cycles are compared."""


def events_of(trace: Trace, types: Collection[EventType]) -> int:
    """Return the set of events of these types, as bits."""
    return sum(1 << e.index for e in trace.events if e.type in types)


def inst(trace: Trace, model: Model = RDMA) -> int:
    """Return Inst as bits: the instantaneous events, which are all but the NIC writes and, under tso, the stores."""
    return ((1 << len(trace.events)) - 1) & ~events_of(trace, delayed_types(model))


def nlw(trace: Trace, model: Model = RDMA) -> int:
    """Return the NIC local writes as bits, but those to memory behind the card, which a poll does not show; where a polled
    completion tells that a remote write was placed, the remote writes too."""
    return sum(1 << i for i, kind in enumerate(kinds_of(trace.events)) if visible_when_polled(kind, model))


def same_qp(trace: Trace) -> Relation:
    """Return the pairs of events of one queue pair (thread, remote node); polls belong to theirs."""
    members: dict[tuple[int, str], int] = {}
    for e in trace.events:
        if e.remote is not None:
            members[e.thread, e.remote] = members.get((e.thread, e.remote), 0) | 1 << e.index
    return Relation(tuple(0 if e.remote is None else members[e.thread, e.remote] for e in trace.events))


def _preserved(trace: Trace, scope: Callable[[Kind, Kind, Model], Scope], model: Model) -> Relation:
    """Row by row: of what is po-after an event, the events of the kinds that the table keeps everywhere, on its queue pair,
    or there on its word."""
    kinds = kinds_of(trace.events)
    members: dict[Kind, int] = {}
    for e, kind in zip(trace.events, kinds, strict=True):
        if e.type is not EventType.INIT:
            members[kind] = members.get(kind, 0) | 1 << e.index
    everywhere: dict[Kind, int] = {}
    nearby: dict[Kind, int] = {}
    of_word: dict[Kind, int] = {}
    apart = False
    for earlier in members:
        scopes = {later: scope(earlier, later, model) for later in members}
        everywhere[earlier] = sum(members[later] for later, kept in scopes.items() if kept == "all")
        nearby[earlier] = sum(members[later] for later, kept in scopes.items() if kept == "qp")
        of_word[earlier] = sum(members[later] for later, kept in scopes.items() if kept == "word")
        apart |= any((type_of(earlier), type_of(k)) in TOGETHER for k, kept in scopes.items() if kept == "-")
    qp = same_qp(trace).rows
    po = trace.po.rows
    words = _same_word(trace) if any(of_word.values()) else [0] * len(kinds)
    rows = [
        (everywhere.get(kind, 0) | (nearby.get(kind, 0) | of_word.get(kind, 0) & words[e.index]) & qp[e.index]) & po[e.index]
        for e, kind in zip(trace.events, kinds, strict=True)
    ]
    if apart:
        for a, b in same_operation(trace):
            rows[a] |= 1 << b
    return Relation(tuple(rows))


def _same_word(trace: Trace) -> list[int]:
    """For each event those that access its word, as bits."""
    members: dict[Cell | None, int] = {None: 0}
    for e in trace.events:
        if e.cell is not None:
            members[e.cell] = members.get(e.cell, 0) | 1 << e.index
    return [members[e.cell] for e in trace.events]


def same_operation(trace: Trace) -> Relation:
    """Return the pairs of a card's read and a write of the same operation, which no table takes apart."""
    return _of_threads(trace, read_and_writes)


def _of_threads(trace: Trace, pairs: Callable[[Sequence[Event]], Iterator[tuple[int, int]]]) -> Relation:
    """Return the relation of the pairs of places that are found in the events of each thread."""
    found = [(mine[a].index, mine[b].index) for mine in of_threads(trace) for a, b in pairs(mine)]
    return Relation.of(len(trace.events), found)


def ippo(trace: Trace, model: Model = RDMA) -> Relation:
    """Return issue-preserved program order; what completions add to it is in poll_order;ippo anyway."""
    return _preserved(trace, ippo_scope, model)


def oppo(trace: Trace, model: Model = RDMA) -> Relation:
    """Return observation-preserved program order, also that which completions give."""
    kept = _preserved(trace, oppo_scope, model)
    ordered = behind_poll(model)
    if ordered is None or not trace.pf:
        return kept
    return kept | polled_between(trace) & _preserved(trace, oppo_scope, ordered)


def polled_between(trace: Trace) -> Relation:
    """Return the pairs of events of cards on one queue pair with a poll between them, in po, that has taken the completion
    of the first one's operation, or of a later operation of the queue pair."""
    same = same_qp(trace)
    behind = Relation(tuple(same.rows[e.index] & trace.po.rows[e.index] | 1 << e.index for e in trace.events))
    return behind.then(trace.pf).then(trace.po) & same


def rb(trace: Trace) -> Relation:
    """Return reads-before: rf^-1 ; mo without identity (a CAS does not read before its own write)."""
    return trace.rf.inverse().then(trace.mo).without_identity()


def poll_order(trace: Trace) -> Relation:
    """Return pf with what a poll also tells: that every earlier operation of the queue pair has completed.

    Of the earlier ones only those without a completion need an edge of their own: the others have an earlier poll.
    """
    quiet = [e for e in trace.events if e.completing and e.unsignaled]
    if not quiet:
        return trace.pf
    rows = list(trace.pf.rows)
    for a, p in trace.pf:
        for e in quiet:
            if e.remote == trace.events[a].remote and (e.index, a) in trace.po:
                rows[e.index] |= 1 << p
    return Relation(tuple(rows))


def posted_behind_stores(trace: Trace, model: Model = RDMA) -> Relation:
    """Return [lW];oppo;pf: a request leaves the store buffer behind earlier stores, so a polled completion tells that
    these have left it. Only of inline requests this does not follow: others read by the card first, which is in Inst."""
    return oppo(trace, model).restrict(events_of(trace, (EventType.LW,))).then(poll_order(trace))


def receive_order(trace: Trace, model: Model = RDMA, *, landed: bool = True) -> Relation | None:
    """Return rpf as ob has it, or, if it need not have `landed`, as ib has it; None if there is none.

    A receive completion stays behind all earlier remote writes and atomics of the sender's queue pair, or of the same
    request, also those that may be overtaken by its message; of words behind the card it tells only that they were issued.
    """
    if trace.rpf is None:
        return None
    kinds = kinds_of(trace.events)
    if receives_of_own(model):
        besides = _of_threads(trace, data_and_messages)
    else:
        messages = {message for message, _ in trace.rpf}
        before = trace.po & same_qp(trace)
        told = ((a, b) for a, b in before if b in messages and tells_of(kinds[a], kinds[b], model))
        besides = Relation.of(len(trace.events), told)
    found = trace.rpf | besides.then(trace.rpf)
    return found.restrict(sum(1 << i for i, kind in enumerate(kinds) if not memory_of(kind))) if landed else found


def _deployed(trace: Trace, model: Model, *, landed: bool) -> dict[str, Relation]:
    """The relations of remote atomics and messages that ib and ob (`landed`) have, by name, as far as there are any."""
    parts = {"rao": trace.rao, "sm": trace.sm, "rpf": receive_order(trace, model, landed=landed)}
    return {name: part for name, part in parts.items() if part is not None}


def _within_threads(trace: Trace, relation: Relation, source: EventType, target: EventType) -> Relation:
    events = trace.events
    pairs = ((events[a], events[b]) for a, b in relation)
    inside = ((a, b) for a, b in pairs if a.thread == b.thread >= 0 and a.type is source and b.type is target)
    return Relation.of(len(events), ((a.index, b.index) for a, b in inside))


def rfb(trace: Trace, model: Model = RDMA) -> Relation:
    """Return the rf edges by which a CPU reads its own store out of its store buffer, or could; none without buffers."""
    rf = trace.rf if model.cpu == "tso" else Relation.of(len(trace.events), ())
    return _within_threads(trace, rf, EventType.LW, EventType.LR)


def rbb(trace: Trace, model: Model = RDMA) -> Relation:
    """Return the rb edges from a CPU's read to a store of its own, where there are store buffers; none without."""
    before = rb(trace) if model.cpu == "tso" else Relation.of(len(trace.events), ())
    return _within_threads(trace, before, EventType.LR, EventType.LW)


def ib_parts(trace: Trace, model: Model = RDMA) -> dict[str, Relation]:
    """Return the relations whose union's transitive closure is ib, by name."""
    parts = {"ippo": ippo(trace, model), "rf": trace.rf, "pf": poll_order(trace), "nfo": trace.nfo}
    return parts | _deployed(trace, model, landed=False) | ({"rbb": rbb(trace, model)} if model.cpu == "tso" else {})


def ib(trace: Trace, model: Model = RDMA) -> Relation:
    """Return issued-before: (ippo + rf + rbb + pf + nfo + rao + sm + rpf)+."""
    return at_once(united(ib_parts(trace, model)), trace).closure()


def observed_parts(trace: Trace, model: Model = RDMA) -> dict[str, Relation]:
    """Return the relations of :func:`ob_parts` but [Inst];ib."""
    seen = trace.rf.minus(rfb(trace, model)) if model.cpu == "tso" else trace.rf
    polled = poll_order(trace).restrict(nlw(trace, model))
    first = {"oppo": oppo(trace, model), "rf": seen, "[nlW];pf": polled, "nfo": trace.nfo}
    if model.cpu == "tso":
        first["[lW];oppo;pf"] = posted_behind_stores(trace, model)
    return first | _deployed(trace, model, landed=True) | {"rb": rb(trace), "mo": trace.mo}


def ob_parts(trace: Trace, model: Model = RDMA) -> dict[str, Relation]:
    """Return the relations whose union's transitive closure is ob, by name; `rf` is without rfb."""
    return observed_parts(trace, model) | {"[Inst];ib": ib(trace, model).restrict(inst(trace, model))}


def ob(trace: Trace, model: Model = RDMA) -> Relation:
    """Return observed-before: (oppo + (rf - rfb) + [nlW];pf + nfo + rao + sm + rpf + rb + mo + [Inst];ib)+, under tso also
    with [lW];oppo;pf."""
    return at_once(united(ob_parts(trace, model)), trace).closure()


def sc_parts(trace: Trace) -> dict[str, Relation]:
    """Return the relations whose union is sc, by name, between events; `turn` is what fills a buffer before its turn."""
    parts = {"po": trace.po, "rf": trace.rf, "mo": trace.mo, "rb": rb(trace), "sm": trace.sm, "rpf": trace.rpf}
    if (turns := trace.turns) is not None:
        parts |= {"sm": turns.without_identity(), "turn": turns.minus(turns.without_identity())}
    return {name: part for name, part in parts.items() if part is not None}


def sc(trace: Trace) -> Relation:
    """Return sc = po + rf + rb + mo + sm + rpf (not closed), where naR and naW of one read-modify-write are one vertex,
    that of the naR, and so are the events of a locked section, that of the first."""
    return as_steps(trace, united(sc_parts(trace)), steps_of(trace))


def is_consistent(trace: Trace, model: Model = RDMA) -> bool:
    """Return whether the trace is RDMA-consistent: whether :func:`rdma_violation` finds no cycle."""
    return ob(trace, model).is_irreflexive()


def rdma_violation(trace: Trace, model: Model = RDMA) -> Cycle | None:
    """Return an ob cycle, or None iff the trace is RDMA-consistent (Definition 3, Theorem 4.1).

    The cycle has the fewest base edges, where those inside an `[Inst];ib` edge count a little more; such an edge carries a
    shortest ib path in `via`.
    """
    if is_consistent(trace, model):
        return None
    parts, steps = ob_parts(trace, model), sections(trace)
    if steps:
        parts = {name: as_steps(trace, part, steps) for name, part in parts.items()}
    issued = {name: as_steps(trace, part, steps) for name, part in ib_parts(trace, model).items()}
    by_issue = _links(issued)
    via = {(a, b): _shortest_path(trace, by_issue, a, b) for a, b in parts["[Inst];ib"]}
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
    most once, with at most two events there (section 6.5 of the paper). Where it comes to the naW and goes on from the naR
    of one read-modify-write, which is one vertex, it has an edge `rmw` between them, between events of a locked section one
    that is called `section`.
    """
    if sc(trace).closure().is_irreflexive():
        return None
    steps = steps_of(trace)
    parts = sc_parts(trace)
    if not steps:
        return _shortest_cycle(trace, _links(parts), through)
    merged = {name: as_steps(trace, part, steps) for name, part in parts.items()}
    start = None if through is None else steps.get(through, through)
    cycle = _shortest_cycle(trace, _links(merged), start)
    return None if cycle is None else _taken_apart(trace, cycle, parts, steps)


def _taken_apart(trace: Trace, cycle: Cycle, parts: Mapping[str, Relation], steps: Mapping[int, int]) -> Cycle:
    """Return the cycle between events of a cycle between vertices."""
    members: dict[int, tuple[int, ...]] = {}
    for event, first in steps.items():
        members[first] = (*members.get(first, (first,)), event)
    ends = []
    for edge in cycle.edges:
        sources, targets = (members.get(e.index, (e.index,)) for e in (edge.source, edge.target))
        found = (
            (a, b)
            for a in sources
            for b in targets
            if (a, b) in parts[edge.relation] and not within_step(trace, steps, a, b)
        )
        ends.append((*next(found), edge.relation))
    edges = []
    for (_, before, _), (a, b, relation) in zip([ends[-1], *ends[:-1]], ends, strict=True):
        if before != a:
            inside = edge_inside(trace, before)
            edges.append(CycleEdge(trace.events[before], inside, trace.events[a]))
        edges.append(CycleEdge(trace.events[a], relation, trace.events[b]))
    return Cycle(tuple(edges))


def is_violating(trace: Trace, model: Model = RDMA) -> bool:
    """Return whether the trace is RDMA-consistent but not SC-consistent (Definition 3)."""
    return not sc(trace).closure().is_irreflexive() and is_consistent(trace, model)


def united(parts: Mapping[str, Relation]) -> Relation:
    """Return the union of relations by name."""
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
