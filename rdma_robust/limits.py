"""Limits of time, states and memory, and how those who wait are told of progress: the same for every search and every pass.

A search that can say how far it got asks :meth:`Limits.exceeded` now and then and ends with an answer. A pass that has no
answer before its end calls a :class:`Poll` in its loops, which raises LimitReached.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from rdma_robust.errors import LimitReached, UsageError
from rdma_robust.text import one_line

Item = TypeVar("Item")
Found = TypeVar("Found")

_CALLS: Final = 64
"""Calls of a poll between looks at the clock, of a watch at the memory: a call then costs a tenth of a microsecond."""

ENDLESS: Final = 10**15
"""So many states are no limit: no search stores them. For who asks for none where searches have limits of their own."""

_MEMORY_S: Final = 0.02
"""Between looks at the memory, each of which asks the system."""


MOST_NUMBERS: Final = 0xFFFFFFFE
"""States, or parts of states, of a search at most: their numbers have 32 bits."""


MANY: Final = 100_000
"""States from which on a search may have several threads: with fewer it is done before these would pay."""


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


MOST_PROCESSES: Final = 1024
"""Processes that can share a search."""


def executor_of(text: str) -> tuple[str, str]:
    """Return what an executor is, `local` or `dask`, and how many processes or at which HOST:PORT. Raises UsageError."""
    local = re.fullmatch(r"local(?::([0-9]{1,6}))?", text)
    if local is not None:
        count = int(local[1]) if local[1] else processors()
        if 1 <= count <= MOST_PROCESSES:
            return "local", str(count)
        raise UsageError(f"--executor {text}: 1 to {MOST_PROCESSES:,} processes can share a search")
    dask = re.fullmatch(r"dask://((\[[0-9A-Fa-f:]+\]|[\w.-]+):[0-9]{1,5})", text, re.ASCII)
    if dask is not None:
        return "dask", dask[1]
    with_port = "HOST:PORT is needed, as in dask://localhost:8786"
    what = with_port if text.startswith("dask:") else "local, local:N or dask://HOST:PORT is needed"
    raise UsageError(f"--executor {one_line(text)}: {what}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a piece of work; None means no limit.

    `deadline` is a time.monotonic() value, the end of `seconds`, which is what was given and what messages say. Of a part
    of that time, `part` says in messages what it is, as in "6 s, its share of". `states` are stored states of one search and
    `depth` moves from its start. `memory` is in mebibytes of this process, and `room` says in messages what it is where it
    is not what was given. A large search may use so many `threads`, or the processes of an `executor`, see counters/parts;
    with `checkpoint` these write to that folder what they have, and go on from there. `searchers`, if it is a
    list, which limits that come from these have too, gets how many threads and processes made each search that was shared.
    """

    deadline: float | None = None
    states: int | None = None
    memory: int | None = None
    seconds: float | None = None
    depth: int | None = None
    part: str = ""
    room: str = ""
    threads: int = 1
    executor: str = ""
    checkpoint: str = ""
    searchers: list[tuple[int, int]] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        seconds: float | None,
        states: int | None = None,
        memory: int | None = None,
        *,
        depth: int | None = None,
        started: float | None = None,
        threads: int = 1,
        executor: str = "",
        checkpoint: str = "",
    ) -> Limits:
        """Return limits whose seconds count from `started` (as of time.monotonic), by default from now."""
        begin = time.monotonic() if started is None else started
        end = None if seconds is None else begin + seconds
        given = cls(end, states, memory, seconds, depth, threads=threads, executor=executor, checkpoint=checkpoint)
        return replace(given, searchers=[])

    def exceeded(self) -> str:
        """Return the name of the limit of time or memory that is reached, or ''."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "time"
        if self.memory is not None and resident_mebibytes() >= self.memory:
            return "memory"
        return ""

    def said(self, limit: str) -> str:
        """Return what people call the limit of this name, with its size."""
        match limit:
            case "time":
                given = "the time limit" if self.seconds is None else f"the time limit of {self.seconds:g} s"
                return f"{self.part} {given}" if self.part and self.seconds is not None else self.part or given
            case "memory":
                return self.room or f"the memory limit of {self.amount(limit)}"
            case _:
                return f"the limit of {self.amount(limit)}"

    def shared(self, threads: int, processes: int) -> None:
        """Note that so many threads, or processes, have made a search."""
        if self.searchers is not None and (threads, processes) not in self.searchers:
            self.searchers.append((threads, processes))

    def knows(self, reason: str) -> bool:
        """Whether the reason for which a search ended is the name of a limit."""
        return reason in ("time", "memory", "states", "numbers")

    def amount(self, limit: str) -> str:
        """Return the size of the limit of this name."""
        match limit:
            case "time":
                return self.said(limit) if self.part else f"{self.seconds or 0:g} s"
            case "memory":
                return f"{self.memory} MiB"
            case "states":
                return f"{self.states} states"
            case "depth":
                return f"depth {self.depth}"
            case "numbers":
                return f"{MOST_NUMBERS:,} states and parts of states, as many as the search has numbers for"
            case _:
                raise ValueError(f"there is no limit of {limit!r}")

    def watch(self, every: int = _CALLS) -> Callable[[], str]:
        """Return what :meth:`exceeded` does, but asks for the memory only at the first of so many calls, and so on.

        For loops of which one round may take a microsecond or a second.
        """
        calls = -1

        def exceeded() -> str:
            nonlocal calls
            calls += 1
            if calls % every == 0:
                return self.exceeded()
            return "time" if self.deadline is not None and time.monotonic() >= self.deadline else ""

        return exceeded

    def look(self, doing: str) -> None:
        """Raise LimitReached if a limit of time or memory is reached while `doing` something, as in "filtering"."""
        if limit := self.exceeded():
            raise LimitReached(limit, self.said(limit), doing)

    def poll(self, doing: str) -> Poll:
        """Return what to call in the loops of a pass."""
        return Poll(self, doing)

    def share(self, part: float) -> Limits:
        """Return limits with this part of the time that is left; of a part of 1 all that is said of them is as it was."""
        if self.deadline is None or part >= 1:
            return self
        return self.within(part * (self.seconds_left() or 0.0))

    def within(self, seconds: float, of: str = "") -> Limits:
        """Return limits with at most so many seconds from now, which messages call a share of the time limit, or `of`."""
        left = self.seconds_left()
        if left is not None and left <= seconds:
            return self
        number = round(seconds, 2 if seconds < 10 else 1)
        what = of or ("its share of" if self.seconds is not None else "its share of the time")
        said = f"{number:g} s, {what}"
        whole = None if of else self.seconds
        return replace(self, deadline=time.monotonic() + seconds, seconds=whole, part=said)

    def alone(self) -> Limits:
        """Return limits for a search in one thread of this process."""
        return replace(self, threads=1, executor="", checkpoint="")

    def by_default(self, states: int) -> Limits:
        """Return limits with so many states where nothing is said of them; ENDLESS says that there is no limit."""
        return self if self.states is not None else replace(self, states=states)

    def at_most(self, states: int) -> Limits:
        """Return limits with at most so many states, which is what messages then say."""
        return self if self.states is not None and self.states <= states else replace(self, states=states)

    def in_shares(
        self, items: Sequence[Item], work: Callable[[Item, Limits], Found], open_: Callable[[Found], bool]
    ) -> list[Found]:
        """Return what `work` finds for each item, with an equal share of the time that is left.

        What is still `open_` then is done again with what the others have left of theirs, if that is more than it had.
        """
        found: list[Found] = []
        had: list[float | None] = []
        for number, item in enumerate(items):
            part = self.share(1 / (len(items) - number))
            had.append(part.seconds_left())
            found.append(work(item, part))
        again = [k for k, each in enumerate(found) if open_(each)]
        for number, k in enumerate(again):
            part = self.share(1 / (len(again) - number))
            more, before = part.seconds_left(), had[k]
            if more is not None and before is not None and more > before:
                found[k] = work(items[k], part)
        return found

    def seconds_left(self) -> float | None:
        """Return what is left of the time, None without a limit."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


