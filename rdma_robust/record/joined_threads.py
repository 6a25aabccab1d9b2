"""Threads of a process that use one queue pair by turns: they are recorded as one thread.

A queue pair belongs to one thread. Where the uses of several are ordered, each of the next one's events behind each of those
before, by what orders them in every execution (locks, semaphores, creation and end of threads, streams, and the card: a
completion comes after its request, that of a message after its post at the other end), their program order may be drawn as
that of one thread: a cycle of the one that uses such an edge is a cycle of those threads too. Else they are refused. What
orders them has the effect of a fence of the processor, so that there is one where the turn changes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.errors import UsageError
from rdma_robust.record.card_events import TAKES_RECEIVE, receive_queues
from rdma_robust.record.memory_words import EventPlaces
from rdma_robust.record.recorded_log import LoggedEvent, LoggedRun, ThreadKey, logged_request
from rdma_robust.record.recorded_order import MEMORY, order_edges, recorded_order

_SIGNALED: Final = 2
_WAITS, _LIVES = frozenset("YLrw<jby"), frozenset("cbjZ")
"""Kinds of events that wait for other threads; of those by which they begin and end, and are told so."""
_NOWHERE: Final = -1


def with_joined_threads(run: LoggedRun, told: EventPlaces) -> LoggedRun:
    """Return a run in which the threads that use one queue pair are one, the first of them.

    Raises UsageError, with both places, where nothing recorded orders two of their events.
    """
    groups = _groups(run)
    if not groups:
        return run
    before, moved, turns = _edges(run), _moved(run, groups), set[int]()
    needed = {number for numbers in before.values() for number in numbers}
    clocks, last = dict[ThreadKey, dict[ThreadKey, int]](), dict[ThreadKey, LoggedEvent]()
    kept: dict[int, dict[ThreadKey, int]] = {}
    for event in run.events:
        clock = clocks.setdefault(event.thread, {})
        for number in before.get(event.number, ()):
            for thread, count in kept.get(number, {}).items():
                clock[thread] = max(clock.get(thread, 0), count)
        clock[event.thread] = event.number
        if event.number in needed:
            kept[event.number] = dict(clock)
        group = groups.get(event.thread)
        if group is None or moved.get(event.number, _NOWHERE) != event.number:
            continue
        earlier = last.get(group, event)
        if earlier.thread != event.thread:
            if clock.get(earlier.thread, 0) < earlier.number:
                raise UsageError(
                    f"two threads use one queue pair, and nothing recorded orders {told.of(earlier)} and {told.of(event)}: "
                    "a queue pair, and the completions of it, belong to one thread at each end, or to several by turns"
                )
            turns.add(event.number)
        last[group] = event
    joined = list(_joined(run, groups))
    written = sorted(joined, key=lambda each: (moved.get(each.number, each.number), each.number))
    return replace(run, events=joined, written=written, turns=frozenset(turns))


def _moved(run: LoggedRun, groups: dict[ThreadKey, ThreadKey]) -> dict[int, float]:
    """Return where events of threads that are joined stand, as numbers of events: what does something where it is, what lets
    others go on right behind what the thread did before, what waits for others right before what it does next. The others
    that are joined do something in between, which neither has to be ordered with. Where a thread waits and then lets others
    go on, without doing something in between, both stay where they are."""
    told = {each.number for edge in recorded_order(run).edges for each in (edge.before, edge.after)}
    found, between = dict[int, float](), dict[ThreadKey, list[LoggedEvent]]()
    done = dict[ThreadKey, float]()
    for event in run.events:
        if event.thread not in groups:
            continue
        if event.kind not in MEMORY:
            if event.number in told or event.kind in _LIVES:
                between.setdefault(event.thread, []).append(event)
            continue
        found[event.number] = event.number
        found |= _placed(between.pop(event.thread, []), done.get(event.thread, 0), event.number)
        done[event.thread] = event.number
    for thread, left in between.items():
        found |= _placed(left, done.get(thread, 0), float("inf"))
    return found


def _placed(events: list[LoggedEvent], before: float, behind: float) -> dict[int, float]:
    """Return where events stand that are between two others, by their numbers."""
    waits = [event.kind in _WAITS for event in events]
    if sorted(waits) != waits:
        return {event.number: event.number for event in events}
    return {event.number: behind - 0.5 if wait else before + 0.5 for event, wait in zip(events, waits, strict=True)}


def _joined(run: LoggedRun, groups: dict[ThreadKey, ThreadKey]) -> Iterator[LoggedEvent]:
    """Yield the events of a run in which joined threads are one. That they begin and end is no begin and end of the one: it
    is told as by semaphores."""
    created = {event.words[0] for event in run.events if event.kind == "c" and event.words[1] == "0"}
    tokens = {
        event.words[0]: event.thread
        for event in run.events
        if event.kind == "b" and event.thread in groups and event.words[0] in created
    }
    ends = {thread: f"end{token}" for token, thread in tokens.items()}
    for event in run.events:
        token = event.words[0] if event.words else ""
        made = replace(event, thread=groups.get(event.thread, event.thread))
        if event.kind in ("c", "b") and token in tokens:
            made = replace(made, kind="T" if event.kind == "c" else "Y")
        elif event.kind == "Z" and event.thread in ends:
            made = replace(made, kind="T", words=(ends[event.thread], "0"))
        elif event.kind == "j" and token in tokens:
            made = replace(made, kind="Y", words=(ends[tokens[token]], "0"))
        yield made


def _groups(run: LoggedRun) -> dict[ThreadKey, ThreadKey]:
    """Return the threads that share a queue pair with others, each with the first of those."""
    queues = receive_queues(run)
    users: dict[tuple[int, bool], set[ThreadKey]] = defaultdict(set)
    for event in run.events:
        if event.kind in ("P", "V", "C"):
            receives = event.kind == "V" or (event.kind == "C" and event.words[1] == "1")
            number = int(event.words[0])
            users[queues.get(number, number) if receives else number, receives].add(event.thread)
    first = {thread: index for index, thread in enumerate(run.threads())}
    found = dict[ThreadKey, ThreadKey]()
    for threads in users.values():
        whole = {each for thread in threads for each in (thread, found.get(thread, thread))}
        leader = min(whole, key=lambda each: first[each])
        if len(threads) > 1:
            found |= dict.fromkeys(threads, leader)
            found |= {each: leader for each, other in found.items() if other in whole}
    return found


def _edges(run: LoggedRun) -> dict[int, set[int]]:
    """Return for events which others, by their numbers, come before them in every execution, beside their thread's own."""
    found: dict[int, set[int]] = defaultdict(set)
    for edge in order_edges(run):
        found[edge.after.number].add(edge.before.number)
    created, ends = dict[str, LoggedEvent](), dict[ThreadKey, LoggedEvent]()
    begun = {event.words[0]: event.thread for event in run.events if event.kind == "b"}
    for event in run.events:
        if event.kind == "c" and event.words[1] == "0":
            created[event.words[0]] = event
        elif event.kind == "b" and event.words[0] in created:
            found[event.number].add(created[event.words[0]].number)
        elif event.kind == "j" and begun.get(event.words[0]) in ends:
            found[event.number].add(ends[begun[event.words[0]]].number)
        ends[event.thread] = event
    for before, after in _card_edges(run):
        found[after].add(before)
    return found


