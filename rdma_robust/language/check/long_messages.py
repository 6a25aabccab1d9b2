"""Messages of several words, written out: each word is a message of its own, and what receives it does so word by word.

On a connection whose longest message has L words, every message is L of them, each receive L receives, and each poll of the
receiver L polls. So the k-th message is the words kL to kL + L - 1 of the connection. Behind the words of a shorter message
come such without data, which only take a buffer; behind those of a shorter buffer stand such that no data finds room in.
All words but the last are unsignaled. Source: docs/theory-deployed.md, "Messages of several words".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat

from rdma_robust.diagnose import Reporter
from rdma_robust.expr import TRUE
from rdma_robust.language.check.names import ProgramNames, ThreadNames
from rdma_robust.language.flow import cfg
from rdma_robust.model import Hardware
from rdma_robust.text import count

MessageLengths = Mapping[cfg.LaneEnds, int]
"""How many words the longest message of a connection has."""


def with_long_messages(
    threads: Sequence[cfg.Thread], world: ProgramNames, hardware: Hardware, report: Reporter
) -> tuple[list[cfg.Thread], tuple[tuple[cfg.LaneEnds, int], ...]]:
    """Return the threads with their messages word by word, and the connections with messages of several words.

    Buffers that are too short for messages that may wait, and programs that get too large, are reported.
    """
    lengths: dict[cfg.LaneEnds, int] = {}
    for ends, number, _ in chain.from_iterable(thread.messages for thread in world.threads.values()):
        lengths[ends] = max(number, lengths.get(ends, 1))
    for ends, number, span in chain.from_iterable(thread.receives for thread in world.threads.values()):
        if hardware.rnr == "wait" and number < lengths.get(ends, 1):
            longest = lengths[ends]
            message = f"a buffer of {count(number, 'word')} for messages of up to {longest} that may wait for it (rnr wait)"
            report.error("RR445", span, message, hint="no waiting makes it longer: post one for the longest message")
    found = [_written_out(thread, world, lengths) for thread in threads]
    long = tuple((ends, number) for ends, number in lengths.items() if number > 1)
    if long and sum(len(thread.edges) for thread in found) > cfg.MAX_STEPS and not report.failed:
        first = next(span for thread in world.threads.values() for _, number, span in thread.messages if number > 1)
        message = f"word by word, messages make more than {cfg.MAX_STEPS:,} steps of this program"
        report.error("RR215", first, message, hint="shorter messages, or fewer")
        return list(threads), ()
    return found, long


def _written_out(thread: cfg.Thread, world: ProgramNames, lengths: MessageLengths) -> cfg.Thread:
    names = world.threads.get(thread.name)
    if names is None or not (lengths or names.receives):
        return thread
    void = world.void_cell(names.node.name) if names.node is not None and _lacks_room(names, lengths) else None
    edges: list[cfg.Edge] = []
    free = max(thread.points) + 1
    for source, target, step in thread.edges:
        steps = list(_words(thread.name, step, lengths, void))
        ways = (source, *range(free, free + len(steps) - 1), target)
        free += len(steps) - 1
        edges += ((ways[k], ways[k + 1], each) for k, each in enumerate(steps))
    posted = tuple(
        (sender, cell, lane)
        for sender, cells, lane in names.posted
        for cell in _room(cells, lengths.get((sender, thread.name, lane), 1), void)
    )
    return replace(thread, edges=tuple(edges), points=(*thread.points, *range(max(thread.points) + 1, free)), posted=posted)


def _words(thread: str, step: cfg.Step, lengths: MessageLengths, void: cfg.Cell | None) -> Iterator[cfg.Step]:
    """Yield the steps of a step, one for each word of its message."""
    op = step.op
    ops: list[cfg.Op] = [op]
    match op:
        case cfg.Send(to, lane=lane) | cfg.ImmPut(to=to, lane=lane):
            ops = [*_sent(op, lengths[thread, to, lane])]
        case cfg.Recv(cell, sender, lane, rest):
            ops = [
                cfg.Recv(each, sender, lane) for each in _room((cell, *rest), lengths.get((sender, thread, lane), 1), void)
            ]
        case cfg.RecvPoll(sender, lane):
            ops *= lengths.get((sender, thread, lane), 1)
        case _:
            pass
    yield replace(step, op=ops[0])
    yield from (replace(step, op=each, guard=TRUE, assigns=()) for each in ops[1:])


def _sent(op: cfg.Send | cfg.ImmPut, length: int) -> Iterator[cfg.Send | cfg.ImmPut]:
    """Yield the words of a message, and those without data behind them."""
    node = op.node if isinstance(op, cfg.Send) else op.target.card
    rest = op.rest if isinstance(op, cfg.Send) else ()
    data = [*(replace(op.data, source=cell) for cell in rest if op.data is not None), *repeat(None, length - 1 - len(rest))]
    for word, each in enumerate((op.data, *data), 1):
        signaled, goes_on = op.signaled and word == length, word < length
        if word > 1 or isinstance(op, cfg.Send):
            yield cfg.Send(op.to, node, each, signaled, op.lane, word, goes_on, put=isinstance(op, cfg.ImmPut))
        else:
            yield replace(op, signaled=signaled, goes_on=goes_on)


def _room(cells: Sequence[cfg.Cell], length: int, void: cfg.Cell | None) -> Iterator[cfg.Cell]:
    """Yield the words of a buffer for messages of this length."""
    yield from cells[:length]
    yield from (void for _ in range(length - len(cells)) if void is not None)


def _lacks_room(names: ThreadNames, lengths: MessageLengths) -> bool:
    """Whether some buffer of a thread is shorter than some message."""
    return any(number < lengths.get(ends, 1) for ends, number, _ in names.receives)
