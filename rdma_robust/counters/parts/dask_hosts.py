"""Parts of a search in the workers of a Dask cluster, and how such a cluster is reached.

In: where the scheduler listens. A part is the result of a task, and is kept where that was done: what is asked of it are
tasks there. When the one who asks is gone, the scheduler lets go of its results, so nothing is left of a search. Parts send
each other states themselves; through Dask go plans, code and numbers.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.parts.links import PeerLostError
from rdma_robust.counters.parts.local import ANSWER_S
from rdma_robust.counters.parts.lost_parts import HostsLostError, PartsLostError
from rdma_robust.counters.parts.search_part import SearchPart
from rdma_robust.errors import UsageError
from rdma_robust.fingerprint import fingerprint
from rdma_robust.foreign import own_code

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 10.0
LOST_S: Final = 30.0
"""How long a scheduler may be out of reach before it is given up."""
_PAUSE_S: Final = 0.003
_LOOK_S: Final = 0.5
"""Between looks whether the cluster is there."""

_FINE: Final = "fine"
_LOOK: Final = "from rdma_robust.counters.parts.dask_hosts import print_complaint; print_complaint(*sys.argv[1:])"


class OtherCode(Exception):
    """A worker runs another version of the tool."""


@contextlib.contextmanager
def connected(address: str) -> Iterator[Client]:
    """Be a client of the scheduler at HOST:PORT. Raises UsageError if nobody answers there."""
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError as error:
        why = "--executor dask://... needs the package distributed: pip install distributed"
        raise UsageError(why) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(f"tcp://{address}", timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"no Dask scheduler answers at {address} within {CONNECT_S:g} s: is it running?") from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


def look_at_workers(client: Client, address: str) -> list[str]:
    """Return the workers of a cluster, in order. Raises UsageError if there are none, or they have other code."""
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    if not workers:
        raise UsageError(f"the Dask cluster at {address} has no workers: start some with `dask worker tcp://{address}`")
    for each in (client.submit(fingerprint, workers=[worker], pure=False) for worker in workers):
        try:
            found = each.result(timeout=CONNECT_S)
        except ModuleNotFoundError as error:
            raise UsageError(f"a worker of the cluster at {address} has no rdma-robust of this version: {error}") from error
        except TimeoutError as error:
            raise UsageError(f"a worker of the cluster at {address} does not answer within {CONNECT_S:g} s") from error
        if found != fingerprint():
            raise UsageError(other_code(found))
    return workers


def look_at_cluster(address: str) -> None:
    """Raise UsageError if the cluster at HOST:PORT cannot share a search.

    Another process looks: a client leaves threads behind, and this one may fork.
    """
    command = own_code(_LOOK, (address, str(CONNECT_S)))
    try:
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=60 + CONNECT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"the Dask cluster at {address} cannot be looked at: {error}") from error
    if (said := done.stdout.decode()) != _FINE:
        raise UsageError(said.strip() or f"the Dask cluster at {address} cannot be looked at")


def print_complaint(address: str, seconds: str) -> None:
    """Print what is wrong with the cluster at HOST:PORT, or that nothing is."""
    global CONNECT_S  # noqa: PLW0603 - this process does nothing else
    CONNECT_S = float(seconds)
    try:
        with connected(address) as client:
            look_at_workers(client, address)
    except UsageError as error:
        print(error, end="")
    else:
        print(_FINE, end="")
    sys.stdout.flush()
    os._exit(0)


def other_code(found: str) -> str:
    """Return what to say of a worker with this fingerprint."""
    return f"a worker of the cluster runs other code: it has {found}, this is {fingerprint()}; install the same on both"


class DaskHosts:
    """The workers of the cluster whose scheduler is at HOST:PORT, a part in each. Raises UsageError if there are none."""

    seconds = 0.5

    def __init__(self, address: str) -> None:
        with contextlib.ExitStack() as stack:
            self._client = stack.enter_context(connected(address))
            self.count = len(look_at_workers(self._client, address))
            self._stack = stack.pop_all()
        self._address = address
        self._homes: dict[str, list[int]] = {}
        self._parts: list[Future[Any]] = []

    def begin(self, plan: SearchPlan, parts: int) -> None:
        """Make the parts in the workers that are there now; if they are less than parts, some have several."""
        self._drop()
        workers = self._workers()
        self._homes = {worker: list(range(first, parts, len(workers))) for first, worker in enumerate(workers[:parts])}
        home = {part: worker for worker, here in self._homes.items() for part in here}
        self._parts = [self._submit(home[part], made, plan, part, parts) for part in range(parts)]
        self._wait(self._parts)

    def call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] = (), more_s: float = 0.0) -> list[Any]:
        given = [(*arguments, *(each[part] if each else ())) for part in range(len(self._parts))]
        asked = {
            worker: self._submit(worker, called, [self._parts[n] for n in here], method, [given[n] for n in here])
            for worker, here in self._homes.items()
        }
        self._wait(list(asked.values()), more_s)
        found = {worker: future.result(timeout=CONNECT_S) for worker, future in asked.items()}
        numbered = {n: answer for worker, here in self._homes.items() for n, answer in zip(here, found[worker], strict=True)}
        return [numbered[part] for part in range(len(self._parts))]

    def ask(self, part: int, method: str, *arguments: Any) -> Any:
        home = next(worker for worker, here in self._homes.items() if part in here)
        asked = self._submit(home, called, [self._parts[part]], method, [arguments])
        self._wait([asked])
        return asked.result(timeout=CONNECT_S)[0]

    def _workers(self) -> list[str]:
        """The workers that are there, as soon as there are some. Raises HostsLostError."""
        end = time.monotonic() + LOST_S
        while self._client.status == "running" and time.monotonic() < end:
            if workers := sorted(self._client.scheduler_info(n_workers=-1)["workers"]):
                return workers
            time.sleep(_LOOK_S)
        raise HostsLostError(f"the cluster at {self._address} is gone, or has no workers any more")

    def memory(self, limit: int | None) -> int | None:
        """Return the limit: each worker has memory of its own."""
        return limit

    def close(self) -> None:
        self._drop()
        self._stack.close()

    def _drop(self) -> None:
        with contextlib.suppress(Exception):
            self._client.cancel(self._parts)
        self._parts = []

    def _submit(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self._client.submit(function, *arguments, workers=[worker], pure=False, retries=0)
        except Exception as error:
            raise HostsLostError(f"the cluster at {self._address} is out of reach: {error}") from error

    def _wait(self, asked: Sequence[Future[Any]], more_s: float = 0.0) -> None:
        """Wait for tasks. Raises what one of them raised, or PartsLostError where one cannot be done any more or in time."""
        reached = begun = time.monotonic()
        while True:
            end = time.monotonic() + _LOOK_S
            while time.monotonic() < end and any(future.status == "pending" for future in asked):
                time.sleep(_PAUSE_S)
            failed = [self._failure(future) for future in asked if future.status in ("error", "lost", "cancelled")]
            for error in sorted(failed, key=lambda error: isinstance(error, PartsLostError)):
                raise error
            if all(future.status == "finished" for future in asked):
                return
            if self._client.status == "running":
                reached = time.monotonic()
                there = set(self._client.scheduler_info(n_workers=-1)["workers"])
                if gone := [worker for worker in self._homes if worker not in there]:
                    raise PartsLostError(f"the worker {gone[0]} of the cluster, which had a part of the search, is gone")
            if time.monotonic() - begun > ANSWER_S + more_s:
                raise PartsLostError("a worker of the cluster that has a part of the search does not answer")
            if self._client.status == "closed" or time.monotonic() - reached > LOST_S:
                raise HostsLostError(f"the scheduler at {self._address} is gone")

    def _failure(self, future: Future[Any]) -> BaseException:
        if future.status != "error":
            return PartsLostError(f"a task of the search was {future.status} on the cluster")
        error = future.exception(timeout=CONNECT_S)
        if isinstance(error, (MemoryError, PartsLostError, UsageError)):
            return error
        if isinstance(error, (PeerLostError, OSError)):
            return PartsLostError(f"a part of the search on the cluster is gone: {error}")
        return PartsLostError(f"a part of the search on the cluster failed: {type(error).__name__}: {error}")


@contextlib.contextmanager
def paused_profiler() -> Iterator[None]:
    """Pause the profiler of the worker that this task is in, if it is in one that has a profiler.

    It walks the stacks of tasks every 10 ms, which takes a fifth of the time of small programs. Enter it once at a time.
    """
    from distributed import get_worker  # noqa: PLC0415 - an extra

    try:
        worker = get_worker()
    except ValueError:
        worker = None
    profiler = None if worker is None else worker.periodic_callbacks.get("profile")
    if worker is None or profiler is None:
        yield
        return
    worker.loop.add_callback(profiler.stop)
    try:
        yield
    finally:
        worker.loop.add_callback(profiler.start)


def made(plan: SearchPlan, part: int, parts: int) -> SearchPart:
    """Make a part in this worker."""
    from distributed import get_worker  # noqa: PLC0415 - an extra

    return SearchPart(plan, part, parts, str(get_worker().ip))


def called(parts: Sequence[SearchPart], method: str, arguments: Sequence[Sequence[Any]]) -> list[Any]:
    """Call a method of parts that are in this worker, of each with its arguments, at once: they wait for each other."""
    if len(parts) == 1:
        return [getattr(parts[0], method)(*arguments[0])]
    with ThreadPoolExecutor(len(parts)) as threads:
        each = [threads.submit(getattr(part, method), *given) for part, given in zip(parts, arguments, strict=True)]
    errors = [error for future in each if (error := future.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, PeerLostError)):  # who was left alone knows no reason
        raise error
    return [future.result() for future in each]
