"""Words that are used while a remote operation on them is under way, and polls that prove less than they seem to.

An operation of a thread is followed from where it is issued, on all paths, by how many polls it is away from being polled.
Its card may be late for as long as the thread has not heard of others, that is, has read nothing that anyone else writes
(`Others.hears`): whatever the thread does until then can be done with the card idle. So these warnings need no search:

- a word is read, or written, where its get, or put, is unpolled on every path from there, and on one of them nothing was
  heard: in some execution that takes this path the card comes later;
- a put that was polled has been issued; until a get behind it on its queue pair is polled, it need not have arrived.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.analyses.lints.queue_flow import Edge, Others, ThreadFlow, change, moved
from rdma_robust.diagnose import listing, quote
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.language.flow.cfg import Cas, Cell, Get, Put, Read, RFence, Rmw, Step, Write
from rdma_robust.language.flow.waiting import waiting_points
from rdma_robust.semantics.event_table import completes_on, polls_of

MOST_STATES: Final = 50_000
"""States of one thread that are followed in all; beyond, nothing is claimed of further operations."""


@dataclass(frozen=True, slots=True)
class Past:
    """Where the thread is with an operation: `left` polls until it is polled (0: it is), whether it has `heard` of others
    since, and for what comes later on the queue pair, whether a fence or (`flush`) a get has followed."""

    point: int
    left: int
    heard: bool = False
    fenced: bool = False
    flush: bool = False
    arrived: bool = False


@dataclass
class Trail:
    """All that can follow an operation, up to where it is issued anew: edges with what is known in front of them."""

    step: Step
    node: str
    seen: dict[Edge, set[Past]] = field(default_factory=dict)

    def at(self, span: Span) -> set[Past]:
        """Return what can be known in front of a statement."""
        return {past for edge, pasts in self.seen.items() if edge[2].span == span for past in pasts}


def trails(flow: ThreadFlow, others: Others) -> tuple[list[Trail], bool]:
    """Return the trail of every operation whose words do not depend on values, in order, and whether these are all."""
    found: list[Trail] = []
    budget = MOST_STATES
    for edges in flow.statements.values():
        step = edges[0][2]
        node = completes_on(step.op)
        if node is None or any(other[2].op != step.op for other in edges):
            continue
        trail = Trail(step, node)
        at, many = flow.outstanding(node), flow.many(node)
        starts = [Past(target, min(have + 1, many)) for source, target, _ in edges for have in at.get(source, ())]
        budget -= _follow(flow, others, trail, starts, budget)
        if budget <= 0:
            return found, False
        found.append(trail)
    return found, True


def _follow(flow: ThreadFlow, others: Others, trail: Trail, starts: list[Past], budget: int) -> int:
    """Fill in the trail; return the number of states."""
    many = flow.many(trail.node)
    known, todo = set(starts), list(starts)
    while todo and len(known) <= budget:
        past = todo.pop()
        for edge in flow.going_on(past.point):
            step = edge[2]
            trail.seen.setdefault(edge, set()).add(past)
            if step.span == trail.step.span:
                continue
            by = change(step, trail.node)
            for left in moved(past.left, -1, many) if by < 0 and past.left else (past.left,):
                here = step.op
                after = Past(
                    edge[1],
                    left,
                    past.heard or others.hears(flow.number, step),
                    past.fenced or (isinstance(here, RFence) and here.node == trail.node),
                    past.flush or (by > 0 and isinstance(here, Get)),
                    past.arrived or (by < 0 and past.flush),
                )
                if after not in known:
                    known.add(after)
                    todo.append(after)
    return len(known)


def results_read_early(flow: ThreadFlow, found: list[Trail]) -> Iterator[Diagnostic]:
    """Yield the reads of what a get fetches in front of its poll (RR721).

    Waiting for the value itself is no such read, and neither is a put on the same queue pair behind a remote fence.
    """
    spins = waiting_points(flow.thread)
    for trail in found:
        if not isinstance(trail.step.op, Get):
            continue
        cell = trail.step.op.target
        for span, edges in flow.statements.items():
            step = edges[0][2]
            if not _reads(edges, cell) or step.text.startswith(("await ", "assume ")) or edges[0][0] in spins:
                continue
            same = completes_on(step.op) == trail.node
            pasts = trail.at(span)
            if _unpolled(pasts) and not (same and any(past.fenced for past in pasts)):
                word = quote(cell.name)
                line = trail.step.span.line
                message = f"{word} is read before the `get` into it on line {line} was polled: it may have its old value"
                yield Diagnostic("warning", "RR721", message, span, hint=f"`poll {trail.node}` first")


def sources_overwritten(flow: ThreadFlow, found: list[Trail]) -> Iterator[Diagnostic]:
    """Yield the writes to the source of a put in front of its poll (RR722)."""
    for trail in found:
        if not isinstance(trail.step.op, Put):
            continue
        cell = trail.step.op.source
        for span, edges in flow.statements.items():
            step = edges[0][2]
            same = completes_on(step.op) == trail.node
            if not same and _writes(edges, cell) and _unpolled(trail.at(span)):
                line = trail.step.span.line
                word = quote(cell.name)
                message = (
                    f"{word} is written before the `put` of it on line {line} was polled: the put may send the new value"
                )
                yield Diagnostic("warning", "RR722", message, span, hint=f"`poll {trail.node}` first")


def _unpolled(pasts: set[Past]) -> bool:
    """Whether the operation is unpolled on every path, and on one of them nothing was heard of others."""
    return all(past.left for past in pasts) and any(not past.heard for past in pasts)


def _reads(edges: list[Edge], cell: Cell) -> bool:
    """Whether a statement reads a word, whatever the values."""
    return all(
        (isinstance(step.op, Read | Cas | Rmw) and step.op.cell == cell)
        or (isinstance(step.op, Put) and step.op.source == cell)
        for _, _, step in edges
    )


def _writes(edges: list[Edge], cell: Cell) -> bool:
    """Whether a statement writes a word, whatever the values."""
    return all(
        (isinstance(step.op, Write) and step.op.cell == cell) or (isinstance(step.op, Get) and step.op.target == cell)
        for _, _, step in edges
    )


def polls_that_prove_less(flow: ThreadFlow, others: Others, found: list[Trail]) -> Iterator[Diagnostic]:
    """Yield the polls of puts that look as if they waited for the arrival (RR723).

    Such a poll takes nothing but puts whose sources are not written again, and stands in front of no poll of anything else:
    so it is there for no other reason. And behind it the thread does what others see, while the put may be under way.
    """
    taken: dict[Span, list[Trail]] = {}
    for trail in found:
        for edge, pasts in trail.seen.items():
            if polls_of(edge[2].op) == trail.node and any(past.left == 1 for past in pasts):
                taken.setdefault(edge[2].span, []).append(trail)
    issued = {trail.step.span for trail in found}
    unfollowed = {completes_on(e[0][2].op) for span, e in flow.statements.items() if span not in issued} - {None}
    for span, ops in taken.items():
        edges = flow.statements[span]
        node = ops[0].node
        behind = [trail for after, them in taken.items() if after != span and _behind(flow, edges, after) for trail in them]
        same = [trail for trail in (*ops, *behind) if trail.node == node]
        if node in unfollowed or not all(_without_use(flow, others, trail, edges) for trail in same):
            continue
        seen = [line for trail in ops for line in (_seen_before(flow, others, trail, span),) if line]
        if len(seen) == len(ops):
            first = min(seen, key=lambda step: step.span.start)
            yield _proves_less(edges[0][2], ops, first, node)


def _proves_less(poll: Step, ops: list[Trail], first: Step, node: str) -> Diagnostic:
    lines = listing((str(trail.step.span.line) for trail in ops), "or")
    message = (
        f"{quote(poll.text)} waits until the `put` of line {lines} is sent, not until it has arrived: "
        f"{quote(first.text)} on line {first.span.line} may be seen before it"
    )
    return Diagnostic(
        "warning", "RR723", message, poll.span, hint=f"to know that it has arrived, get a word of {node}, and poll that too"
    )


def _without_use(flow: ThreadFlow, others: Others, trail: Trail, polls: list[Edge]) -> bool:
    """Whether a poll of a put protects nothing: nothing behind it writes the source, and nobody else ever does."""
    op = trail.step.op
    if not isinstance(op, Put) or others.writers.get(op.source, frozenset()) - {flow.number}:
        return False
    after = [step for _, target, _ in polls for _, _, step in flow.from_point(target)]
    return not any(
        (isinstance(step.op, Write | Cas | Rmw) and step.op.cell == op.source)
        or (isinstance(step.op, Get) and step.op.target == op.source)
        for step in after
    )


def _behind(flow: ThreadFlow, polls: list[Edge], span: Span) -> bool:
    return any(step.span == span for _, target, _ in polls for _, _, step in flow.from_point(target))


def _seen_before(flow: ThreadFlow, others: Others, trail: Trail, poll: Span) -> Step | None:
    """Return the first statement behind the poll that others may see before the put, if they look at what is put at all."""
    op = trail.step.op
    if not isinstance(op, Put) or not others.readers.get(op.target):
        return None
    late: list[Step] = []
    for edge, pasts in trail.seen.items():
        step = edge[2]
        quiet = any(past.left == 0 and not past.heard and not past.arrived for past in pasts)
        if quiet and step.span.start > poll.start and _visible(flow, others, trail, step):
            late.append(step)
    return min(late, key=lambda step: step.span.start, default=None)


def _visible(flow: ThreadFlow, others: Others, trail: Trail, step: Step) -> bool:
    match step.op:
        case Put(target) if target.node != trail.node:
            return bool(others.readers.get(target))
        case Write(cell) | Cas(cell) | Rmw(cell):
            return bool(others.readers.get(cell, frozenset()) - {flow.number})
        case _:
            return False
