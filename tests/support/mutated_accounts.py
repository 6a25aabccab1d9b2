"""Accounts for the extracted checker that differ in something from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from rdma_robust.certify.hardware import EventKind
from rdma_robust.certify.judge_account import Account, EventAccount, Source
from rdma_robust.certify.judge_question import Place
from rdma_robust.certify.thread_events import Completion
from tests.support.accounts import Orders, writes_of


def mutated(account: Account, rng: Random) -> Account:
    """An account that differs in one thing: two events exchanged, a source, what an event does, an event left out or one
    poll more, the buffers that are posted, or the hardware."""
    order, modified = list(account.order), list(account.modified)
    threads = [list(deeds) for deeds in account.threads]
    thread, at = rng.choice(order)
    match rng.randrange(12):
        case 0 | 1 | 2 if len(order) > 1:
            a, b = rng.sample(range(len(order)), 2)
            order[a], order[b] = order[b], order[a]
            modified = order if account.modified == account.order else modified
        case 3 | 4 if account.sources:
            k = rng.randrange(len(account.sources))
            write = rng.choice((rng.randrange(len(account.cells)), rng.choice(order)))
            sources = (*account.sources[:k], (write, account.sources[k][1]), *account.sources[k + 1 :])
            return replace(account, sources=sources)
        case 5 | 6 if len(order) > 2:
            return without(account, {(thread, at)})
        case 7:
            threads[thread].append(EventAccount(EventKind.POLL, rng.choice((0, 0, 1))))
            order.append((thread, len(threads[thread]) - 1))
            modified.append(order[-1])
        case 8:
            posted = [(t, u, cells[rng.randrange(2) :]) for t, u, cells in account.posted]
            return replace(account, posted=tuple(posted))
        case 9:
            on = account.platform
            hardware = (
                replace(on, cpu="sc" if on.buffered else "tso"),
                replace(on, atomics="glob" if on.ranked else "hca"),
                replace(on, order=rng.choice(("default", "multipath", "relaxed"))),
                replace(on, ordered_reads=not on.ordered_reads),
            )
            return replace(account, platform=rng.choice(hardware))
        case _:
            threads[thread][at] = _changed(threads[thread][at], len(account.cells), rng)
    return replace(account, threads=tuple(map(tuple, threads)), order=tuple(order), modified=tuple(modified))


def _changed(deed: EventAccount, cells: int, rng: Random) -> EventAccount:
    """What does something else than this in one respect."""
    kinds = {
        EventKind.ATOMIC: EventKind.ATOMIC_READS,
        EventKind.ATOMIC_READS: EventKind.ATOMIC,
        EventKind.PUT_READS: EventKind.GET_READS,
        EventKind.GET_READS: EventKind.PUT_READS,
        EventKind.LOCAL_READ: EventKind.LOCAL_WRITE,
    }
    changes = [replace(deed, kind=kinds.get(deed.kind, deed.kind))]
    if deed.queue >= 0:
        changes.append(replace(deed, queue=1 - deed.queue if deed.queue < 2 else 0))
    if deed.cell >= 0:
        changes.append(replace(deed, cell=rng.randrange(cells)))
    if deed.read is not None:
        changes.append(replace(deed, read=deed.read + 1))
    if deed.written is not None:
        changes.append(replace(deed, written=deed.written + 1))
    if deed.operation:
        changes.append(replace(deed, operation=rng.choice(("cas 0 1", "cas 7 1", "faa 1", "faa 1 0 1", "swap 1"))))
    if deed.kind in (EventKind.LOCAL_READ, EventKind.SWAP):
        changes.append(replace(deed, joined=not deed.joined))
    if deed.kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES) and deed.completion is not Completion.NONE:
        other = Completion.SIGNALED if deed.completion is Completion.UNSIGNALED else Completion.UNSIGNALED
        changes.append(replace(deed, completion=other))
    if deed.kind is EventKind.LOCAL_READ and changes[0].kind is EventKind.LOCAL_WRITE:
        changes[0] = replace(deed, kind=EventKind.LOCAL_WRITE, read=None, written=deed.read)
    return rng.choice(changes)


def without(account: Account, gone: set[Place]) -> Account:
    """The account without these events; what was read from them is read from the event that has their place, if any."""

    def moved(place: Source) -> Source:
        return (
            place
            if isinstance(place, int)
            else (place[0], place[1] - sum(g[0] == place[0] and g[1] < place[1] for g in gone))
        )

    def kept(places: Sequence[Place]) -> tuple[Place, ...]:
        return tuple(
            there for place in places if place not in gone for there in [moved(place)] if not isinstance(there, int)
        )

    return replace(
        account,
        threads=tuple(
            tuple(d for n, d in enumerate(deeds) if (t, n) not in gone) for t, deeds in enumerate(account.threads)
        ),
        sources=tuple((moved(a), there) for a, b in account.sources for there in kept([b])),
        order=kept(account.order),
        modified=kept(account.modified),
    )


def shuffled(account: Account, rng: Random) -> tuple[Account, Orders]:
    """The account with reads from any write of their cell, and orders of any kind."""
    sources: list[tuple[Source, Place]] = []
    for _, read in account.sources:
        cell = account.threads[read[0]][read[1]].cell
        writes: list[Source] = [cell]
        writes += [w for w in writes_of(account) if account.threads[w[0]][w[1]].cell == cell and w != read]
        sources.append((rng.choice(writes), read))
    orders = [list(account.order) for _ in range(3)]
    for order in orders:
        for _ in range(rng.choice((0, 1, 3, 100))):
            if len(order) > 1:
                a = rng.randrange(len(order) - 1)
                order[a : a + 2] = order[a + 1], order[a]
    return replace(account, sources=tuple(sources)), Orders(*orders)
