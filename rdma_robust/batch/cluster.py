"""A Dask cluster as executor: tasks are bundles of programs, and what is too large for a worker is shared by all of them.

A worker decides the programs of a bundle until two seconds have passed; those that are left go into other bundles. Of a
bundle whose worker died each program becomes a task of its own. Answers go into the cache as they come, so that nothing is
lost but the work of a moment. Workers must run this very code: every task says which it expects.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.batch.job import Job, Record
from rdma_robust.batch.run import Answers, Numbered, Tick
from rdma_robust.counters.parts.dask_hosts import LOST_S, OtherCode, connected, look_at_cluster, other_code, paused_profiler
from rdma_robust.errors import UsageError
from rdma_robust.fingerprint import fingerprint
from rdma_robust.foreign import few_collections
from rdma_robust.frame.answer import Failure
from rdma_robust.reports.check.result import Result, unanswered_result

__all__ = ["ClusterExecutor", "OtherCode", "Tasks", "look_at_cluster", "on_worker"]

if TYPE_CHECKING:
    from distributed import Client, Future

WAIT_S = 0.2
BUNDLE_S: Final = 2.0
"""How long a worker takes the next program of a bundle."""
_MOST: Final = 64
"""Programs in a bundle."""

ONE_AT_A_TIME = Lock()
"""Limits of memory count the process, so a worker decides one program at a time, whatever its number of threads."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """The two ways to do a job: `first` decides it on a worker, or returns None if it is too large for one; then `shared`
    decides it from here, with the cluster at that address."""

    first: Callable[[Job], Record | None]
    shared: Callable[[Job, str], Record]


@dataclass(frozen=True, slots=True)
class ClusterExecutor:
    """The cluster whose scheduler listens at `address`, HOST:PORT."""

    address: str
    tasks: Tasks

    def run(self, jobs: Sequence[Numbered], tick: Tick) -> Answers:
        """Yield (number, record) of each job as it is done. Raises UsageError if the cluster cannot be used."""
        numbered, large = dict(jobs), list[int]()
        with connected(self.address) as client:
            yield from _Run(client, self.tasks.first, numbered, large).records(tick)
        for number in sorted(large):
            tick()
            yield number, self.tasks.shared(numbered[number], self.address)


@dataclass
class _Run:
    client: Client
    first: Callable[[Job], Record | None]
    jobs: dict[int, Job]
    large: list[int]
    done: queue.SimpleQueue[Future[Any]] = field(default_factory=queue.SimpleQueue)
    pending: dict[Future[Any], tuple[int, ...]] = field(default_factory=dict)
    waiting: deque[tuple[int, ...]] = field(default_factory=deque)
    reached: float = field(default_factory=time.monotonic)

    def records(self, tick: Tick) -> Iterator[tuple[int, Record]]:
        """Yield the records of all but the large jobs."""
        tasks = 2 * max(1, len(self.client.scheduler_info(n_workers=-1)["workers"]))
        size = max(1, min(_MOST, len(self.jobs) // tasks))
        numbers = list(self.jobs)
        self.waiting.extend(tuple(numbers[at : at + size]) for at in range(0, len(numbers), size))
        try:
            while self.waiting or self.pending:
                while self.waiting and len(self.pending) < tasks:
                    self._submit(self.waiting.popleft())
                tick()
                yield from self._next()
                if self._out_of_reach():
                    left = sorted({n for numbers in (*self.pending.values(), *self.waiting) for n in numbers})
                    for number in left:
                        yield number, Record(_gave_up(self.jobs[number].name, "the connection to the cluster was lost"))
                    return
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(list(self.pending))

    def _submit(self, numbers: tuple[int, ...]) -> None:
        jobs = [self.jobs[number] for number in numbers]
        future = self.client.submit(on_worker, fingerprint(), self.first, jobs, pure=False)
        self.pending[future] = numbers
        future.add_done_callback(self.done.put)

    def _next(self) -> Iterator[tuple[int, Record]]:
        """Yield the records of the next bundle that is done, if one is in a moment."""
        try:
            future = self.done.get(timeout=WAIT_S)
        except queue.Empty:
            return
        numbers = self.pending.pop(future)
        found = self._found(future, numbers)
        if found is None:
            self.waiting.extend((number,) for number in numbers)
            return
        for number, record in zip(numbers, found, strict=False):
            if record is None:
                self.large.append(number)
            else:
                yield number, record
        if len(found) < len(numbers):
            self.waiting.appendleft(numbers[len(found) :])

    def _found(self, future: Future[Any], numbers: tuple[int, ...]) -> Sequence[Record | None] | None:
        """Return what a bundle answered for the first of its jobs, or None if it failed and each is to be tried alone.

        Raises UsageError for other code.
        """
        from distributed import KilledWorker  # noqa: PLC0415 - an extra

        name = self.jobs[numbers[0]].name
        if future.status in ("cancelled", "lost"):
            return [Record(_gave_up(self.jobs[n].name, f"its task was {future.status} on the cluster")) for n in numbers]
        try:
            answered: Sequence[Record | None] = future.result()
            return answered
        except OtherCode as error:
            raise UsageError(str(error)) from error
        except (ModuleNotFoundError, AttributeError) as error:
            raise UsageError(f"a worker of the cluster cannot run this version of rdma-robust: {error}") from error
        except KilledWorker:
            failed = Record(_gave_up(name, "the workers that decided it died, most likely for want of memory"))
        except Exception as error:
            why = f"internal error: on the cluster: {type(error).__name__}: {error}"
            failed = Record(unanswered_result(Failure(name, why, "internal")), (f"{name}: {why}",))
        return [failed] if len(numbers) == 1 else None

    def _out_of_reach(self) -> bool:
        if self.client.status == "running":
            self.reached = time.monotonic()
        return self.client.status == "closed" or time.monotonic() - self.reached > LOST_S


def on_worker(expected: str, first: Callable[[Job], Record | None], jobs: Sequence[Job]) -> list[Record | None]:
    """Decide jobs on a worker, as many as are begun in a bundle's time, at least one.

    Raises OtherCode if the worker's code is not the expected one.
    """
    if fingerprint() != expected:
        raise OtherCode(other_code(fingerprint()))
    end = time.monotonic() + BUNDLE_S
    found: list[Record | None] = []
    for job in jobs:
        with ONE_AT_A_TIME, few_collections(), paused_profiler():
            found.append(first(job))
        if time.monotonic() >= end:
            break
    return found


def _gave_up(name: str, reason: str) -> Result:
    return unanswered_result(Failure(name, reason))
