"""Random runs on any hardware as accounts for the judge: operations of all kinds, split into two parts, executed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from rdma_robust.certify.hardware import READS, WRITES, EventKind, Platform
from rdma_robust.certify.judge_account import Account, EventAccount, Source
from rdma_robust.certify.judge_question import Place
from rdma_robust.certify.thread_events import Completion
from tests.support.accounts import operated
from tests.support.mutated_accounts import without

CELLS = 3
KINDS = (
    "read",
    "write",
    "cas",
    "mfence",
    "section",
    "put",
    "inline",
    "get",
    "atomic",
    "rfence",
    "send",
    "imm",
    "recv",
    "rpoll",
)
WEIGHTS = {
    "cpu": (6, 6, 1, 1, 1, 4, 1, 3, 0, 1, 0, 0, 0, 0),
    "atomics": (3, 4, 1, 0, 0, 2, 1, 2, 6, 1, 0, 0, 0, 0),
    "messages": (4, 4, 0, 1, 0, 2, 1, 1, 0, 0, 4, 2, 3, 3),
    "all": (3, 3, 1, 1, 1, 2, 1, 2, 3, 1, 2, 1, 1, 1),
}


def random_account(rng: Random) -> Account:
    """A run of 1 to 3 threads, in an order of which each thread's part before and after a cut is in program order."""
    weights = WEIGHTS[rng.choice(list(WEIGHTS))]
    platform = Platform(
        rng.choice(("sc", "tso")),
        rng.choice(("hca", "glob")),
        rng.choice(("default", "default", "multipath", "relaxed")),
        rng.random() < 0.5,
    )
    number = rng.choice((1, 2, 2, 2, 3))
    posted = tuple(
        (u, t, tuple(_cells(rng, rng.choice((0, 1, 1, 2))))) for u in range(number) for t in range(number) if u != t
    )
    threads = [list(_thread(rng, t, number, platform, weights)) for t in range(number)]
    _connect(threads, posted)
    turns = [t for t, deeds in enumerate(threads) for _ in deeds]
    rng.shuffle(turns)
    reached = [0] * number
    merged: list[Place] = []
    for t in turns:
        merged.append((t, reached[t]))
        reached[t] += 1
    late = rng.choice((0.0, 0.2, 0.4, 0.5))
    early = [rng.random() >= late for _ in merged]
    order = [p for p, keep in zip(merged, early, strict=True) if keep]
    order += [p for p, keep in zip(merged, early, strict=True) if not keep]
    return executed(Account(platform, (0,) * CELLS, posted, tuple(map(tuple, threads)), (), tuple(order), ()))


def _cells(rng: Random, number: int) -> list[int]:
    return [rng.randrange(CELLS) for _ in range(number)]


def _thread(rng: Random, me: int, number: int, platform: Platform, weights: tuple[int, ...]) -> Iterator[EventAccount]:
    unpolled = {0: 0, 1: 0, 2: 0}
    for name in rng.choices(KINDS, weights, k=rng.randint(1, 4)):
        other = rng.choice([u for u in range(number) if u != me] or [me])
        queue = other
        signaled = rng.random() < 0.8
        completion = Completion.SIGNALED if signaled else Completion.UNSIGNALED
        made = list(_operation(rng, name, other, completion, platform))
        if other == me and name in ("send", "imm", "recv", "rpoll"):
            continue
        yield from made
        if made[-1].kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES) and signaled:
            unpolled[queue] += 1
        if unpolled[queue] and rng.random() < 0.4:
            unpolled[queue] -= 1
            yield EventAccount(EventKind.POLL, queue)


