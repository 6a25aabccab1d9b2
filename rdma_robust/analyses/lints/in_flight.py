"""Words that are used while a request on them is under way, and completions that nobody takes.

A word is read, or written, where its request is unpolled on every path from there, and on one of them nothing was heard of
others: in some execution that takes this path the card comes later (see :mod:`trails`). So these warnings need no search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rdma_robust.analyses.lints.queue_flow import Edge, ThreadFlow
from rdma_robust.analyses.lints.trails import RequestTrail, polled_somewhere
from rdma_robust.diagnose import quote
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import (
    Cell,
    Get,
    Op,
    RemoteRmw,
    RFence,
    Rmw,
    Section,
    Send,
    Write,
)
from rdma_robust.language.flow.waiting import waiting_points
from rdma_robust.semantics.event_table import acts_of, completes_on, polls_of, requests_to
from rdma_robust.semantics.trace import EventType


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
