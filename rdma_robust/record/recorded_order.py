"""The order of the threads of a recorded run beside memory: who waited for whom, by semaphores, streams, and processes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.record.recorded_log import LoggedEvent, LoggedRun, ThreadKey

MEMORY = frozenset("RSWAXPVCFB")
"""Kinds of events that become statements by themselves."""
_TAKES, _GIVES = frozenset("Lrw"), frozenset("Uux")
"""Kinds of events that take a lock, to read (r) or alone, and that give one back."""

_UNNAMED: Final = {"?event": "an event descriptor", "?socket": "a socket"}
"""What events are about that are not followed."""


@dataclass(frozen=True, slots=True)
class OrderEdge:
    """Two events: the first lets the second go on, which waits for it."""

    before: LoggedEvent
    after: LoggedEvent


@dataclass(slots=True)
class RecordedOrder:
    """Edges between threads; rounds of barriers by the number of an arrival; and what orders threads, perhaps, but is not
    recorded, each with the events of threads that have to do with it."""

    edges: list[OrderEdge] = field(default_factory=list)
    barriers: dict[int, tuple[ThreadKey, ...]] = field(default_factory=dict)
    unrecorded: dict[str, list[LoggedEvent]] = field(default_factory=lambda: defaultdict(list))


def recorded_order(run: LoggedRun) -> RecordedOrder:
    """Return what ordered the threads of a run, without the edges that order nothing."""
    found = RecordedOrder()
    found.edges = _needed(run, order_edges(run, found))
    found.barriers = _barriers(run, found)
    return found


def order_edges(run: LoggedRun, found: RecordedOrder | None = None) -> list[OrderEdge]:
    """Return all edges of semaphores, locks, streams and processes; in `found` is noted what is not recorded."""
    found = RecordedOrder() if found is None else found
    return [*_semaphores(run, found), *_locks(run), *_streams(run, found), *_processes(run)]


def _semaphores(run: LoggedRun, found: RecordedOrder) -> Iterator[OrderEdge]:
    """Each wait behind those that a semaphore begins with takes what the earliest post not yet taken gave."""
    tokens: dict[tuple[int, str], list[LoggedEvent | None]] = defaultdict(list)
    for event in run.events:
        key = (event.thread[0], event.words[0] if event.words else "")
        if event.kind == "N":
            tokens[key] = [None] * int(event.words[1])
        elif event.kind == "T":
            tokens[key].append(event)
        elif event.kind == "Y":
            if not tokens[key]:
                found.unrecorded["a semaphore that was not initialised here"].append(event)
            elif (given := tokens[key].pop(0)) is not None:
                yield OrderEdge(given, event)


def _locks(run: LoggedRun) -> Iterator[OrderEdge]:
    """Taking a lock comes after who had it alone gave it back; taking it alone also after the readers since.

    The order of the run is kept: what a lock protects need not be registered, and then nothing else shows it.
    """
    writer: dict[tuple[int, str], LoggedEvent] = {}
    readers: dict[tuple[int, str], list[LoggedEvent]] = defaultdict(list)
    writing: dict[tuple[int, str], ThreadKey] = {}
    for event in run.events:
        if event.kind not in _TAKES | _GIVES:
            continue
        key = (event.thread[0], event.words[0])
        if event.kind in _GIVES:
            if writing.pop(key, None) == event.thread:
                writer[key] = event
            else:
                readers[key].append(event)
            continue
        before = [writer[key]] if key in writer else []
        if event.kind != "r":
            before += readers.pop(key, [])
            writing[key] = event.thread
        for each in before:
            yield OrderEdge(each, event)


def _streams(run: LoggedRun, found: RecordedOrder) -> Iterator[OrderEdge]:
    """Bytes of a pipe or a socket are read after they were written."""
    beginning: dict[tuple[ThreadKey, str], LoggedEvent] = {}
    written: dict[str, list[tuple[LoggedEvent, int, int]]] = defaultdict(list)
    for event in run.events:
        name = event.words[0] if event.words else ""
        if event.kind in (">", "<", "+") and name.startswith("?"):
            found.unrecorded[_UNNAMED[name]].append(event)
        elif event.kind == ">":
            beginning[event.thread, name] = event
        elif event.kind == "+":
            start = written[name][-1][2] if written[name] else 0
            written[name].append((beginning[event.thread, name], start, start + int(event.words[1])))
    read: dict[str, int] = defaultdict(int)
    told: set[tuple[ThreadKey, int]] = set()
    for event in run.events:
        if event.kind == "<" and not event.words[0].startswith("?"):
            name = event.words[0]
            read[name] += int(event.words[1])
            if not written[name]:
                found.unrecorded["a pipe or socket whose other end is not recorded"].append(event)
            for before, start, _ in written[name]:
                if start < read[name] and (event.thread, before.number) not in told:
                    told.add((event.thread, before.number))
                    yield OrderEdge(before, event)


def _processes(run: LoggedRun) -> Iterator[OrderEdge]:
    """A forked process begins after the fork; one that was waited for has ended."""
    created = {event.words[0]: event for event in run.events if event.kind == "c" and event.words[1] == "1"}
    last: dict[int, dict[ThreadKey, LoggedEvent]] = defaultdict(dict)
    for event in run.events:
        if event.kind == "b" and event.words[0] in created:
            yield OrderEdge(created[event.words[0]], event)
        elif event.kind == "y":
            for before in last.get(event.hexadecimal(0), {}).values():
                yield OrderEdge(before, event)
        last[event.thread[0]][event.thread] = event


def _needed(run: LoggedRun, edges: list[OrderEdge]) -> list[OrderEdge]:
    """Return the edges between two threads, the first of which did something before, the second of which does something
    after: by itself or by what further edges tell."""
    after: dict[int, list[OrderEdge]] = defaultdict(list)
    before: dict[int, list[OrderEdge]] = defaultdict(list)
    for edge in edges:
        if edge.before.thread != edge.after.thread:
            after[edge.after.number].append(edge)
            before[edge.before.number].append(edge)
    did, done = dict[ThreadKey, bool](), dict[int, bool]()
    for event in run.events:
        done[event.number] = did.get(event.thread, False)
        told = any(done.get(edge.before.number, False) for edge in after[event.number])
        did[event.thread] = done[event.number] or event.kind in MEMORY or event.kind == "c" or told
    does, doing = dict[ThreadKey, bool](), dict[int, bool]()
    for event in reversed(run.events):
        doing[event.number] = does.get(event.thread, False)
        tells = any(doing.get(edge.after.number, False) for edge in before[event.number])
        does[event.thread] = doing[event.number] or event.kind in MEMORY or event.kind == "c" or tells
    return [edge for found in after.values() for edge in found if done[edge.before.number] and doing[edge.after.number]]


def _barriers(run: LoggedRun, found: RecordedOrder) -> dict[int, tuple[ThreadKey, ...]]:
    """Return who meets at each arrival of a barrier: as many as it is for, in the order in which they come."""
    sizes = {(event.thread[0], event.words[0]): int(event.words[1]) for event in run.events if event.kind == "I"}
    waiting: dict[tuple[int, str], list[LoggedEvent]] = defaultdict(list)
    rounds = dict[int, tuple[ThreadKey, ...]]()
    for event in run.events:
        if event.kind == "B":
            key = (event.thread[0], event.words[0])
            waiting[key].append(event)
            if key not in sizes:
                found.unrecorded["a barrier that was not initialised here"].append(event)
            elif len(waiting[key]) == sizes[key]:
                arrived = waiting.pop(key)
                rounds.update((each.number, tuple(other.thread for other in arrived)) for each in arrived)
    return rounds
