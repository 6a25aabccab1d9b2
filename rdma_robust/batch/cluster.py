"""A Dask cluster as executor: programs are tasks, and pivot classes of large programs are.

The scheduler gives the tasks of a worker that dies to others, and answers go into the cache as they come, so that nothing is
lost but the work of a moment. Workers must run this very code: every task says which it expects.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from rdma_robust.batch.fingerprint import fingerprint
from rdma_robust.batch.job import Job, Record
from rdma_robust.batch.run import Answers, Numbered, Tick
from rdma_robust.errors import UsageError
from rdma_robust.frame.answer import Failure
from rdma_robust.reports.check.result import Result, unanswered_result

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 10.0
WAIT_S = 0.2
LOST_S = 30.0
"""How long a scheduler may be out of reach before it is given up."""

ONE_AT_A_TIME = Lock()
"""Limits of memory count the process, so a worker decides one program at a time, whatever its number of threads."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """What workers do. `whole` decides a job; `first` does too, or says into how many parts to split it (1: not at all).

    `part` decides one part, `ends` says whether a part makes those after it needless, `together` makes one record of all.
    """

    whole: Callable[[Job], Record]
    first: Callable[[Job], Record | int]
    part: Callable[[Job, int], Any]
    ends: Callable[[Any], bool]
    together: Callable[[Job, Sequence[Any]], Record]


class OtherCode(Exception):
    """A worker runs another version of the tool."""


@dataclass(frozen=True, slots=True)
class ClusterExecutor:
    """The cluster whose scheduler listens at `address`, HOST:PORT."""

    address: str
    tasks: Tasks

    def run(self, jobs: Sequence[Numbered], tick: Tick) -> Answers:
        """Yield (number, record) of each job as it is done. Raises UsageError if the cluster cannot be used."""
        with _connected(self.address) as client:
            yield from _Run(client, self.tasks, dict(jobs)).records(tick)


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            "--executor dask://... needs the package distributed: pip install 'rdma-robust[cluster]'"
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(f"tcp://{address}", timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"no Dask scheduler answers at {address} within {CONNECT_S:g} s") from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


@dataclass
class _Split:
    """The parts of a job: what is known of each, None if it is not yet."""

    futures: list[Future[Any]]
    found: list[Any]

    def enough(self, ends: Callable[[Any], bool]) -> list[Any] | None:
        """Return the parts that make the record, if they are known: up to the first that ends it, or all."""
        for number, each in enumerate(self.found, 1):
            if each is None:
                return None
            if ends(each):
                return self.found[:number]
        return self.found


@dataclass
class _Run:
    client: Client
    tasks: Tasks
    jobs: dict[int, Job]
    done: queue.SimpleQueue[tuple[int, int | None, Future[Any]]] = field(default_factory=queue.SimpleQueue)
    splits: dict[int, _Split] = field(default_factory=dict)
    pending: set[Future[Any]] = field(default_factory=set)
    reached: float = field(default_factory=time.monotonic)

    def records(self, tick: Tick) -> Iterator[tuple[int, Record]]:
        left = set(self.jobs)
        try:
            for number, job in self.jobs.items():
                self._submit(number, None, self.tasks.first, job)
            while left:
                tick()
                for number, record in self._next():
                    left.discard(number)
                    yield number, record
                if left and self._out_of_reach():
                    for number in sorted(left):
                        yield number, Record(_gave_up(self.jobs[number].name, "the connection to the cluster was lost"))
                    return
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(list(self.pending))

    def _submit(self, number: int, part: int | None, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future = self.client.submit(on_worker, fingerprint(), function, *arguments, pure=False)
        self.pending.add(future)
        future.add_done_callback(lambda done: self.done.put((number, part, done)))
        return future

    def _next(self) -> Iterator[tuple[int, Record]]:
        """Yield the record that the next finished task completes, if one finishes in a moment and completes one."""
        try:
            number, part, future = self.done.get(timeout=WAIT_S)
        except queue.Empty:
            return
        if future not in self.pending:
            return  # cancelled, because the parts before it were enough
        self.pending.discard(future)
        answer = self._answer(number, future)
        if part is not None:
            record = self._part(number, part, answer)
            if record is not None:
                yield number, record
        elif isinstance(answer, Record):
            yield number, answer
        elif answer == 1:
            self._submit(number, None, self.tasks.whole, self.jobs[number])
        else:
            job = self.jobs[number]
            split = _Split([], [None] * answer)
            self.splits[number] = split
            split.futures += [self._submit(number, each, self.tasks.part, job, each) for each in range(answer)]

    def _part(self, number: int, part: int, answer: Any) -> Record | None:
        """Take in the answer for a part; return the record of the job if there cannot be any but this."""
        split = self.splits.get(number)
        if split is None:
            return None
        split.found[part] = answer
        ended = answer if isinstance(answer, Record) else None
        enough = split.enough(self.tasks.ends)
        if ended is None and enough is None:
            return None
        del self.splits[number]
        others = [future for future in split.futures if future in self.pending]
        self.pending.difference_update(others)
        self.client.cancel(others)
        if ended is None:
            self._submit(number, None, self.tasks.together, self.jobs[number], enough)
        return ended

    def _answer(self, number: int, future: Future[Any]) -> Any:
        """Return what a task answered, or a record that says why it did not. Raises UsageError for other code."""
        from distributed import KilledWorker  # noqa: PLC0415 - an extra

        name = self.jobs[number].name
        if future.status in ("cancelled", "lost"):
            return Record(_gave_up(name, f"its task was {future.status} on the cluster"))
        try:
            return future.result()
        except OtherCode as error:
            raise UsageError(str(error)) from error
        except (ModuleNotFoundError, AttributeError) as error:
            raise UsageError(f"a worker of the cluster cannot run this version of rdma-robust: {error}") from error
        except KilledWorker:
            return Record(_gave_up(name, "the workers that decided it died, most likely for want of memory"))
        except Exception as error:
            why = f"internal error: on the cluster: {type(error).__name__}: {error}"
            return Record(unanswered_result(Failure(name, why, "internal")), (f"{name}: {why}",))

    def _out_of_reach(self) -> bool:
        if self.client.status == "running":
            self.reached = time.monotonic()
        return self.client.status == "closed" or time.monotonic() - self.reached > LOST_S


def on_worker(expected: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Do a task on a worker. Raises OtherCode if the worker's code is not the expected one."""
    if fingerprint() != expected:
        raise OtherCode(f"a worker of the cluster runs other code: it has {fingerprint()}, this is {expected}")
    with ONE_AT_A_TIME:
        return function(*arguments)


def _gave_up(name: str, reason: str) -> Result:
    return unanswered_result(Failure(name, reason))
