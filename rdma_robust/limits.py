"""Limits of time, states and memory, and how those who wait are told of progress: the same for every search."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """`deadline` is a time.monotonic() value, `memory` in mebibytes of this process; None means no limit."""

    deadline: float | None = None
    states: int | None = None
    memory: int | None = None

    def exceeded(self) -> str:
        """Return the name of the limit of time or memory that is reached, or ''."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "time"
        if self.memory is not None and resident_mebibytes() >= self.memory:
            return "memory"
        return ""


Progress = Callable[[int, int], None]
"""Called now and then with the number of stored states and of states left to expand."""


def ignore(_states: int, _frontier: int) -> None:
    return None


def resident_mebibytes() -> int:
    """Resident memory of this process now (where the system tells), else its peak."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() >> 20
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
