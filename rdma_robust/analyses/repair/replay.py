"""Skeletons of counterexamples with insertions: the events of the program itself, and the places that its threads pass.

That is no trace of the program perhaps, since its polls may take something else there; `extension` says what it is good
for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rdma_robust.analyses.repair.keeping import Where, where_of
from rdma_robust.analyses.repair.sites import Flow, MarkedEdge, Sites
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.event_table import completes_on, polls_of
from rdma_robust.semantics.trace import Event, EventType, Relation, Trace
from rdma_robust.semantics.wellformed import moves

Item = int | Event
"""The number of a place, or an event."""

_Local = tuple[int, tuple[int, ...], int]
"""A point, the values of registers, and how many events are made."""


@dataclass(frozen=True, slots=True)
class ThreadArrival:
    """Where thread number `thread` is when it has made its events: what has gone wrong with its last step, as kind and
    offset in the program's text; whether it has ended; its registers."""

    thread: int
    fault: tuple[str, int | None] | None
    ended: bool
    registers: Mapping[str, int]


End = Callable[[ThreadArrival], bool]
"""Whether what a counterexample shows is there, as far as a thread tells."""


def anywhere(_there: ThreadArrival) -> bool:
    """Of a counterexample that is one by its events alone."""
    return True


@dataclass(frozen=True)
class Skeleton:
    """A violating trace of the program itself, and the places its threads come past: for each thread its events and places
    in program order. Places behind the last event of a thread are left out: a trace may end before them. `optional` are
    the polls that are not the only way on: a set that leaves them nothing to take need not block. Of events only answers
    have steps: their order depends on what the request has read.
    """

    trace: Trace
    threads: tuple[tuple[Item, ...], ...]
    optional: frozenset[int]

    @property
    def places(self) -> frozenset[int]:
        return frozenset(item for items in self.threads for item in items if isinstance(item, int))


def skeleton(
    sites: Sites, trace: Trace, inserted: Sequence[tuple[int, int]], model: Model = RDMA, end: End = anywhere
) -> Skeleton | None:
    """Return the projection of a violating trace of a patched program, whose statements in `inserted` were put in, and whose
    threads come to the `end`.

    None if no path is found, which the projection lemma excludes, or if a poll of the program has only what was put in to
    take; the caller can do without.
    """
    own = frozenset(sites.program.cells)
    kept = [e for e in trace.events if (e.cell in own if e.type is EventType.INIT else not _in(e, inserted))]
    number = {e.index: i for i, e in enumerate(kept)}
    events = [replace(e, index=i, step=None) for i, e in enumerate(kept)]
    nothing = Relation.of(len(events), ())
    bare = trace.over(events, number, po=nothing, pf=nothing)
    threads: list[tuple[Item, ...]] = []
    optional: set[int] = set()
    back = where_of(sites.edits)
    for t, flow in enumerate(sites.flows):
        mine = sorted((e for e in events if e.thread == t), key=lambda e: e.position)
        path = _path(flow, mine, model, _Ends(t, flow, back, end))
        if path is None:
            return None
        items: list[Item] = []
        real = flow.thread.entry
        have: Counter[str] = Counter()
        for edge, made in path:
            if edge.place is not None:
                items.append(edge.place)
                continue
            items += (replace(e, step=kept[e.index].step) if e.type is EventType.NLW else e for e in made)
            if (node := polls_of(edge.step.op)) is not None:
                if flow.shared(edge) or flow.idle(real, edge):
                    optional |= {e.index for e in made}
                if made and not have[node]:
                    return None
            have[node or ""] -= bool(made)
            have[completes_on(edge.step.op) or ""] += bool(made)
            real = edge.target
        while items and isinstance(items[-1], int):
            items.pop()
        threads.append(tuple(items))
    return Skeleton(bare, tuple(threads), frozenset(optional))


@dataclass(frozen=True, slots=True)
class _Ends:
    """The test whether the path of one thread may end behind an edge of the marked program."""

    thread: int
    flow: Flow
    back: Where
    end: End

    def __call__(self, last: MarkedEdge | None, local: _Local) -> bool:
        point, values, _ = local
        fault = None if last is None else last.step.fault
        wrong = None if fault is None else (fault.kind, self.back(fault.span.start))
        registers = dict(zip((name for name, _ in self.flow.thread.registers), values, strict=True))
        return self.end(ThreadArrival(self.thread, wrong, point == self.flow.thread.exit, registers))


def _in(event: Event, inserted: Sequence[tuple[int, int]]) -> bool:
    at = event.step.span.start if event.step is not None else -1
    return any(a <= at < b for a, b in inserted)


def _path(flow: Flow, events: Sequence[Event], model: Model, end: _Ends) -> list[tuple[MarkedEdge, Sequence[Event]]] | None:
    """Return a path of the marked thread that makes the events and comes to the end: its edges with the events of each."""
    start = (flow.thread.entry, tuple(value for _, value in flow.thread.registers), 0)
    before: dict[_Local, tuple[_Local, MarkedEdge] | None] = {start: None}
    todo = [start]
    while todo:
        now = todo.pop()
        point, values, done = now
        last = before[now]
        if done == len(events) and end(None if last is None else last[1], now):
            path: list[tuple[MarkedEdge, Sequence[Event]]] = []
            while (step := before[now]) is not None:
                path.append((step[1], events[step[0][2] : now[2]]))
                now = step[0]
            return path[::-1]
        for edge in flow.out.get(point, ()):
            if edge.place is not None:
                found = [(0, (edge.target, values))]
            else:
                out = {point: [(edge.target, edge.step)]}
                found = list(moves(flow.thread, out, (point, values), events[done:], model=model))
            for consumed, (target, after) in found:
                state = (target, after, done + consumed)
                if state not in before:
                    before[state] = (now, edge)
                    todo.append(state)
    return None
