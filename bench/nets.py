"""Coverability of generated nets: table (d) of docs/benchmarks.md.

What is not part of this repository stays as it was written down.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from bench import coverability, lookalikes
from bench.records import Cover, load, save
from rdma_robust.limits import Limits
from rdma_robust.petri.cover import cover
from rdma_robust.petri.net import Net

SECONDS: Final = 9.0
MEBIBYTES: Final = 4096

NETS: Final[Mapping[str, Callable[[], Net]]] = {
    "filter lock, 3 processes": partial(lookalikes.filter_lock, 3),
    "filter lock, 4 processes": partial(lookalikes.filter_lock, 4),
    "filter lock, 5 processes": partial(lookalikes.filter_lock, 5),
    "filter lock, 5 processes, broken": partial(lookalikes.filter_lock, 5, broken=True),
    "one-bit algorithm, 4 processes": partial(lookalikes.one_bit, 4),
    "one-bit algorithm, 6 processes": partial(lookalikes.one_bit, 6),
    "one-bit algorithm, 8 processes": partial(lookalikes.one_bit, 8),
    "Szymanski's algorithm, 3 processes": partial(lookalikes.szymanski, 3),
    "Szymanski's algorithm, 4 processes": partial(lookalikes.szymanski, 4),
    "Boolean program, 60 steps, 16 shared states": partial(lookalikes.c_program, 60, 4, 2, False),
    "Boolean program, 60 steps, 16 shared states, broken": partial(lookalikes.c_program, 60, 4, 2, True),
    "Boolean program, 100 steps, 64 shared states": partial(lookalikes.c_program, 100, 6, 2, False),
    "Boolean program, 100 steps, 64 shared states, broken": partial(lookalikes.c_program, 100, 6, 2, True),
    "Boolean program, 100 steps, 16 shared and 16 local states": partial(lookalikes.c_program, 100, 4, 4, False),
    "Boolean program, 100 steps, 16 shared and 16 local states, broken": partial(lookalikes.c_program, 100, 4, 4, True),
    "Boolean program, 200 steps, 32 shared states": partial(lookalikes.c_program, 200, 5, 2, False),
    "Boolean program, 200 steps, 32 shared states, broken": partial(lookalikes.c_program, 200, 5, 2, True),
    "routing, 7 nodes": partial(lookalikes.routing, 7, 4, 6),
    "chain of 1,000": partial(lookalikes.chain, 1000),
    "thread pool, 48 locks": partial(coverability.thread_pool, 48),
    "boolean-program-9": partial(coverability.boolean_program, 9),
    "Peterson, 64 pairs": partial(coverability.peterson, 64),
    "kanban-400": partial(coverability.kanban, 400),
    "leader-36": partial(coverability.leader, 36),
    "doubling-12": partial(coverability.doubling, 12),
    "exchange-90": partial(coverability.exchange, 90),
    "provenance-5-8-9-6": partial(lookalikes.provenance, 5, 8, 9, 6),
    "provenance-5-8-9-7": partial(lookalikes.provenance, 5, 8, 9, 7),
}


def report(say: Callable[[str], None]) -> None:
    """Measure the nets again and keep them."""
    rows = []
    for row in load("nets", Cover):
        rows.append(measured(row) if row.net in NETS else row)
        say(f"{rows[-1].net}: {rows[-1].verdict}, {rows[-1].seconds} s")
    save("nets", rows)


def measured(row: Cover) -> Cover:
    """Decide a net in a process of its own. The verdict of one that is not decided stays what is known of it."""
    net = NETS[row.net]()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        verdict, seconds = pool.apply(_decided, (net,))
    size = (len(net.places), len(net.transitions))
    return Cover(row.net, *size, verdict or row.verdict, seconds if verdict else None)


def _decided(net: Net) -> tuple[str, float]:
    started = time.process_time()
    result = cover(net, Limits(time.monotonic() + SECONDS, None, MEBIBYTES))
    verdict = "unsafe" if result.run is not None else "safe" if result.invariant is not None else ""
    return verdict, time.process_time() - started
