"""The limits a check has unless told otherwise: large enough not to be noticed, small enough to end."""

from __future__ import annotations

import os

MOST = 10**15
MOST_MIB = 10**9
"""Larger limits are mistakes: no search has so many states, and no machine so much memory."""

TIMEOUT_S = 300.0
MEMORY_MIB = 4096
MEMORY_HELP = (
    f"Memory limit per program; 0 for none. Default: {MEMORY_MIB}, or less so that all jobs take at most three "
    "quarters of the machine."
)
SHARE = 0.75
"""Of the machine's memory, for all programs decided at a time."""


def default_memory(jobs: int) -> int:
    """Return the memory limit in mebibytes of each of `jobs` programs decided at a time."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1024 * 1024)
    except (ValueError, OSError, AttributeError):
        return MEMORY_MIB
    return max(64, min(MEMORY_MIB, int(machine * SHARE) // max(1, jobs)))