class Poll:
    """A test of limits that is cheap enough for inner loops: only some calls look at the clock, and fewer at the memory."""

    __slots__ = ("_again", "_calls", "_doing", "_limits")

    def __init__(self, limits: Limits, doing: str) -> None:
        self._limits = limits
        self._doing = doing
        self._calls = 0
        self._again = 0.0

    def __call__(self) -> None:
        """Raise LimitReached if a limit is reached and this call looks."""
        self._calls += 1
        if self._calls % _CALLS == 0:
            self.look()

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, with a call before each."""
        for item in items:
            self()
            yield item

    def look(self) -> None:
        """Raise LimitReached if a limit is reached: for loops whose rounds take long."""
        now = time.monotonic()
        deadline, memory = self._limits.deadline, self._limits.memory
        if (deadline is not None and now >= deadline) or (memory is not None and now >= self._again):
            self._again = now + _MEMORY_S
            self._limits.look(self._doing)


NO_LIMITS: Final = Limits()
NEVER: Final = NO_LIMITS.poll("working")
"""The poll of a pass without limits."""

Progress = Callable[[int, int], None]
"""Called now and then with the number of stored states and of states left to expand."""


def ignore(_states: int, _frontier: int) -> None:
    return None


def resident_mebibytes() -> int:
    """Resident memory of this process now (where the system tells), else its peak; 0 in a browser."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except OSError:
        return peak_mebibytes()


def peak_mebibytes() -> int:
    """The most resident memory that this process has had; 0 where the system does not tell."""
    try:
        import resource  # noqa: PLC0415 - not in a browser
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
