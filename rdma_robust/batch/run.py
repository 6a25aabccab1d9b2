"""A batch: what the cache knows comes from there, the rest from an executor, and goes into the cache as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Protocol

from rdma_robust.batch.cache import Cache
from rdma_robust.batch.job import Job, Record

Tick = Callable[[], None]
Numbered = tuple[int, Job]


class Executor(Protocol):
    """Who decides. `run` yields (number, record) of each numbered job as it is done; closing it stops the work."""

    def run(self, jobs: Sequence[Numbered], tick: Tick) -> Iterator[tuple[int, Record]]: ...


def run_batch(jobs: Sequence[Numbered], executor: Executor, cache: Cache | None, tick: Tick) -> Iterator[tuple[int, Record]]:
    """Yield (number, record) of each numbered job as it is known. What was yielded is in the cache, if it can be."""
    missing = []
    for number, job in jobs:
        known = cache.get(job) if cache else None
        if known is None:
            missing.append((number, job))
        else:
            yield number, known
    asked = dict(missing)
    if not missing:
        return
    answers = executor.run(missing, tick)
    with closing(answers):  # type: ignore[type-var]
        for number, record in answers:
            if cache:
                cache.put(asked[number], record)
            yield number, record
