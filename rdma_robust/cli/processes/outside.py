"""What one process can see of another: its memory, where the system tells, and whether it is to be ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rdma_robust.cli.processes.guard import OUTSIDE
from rdma_robust.limits import Limits


def overdue(limits: Limits, process: int, seconds: float) -> str:
    """Return why a process that has worked for `seconds` within `limits` is to be ended from outside, or ''.

    The passes and the guard look at the limits themselves, but not in the middle of a call of a library.
    """
    late = OUTSIDE
    if limits.seconds is not None and seconds > limits.seconds * (1 + late.part) + late.seconds:
        return f"reached {limits.said('time')}, and was ended from outside"
    if limits.memory is not None and family_mebibytes(process) > limits.memory * (1 + late.part) + late.mebibytes:
        return f"reached {limits.said('memory')}, and was ended from outside"
    return ""


def family_mebibytes(process: int) -> int:
    """Return the memory of a process and those it started (pages that several share count once each); 0 if unknown."""
    return sum(_pages(each) for each in _family(process)) * os.sysconf("SC_PAGE_SIZE") >> 20


def _family(process: int) -> Iterator[int]:
    yield process
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text(encoding="ascii").split():
                yield from _family(int(child))


def _pages(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
