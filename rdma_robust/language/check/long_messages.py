"""Messages of several words, written out: each word is a message of its own, and what receives it does so word by word.

All messages of a connection have one length m, so that the k-th message is the words km to km + m - 1 of the connection, and
receives and polls of the receiver are m each. All words but the last are unsignaled. Source: docs/theory.md, "Messages of
several words".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rdma_robust.diagnose import Reporter
from rdma_robust.expr import TRUE
from rdma_robust.language.check.names import ProgramNames
from rdma_robust.language.flow import cfg
from rdma_robust.model import Hardware
from rdma_robust.text import count

MessageLengths = Mapping[cfg.LaneEnds, int]
"""How many words the messages of a connection have."""


def with_long_messages(
    threads: Sequence[cfg.Thread], world: ProgramNames, hardware: Hardware, report: Reporter
) -> tuple[list[cfg.Thread], tuple[tuple[cfg.LaneEnds, int], ...]]:
    """Return the threads with their messages word by word, and the connections with messages of several words.

    Messages of one connection of several lengths, and buffers that are too short for them, are reported.
    """
    lengths = _lengths(world, report)
    _check_buffers(world, lengths, report)
    if hardware.rnr == "wait":
        _refuse(world, report)
    long = tuple((ends, number) for ends, number in lengths.items() if number > 1)
    return [_written_out(thread, world, lengths) for thread in threads], long


def _lengths(world: ProgramNames, report: Reporter) -> MessageLengths:
    found: dict[cfg.LaneEnds, int] = {}
    for thread in world.threads.values():
        for ends, number, span in thread.messages:
            known = found.setdefault(ends, number)
            if known != number:
                message = f"a message of {count(number, 'word')}, and others from {ends[0]} to {ends[1]} have {known}"
                hint = "all messages of a connection have one length, and a write with immediate counts as one word"
                report.error("RR444", span, message, hint=hint)
    return found


def _check_buffers(world: ProgramNames, lengths: MessageLengths, report: Reporter) -> None:
    for thread in world.threads.values():
        for ends, number, span in thread.receives:
            if number < (needed := lengths.get(ends, 1)):
                has = f"a buffer of {count(number, 'word')} for messages of {needed} from {ends[0]}"
                report.error(
                    "RR444", span, f"{has}: the receiver is never ready for one", expected=f"at least {needed} words"
                )


def _refuse(world: ProgramNames, report: Reporter) -> None:
    """Report messages of several words that wait: word by word, a thread might go on between two of them."""
    for thread in world.threads.values():
        for _, number, span in thread.messages:
            if number > 1:
                message = f"a message of {number} words that may wait for its buffer (rnr wait)"
                report.error("RR445", span, message, expected="`hardware rnr fault`, or messages of one word")


def _written_out(thread: cfg.Thread, world: ProgramNames, lengths: MessageLengths) -> cfg.Thread:
    edges: list[cfg.Edge] = []
    free = max(thread.points) + 1
    for source, target, step in thread.edges:
        steps = list(_words(thread.name, step, lengths))
        ways = (source, *range(free, free + len(steps) - 1), target)
        free += len(steps) - 1
        edges += ((ways[k], ways[k + 1], each) for k, each in enumerate(steps))
    names = world.threads.get(thread.name)
    if names is None or (len(edges) == len(thread.edges) and len(names.posted) == sum(len(c) for _, c, _ in names.posted)):
        return thread
    posted = tuple(
        (sender, cell, lane)
        for sender, cells, lane in names.posted
        for cell in cells[: lengths.get((sender, thread.name, lane), 1)]
    )
    return replace(thread, edges=tuple(edges), points=(*thread.points, *range(max(thread.points) + 1, free)), posted=posted)


def _words(thread: str, step: cfg.Step, lengths: MessageLengths) -> Iterator[cfg.Step]:
    """Yield the steps of a step, one for each word of its message."""
    op, later = step.op, replace(step, guard=TRUE)
    match op:
        case cfg.Send(rest=(_, *_)):
            words = (op.data.source, *op.rest)
            for k, word in enumerate(words):
                goes_on = k < len(words) - 1
                sent = replace(op, data=replace(op.data, source=word), goes_on=goes_on, rest=())
                yield replace(step if k == 0 else later, op=replace(sent, signaled=op.signaled and not goes_on))
        case cfg.Recv(cell, sender, lane, rest) if rest:
            for k, word in enumerate((cell, *rest)[: lengths.get((sender, thread, lane), 1)]):
                yield replace(step if k == 0 else later, op=cfg.Recv(word, sender, lane))
        case cfg.RecvPoll(sender, lane):
            for k in reversed(range(lengths.get((sender, thread, lane), 1))):
                yield replace(step, assigns=() if k else step.assigns)
        case _:
            yield step
