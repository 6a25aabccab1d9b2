"""Events that are one vertex of a trace: the naR and the naW of a remote read-modify-write, those of a locked section, those
of a round of a barrier.

For sequential consistency all are one step. What happens between `lock` and `unlock` is one for everybody, and so is a round
of a barrier: in ib and ob as well, whatever comes before or after one of its events does so for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from rdma_robust.semantics.relation import Relation
from rdma_robust.semantics.rounds import rounds_of
from rdma_robust.semantics.same_operation import read_modify_writes
from rdma_robust.semantics.trace import Event, EventType, Trace


def of_threads(trace: Trace) -> list[list[Event]]:
    """The events of every thread that has some, in program order."""
    found: dict[int, list[Event]] = {}
    for e in trace.events:
        if e.thread >= 0:
            found.setdefault(e.thread, []).append(e)
    return [sorted(mine, key=lambda e: e.position) for mine in found.values()]


def sections(trace: Trace) -> dict[int, int]:
    """Return the first event of the locked section of each event that is joined to one before it, and of the round of each
    event of a barrier."""
    if not any(e.joined or e.members for e in trace.events):
        return {}
    found: dict[int, int] = {}
    threads = of_threads(trace)
    for mine in threads:
        for before, e in pairwise(mine):
            if e.joined:
                found[e.index] = found.get(before.index, before.index)
    for each in rounds_of(threads):
        first, *others = (threads[t][position].index for t, position in each.places)
        found |= dict.fromkeys(others, first)
    return found


def at_once(relation: Relation, trace: Trace) -> Relation:
    """The relation with every locked section, and every round of a barrier, as one vertex: what is before or after one event
    of it is so for all."""
    first = sections(trace)
    if not first:
        return relation
    members: dict[int, int] = {}
    for e, head in first.items():
        members[head] = members.get(head, 1 << head) | 1 << e
    rows = list(relation.rows)
    for each in members.values():
        inside = [a for a in range(len(rows)) if each >> a & 1]
        rows = [row | each if row & each else row for row in rows]
        after = 0
        for a in inside:
            after |= rows[a]
        # An edge from the section to itself is none if it leads forward in it, as program order does.
        back = any((relation.rows[a] & each) >> b & 1 for a in inside for b in inside if (a, b) not in trace.po)
        rows = [(after & ~each) | (each if back else 0) if each >> a & 1 else row for a, row in enumerate(rows)]
    return Relation(tuple(rows))


def steps_of(trace: Trace) -> dict[int, int]:
    """The naR of every naW, and the first event of the section of those that are joined to it."""
    found = sections(trace)
    if any(e.type is EventType.NAW for e in trace.events):
        found |= {mine[w].index: mine[r].index for mine in of_threads(trace) for r, w in read_modify_writes(mine)}
    return found


def within_step(trace: Trace, steps: Mapping[int, int], a: int, b: int) -> bool:
    """Whether an edge leads forward inside of one step."""
    return steps.get(b, b) == steps.get(a, a) and a != b and trace.events[a].position < trace.events[b].position


def edge_inside(trace: Trace, before: int) -> str:
    """What the edge between two events of one step is called."""
    kind = trace.events[before].type
    return {EventType.NAW: "rmw", EventType.NAR: "po", EventType.BAR: "barrier"}.get(kind, "section")


def as_steps(trace: Trace, relation: Relation, steps: Mapping[int, int]) -> Relation:
    """The relation with every event put together with its step; what leads from one to a later one of it is no edge."""
    if not steps:
        return relation
    pairs = ((a, b) for a, b in relation if not within_step(trace, steps, a, b))
    return Relation.of(len(relation.rows), ((steps.get(a, a), steps.get(b, b)) for a, b in pairs))