def _operation(rng: Random, name: str, other: int, completion: Completion, platform: Platform) -> Iterator[EventAccount]:
    queue = other
    x, y = _cells(rng, 2)
    value = rng.randint(0, 2)
    source = rng.random() < 0.7
    match name:
        case "read":
            yield EventAccount(EventKind.LOCAL_READ, cell=x)
        case "write":
            yield EventAccount(EventKind.LOCAL_WRITE, cell=x, written=value)
        case "cas":
            yield EventAccount(EventKind.SWAP, cell=x, written=value)
        case "mfence":
            yield EventAccount(EventKind.MEMORY_FENCE)
        case "section":
            kinds = (EventKind.LOCAL_READ, EventKind.SWAP)
            for k, cell in enumerate(rng.sample(range(CELLS), 2)):
                kind = rng.choice(kinds)
                yield EventAccount(kind, cell=cell, written=value if kind is EventKind.SWAP else None, joined=k > 0)
        case "put":
            yield EventAccount(EventKind.PUT_READS, queue, x)
            yield EventAccount(EventKind.PUT_WRITES, queue, y, completion=completion)
        case "inline":
            yield EventAccount(EventKind.PUT_WRITES, queue, y, written=value, completion=completion)
        case "get":
            yield EventAccount(EventKind.GET_READS, queue, x)
            yield EventAccount(EventKind.GET_WRITES, queue, y, completion=completion)
        case "atomic":
            operation = rng.choice((f"cas {value} {rng.randint(0, 2)}", f"faa {value}", f"faa {value} 0 2", f"swap {value}"))
            if platform.ranked:
                yield EventAccount(EventKind.ATOMIC_READS, queue, x, operation=operation)
                yield EventAccount(EventKind.ATOMIC_WRITES, queue, x)
            else:
                yield EventAccount(EventKind.ATOMIC, queue, x, operation=operation)
            yield EventAccount(EventKind.GET_WRITES, queue, y, completion=completion)
        case "rfence":
            yield EventAccount(EventKind.FENCE, queue)
        case "send":
            if source:
                yield EventAccount(EventKind.PUT_READS, queue, x)
            yield EventAccount(
                EventKind.PUT_WRITES, queue, 0, written=None if source else value, completion=completion, peer=other
            )
        case "imm":
            if source:
                yield EventAccount(EventKind.PUT_READS, queue, x)
            yield EventAccount(EventKind.PUT_WRITES, queue, y, written=None if source else value, completion=Completion.NONE)
            yield EventAccount(EventKind.PUT_WRITES, queue, written=value, completion=completion, peer=other)
        case "recv":
            yield EventAccount(EventKind.POSTS_BUFFER, cell=x, peer=other)
        case "rpoll":
            yield EventAccount(EventKind.RECEIVES, read=0, peer=other)


def _connect(threads: list[list[EventAccount]], posted: tuple[tuple[int, int, tuple[int, ...]], ...]) -> None:
    """Let messages fill the buffers that they find, and leave out RPs without a message."""
    for t, deeds in enumerate(threads):
        for u, theirs in enumerate(threads):
            sent = [n for n, d in enumerate(deeds) if d.kind is EventKind.PUT_WRITES and d.peer == u]
            buffers = [x for v, s, cells in posted if (v, s) == (u, t) for x in cells]
            buffers += [d.cell for d in theirs if d.kind is EventKind.POSTS_BUFFER and d.peer == t]
            for n, x in zip(sent, buffers, strict=False):
                deeds[n] = replace(deeds[n], cell=x) if deeds[n].cell >= 0 else deeds[n]
            asked = [n for n, d in enumerate(theirs) if d.kind is EventKind.RECEIVES and d.peer == t]
            for n, message in zip(asked, sent, strict=False):
                theirs[n] = replace(theirs[n], read=0 if deeds[message].cell >= 0 else deeds[message].written)


def executed(account: Account) -> Account:
    """The account with what is read and written where the events take effect in its order: sources, values of CPU reads, and
    only those writes of remote atomics that happen. With store buffers a CPU reads its own store that is still to come."""
    threads = [list(deeds) for deeds in account.threads]
    at = {place: n for n, place in enumerate(account.order)}
    memory: dict[int, tuple[Source, int]] = {x: (x, value) for x, value in enumerate(account.cells)}
    values: dict[Place, int] = {}
    gone: set[Place] = set()
    sources: list[tuple[Source, Place]] = []
    for t, n in account.order:
        deed = threads[t][n]
        read = memory[deed.cell] if deed.kind in READS else (0, 0)
        if deed.kind is EventKind.LOCAL_READ and account.platform.buffered:
            own = [k for k in range(n) if (threads[t][k].kind, threads[t][k].cell) == (EventKind.LOCAL_WRITE, deed.cell)]
            if own and at[t, own[-1]] > at[t, n]:
                read = (t, own[-1]), threads[t][own[-1]].written or 0
        if deed.kind in READS:
            sources.append((read[0], (t, n)))
            values[t, n] = read[1]
        if deed.kind in (EventKind.LOCAL_READ, EventKind.SWAP):
            threads[t][n] = replace(deed, read=read[1])
        written = deed.written
        if deed.kind is EventKind.ATOMIC:
            written = operated(deed.operation, read[1])
            if written is None:
                threads[t][n] = replace(deed, kind=EventKind.ATOMIC_READS)
        elif deed.kind is EventKind.ATOMIC_WRITES:
            written = operated(threads[t][n - 1].operation, values.get((t, n - 1), 0))
            if written is None:
                gone.add((t, n))
        elif deed.kind in WRITES and written is None:
            k = n - 1 - (threads[t][n - 1].kind is EventKind.ATOMIC_WRITES)
            written = values.get((t, k), 0)
        if deed.kind in WRITES and deed.cell >= 0 and written is not None:
            memory[deed.cell] = (t, n), written
    made = replace(account, threads=tuple(map(tuple, threads)), sources=tuple(sources), modified=account.order)
    return without(made, gone)
