"""Send queues with room for so many requests, as a part of the flow graphs of threads.

A request is in the queue of its queue pair from its post until a poll has taken its completion or that of a later signaled
request of the queue pair. So what a queue holds follows from the posts and polls of its own thread alone: it becomes a part
of the program point, and a post to a full queue is a step with a fault that ends the execution. Source: docs/deployed.md,
"Depth of send queues".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.digraph import by_key
from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import (
    MAX_STEPS,
    Edge,
    Fault,
    Get,
    ImmPut,
    InlinePut,
    Poll,
    Put,
    RemoteRmw,
    Send,
    Silent,
    Step,
    Thread,
    peer_of,
)
from rdma_robust.text import count

SEND_DEPTH: Final = "send depth"
"""The setting of a `hardware` line whose value is how many requests a send queue has room for."""
RNR: Final = "rnr"
HARDWARE: Final = "hardware"
RNR_SETTING: Final = f"{HARDWARE} {RNR}"
"""The definition that stands for the word `rnr` of a `hardware` line: a name that no constant can have."""

MAX_DEPTH: Final = 4096
"""The deepest send queues that a program can ask for."""

MAX_SLOTS: Final = 64
_NOTE_STEPS: Final = 2_000
"""How many slots a queue pair can be said to need at most, and how many steps of its thread are looked at for that."""

_REQUESTS = Put | Get | InlinePut | RemoteRmw | Send | ImmPut


@dataclass(frozen=True, slots=True)
class SendQueue:
    """The requests in one send queue: how many leave with the completion of each signaled one, the oldest first, and
    how many unsignaled ones came after the last of those."""

    leaving: tuple[int, ...] = ()
    quiet: int = 0

    @property
    def held(self) -> int:
        return sum(self.leaving) + self.quiet

    def posted(self, signaled: bool) -> SendQueue:
        """Return what is held after a post."""
        if signaled:
            return SendQueue((*self.leaving, self.quiet + 1))
        return SendQueue(self.leaving, self.quiet + 1)

    def polled(self) -> SendQueue:
        """Return what is held after a poll; one that finds no completion waits, and changes nothing."""
        return SendQueue(self.leaving[1:], self.quiet)


Queues = tuple[SendQueue, ...]
_Place = tuple[int, Queues]


def with_send_depth(thread: Thread, depths: Mapping[str, int]) -> Thread:
    """Return the thread with send queues of these depths, by the names of its queue pairs; the others have room for all.

    It is the thread itself if no path of its graph fills one. Raises StepLimitError if its graph would be too large.
    """
    walked = _walk(thread, depths) if depths else []
    return _unfolded(thread, walked) if any(edge.full is not None for edge in walked) else thread


@dataclass(frozen=True, slots=True)
class NeededSlots:
    """The largest number of requests that the send queue of a queue pair holds on any path of its thread."""

    thread: str
    queue_pair: str
    slots: int


def needed_slots(threads: Iterable[Thread]) -> tuple[NeededSlots, ...]:
    """Return how many slots the queue pairs of threads need, as far as their graphs bound it; of threads with queues that
    can be full nothing is said."""
    found: list[NeededSlots] = []
    for thread in threads:
        cut = any(step.fault is not None and step.fault.kind == "send queue full" for _, _, step in thread.edges)
        for name in () if cut else posted_to(thread):
            try:
                walked = _walk(thread, {name: MAX_SLOTS}, _NOTE_STEPS)
            except StepLimitError:
                continue
            if not any(edge.full is not None for edge in walked):
                found.append(NeededSlots(thread.name, name, max(edge.to[1][0].held for edge in walked)))
    return tuple(found)


def slots_text(needed: Iterable[NeededSlots]) -> str:
    """Return in a sentence how many slots send queues need; nothing without any."""
    told = [f"{each.thread} needs {count(each.slots, 'slot')} to {each.queue_pair}" for each in needed]
    return f"Send queues: {'; '.join(told)}." if told else ""


class StepLimitError(Exception):
    """A thread has more steps with its send queues than programs may have."""


@dataclass(frozen=True, slots=True)
class _WalkedEdge:
    """An edge from a program point and what the queues hold to the next; `full` is the queue pair without room, with what
    its queue holds."""

    source: _Place
    to: _Place
    step: Step
    full: tuple[str, SendQueue] | None = None


def posted_to(thread: Thread) -> tuple[str, ...]:
    """Return the queue pairs that a thread posts to."""
    named = (peer_of(step.op) for _, _, step in thread.edges if isinstance(step.op, _REQUESTS))
    return tuple(dict.fromkeys(name for name in named if name is not None))


def _walk(thread: Thread, depths: Mapping[str, int], most: int = MAX_STEPS) -> list[_WalkedEdge]:
    """Return every edge that paths of the graph take, whatever its guard, with what the queues that have a depth hold.

    Raises StepLimitError for more than `most`.
    """
    following = by_key((edge[0], edge) for edge in thread.edges)
    first = thread.entry, tuple(SendQueue() for _ in depths)
    seen, agenda, walked = {first}, [first], list[_WalkedEdge]()
    for place in agenda:
        for _, target, step in following.get(place[0], ()):
            made = _edge(place, target, step, depths)
            walked.append(made)
            if len(walked) > most:
                raise StepLimitError
            if made.full is None and made.to not in seen:
                seen.add(made.to)
                agenda.append(made.to)
    return walked


def _edge(place: _Place, target: int, step: Step, depths: Mapping[str, int]) -> _WalkedEdge:
    queues, name = place[1], peer_of(step.op)
    if name is None or name not in depths or not isinstance(step.op, _REQUESTS | Poll):
        return _WalkedEdge(place, (target, queues), step)
    k = list(depths).index(name)
    if isinstance(step.op, Poll):
        after = queues[k].polled()
    elif queues[k].held >= depths[name]:
        return _WalkedEdge(place, place, step, (name, queues[k]))
    else:
        after = queues[k] if _goes_on(step.op) else queues[k].posted(step.op.signaled)
    return _WalkedEdge(place, (target, (*queues[:k], after, *queues[k + 1 :])), step)


def _goes_on(op: object) -> bool:
    """Whether a request is part of a message, all of which takes one slot, and not the last one."""
    return isinstance(op, Send | ImmPut) and op.goes_on


def _unfolded(thread: Thread, walked: list[_WalkedEdge]) -> Thread:
    """Return a thread whose program points are those of `thread` with what the queues hold there; it has one exit."""
    number: dict[_Place | None, int] = {}

    def point(place: _Place | None) -> int:
        kept = (thread.exit, ()) if place is not None and place[0] == thread.exit else place
        return number.setdefault(kept, len(number))

    entry = point(walked[0].source)
    refused: dict[tuple[str, Span], Step] = {}
    edges: list[Edge] = []
    for each in walked:
        if each.full is None:
            edges.append((point(each.source), point(each.to), each.step))
        else:
            step = refused.setdefault((each.full[0], each.step.span), _refused(each.step, *each.full))
            edges.append((point(each.source), point(None), replace(step, guard=each.step.guard)))
    exit_ = point((thread.exit, ()))
    labels = [(name, n) for name, at in thread.labels for place, n in number.items() if place is not None and place[0] == at]
    ordered = tuple(sorted(edges, key=lambda edge: edge[:2]))
    return replace(thread, points=tuple(range(len(number))), edges=ordered, entry=entry, exit=exit_, labels=tuple(labels))


def _refused(step: Step, name: str, queue: SendQueue) -> Step:
    """Return the step of a post to a full queue."""
    several = f"{queue.held} requests that are" if queue.held > 1 else "a request that is"
    full = f"`{step.text}` finds the send queue to {name} full, with {several} not known to be complete"
    poll = f"`poll {name}`"
    remedy = f"a {poll} before it makes room" if queue.leaving else f"none is signaled, so that no {poll} makes room"
    fault = Fault("send queue full", f"{full}; {remedy}", step.span, step.text)
    return Step(Silent(), step.guard, (), step.span, step.text, fault)
