"""Requests that are under way, followed along all paths of their thread until polls tell that they are complete.

A poll of a queue pair takes the completion of its earliest signaled request that was not polled yet, and tells that all
requests before that one are complete, too. So a request is complete for the thread when the first signaled one from it on
is polled; behind the last signaled one none ever is.

The card may be late for as long as the thread has not heard of others, that is, has read nothing that anyone else writes
and taken no message (`Others.hears`): whatever the thread does until then can be done with the card idle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rdma_robust.analyses.lints.queue_flow import Edge, Others, ThreadFlow, outstanding_after
from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import Flush, Get, Op, RemoteRmw, RFence
from rdma_robust.semantics.event_table import Act, Agent, acts_of, completes_on, polls_of, requests_to

MOST_STATES: Final = 50_000
"""States of one thread that are followed in all; beyond, nothing is claimed of further requests."""


@dataclass(frozen=True, slots=True)
class Past:
    """The past of a thread since a request.

    `left` signaled requests, this one included, are unpolled up to the one whose poll tells of it. If that one is not posted
    yet, the request is not `covered`, and `left` are those before it. The thread has `heard` of others; on the queue pair
    have followed a fence (`fenced`), something whose completion tells that earlier writes have landed (`flush`), and a poll
    behind that (`landed`), or a flush, which tells both (`flushed`).
    """

    point: int
    left: int
    covered: bool
    heard: bool = False
    fenced: bool = False
    flush: int | None = None
    flushed: bool = False

    @property
    def polled(self) -> bool:
        """Whether the thread knows that the request is complete."""
        return self.flushed or (self.covered and self.left == 0)

    @property
    def landed(self) -> bool:
        """Whether the thread may know that what the request writes is there."""
        return self.flushed or self.flush == 0


@dataclass
class RequestTrail:
    """All that can follow a request, up to where it is issued anew: edges with what is known in front of them.

    `ops` are what it may be: several where its words depend on values.
    """

    span: Span
    node: str
    ops: tuple[Op, ...]
    seen: dict[Edge, set[Past]] = field(default_factory=dict)

    @property
    def op(self) -> Op | None:
        """The request, None if its words depend on values."""
        return self.ops[0] if len(self.ops) == 1 else None

    def at(self, span: Span) -> set[Past]:
        """Return what can be known in front of a statement."""
        return {past for edge, pasts in self.seen.items() if edge[2].span == span for past in pasts}

    def unpolled(self, span: Span) -> bool:
        """Whether it is unpolled on every path to a statement, and on one of them nothing was heard of others."""
        pasts = self.at(span)
        return not any(past.polled for past in pasts) and any(not past.heard for past in pasts)

    def tells_of(self, edge: Edge) -> bool:
        """Whether a poll can be the one that tells that the request is complete."""
        return polls_of(edge[2].op) == self.node and any(p.covered and p.left == 1 for p in self.seen.get(edge, ()))


def trails(flow: ThreadFlow, others: Others) -> tuple[list[RequestTrail], bool]:
    """Return the trail of every request, in order, and whether these are all."""
    found: list[RequestTrail] = []
    budget = MOST_STATES
    for (span, node), edges in flow.requests.items():
        trail = RequestTrail(span, node, tuple(dict.fromkeys(step.op for _, _, step in edges)))
        budget -= _follow(flow, others, trail, _starts(flow, node, edges), budget)
        if budget <= 0:
            return found, False
        found.append(trail)
    return found, True


def _starts(flow: ThreadFlow, node: str, edges: list[Edge]) -> list[Past]:
    """Return what is known right behind a request."""
    at, many = flow.outstanding(node), flow.many(node)
    signaled = completes_on(edges[0][2].op) is not None
    return [Past(target, min(have + signaled, many), signaled) for source, target, _ in edges for have in at.get(source, ())]


def polled_somewhere(flow: ThreadFlow, trail: RequestTrail) -> bool:
    """Return whether some path takes the completion of a signaled request, maybe after it has been issued anew."""
    many = flow.many(trail.node)
    todo = [(past.point, past.left) for past in _starts(flow, trail.node, flow.requests[trail.span, trail.node])]
    known = set(todo)
    while todo:
        point, left = todo.pop()
        if left == 0:
            return True
        for edge in flow.going_on(point):
            lefts = outstanding_after(left, edge[2], trail.node, many) if polls_of(edge[2].op) == trail.node else (left,)
            new = {(edge[1], now) for now in lefts} - known
            known |= new
            todo += new
    return False


def _follow(flow: ThreadFlow, others: Others, trail: RequestTrail, starts: list[Past], budget: int) -> int:
    """Fill in the trail; return the number of states."""
    known, todo = set(starts), list(starts)
    while todo and len(known) <= budget:
        past = todo.pop()
        for edge in flow.going_on(past.point):
            trail.seen.setdefault(edge, set()).add(past)
            if edge[2].span == trail.span and requests_to(edge[2].op) == trail.node:
                continue
            for after in _behind(flow, others, trail.node, past, edge):
                if after not in known:
                    known.add(after)
                    todo.append(after)
    return len(known)


def _behind(flow: ThreadFlow, others: Others, node: str, past: Past, edge: Edge) -> list[Past]:
    """Return what can be known behind a step."""
    many, here = flow.many(node), edge[2].op
    polled = polls_of(here) == node
    signaled = completes_on(here) == node
    lefts: tuple[int, ...] = (past.left,)
    if (polled and not past.polled) or (signaled and not past.covered):
        lefts = outstanding_after(past.left, edge[2], node, many)
    same = requests_to(here) == node
    heard = past.heard or others.hears(flow, edge[2])
    flush = past.flush
    if flush is None:
        flush = past.left + 1 if same and isinstance(here, Get | RemoteRmw) else None
    elif polled:
        flush = max(flush - 1, 0)
    return [
        Past(
            edge[1],
            left,
            past.covered or signaled,
            heard,
            past.fenced or (isinstance(here, RFence) and here.node == node),
            flush,
            past.flushed or here == Flush(node),
        )
        for left in lefts
    ]


def by_the_card(op: Op) -> tuple[Act, ...]:
    """Return the events that the network card makes for a request."""
    return tuple(act for act in acts_of(op) if act.agent is Agent.NIC)
