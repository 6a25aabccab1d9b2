"""Exit codes, and which of several counts."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum


class Exit(IntEnum):
    """What the process answers; for a batch the worst of its programs, in the order of `WORST_FIRST`."""

    OK = 0
    NOT_ROBUST = 1
    INVALID = 2
    UNKNOWN = 3
    INTERNAL = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


WORST_FIRST = (Exit.INTERNAL, Exit.INVALID, Exit.UNKNOWN, Exit.NOT_ROBUST, Exit.OK)


def worst(codes: Sequence[Exit]) -> Exit:
    return min(codes, key=WORST_FIRST.index, default=Exit.OK)
