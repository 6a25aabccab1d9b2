"""Requests that are under way, followed along all paths of their thread until polls tell that they are complete.

A poll of a queue pair takes the completion of its earliest signaled request that was not polled yet, and tells that all
requests before that one are complete, too. So a request is complete for the thread when the first signaled one from it on
is polled; behind the last signaled one none ever is.

The card may be late for as long as the thread has not heard of others, that is, has read nothing that anyone else writes
and taken no message (`Others.hears`): whatever the thread does until then can be done with the card idle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from rdma_robust.digraph import components
from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import (
    Cell,
    Flush,
    Get,
    ImmPut,
    Op,
    Program,
    Recv,
    RecvPoll,
    RemoteRmw,
    RFence,
    Send,
    Step,
    Thread,
)
from rdma_robust.semantics.event_table import Act, Agent, acts_of, completes_on, polls_of, remote_of, requests_to
from rdma_robust.semantics.machines.waiting_points import goes_on

Edge = tuple[int, int, Step]


@dataclass(frozen=True)
class Others:
    """The words that are written, and those that are read, by anyone but the CPU of each thread (None: by nobody's CPU)."""

    writers: dict[Cell, frozenset[int | None]]
    readers: dict[Cell, frozenset[int | None]]
    posted: dict[tuple[str, str, str], int]
    """How many receives are sure to be posted whatever the others do, by (sending thread, receiving thread), where that
    polls them."""

    @staticmethod
    def of(program: Program) -> Others:
        """Return who uses the words of a program: the numbers of threads by their CPUs, None for any card."""
        writers: dict[Cell, set[int | None]] = {}
        readers: dict[Cell, set[int | None]] = {}
        for number, thread in enumerate(program.threads):
            for _, _, step in thread.edges:
                for act in acts_of(step.op):
                    by = number if act.agent is Agent.CPU else None
                    for cell in act.reads:
                        readers.setdefault(cell, set()).add(by)
                    for cell, _ in act.writes:
                        writers.setdefault(cell, set()).add(by)
        posted: dict[tuple[str, str, str], int] = {}
        for receiver in program.threads:
            polls = (step.op for _, _, step in receiver.edges if isinstance(step.op, RecvPoll))
            polled = {(op.sender, op.lane) for op in polls}
            for sender, lane in (*((name, on) for name, _, on in receiver.posted), *_posted_at_once(receiver)):
                if (sender, lane) in polled:
                    connection = sender, receiver.name, lane
                    posted[connection] = posted.get(connection, 0) + 1
        return Others({c: frozenset(w) for c, w in writers.items()}, {c: frozenset(r) for c, r in readers.items()}, posted)

    def hears(self, flow: ThreadFlow, step: Step) -> bool:
        """Whether a thread may learn by a step what others have done: its CPU reads what anyone else may write, or takes a
        message, or the completion of one, which has waited for the receiver."""
        if isinstance(step.op, RecvPoll) or polls_of(step.op) in flow.messaged:
            return True
        cells = [cell for act in acts_of(step.op) if act.agent is Agent.CPU for cell in act.reads]
        return any(self.writers.get(cell, frozenset()) - {flow.number} for cell in cells)


@dataclass(frozen=True)
class ThreadFlow:
    """A thread, by its number, as edges by where they begin; steps that go wrong and end the execution are left out."""

    number: int
    thread: Thread

    @cached_property
    def out(self) -> dict[int, list[Edge]]:
        found: dict[int, list[Edge]] = {point: [] for point in self.thread.points}
        for edge in self.thread.edges:
            fault = edge[2].fault
            if fault is None or fault.kind == "assertion":
                found.setdefault(edge[0], []).append(edge)
        return found

    @cached_property
    def statements(self) -> dict[Span, list[Edge]]:
        """The edges of each statement or condition that some path comes to, by its place, in the order of the graph."""
        reached = {self.thread.entry, *(target for _, target, _ in self.from_point(self.thread.entry))}
        found: dict[Span, list[Edge]] = {}
        for point, edges in self.out.items():
            for edge in edges if point in reached else ():
                found.setdefault(edge[2].span, []).append(edge)
        return found

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The other ends of the queue pairs that are used, in order."""
        ops = [step.op for edges in self.out.values() for _, _, step in edges]
        return tuple(dict.fromkeys(n for op in ops for n in (requests_to(op), polls_of(op)) if n is not None))

    @cached_property
    def messaged(self) -> frozenset[str]:
        """The nodes to which the thread sends messages, on queue pairs whose completions may be those of messages."""
        ops = [step.op for _, _, step in self.thread.edges]
        return frozenset(pair for op in ops if isinstance(op, Send | ImmPut) if (pair := requests_to(op)) is not None)

    @cached_property
    def requests(self) -> dict[tuple[Span, str], list[Edge]]:
        """The edges of each statement that hand over a request, by its place and the node it goes to."""
        found: dict[tuple[Span, str], list[Edge]] = {}
        for span, edges in self.statements.items():
            for edge in edges:
                if (node := requests_to(edge[2].op)) is not None:
                    found.setdefault((span, node), []).append(edge)
        return found

    def many(self, node: str) -> int:
        """A number that is outstanding only if some path comes to an operation twice; it stands for more, too."""
        return 1 + sum(completes_on(step.op) == node for edges in self.out.values() for _, _, step in edges)

    def outstanding(self, node: str) -> dict[int, set[int]]:
        """Return, for each point, the numbers of operations towards `node` that can be unpolled there.

        A poll with nothing outstanding is never passed, because only its own thread issues operations on its queue pair.
        Points without a number are never reached.
        """
        many = self.many(node)
        found: dict[int, set[int]] = {self.thread.entry: {0}}
        todo = [(self.thread.entry, 0)]
        while todo:
            point, have = todo.pop()
            for _, target, step in self.out.get(point, ()):
                for after in outstanding_after(have, step, node, many):
                    if after not in found.setdefault(target, set()):
                        found[target].add(after)
                        todo.append((target, after))
        return found

    @cached_property
    def blocked(self) -> frozenset[Edge]:
        """The polls that no path passes: they find nothing, or nothing comes to them."""
        polls = [e for edges in self.out.values() for e in edges if polls_of(e[2].op) is not None]
        at = {node: self.outstanding(node) for node in self.nodes}
        return frozenset(e for e in polls if at[polls_of(e[2].op) or ""].get(e[0], set()) <= {0})

    def going_on(self, point: int) -> Iterator[Edge]:
        """Yield the edges from a point that some path takes."""
        return (edge for edge in self.out.get(point, ()) if edge not in self.blocked)

    def from_point(self, point: int) -> Iterator[Edge]:
        """Yield every edge of every path from a point."""
        todo, seen = [point], {point}
        while todo:
            for edge in self.going_on(todo.pop()):
                yield edge
                if edge[1] not in seen:
                    seen.add(edge[1])
                    todo.append(edge[1])

    def windows(self) -> Iterator[tuple[Edge, Edge]]:
        """Yield for each loop and queue pair a request that is posted there and a message of its other node that is waited
        for, if no completion of the queue pair is taken in the loop."""
        following = {point: [target for _, target, _ in self.going_on(point)] for point in self.out}
        for loop in components(following):
            inside = [e for point in loop for e in self.going_on(point) if e[1] in loop]
            waits = [e for e in inside if isinstance(e[2].op, RecvPoll)]
            for node in dict.fromkeys(requests_to(e[2].op) for e in inside if waits):
                if node is not None and not any(polls_of(e[2].op) == node for e in inside):
                    yield next(e for e in inside if requests_to(e[2].op) == node), waits[0]


def _posted_at_once(thread: Thread) -> Iterator[tuple[str, str]]:
    """Yield the senders, each with its lane, for whom a thread posts receives before it waits for anything or decides
    anything."""
    out: dict[int, list[Step]] = {}
    targets: dict[int, int] = {}
    for source, target, step in thread.edges:
        out.setdefault(source, []).append(step)
        targets[source] = target
    point, seen = thread.entry, set[int]()
    while point not in seen and len(steps := out.get(point, [])) == 1:
        seen.add(point)
        (step,), point = steps, targets[point]
        if isinstance(step.op, Recv):
            yield step.op.sender, step.op.lane
        elif not goes_on([step]):
            return


def outstanding_after(have: int, step: Step, node: str, many: int) -> tuple[int, ...]:
    """Return what `have` completions outstanding towards `node` can be after a step, none if a poll has nothing to take;
    `many` stands for more, too."""
    if polls_of(step.op) == node:
        return () if have == 0 else (many - 1, many) if have == many else (have - 1,)
    return (min(have + (completes_on(step.op) == node), many),)


def flows(program: Program) -> list[ThreadFlow]:
    """Return the flow of every thread."""
    return [ThreadFlow(number, thread) for number, thread in enumerate(program.threads)]


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
            past.fenced or (isinstance(here, RFence) and remote_of(here) == node),
            flush,
            past.flushed or here == Flush(node),
        )
        for left in lefts
    ]


def by_the_card(op: Op) -> tuple[Act, ...]:
    """Return the events that the NIC makes for a request."""
    return tuple(act for act in acts_of(op) if act.agent is Agent.NIC)
