"""The checker's own copy of the axioms: what RDMA and sequential consistency allow, for traces in certificates.

Written from docs/model.md ("Consistency", "Preserved order") and docs/deployed.md, "Consistency" alone. Events are
numbered; a relation is a list with, for each event, the set of its successors as bits.

More than 400 lines: each relation of the axioms is a function of a few lines, and they are read beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rdma_robust.certify.hardware import (
    CARD_READS,
    CPU,
    NIC_WRITES,
    READS,
    EventKind,
    EventWords,
    Platform,
    goes_another_way,
    issued_in_order,
    observed_behind_poll,
    observed_in_order,
    of_variant,
    told_by_receive,
)
from rdma_robust.certify.thread_events import Completion, ThreadEvent

Relation = list[int]


@dataclass(frozen=True, slots=True)
class Execution:
    """A trace. The first events are the initial writes, None in `events`; `threads` lists the others of each thread in
    program order. `reads_from` names the write of every read, `written` the writes of each cell in modification order,
    the initial one first. NIC events of one queue pair, atomics on one word, and what cards do in one memory behind them,
    took effect in the order of their numbers. `filled` names, for messages, the event that has posted the buffer (none
    for one that always was posted), `heard`, for what takes a receive completion, the message. `joined` are events that
    happen at the same moment as the one named first, for everybody: those of a locked section. `turns` is what `filled` is
    under sequential consistency, where that is another one: a message that is named with itself has no place there.
    """

    events: Sequence[ThreadEvent | None]
    threads: Sequence[Sequence[int]]
    reads_from: Mapping[int, int]
    written: Sequence[Sequence[int]]
    filled: Mapping[int, int] = field(default_factory=dict)
    heard: Mapping[int, int] = field(default_factory=dict)
    joined: Sequence[tuple[int, int]] = ()
    turns: Mapping[int, int] | None = None


def rdma_cycle(trace: Execution, platform: Platform) -> list[int] | None:
    """Return a cycle of ib or ob, which shows that RDMA does not allow the trace; None if there is none."""
    size, before = len(trace.events), _before(trace)
    landed = _relation(size, _flushed(trace, platform))
    landed = _union(landed, _relation(size, _ranked(trace) if platform.ranked else ()))
    own = [row & mask for row, mask in zip(before, _relation(size, _behind_own(trace, platform)), strict=True)]
    issued = _issued(trace, platform, _union(landed, own))
    if (cycle := _cycle(issued)) is not None:
        return cycle
    return _cycle(_observed(trace, platform, _closure(issued), _union(landed, before, _modified(trace))))


def order_for_races(trace: Execution, platform: Platform, told: Mapping[int, int]) -> Relation:
    """Return the happens-before of a trace (docs/races.md): what is observed in order without what only follows from which
    access of data came first. `told` has the reads that synchronise, each with its write."""
    told_only = replace(trace, reads_from=told)
    nothing = _relation(len(trace.events), ())
    ib = _closure(_issued(told_only, platform, nothing))
    rows = _closure(_observed(told_only, platform, ib, nothing))
    for first, event in _sections(trace):
        rows = [row | (row >> first & 1) << event for row in rows]
        rows[event] = rows[first]
    return rows


def _issued(trace: Execution, platform: Platform, more: Relation) -> Relation:
    """ib, not closed: with what is in order `more`."""
    size = len(trace.events)
    ippo = _preserved(trace, lambda a, b, same, words: issued_in_order(a, b, same, platform, words))
    rf, pf = _relation(size, _read_from(trace)), _relation(size, told_by_poll(trace))
    sm, rpf = _relation(size, _filled(trace)), _relation(size, _heard(trace, platform))
    return _merged(_union(ippo, rf, pf, sm, rpf, more), _sections(trace))


def _observed(trace: Execution, platform: Platform, ib: Relation, more: Relation) -> Relation:
    """ob, not closed: with what is in order `more`."""
    size = len(trace.events)
    apart = _relation(size, _in_two_memories(trace))
    kept = _preserved(trace, lambda a, b, same, words: observed_in_order(a, b, same, platform, words))
    kept = _union(kept, _relation(size, _behind_polls(trace, platform)))
    oppo = _union([row & ~away for row, away in zip(kept, apart, strict=True)], _relation(size, of_one_request(trace)))
    rf, buffered = _relation(size, _read_from(trace)), _relation(size, _forwarded(trace, platform))
    pf, sm, rpf = (_relation(size, pairs) for pairs in (told_by_poll(trace), _filled(trace), _heard(trace, platform)))
    kinds = [None if e is None else e.kind for e in trace.events]
    behind = _behind(trace)
    polled = [kind is not None and platform.visible_when_polled(kind) for kind in kinds]
    visible = [row if told and not away else 0 for told, away, row in zip(polled, behind, pf, strict=True)]
    told = [0 if away else row for row, away in zip(rpf, behind, strict=True)]
    instantaneous = [row if kind is None or platform.instantaneous(kind) else 0 for kind, row in zip(kinds, ib, strict=True)]
    seen = [row & ~hidden for row, hidden in zip(rf, buffered, strict=True)]
    posted = _relation(size, _behind_stores(trace, platform))
    return _merged(_union(oppo, seen, posted, visible, sm, told, instantaneous, more), _sections(trace))


def sc_cycle(trace: Execution) -> list[int] | None:
    """Return a cycle of sc, which shows that no sequentially consistent execution is the trace; None if there is none.

    The two events of a remote atomic are one vertex, of which the cycle names the first.
    """
    size = len(trace.events)
    po = _relation(size, ((a, b) for thread in trace.threads for i, a in enumerate(thread) for b in thread[i + 1 :]))
    turns = _filled(trace if trace.turns is None else replace(trace, filled=trace.turns))
    rf, sm, rpf = (_relation(size, pairs) for pairs in (_read_from(trace), turns, _messages_heard(trace)))
    return _cycle(_merged(_union(po, rf, _before(trace), _modified(trace), sm, rpf), [*halves(trace), *_sections(trace)]))


def polls_from(trace: Execution) -> Iterator[tuple[int, int]]:
    """Yield polls-from: the k-th poll of a queue pair polls its k-th signaled operation, both counted in program order."""
    for completed, poll in _polls(trace):
        signaled = [e for e in completed if _completion(trace, e) is Completion.SIGNALED]
        if signaled and signaled[-1] == completed[-1]:
            yield completed[-1], poll


def told_by_poll(trace: Execution) -> Iterator[tuple[int, int]]:
    """Yield what has completed, with the poll that tells of it: what is polled, and everything earlier of the queue pair."""
    for completed, poll in _polls(trace):
        yield from ((e, poll) for e in completed)


def of_one_request(trace: Execution) -> Iterator[tuple[int, int]]:
    """Yield every read of a NIC with each write of its request: that ends with what completes. Also each read of an
    operand with that of the atomic: between them nothing is but other operands."""
    for thread in trace.threads:
        read, operands = None, list[int]()
        for e in thread:
            event = trace.events[e]
            if event is not None and event.kind in (EventKind.ATOMIC_READS, EventKind.ATOMIC):
                yield from ((operand, e) for operand in operands)
            operands = [*operands, e] if event is not None and event.kind is EventKind.PUT_READS else []
            if event is None or event.kind not in CARD_READS | NIC_WRITES:
                read = None
            elif event.kind in CARD_READS:
                read = e if event.completion is Completion.NONE else None
            elif read is not None:
                yield read, e
                read = read if event.completion is Completion.NONE else None


def halves(trace: Execution) -> Iterator[tuple[int, int]]:
    """Yield the read and the write of every remote atomic that has both as events of their own."""
    for thread in trace.threads:
        for a, b in pairwise(thread):
            second = trace.events[b]
            if second is not None and second.kind is EventKind.ATOMIC_WRITES:
                yield a, b


def _sections(trace: Execution) -> list[tuple[int, int]]:
    """The first event of every locked section with each of the others."""
    head: dict[int, int] = {}
    for before, event in trace.joined:
        head[event] = head.get(before, before)
    return [(first, event) for event, first in head.items()]


def _polls(trace: Execution) -> Iterator[tuple[list[int], int]]:
    """Yield each poll that finds something, behind the completing events of its queue pair up to the one that it polls."""
    for thread in trace.threads:
        completed: dict[str, list[int]] = {}
        polls: dict[str, int] = {}
        for e in thread:
            event = trace.events[e]
            if event is None or event.remote is None:
                continue
            if event.completion is not Completion.NONE:
                completed.setdefault(event.remote, []).append(e)
            elif event.kind is EventKind.POLL:
                polls[event.remote] = k = polls.get(event.remote, 0) + 1
                mine = completed.get(event.remote, [])
                signaled = [i for i, c in enumerate(mine) if _completion(trace, c) is Completion.SIGNALED]
                if k <= len(signaled):
                    yield mine[: signaled[k - 1] + 1], e


def _completion(trace: Execution, event: int) -> Completion:
    found = trace.events[event]
    return Completion.NONE if found is None else found.completion


def _preserved(trace: Execution, kept: Callable[[EventKind, EventKind, bool, EventWords], bool]) -> Relation:
    """The program order that hardware keeps: also that of a read and the writes of its request, whatever the network."""

    def pairs() -> Iterator[tuple[int, int]]:
        yield from of_one_request(trace)
        for thread in trace.threads:
            words = _regions(trace, thread)
            for i, a in enumerate(thread):
                for b in thread[i + 1 :]:
                    one, two = trace.events[a], trace.events[b]
                    if one is None or two is None:
                        continue
                    told = words[b]._replace(same=one.cell is not None and one.cell == two.cell)
                    if kept(of_variant(one.kind, one.variant), two.kind, _same_queue(one, two), told):
                        yield a, b

    return _relation(len(trace.events), pairs())


def _behind_polls(trace: Execution, platform: Platform) -> Iterator[tuple[int, int]]:
    """What oppo keeps besides: events of operations that a poll of their queue pair tells of, before events of it behind the
    poll."""

    def kept(one: ThreadEvent | None, poll: ThreadEvent | None, two: ThreadEvent | None, words: EventWords) -> bool:
        if one is None or poll is None or two is None or one.kind in CPU:
            return False
        near = _same_queue(one, poll) and _same_queue(one, two)
        return near and observed_behind_poll(of_variant(one.kind, one.variant), two.kind, platform, words)

    for completed, poll in _polls(trace) if platform.completions_order else ():
        thread = next(each for each in trace.threads if poll in each)
        words = _regions(trace, thread)
        told, behind = thread[: thread.index(completed[-1]) + 1], thread[thread.index(poll) + 1 :]
        at = trace.events[poll]
        yield from ((a, b) for a in told for b in behind if kept(trace.events[a], at, trace.events[b], words[b]))


def _regions(trace: Execution, thread: Sequence[int]) -> dict[int, EventWords]:
    """Which words of each event of a thread are in relaxed regions, and in which memories. What an answer has asked is what
    was read last: nothing but the write of its atomic is between them."""
    found: dict[int, EventWords] = {}
    asked = EventWords()
    for e in thread:
        event = trace.events[e]
        assert event is not None
        own = event.regions
        asked = own if event.kind in READS else asked
        of = asked if event.kind is EventKind.GET_WRITES else EventWords()
        found[e] = EventWords(own.own, of.own, own.memory, of.memory, variant=event.variant)
    return found


def _behind(trace: Execution) -> list[bool]:
    """Which events are on words of a memory behind a card: no completion shows them."""
    return [e is not None and bool(e.regions.memory) for e in trace.events]


def _in_two_memories(trace: Execution) -> Iterator[tuple[int, int]]:
    """The events of a queue pair, in program order, that go different ways behind a card."""
    for thread in trace.threads if any(_behind(trace)) else ():
        words = _regions(trace, thread)
        for i, a in enumerate(thread):
            for b in thread[i + 1 :]:
                one, two = trace.events[a], trace.events[b]
                if one is not None and two is not None and goes_another_way(one.kind, words[a], two.kind, words[b]):
                    yield a, b


def _read_from(trace: Execution) -> Iterator[tuple[int, int]]:
    return ((write, read) for read, write in trace.reads_from.items())


def _forwarded(trace: Execution, platform: Platform) -> Iterator[tuple[int, int]]:
    """rfb: what a thread reads from its own store buffer."""
    for read, write in trace.reads_from.items():
        one, two = trace.events[write], trace.events[read]
        if one is None or two is None or not platform.buffered:
            continue
        if one.thread == two.thread and one.kind is EventKind.LOCAL_WRITE and two.kind is EventKind.LOCAL_READ:
            yield write, read


def _behind_stores(trace: Execution, platform: Platform) -> Iterator[tuple[int, int]]:
    """[lW];oppo;pf: a request leaves the store buffer behind earlier stores, so a poll that takes its completion is behind
    them too. Other requests than inline ones read by the NIC first, which says the same."""
    if platform.buffered:
        where = {e: (t, i) for t, thread in enumerate(trace.threads) for i, e in enumerate(thread)}
        for completed, poll in told_by_poll(trace):
            t, i = where[completed]
            for e in trace.threads[t][:i]:
                event = trace.events[e]
                if event is not None and event.kind is EventKind.LOCAL_WRITE:
                    yield e, poll


def _behind_own(trace: Execution, platform: Platform) -> Iterator[tuple[int, int]]:
    """Each read of a CPU with each store of its thread: those of them in rb are rbb, and are issued in that order."""
    if platform.buffered:
        for thread in trace.threads:
            of: dict[EventKind, list[int]] = {EventKind.LOCAL_READ: [], EventKind.LOCAL_WRITE: []}
            for e in thread:
                event = trace.events[e]
                if event is not None and event.kind in of:
                    of[event.kind].append(e)
            yield from ((a, b) for a in of[EventKind.LOCAL_READ] for b in of[EventKind.LOCAL_WRITE])


def _flushed(trace: Execution, platform: Platform) -> Iterator[tuple[int, int]]:
    """nfo: the NIC reads and the NIC writes on the same side of a queue pair, in the order in which they took effect, as far
    as reads push writes; none of relaxed regions."""
    if not platform.reads_land:
        return
    yield from _landed(trace)
    for thread in trace.threads:
        for a in thread:
            for b in thread:
                one, two = trace.events[a], trace.events[b]
                if a < b and one is not None and two is not None and _same_queue(one, two):
                    if one.regions.own or two.regions.own or one.regions.memory or two.regions.memory:
                        continue
                    if platform.flushes(one.kind, two.kind) or platform.flushes(two.kind, one.kind):
                        yield a, b


def _landed(trace: Execution) -> Iterator[tuple[int, int]]:
    """nfo in a memory behind a card: its reads and its writes, of all queue pairs."""
    strict = [(e, v) for e, v in enumerate(trace.events) if v is not None and v.regions.memory and not v.regions.own]
    for a, one in strict:
        for b, two in strict:
            kinds = {one.kind, two.kind}
            if a < b and one.regions.memory == two.regions.memory and kinds & CARD_READS and kinds & NIC_WRITES:
                yield a, b


def _ranked(trace: Execution) -> Iterator[tuple[int, int]]:
    """rao: an atomic of a NIC, its write too, before the read of every later one on the word."""
    write = dict(halves(trace))
    atomics: dict[object, list[int]] = {}
    for e, event in enumerate(trace.events):
        if event is not None and event.kind is EventKind.ATOMIC_READS:
            atomics.setdefault(event.cell, []).append(e)
    for ranks in atomics.values():
        for i, a in enumerate(ranks):
            for b in ranks[i + 1 :]:
                yield a, b
                if a in write:
                    yield write[a], b


def _filled(trace: Execution) -> Iterator[tuple[int, int]]:
    """sm: from what posts a buffer to the message that fills it."""
    return ((posts, message) for message, posts in trace.filled.items())


def _messages_heard(trace: Execution) -> Iterator[tuple[int, int]]:
    return ((message, receives) for receives, message in trace.heard.items())


def _heard(trace: Execution, platform: Platform) -> Iterator[tuple[int, int]]:
    """rpf: from a message to what takes its completion; also from the data of a write with immediate, and on some networks
    from what its queue pair wrote before."""
    yield from _messages_heard(trace)
    for receives, message in trace.heard.items():
        sent = trace.events[message]
        assert sent is not None
        mine = trace.threads[sent.thread]
        for e in mine[: mine.index(message)]:
            event = trace.events[e]
            if event is not None and _same_queue(event, sent) and told_by_receive(event.kind, platform):
                yield e, receives
        if (data := data_of(trace, mine, mine.index(message))) is not None:
            yield data, receives


def data_of(trace: Execution, mine: Sequence[int], place: int) -> int | None:
    """Return the write of the same request before a message, if it is that of a write with immediate."""
    event = trace.events[mine[place - 1]] if place else None
    if event is None or event.kind is not EventKind.PUT_WRITES or event.completion is not Completion.NONE:
        return None
    return mine[place - 1]


def _before(trace: Execution) -> Relation:
    """rb: a read before every write that comes after the one that it reads from; a swap not before itself."""

    def pairs() -> Iterator[tuple[int, int]]:
        later = {write: order[i + 1 :] for order in trace.written for i, write in enumerate(order)}
        for read, write in trace.reads_from.items():
            yield from ((read, after) for after in later[write] if after != read)

    return _relation(len(trace.events), pairs())


def _modified(trace: Execution) -> Relation:
    pairs = ((a, b) for order in trace.written for i, a in enumerate(order) for b in order[i + 1 :])
    return _relation(len(trace.events), pairs)


def _same_queue(one: ThreadEvent, two: ThreadEvent) -> bool:
    return one.thread == two.thread and one.remote is not None and one.remote == two.remote


def _relation(size: int, pairs: Iterable[tuple[int, int]]) -> Relation:
    rows = [0] * size
    for a, b in pairs:
        rows[a] |= 1 << b
    return rows


def _union(*relations: Relation) -> Relation:
    rows = [0] * len(relations[0])
    for relation in relations:
        rows = [a | b for a, b in zip(rows, relation, strict=True)]
    return rows


def _merged(relation: Relation, pairs: Sequence[tuple[int, int]]) -> Relation:
    """The relation with the second event of each pair made one with the first; nothing leads from a vertex to itself."""
    rows = list(relation)
    for first, second in pairs:
        both = 1 << first | 1 << second
        rows[first] = (rows[first] | rows[second]) & ~both
        rows[second] = 0
        for e, row in enumerate(rows):
            if row >> second & 1:
                rows[e] = row & ~both | 1 << first
    return rows


def _closure(relation: Relation) -> Relation:
    """Everything that can be reached by at least one edge."""
    rows = list(relation)
    for middle in range(len(rows)):
        through = 1 << middle
        rows = [row | rows[middle] if row & through else row for row in rows]
    return rows


def _cycle(relation: Relation) -> list[int] | None:
    """Return the events of a cycle in order, None if there is none."""
    path: list[int] = []
    on_path: set[int] = set()
    done: set[int] = set()
    for root in range(len(relation)):
        todo = [(root, relation[root])]
        while todo:
            event, rest = todo.pop()
            if event not in on_path:
                if event in done:
                    continue
                path.append(event)
                on_path.add(event)
            if rest:
                low = rest & -rest
                after = low.bit_length() - 1
                if after in on_path:
                    return path[path.index(after) :]
                todo += [(event, rest ^ low), (after, relation[after])]
            else:
                path.pop()
                on_path.remove(event)
                done.add(event)
    return None