@dataclass(slots=True)
class _Queues:
    """Work under way at the queue pairs: requests, receives, and completions, by the number of who posted."""

    posted: dict[int, deque[LoggedEvent]] = field(default_factory=lambda: defaultdict(deque))
    receives: dict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    sent: dict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    arrived: dict[int, deque[tuple[int, int]]] = field(default_factory=lambda: defaultdict(deque))


def _card_edges(run: LoggedRun) -> list[tuple[int, int]]:
    """Return the posts of requests, of messages and of receives, each with the completion that tells of it."""
    found, queues, shared = list[tuple[int, int]](), _Queues(), receive_queues(run)
    peers = {int(event.words[0]): int(event.words[1]) for event in run.events if event.kind == "K"}
    for event in run.events:
        number = int(event.words[0]) if event.kind in "PVEC" else 0
        if event.kind == "P":
            queues.posted[number].append(event)
        elif event.kind == "V":
            queues.receives[number].append(event.number)
        elif event.kind == "E":
            post = queues.posted[number].popleft()
            request = logged_request(post)
            if request.opcode in TAKES_RECEIVE:
                peer = peers[number]
                queues.arrived[peer].append((post.number, queues.receives[shared.get(peer, peer)].popleft()))
            if request.flags & _SIGNALED:
                queues.sent[number].append(post.number)
        elif event.kind == "C" and event.words[1] == "0":
            found.append((queues.sent[number].popleft(), event.number))
        elif event.kind == "C":
            found += [(before, event.number) for before in queues.arrived[number].popleft()]
    return found
