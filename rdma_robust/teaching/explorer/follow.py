"""How far sequential consistency can follow a run of the RDMA machine: the same reads and the same order of writes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

from rdma_robust.errors import InternalError
from rdma_robust.semantics.machines.effects import SC_VERBS, Effect, effects
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.machines.sc import ScState
from rdma_robust.semantics.trace import READ_TYPES, WRITE_TYPES, Event
from rdma_robust.teaching.explorer.choices_made import Point, Runs
from rdma_robust.teaching.explorer.run_tree import Choices


@dataclass(frozen=True, slots=True)
class Link:
    """`source` must come before `target` under SC, because of `relation`: po, rf, mo, rb, sm, rpf, or `later`: `source` has
    happened and `target`, an access to the same word, is still to come; or `waits`: a message of both has no buffer yet."""

    source: Event
    relation: str
    target: Event


@dataclass(frozen=True, slots=True)
class Followed:
    """`choices` is a run of the SC machine with the effects of the RDMA run.

    If `broken` is not None, only with those before step `broken`: from then on there is no such run, because of `cycle`.
    """

    choices: Choices
    broken: int | None = None
    cycle: tuple[Link, ...] = ()


def follow(sc: Runs, points: Sequence[Point]) -> Followed:
    """Return what SC can do of a run of the RDMA machine, given by the points after each of its steps.

    SC can follow as long as program order and the conflicts between accesses to one word have no cycle: those that have
    happened in their order, and those of posted operations, which nothing can stop, after them. Then an order of the
    events without the cycle is an SC run with the same reads-from and the same order of writes; what is posted and not
    needed for it is left out. With a cycle every completion of the RDMA run is a violating trace, see docs/theory.md,
    "What is decided". Raises InternalError if the SC machine cannot run the order.
    """
    broken = bisect_left(range(1, len(points) + 1), True, key=lambda k: not nx.is_directed_acyclic_graph(_graph(points[:k])))
    done = effects(points[:broken])
    first = tuple(p.choice for p in points[:1] if p.move is not None and p.move.action.verb is Verb.START)
    choices = (*first, *_schedule(sc, first, done))
    if broken == len(points):
        return Followed(choices)
    events = effects(points[: broken + 1])
    return Followed(choices, broken + 1, cycle_of(order_graph(events), events))


def _graph(points: Sequence[Point]) -> nx.DiGraph[int]:
    return order_graph(effects(points))


def order_graph(events: Sequence[Effect]) -> nx.DiGraph[int]:
    """Return what must come before what under SC, without edges that others imply; nodes are the events' indices."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(events)))
    last: dict[int, int] = {}
    for effect in events:
        event = effect.event
        if event.thread in last:
            graph.add_edge(last[event.thread], event.index, relation="po")
        last[event.thread] = event.index
    happened = sorted((e for e in events if e.step is not None), key=lambda e: e.step or 0)
    writer: dict[object, int] = {}
    readers: dict[object, list[int]] = {}
    for effect in [*happened, *(e for e in events if e.step is None)]:
        event = effect.event
        if event.cell is None:
            continue
        later = effect.step is None
        reads, writes = event.type in READ_TYPES, event.type in WRITE_TYPES
        if event.cell in writer:
            _join(graph, writer[event.cell], event.index, "later" if later else "rf" if reads else "mo")
        if writes:
            for reader in readers.get(event.cell, ()):
                _join(graph, reader, event.index, "later" if later else "rb")
        if not later and writes:
            writer[event.cell] = event.index
            readers[event.cell] = []
        elif not later:
            readers.setdefault(event.cell, []).append(event.index)
    return graph


def _join(graph: nx.DiGraph[int], source: int, target: int, relation: str) -> None:
    """Add an edge, unless program order or an earlier reason has it already."""
    if source != target and not graph.has_edge(source, target):
        graph.add_edge(source, target, relation=relation)


def cycle_of(graph: nx.DiGraph[int], events: Sequence[Effect]) -> tuple[Link, ...]:
    """Return a shortest cycle, neighbouring steps of program order as one. Raises InternalError if there is none."""
    best: list[int] = []
    for component in nx.strongly_connected_components(graph):
        part = graph.subgraph(component)
        for source, target in sorted(part.edges):
            if part.edges[source, target]["relation"] != "po":
                path = nx.shortest_path(part, target, source)
                if not best or len(path) < len(best):
                    best = path
    if not best:
        raise InternalError("there is no cycle where sequential consistency cannot follow")
    pairs = list(zip([best[-1], *best[:-1]], best, strict=True))
    # The conflict about what has just happened comes first.
    conflicts = [k for k, pair in enumerate(pairs) if graph.edges[pair]["relation"] != "po"]
    first = max(conflicts, key=lambda k: events[pairs[k][0]].step or 0)
    links: list[Link] = []
    for source, target in [*pairs[first:], *pairs[:first]]:
        relation = graph.edges[source, target]["relation"]
        if links and relation == "po" == links[-1].relation:
            links[-1] = Link(links[-1].source, "po", events[target].event)
        else:
            links.append(Link(events[source].event, relation, events[target].event))
    return tuple(links)


def _schedule(sc: Runs, first: Choices, events: Sequence[Effect]) -> Choices:
    """Return the choices of the SC machine for the events that have happened and what comes before them in their threads."""
    last: dict[int, int] = {}
    for effect in events:
        if effect.step is not None:
            last[effect.event.thread] = effect.event.position
    needed = {e.event.index for e in events if e.event.position <= last.get(e.event.thread, -1)}
    order = nx.lexicographical_topological_sort(
        order_graph(events).subgraph(needed), key=lambda i: (events[i].step or events[i].posted, i)
    )
    point = sc.point(first)
    choices = []
    for i in order:
        choices.append(_choice(sc, point, events[i]))
        point = sc.after(point, choices[-1])
    return tuple(choices)


def _choice(sc: Runs, point: Point, effect: Effect) -> int:
    event = effect.event
    for i, move in enumerate(sc.moves(point)):
        action = move.action
        if action.thread != event.thread or action.step != event.step or action.verb is not SC_VERBS[event.type]:
            continue
        if effect.step is not None and not _same_values(action, event):
            continue
        if effect.landing is None or effect.landing == _place(move.state, event.thread):
            return i
    raise InternalError("the SC machine cannot follow although no cycle says so")


def _same_values(action: Action, event: Event) -> bool:
    return (action.read, action.written) == (event.read, event.written)


def _place(state: ScState, thread: int) -> tuple[int, tuple[int, ...]]:
    return state.threads[thread].point, state.threads[thread].registers
