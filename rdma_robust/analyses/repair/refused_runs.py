"""Refusals from runs: the path on which a program with insertions has come to a poll that must not be there, or the place
at which it has made a choice too early, as something that all sets must keep."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rdma_robust.analyses.repair.counting import Exactly, Nothing, OutstandingWalk, Refusal
from rdma_robust.analyses.repair.keeping import Deviation, DoneStep, where_of
from rdma_robust.analyses.repair.repairs import Choices
from rdma_robust.analyses.repair.sites import Flow, MarkedEdge, Sites
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import Silent, Step
from rdma_robust.semantics.event_table import completes_on, polls_of


def refused_by(sites: Sites, chosen: Choices, broken: Deviation) -> Refusal:
    """Return what a run of the program with `chosen` says of all sets."""
    if not broken.alone:
        return Exactly(chosen, _all_of(sites, None))
    here = frozenset(c for c in chosen if sites.places[c.place].thread == broken.thread)
    flow = sites.flows[broken.thread]
    path = path_of(sites, flow, here, broken)
    if broken.how == "waits" and broken.last is not None and not _go_on(sites, broken.thread):
        path = None
    found = None if path is None else _of_path(flow, here, broken, path)
    return found or Exactly(here, _all_of(sites, broken.thread))


def _of_path(flow: Flow, here: Choices, broken: Deviation, path: list[MarkedEdge]) -> Refusal | None:
    """Return what the path of a run says, None if it says nothing of other sets."""
    occupied = {c.place for c in here}
    real = flow.thread.entry
    since: list[int] = []
    for edge in path[:-1] if broken.last is not None else path:
        if edge.place is None:
            real, since = edge.target, []
        elif edge.place in occupied:
            since.append(edge.place)
    if broken.last is None:
        return Nothing(since[0]) if len(since) == 1 else None
    node = polls_of(broken.last.step.op)
    assert node is not None
    walk, last = OutstandingWalk(flow, node, here), path[-1]
    if broken.how == "waits":
        operation = _waited_for(broken, node)
        return None if operation is None else walk.waited_for(path, operation)
    if broken.how != "poll" or not flow.idle(real, last):
        return walk.reason(path, int(broken.how == "poll"))
    if since and not flow.idle(flow.marks[since[-1]].target, last):
        return walk.reason(path, 1, walk.occupied[since[-1]])
    return None


def _go_on(sites: Sites, thread: int) -> bool:
    """Whether all other threads go the ways of a run with all sets that stand: no poll of theirs could be left out."""
    others = [flow for t, flow in enumerate(sites.flows) if t != thread]
    polls = [(flow, e) for flow in others for edges in flow.out.values() for e in edges if polls_of(e.step.op) is not None]
    return not any(flow.shared(poll) or flow.idle(poll.source, poll) for flow, poll in polls)


def _waited_for(broken: Deviation, node: str) -> int | None:
    """Return the number, of the program's operations on a queue pair, of that whose completion is next for a thread that
    waits there forever; None if that is an inserted get."""
    completing = [taken for taken in broken.done if completes_on(taken.step.op) == node]
    done = sum(polls_of(taken.step.op) == node for taken in broken.done)
    if done >= len(completing) or completing[done].at is None:
        return None
    return sum(taken.at is not None for taken in completing[:done])


def _all_of(sites: Sites, thread: int | None) -> frozenset[int]:
    """The places of a thread, or of all."""
    return frozenset(k for k, place in enumerate(sites.places) if thread in (None, place.thread))


def path_of(sites: Sites, flow: Flow, chosen: Choices, broken: Deviation) -> list[MarkedEdge] | None:
    """Return the path of the marked thread on which a run has come to where it broke, the poll there included."""
    back = where_of(sites.edits)
    number = Counter(c.place for c in chosen)
    steps = broken.done if broken.last is None else (*broken.done, broken.last)
    start = (flow.thread.entry, 0)
    before: dict[tuple[int, int], tuple[tuple[int, int], MarkedEdge | None] | None] = {start: None}

    def ahead(edge: MarkedEdge, done: int) -> int | None:
        """How many steps are done behind an edge, None if it is not the next one."""
        if edge.place is None:
            taken = steps[done]
            same = taken.at is not None and taken.at == back(edge.step.span.start) and _alike(taken.step, edge.step)
            return done + 1 if same else None
        after = min(done + number[edge.place], len(steps))
        return None if any(taken.at is not None for taken in steps[done:after]) else after

    todo = [start]
    while todo:
        now = todo.pop()
        point, done = now
        if done == len(steps):
            path: list[MarkedEdge] = []
            while (step := before[now]) is not None:
                now, edge = step
                path += [] if edge is None else [edge]
            return path[::-1]
        following = ((edge, ahead(edge, done)) for edge in flow.out.get(point, ()))
        found: list[tuple[tuple[int, int], MarkedEdge | None]] = [((e.target, n), e) for e, n in following if n is not None]
        if _is_idle(steps[done]):
            found.append(((point, done + 1), None))
        for there, by in found:
            if there not in before:
                before[there] = (now, by)
                todo.append(there)
    return None


def _is_idle(taken: DoneStep) -> bool:
    """Whether a step does nothing: then a mark may stand for it."""
    return isinstance(taken.step.op, Silent) and taken.step.guard == TRUE and not taken.step.assigns


def _alike(one: Step, other: Step) -> bool:
    return replace(one, span=NO_SPAN, fault=None) == replace(other, span=NO_SPAN, fault=None)
