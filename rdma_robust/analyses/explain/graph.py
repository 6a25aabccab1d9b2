"""The execution graph of a witness, with as few edges as say everything."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

from rdma_robust.analyses.explain.explanation import Edge, Graph, Node, Relation
from rdma_robust.analyses.explain.timeline import cpu_lane, nic_lane
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.outcome import Witness
from rdma_robust.semantics.axioms import oppo, rb
from rdma_robust.semantics.relation import Relation as Pairs
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType, Trace
from rdma_robust.semantics.wording import Words

ORDER: tuple[Relation, ...] = ("po", "oppo", "rf", "mo", "rb", "pf", "nfo")


def graph(program: Program, witness: Witness, model: Model) -> Graph:
    """Return the graph of the events of `witness` and of the initial writes that they read."""
    trace = witness.trace
    words = Words(program)
    relations = drawn_relations(trace, model)
    cycle = {(e.source.index, e.target.index): cast(Relation, e.relation) for e in witness.cycle.edges}
    texts = {(e.source.index, e.target.index): words.edge(e.source, e.relation, e.target) for e in witness.cycle.edges}
    on_cycle = {i for pair in cycle for i in pair}
    initial = {a for a, _ in relations["rf"] if trace.events[a].type is EventType.INIT} | on_cycle
    shown = [e for e in trace.events if e.type is not EventType.INIT or (e.index in initial and not _hidden(e))]
    ids = {e.index for e in shown}
    merged: dict[tuple[int, int], list[Relation]] = {}
    for name in ORDER:
        extra = {pair for pair, used in cycle.items() if used == name}
        for pair in sorted({*relations[name], *extra}):
            if ids.issuperset(pair):
                merged.setdefault(pair, []).append(name)
    kept = oppo(trace, model)
    for pair, names in merged.items():
        if "po" in names and "oppo" not in names and pair in kept:
            names.insert(1, "oppo")
    rows = {e.index: n for n, e in enumerate(witness.order, 1)}
    return Graph(
        tuple(_node(words, e, rows.get(e.index, 0), e.index in on_cycle, e == witness.pivot) for e in shown),
        tuple(
            Edge(a, b, tuple(names), cycle.get((a, b)), texts.get((a, b), "")) for (a, b), names in sorted(merged.items())
        ),
    )


def drawn_relations(trace: Trace, model: Model) -> dict[Relation, set[tuple[int, int]]]:
    """Return the relations of a trace without what follows from the rest: po, mo, nfo and oppo between neighbours, rb to the
    first later write, oppo only where po edges between neighbours do not imply it."""
    mo = _neighbours(trace.mo)
    stores = {(a, b) for a, b in mo if trace.events[a].type is not EventType.INIT}
    po = _program_order(trace)
    kept = oppo(trace, model)
    implied = Pairs.of(len(trace.events), [pair for pair in po if pair in kept]).closure()
    return {
        "po": po,
        "rf": set(trace.rf),
        "mo": stores,
        "rb": {(a, b) for a, b in rb(trace) if any((w, b) in mo for w, r in trace.rf if r == a)},
        "pf": set(trace.pf),
        "nfo": _neighbours(trace.nfo),
        "oppo": {pair for pair in _neighbours(kept) if pair not in implied},
    }


def _hidden(event: Event) -> bool:
    return event.cell is not None and event.cell.hidden


def _program_order(trace: Trace) -> set[tuple[int, int]]:
    threads: dict[int, list[Event]] = {}
    for event in trace.events:
        if event.thread >= 0:
            threads.setdefault(event.thread, []).append(event)
    ordered = [sorted(events, key=lambda e: e.position) for events in threads.values()]
    return {(a.index, b.index) for events in ordered for a, b in pairwise(events)}


def _neighbours(relation: Pairs) -> set[tuple[int, int]]:
    """Return the transitive reduction of an acyclic relation."""
    closed = relation.closure()
    between = closed.then(closed)
    return {pair for pair in relation if pair not in between}


def _node(words: Words, event: Event, row: int, on_cycle: bool, pivot: bool) -> Node:
    program = words.program
    lane = None
    if event.thread >= 0:
        nic = event.type not in CPU_TYPES and event.remote is not None
        lane = nic_lane(program, event.thread, event.remote or "") if nic else cpu_lane(program, event.thread)
    return Node(
        id=event.index,
        type=event.type.value,
        lane=lane,
        thread=program.threads[event.thread].name if event.thread >= 0 else None,
        row=row,
        position=event.position,
        line=event.step.span.line if event.step else None,
        label=words.label(event),
        text=words.clause(event),
        on_cycle=on_cycle,
        pivot=pivot,
    )
