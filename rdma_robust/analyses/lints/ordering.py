"""Statements that order less than they seem to: polls of puts that need not have arrived, remote fences without effect.

Words that are used while a request on them is under way, and completions that nobody takes.

A word is read, or written, where its request is unpolled on every path from there, and on one of them nothing was heard of
others: in some execution that takes this path the card comes later (see :mod:`trails`). So these warnings need no search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from rdma_robust.analyses.lints.trails import Edge, Others, Past, RequestTrail, ThreadFlow, by_the_card, polled_somewhere
from rdma_robust.diagnose import listing, quote
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Flush,
    Get,
    ImmPut,
    InlinePut,
    Op,
    OrderFence,
    Put,
    RemoteRmw,
    RFence,
    Rmw,
    Section,
    Send,
    Step,
    Write,
    named_lane,
    node_of,
    on_lane,
)
from rdma_robust.language.flow.spinning import waiting_points
from rdma_robust.model import CARDS, Model
from rdma_robust.semantics.event_table import Act, acts_of, cells_written, completes_on, polls_of, remote_of, requests_to
from rdma_robust.semantics.machines.waiting_points import makes_choices
from rdma_robust.semantics.order_table import ippo_scope, oppo_scope
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, EventType


def results_read_early(flow: ThreadFlow, found: list[RequestTrail]) -> Iterator[Diagnostic]:
    """Yield the reads of what a get or a remote atomic fetches in front of its poll (RR721).

    Waiting for the value itself is no such read, and neither is one by the same queue pair behind a remote fence.
    """
    spins = waiting_points(flow.thread)
    for trail in found:
        cell = answer_word(trail.op)
        if cell is None:
            continue
        for span, edges in _statements(flow):
            step = edges[0][2]
            if not _reads(edges, cell) or step.text.startswith(("await ", "assume ")) or edges[0][0] in spins:
                continue
            same = requests_to(step.op) == trail.node
            if trail.unpolled(span) and not (same and any(past.fenced for past in trail.at(span))):
                which = f"{quote(cell.name)} is read before the {_name(trail)} into it on line {trail.span.where} was polled"
                yield _warning("RR721", f"{which}: it may have its old value", span, trail)


def results_overwritten(flow: ThreadFlow, found: list[RequestTrail]) -> Iterator[Diagnostic]:
    """Yield the writes to what a get or a remote atomic fetches in front of its poll (RR729)."""
    for trail, cell, span in _written_early(flow, found, lambda op: tuple(filter(None, [answer_word(op)]))):
        which = f"{quote(cell.name)} is written before the {_name(trail)} into it on line {trail.span.where} was polled"
        yield _warning("RR729", f"{which}, which may overwrite it", span, trail)


def sources_overwritten(flow: ThreadFlow, found: list[RequestTrail]) -> Iterator[Diagnostic]:
    """Yield the writes to what a put or a message sends, or an atomic calculates with, in front of its poll (RR722)."""
    for trail, cell, span in _written_early(flow, found, source_words):
        name = _name(trail)
        message = (
            f"{quote(cell.name)} is written before the {name} of it on line {trail.span.where} was polled: "
            f"the {name.strip('`')} may {'take' if isinstance(trail.op, RemoteRmw) else 'send'} the new value"
        )
        yield _warning("RR722", message, span, trail)


def _written_early(
    flow: ThreadFlow, found: list[RequestTrail], words: Callable[[Op | None], tuple[Cell, ...]]
) -> Iterator[tuple[RequestTrail, Cell, Span]]:
    """Yield the requests and their `words`, with each statement that writes one in front of the poll."""
    for trail, cell in ((each, cell) for each in found for cell in words(each.op)):
        for span, edges in _statements(flow):
            if _written_by_others(edges, cell, trail) and trail.unpolled(span):
                yield trail, cell, span


def never_polled(flow: ThreadFlow, found: list[RequestTrail]) -> Iterator[Diagnostic]:
    """Yield the signaled requests whose completion no path takes (RR730), where somebody has thought about completions:
    there are unsignaled requests to the same node, or the thread polls, and comes to the request any number of times.

    Each takes room in its completion queue for good.
    """
    unsignaled = {t.node for t in found if any(completes_on(op) is None for op in t.ops)}
    polls = any(polls_of(step.op) for edges in flow.statements.values() for _, _, step in edges)
    for trail in found:
        if any(completes_on(op) is None for op in trail.ops) or polled_somewhere(flow, trail):
            continue
        edges = flow.requests[trail.span, trail.node]
        if trail.node in unsignaled or (polls and any(edge in flow.from_point(edge[1]) for edge in edges)):
            message = f"the completion of this {_name(trail)} is never polled"
            hint = f"`poll {trail.node}` behind it, or make it `unsignaled` if a later one is polled"
            yield Diagnostic("warning", "RR730", message, trail.span, hint=hint)


def answer_word(op: Op | None) -> Cell | None:
    """Return the word of the own node that a request writes, None if there is none."""
    return op.target if isinstance(op, Get | RemoteRmw) else None


def source_words(op: Op | None) -> tuple[Cell, ...]:
    """Return the words of the own node that the card reads to carry out a request: what it sends, or calculates with."""
    if op is None:
        return ()
    read = (cell for act in acts_of(op) if act.type is EventType.NLR for cell in act.reads)
    return tuple(dict.fromkeys(cell for cell in read if not cell.hidden))


def _name(trail: RequestTrail) -> str:
    match trail.ops[0]:
        case Get():
            return "`get`"
        case RemoteRmw():
            return "remote atomic"
        case Send():
            return "`send`"
        case _:
            return "`put`"


def _warning(code: str, message: str, span: Span, trail: RequestTrail) -> Diagnostic:
    unsignaled = any(completes_on(op) is None for op in trail.ops)
    later = f", once a signaled request towards {trail.node} is behind line {trail.span.where}" if unsignaled else ""
    return Diagnostic("warning", code, message, span, hint=f"`poll {trail.node}` first{later}")


def _statements(flow: ThreadFlow) -> Iterator[tuple[Span, list[Edge]]]:
    """Yield the statements, without the fences of fenced requests."""
    for span, edges in flow.statements.items():
        found = [edge for edge in edges if not isinstance(edge[2].op, RFence)]
        if found:
            yield span, found


_AT_REMOTE = frozenset({EventType.NRR, EventType.NAR, EventType.NA})


def _reads(edges: list[Edge], cell: Cell) -> bool:
    """Whether a statement reads a word of the own node, whatever the values."""
    return all(any(cell in act.reads and act.type not in _AT_REMOTE for act in acts_of(step.op)) for _, _, step in edges)


def _written_by_others(edges: list[Edge], cell: Cell, trail: RequestTrail) -> bool:
    """Whether a statement writes a word whatever the values, by other means than the queue pair of a request: there the card
    keeps the order."""
    return all(requests_to(step.op) != trail.node and cell in _surely_written(step.op) for _, _, step in edges)


def _surely_written(op: Op) -> tuple[Cell, ...]:
    """Return the words of the own node that an operation writes, whatever the values."""
    match op:
        case Write(cell):
            return (cell,)
        case Rmw(cell, when=when):
            return (cell,) if when == TRUE else ()
        case Section(cells, writes):
            return tuple(cells[k] for k, _ in writes)
        case Get(target) | RemoteRmw(target) if target is not None:
            return (target,)
        case _:
            return ()


def polls_that_prove_less(flow: ThreadFlow, others: Others, found: list[RequestTrail]) -> Iterator[Diagnostic]:
    """Yield the polls of puts that look as if they waited for the arrival (RR723).

    Such a poll takes nothing but puts whose sources are not written again, and stands in front of no poll of anything else:
    so it is there for no other reason. And behind it the thread does what others see, while the put may be under way.
    """
    taken: dict[Span, list[RequestTrail]] = {}
    for trail in found:
        for edge in trail.seen:
            if trail.tells_of(edge) and trail not in taken.setdefault(edge[2].span, []):
                taken[edge[2].span].append(trail)
    for span, ops in taken.items():
        edges = flow.statements[span]
        node = ops[0].node
        behind = [trail for after, them in taken.items() if after != span and _behind(flow, edges, after) for trail in them]
        same = [trail for trail in (*ops, *behind) if trail.node == node]
        if not all(_without_use(flow, others, trail, edges) for trail in same):
            continue
        seen = [line for trail in ops for line in (_seen_before(flow, others, trail, span),) if line]
        if len(seen) == len(ops):
            first = min(seen, key=lambda step: step.span.start)
            yield _proves_less(edges[0][2], ops, first)


def _proves_less(poll: Step, ops: list[RequestTrail], first: Step) -> Diagnostic:
    lines = listing((trail.span.where for trail in ops), "or")
    message = (
        f"{quote(poll.text)} waits until the `put` of line {lines} is sent, not until it has arrived: "
        f"{quote(first.text)} on line {first.span.where} may be seen before it"
    )
    from_it = f"{node_of(poll.op)}{on_lane(named_lane(poll.op))}"
    return Diagnostic(
        "warning",
        "RR723",
        message,
        poll.span,
        hint=f"to know that it has arrived, get a location of {from_it}, and poll that too",
    )


def _landing(trail: RequestTrail) -> Cell | None:
    """Return the remote word that a put writes, None if the request is none, or of words that depend on values."""
    match trail.op:
        case Put(target) | InlinePut(target) | ImmPut(target):
            return target
        case _:
            return None


def _without_use(flow: ThreadFlow, others: Others, trail: RequestTrail, polls: list[Edge]) -> bool:
    """Whether a poll of a put protects nothing: nothing behind it writes the source, and nobody else ever does."""
    if _landing(trail) is None or isinstance(trail.op, ImmPut):
        return False
    words = source_words(trail.op)
    if any(others.writers.get(cell, frozenset()) - {flow.number} for cell in words):
        return False
    after = [step for _, target, _ in polls for _, _, step in flow.from_point(target)]
    return not any(cell in cells_written(step.op) for cell in words for step in after)


def _behind(flow: ThreadFlow, polls: list[Edge], span: Span) -> bool:
    return any(step.span == span for _, target, _ in polls for _, _, step in flow.from_point(target))


def _seen_before(flow: ThreadFlow, others: Others, trail: RequestTrail, poll: Span) -> Step | None:
    """Return the first statement behind the poll that others may see before the put, if they look at what is put at all."""
    target = _landing(trail)
    if target is None or not others.readers.get(target) or _read_elsewhere(flow, trail, target):
        return None
    late: list[Step] = []
    for edge, pasts in trail.seen.items():
        step = edge[2]
        quiet = any(past.polled and not past.heard and not past.landed for past in pasts)
        if quiet and step.span.start > poll.start and _visible(flow, others, trail, step):
            late.append(step)
    return min(late, key=lambda step: step.span.start, default=None)


def _read_elsewhere(flow: ThreadFlow, trail: RequestTrail, target: Cell) -> bool:
    """Whether a put to a word behind a card may have landed by a read of that memory on another queue pair of the thread."""
    if not target.via:
        return False
    pairs = ((pair, step.op) for (_, pair), edges in flow.requests.items() for _, _, step in edges)
    return any(
        isinstance(op, Get | RemoteRmw) and op.source.node == target.node and pair != trail.node for pair, op in pairs
    )


def _visible(flow: ThreadFlow, others: Others, trail: RequestTrail, step: Step) -> bool:
    """Whether others may see a step: what it writes they read, or it is a message for which a receive is posted."""
    if requests_to(step.op) == trail.node:
        return False
    match step.op:
        case Put(target) | InlinePut(target) | RemoteRmw(source=target):
            return bool(others.readers.get(target))
        case ImmPut(target, to=to):
            return bool(others.readers.get(target)) and _received(flow, others, to, step.op.lane)
        case Send(to, lane=lane):
            return _received(flow, others, to, lane)
        case Write(cell) | Cas(cell) | Rmw(cell):
            return bool(others.readers.get(cell, frozenset()) - {flow.number})
        case _:
            return False


def _received(flow: ThreadFlow, others: Others, to: str, lane: str) -> bool:
    """Whether there is a receive for every message of a thread to another one, on a lane, before anything runs."""
    ops = ([step.op for _, _, step in edges] for edges in flow.requests.values())
    sent = [each for each in ops if any(isinstance(op, Send | ImmPut) and (op.to, op.lane) == (to, lane) for op in each)]
    return others.posted.get((flow.thread.name, to, lane), 0) >= len(sent)


T = EventType


def fences_without_effect(flow: ThreadFlow, found: list[RequestTrail], order: str | None) -> Iterator[Diagnostic]:
    """Yield the remote fences, flushes and `order` statements that put no two events in order that are not in order anyway,
    under any order of the network, nor under the `order` that the program says it is for (RR724).

    `found` are the trails of all requests. In the order table a fence is an event between those of earlier and of later
    requests of its queue pair. What was polled is done as far as a fence waits for it, and the CPU posts in order. A fence
    that decides between branches of which one has to wait is no such fence: it has an effect without ordering anything.
    """
    for span, edges in flow.statements.items():
        fences = [edge for edge in edges if isinstance(edge[2].op, RFence | Flush | OrderFence)]
        steps = frozenset(step for _, _, step in fences)
        if not fences or makes_choices(flow.thread, steps.__contains__):
            continue
        step = fences[0][2]
        assert isinstance(step.op, RFence | Flush | OrderFence)
        node = remote_of(step.op) or ""
        earlier = [
            op for t in found if t.node == node for op in t.ops if any(not _over(step.op, op, past) for past in t.at(span))
        ]
        later = [s.op for _, target, _ in fences for _, _, s in flow.from_point(target) if requests_to(s.op) == node]
        why = _useless(step.op, earlier, later, tuple(dict.fromkeys((*CARDS, order or CARDS[0]))))
        if why:
            what = quote(step.text if len(fences) == len(edges) else "fenced")
            yield Diagnostic("warning", "RR724", f"{what} orders nothing: {why}", span)


def _over(fence: RFence | Flush | OrderFence, request: Op, past: Past) -> bool:
    """Whether there is nothing of an earlier request that a fence could wait for: of a get that was polled nothing is left,
    of others the remote write may be."""
    return past.polled if isinstance(fence, RFence) or isinstance(request, Get) else past.flushed


def _useless(fence: RFence | Flush | OrderFence, earlier: list[Op], later: list[Op], orders: Sequence[str]) -> str:
    """Return why a fence between these requests orders nothing under these orders, empty if it does."""
    node = f"{fence.node}{on_lane(named_lane(fence))}"
    if not earlier:
        return f"nothing towards {node} is outstanding before it"
    if isinstance(fence, Flush):
        return ""
    if not later:
        return f"nothing towards {node} comes after it"
    if isinstance(fence, OrderFence):
        both = all(any(act.type in _KEPT_APART for act in _acts(ops)) for ops in (earlier, later))
        return "" if both else "it is about remote writes and atomics before and behind it only"
    models = [Model(order=order) for order in orders]
    if any(fence_orders(one, other, models) for one in _acts(earlier) for other in _acts(later)):
        return ""
    return (
        f"it waits for gets and atomics; puts towards {node} are in order without it, and it does not wait until they arrive"
    )


_KEPT_APART: Final = frozenset(
    t for t in EventType if t not in CPU_TYPES | FENCE_TYPES | {T.INIT} and oppo_scope(T.NO, t) == "qp"
)
"""What an `order` statement is about."""


def _acts(ops: Iterable[Op]) -> set[Act]:
    return {act for op in ops for act in by_the_card(op)}


def fence_orders(earlier: Act, later: Act, models: Sequence[Model]) -> bool:
    """Whether a fence between two events of a queue pair orders them where nothing else does, under some of the models.

    A put has no other reason to be late than the requests before it and its own read. So that it is *issued* before the
    fence says nothing: what it waits for, the later event waits for as well. A message waits for its receive.
    """
    if earlier.type is EventType.NRW and earlier.message is None:
        return False
    a, b = earlier.type, later.type
    return any(
        scope(a, T.NF, model) != "-" and scope(T.NF, b, model) != "-" and scope(a, b, model) == "-"
        for model in models
        for scope in (ippo_scope, oppo_scope)
    )
