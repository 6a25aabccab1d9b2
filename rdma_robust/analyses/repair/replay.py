"""Counterexamples as clauses: which insertions leave a violating trace as it is.

**Projection.** Take a violating trace of the program with a set S of insertions, and drop every event of S. What is left is
a violating trace of the program: reads, writes and their order are untouched, so its sc cycle is. Remote fences only add
order. Where polls are dropped, a later poll of the queue pair takes an earlier operation; but that one was polled by an
event that is program-order before, so what the poll now waits for it waited for already. A flush makes no more
completions than it polls, and its get reads a word that nobody writes into a word that nobody reads. The same holds for
dropping only some insertions: where an earlier poll is dropped, a flush after it makes it up. So *robust stays robust
under insertion*, and a set that does not make the program robust has no subset that does.

**Extension.** In the other direction, put the events of a set T into a trace of the program where its threads come past the
places. A flush makes as many gets and polls as the operations outstanding there call for, a poll that finds nothing
outstanding polls nothing. If what comes out is RDMA-consistent, then for every subset S of T that does not block, the
trace with the events of S is a violating trace of the program with S: at every point T has polled whatever S has polled
(where S makes the same flushes, or T makes more and polls everything there), so that the order that S asks for is part of
the order that T asks for. A refilling flush of a program, which knows only the greatest number of outstanding operations,
may make more gets and polls than the trace does; they follow its first get, and order nothing else. If a poll of the
program finds nothing and was the only way on, then every subset of T that leaves it nothing blocks; if there was another
way, T does not count. So *every solution has an insertion outside of T*. That T is consistent is tested, not argued:
the extended trace goes through the axioms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rdma_robust.analyses.repair.counting import goes_on
from rdma_robust.analyses.repair.repairs import Choice, Choices, Kind
from rdma_robust.analyses.repair.sites import Edge, Flow, Sites
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.model import Model
from rdma_robust.semantics.axioms import inst, ippo, nlw, oppo, rb
from rdma_robust.semantics.event_table import polls_of
from rdma_robust.semantics.relation import Relation
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, Event, EventType, Trace
from rdma_robust.semantics.wellformed import moves

Item = int | Event
"""The number of a place, or an event."""

_Local = tuple[int, tuple[int, ...], int]
"""A point, the values of registers, and how many events are made."""

_ORDER = (Kind.POLL, Kind.DRAIN, Kind.REFILL, Kind.RFENCE)
"""How insertions at one place stand: fences last, behind polls, where they come before as much as they can."""


def in_order(chosen: Choices) -> list[Choice]:
    """Return choices in the order of their places, and of the statements within a place."""
    return sorted(chosen, key=lambda c: (c.place, _ORDER.index(c.kind), c.node, c.copy))


@dataclass(frozen=True)
class Skeleton:
    """A violating trace of the program itself, and the places its threads come past: for each thread its events and places
    in program order. Places behind the last event of a thread are left out: a trace may end before them. `optional` are
    the polls that are not the only way on: a set that leaves them nothing to take need not block.
    """

    trace: Trace
    threads: tuple[tuple[Item, ...], ...]
    optional: frozenset[int]

    @property
    def places(self) -> frozenset[int]:
        return frozenset(item for items in self.threads for item in items if isinstance(item, int))

    def survives(self, chosen: Choices, model: Model) -> bool:
        """Whether every set within `chosen` that does not block leaves the violation possible (the extension lemma)."""
        extended = extend(self, chosen)
        return extended is not None and consistent(extended, model)


def skeleton(sites: Sites, trace: Trace, inserted: Sequence[tuple[int, int]]) -> Skeleton | None:
    """Return the projection of a violating trace of a patched program, whose statements in `inserted` were put in.

    None if no path is found, which the projection lemma excludes; the caller can do without.
    """
    own = frozenset(sites.program.cells)
    kept = [e for e in trace.events if (e.cell in own if e.type is EventType.INIT else not _in(e, inserted))]
    number = {e.index: i for i, e in enumerate(kept)}
    events = [replace(e, index=i, step=None) for i, e in enumerate(kept)]
    bare = Trace(
        tuple(events),
        po=Relation(()),
        pf=Relation(()),
        rf=_renumbered(trace.rf, number),
        mo=_renumbered(trace.mo, number),
        nfo=_renumbered(trace.nfo, number),
    )
    threads: list[tuple[Item, ...]] = []
    optional: set[int] = set()
    for t, flow in enumerate(sites.flows):
        path = _path(flow, sorted((e for e in events if e.thread == t), key=lambda e: e.position))
        if path is None:
            return None
        items: list[Item] = []
        real = flow.thread.entry
        for edge, made in path:
            if edge.place is not None:
                items.append(edge.place)
                continue
            items += made
            polled = polls_of(edge.step.op)
            if polled is not None and goes_on(flow, real, polled, 0, frozenset()):
                optional |= {e.index for e in made}
            real = edge.target
        while items and isinstance(items[-1], int):
            items.pop()
        threads.append(tuple(items))
    return Skeleton(bare, tuple(threads), frozenset(optional))


def _in(event: Event, inserted: Sequence[tuple[int, int]]) -> bool:
    at = event.step.span.start if event.step is not None else -1
    return any(a <= at < b for a, b in inserted)


def _renumbered(relation: Relation, number: dict[int, int]) -> Relation:
    return Relation.of(len(number), ((number[a], number[b]) for a, b in relation if a in number and b in number))


def _path(flow: Flow, events: Sequence[Event]) -> list[tuple[Edge, Sequence[Event]]] | None:
    """Return a path of the marked thread that makes the events, as its edges with the events of each."""
    start = (flow.thread.entry, tuple(value for _, value in flow.thread.registers), 0)
    before: dict[_Local, tuple[_Local, Edge] | None] = {start: None}
    todo = [start]
    while todo:
        now = todo.pop()
        point, values, done = now
        if done == len(events):
            path: list[tuple[Edge, Sequence[Event]]] = []
            while (step := before[now]) is not None:
                path.append((step[1], events[step[0][2] : now[2]]))
                now = step[0]
            return path[::-1]
        for edge in flow.out.get(point, ()):
            if edge.place is not None:
                found = [(0, (edge.target, values))]
            else:
                out = {point: [(edge.target, edge.step)]}
                found = list(moves(flow.thread, out, (point, values), events[done:]))
            for consumed, (target, after) in found:
                state = (target, after, done + consumed)
                if state not in before:
                    before[state] = (now, edge)
                    todo.append(state)
    return None


def extend(skeleton: Skeleton, chosen: Choices) -> Trace | None:
    """Put the events of `chosen` into the trace; a poll that finds nothing polls nothing.

    None if one of the program's polls that finds nothing was not the only way on.
    """
    at: dict[int, list[Choice]] = {}
    for choice in in_order(chosen):
        at.setdefault(choice.place, []).append(choice)
    events = list(skeleton.trace.events)
    pf: list[tuple[int, int]] = []
    for thread, items in enumerate(skeleton.threads):
        position = 0
        unpolled: dict[str, deque[int]] = {}
        for item in items:
            bare = [item] if isinstance(item, Event) else _events(at.get(item, ()), unpolled, thread)
            for e in bare:
                event = replace(e, index=len(events) if e.index < 0 else e.index, position=position)
                events[event.index : event.index + 1] = [event]
                position += 1
                polled = _settle(unpolled, event)
                if event.index in skeleton.optional and not polled:
                    return None
                pf += polled
    return _trace(skeleton.trace, events, pf)


def _settle(unpolled: dict[str, deque[int]], e: Event) -> list[tuple[int, int]]:
    """Note a completion, or return what a poll polls."""
    if e.remote is None:
        return []
    waiting = unpolled.setdefault(e.remote, deque())
    if e.type in NIC_WRITE_TYPES:
        waiting.append(e.index)
    return [(waiting.popleft(), e.index)] if e.type is EventType.P and waiting else []


def _events(choices: Sequence[Choice], unpolled: dict[str, deque[int]], thread: int) -> Iterator[Event]:
    """Make the insertions of a place; a flush reads a word of its own on the other node and writes one here."""
    for choice in choices:
        poll = Event(-1, EventType.P, thread, remote=choice.node)
        match choice.kind:
            case Kind.POLL:
                yield poll
            case Kind.RFENCE:
                yield Event(-1, EventType.NF, thread, remote=choice.node)
            case _:
                polls = len(unpolled.get(choice.node, ())) + 1
                there, here = Cell(choice.node, "$any"), Cell(f"${thread}", f"$scrap {choice.node}")
                for _ in range(1 if choice.kind is Kind.DRAIN else polls):
                    yield Event(-1, EventType.NRR, thread, remote=choice.node, cell=there, read=0)
                    yield Event(-1, EventType.NLW, thread, remote=choice.node, cell=here, written=0)
                for _ in range(polls):
                    yield poll


def _trace(old: Trace, events: list[Event], pf: list[tuple[int, int]]) -> Trace:
    own = len(old.events)
    new = {c: len(events) + i for i, c in enumerate(dict.fromkeys(e.cell for e in events[own:] if e.cell is not None))}
    rf = [*old.rf, *((new[e.cell], e.index) for e in events[own:] if e.type is EventType.NRR and e.cell)]
    mo = [*old.mo]
    writes: dict[Cell | None, list[int]] = {cell: [index] for cell, index in new.items()}
    for e in (e for e in events[own:] if e.type is EventType.NLW):
        mo += ((w, e.index) for w in writes[e.cell])
        writes[e.cell].append(e.index)
    events += (Event(index, EventType.INIT, cell=c, written=c.init) for c, index in new.items())
    n, po = len(events), _program_order(events)
    nfo = Relation.of(n, [*old.nfo, *_new_nfo(events, own, po)])
    return Trace(tuple(events), po, Relation.of(n, pf), Relation.of(n, rf), Relation.of(n, mo), nfo)


def _program_order(events: Sequence[Event]) -> Relation:
    """What `po_of_positions` returns, for long traces."""
    rows = [0] * len(events)
    later: dict[int, int] = {}
    for e in sorted(events, key=lambda e: -e.position):
        if e.thread >= 0:
            rows[e.index] = later.get(e.thread, 0)
            later[e.thread] = rows[e.index] | 1 << e.index
    return Relation(tuple(rows))


def _new_nfo(events: Sequence[Event], own: int, po: Relation) -> Iterator[tuple[int, int]]:
    """Order the NIC events of flushes as the program does."""
    against = {EventType.NRR: EventType.NRW, EventType.NLW: EventType.NLR}
    members: dict[tuple[int, str | None, EventType], list[int]] = {}
    for e in events:
        members.setdefault((e.thread, e.remote, e.type), []).append(e.index)
    for e in events[own:]:
        for other in members.get((e.thread, e.remote, against[e.type]), ()) if e.type in against else ():
            yield (e.index, other) if (e.index, other) in po else (other, e.index)


def consistent(trace: Trace, model: Model) -> bool:
    """Whether a trace is RDMA-consistent: what `ob(trace).is_irreflexive()` tells, without closures, for long traces.

    The graph has the events twice. Edges of ob lie in the first copy; an edge of [Inst];ib goes over to the second,
    follows ib there and comes back. A cycle within the second copy is one of ib, and then there is one of ob (Theorem
    4.1).
    """
    n = len(trace.events)
    issued = (ippo(trace, model) | trace.rf | trace.pf | trace.nfo).rows
    observed = (oppo(trace, model) | trace.rf | trace.pf.restrict(nlw(trace)) | trace.nfo | rb(trace) | trace.mo).rows
    instant = inst(trace)
    first = [row | (issued[a] << n if instant >> a & 1 else 0) for a, row in enumerate(observed)]
    return _acyclic([*first, *(row << n | 1 << a for a, row in enumerate(issued))])


def _acyclic(rows: Sequence[int]) -> bool:
    """Whether a graph, given by a row of bits for each node, has no cycle, by depth-first search."""
    new, open_ = (1 << len(rows)) - 1, 0
    for root in range(len(rows)):
        if not new >> root & 1:
            continue
        path = [root]
        while path:
            node = path[-1]
            new &= ~(1 << node)
            open_ |= 1 << node
            if rows[node] & open_:
                return False
            if ahead := rows[node] & new:
                path.append(ahead.bit_length() - 1)
            else:
                open_ &= ~(1 << path.pop())
    return True
