"""A batch: what the cache knows comes from there, the rest from an executor, and goes into the cache as it comes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Protocol

from rdma_robust.batch.cache import Cache
from rdma_robust.batch.job import Job, Record

Tick = Callable[[], None]
Numbered = tuple[int, Job]
Answers = Generator[tuple[int, Record], None, None]


class Executor(Protocol):
    """Who decides. `run` yields (number, record) of each numbered job as it is done; closing it stops the work."""

    def run(self, jobs: Sequence[Numbered], tick: Tick) -> Answers: ...


def run_batch(jobs: Sequence[Numbered], executor: Executor, cache: Cache | None, tick: Tick) -> Answers:
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
    with closing(executor.run(missing, tick)) as answers:
        for number, record in answers:
            if cache:
                cache.put(asked[number], record)
            yield number, record
