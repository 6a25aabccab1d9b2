"""Exit codes, and which of several counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum


class Exit(IntEnum):
    """The exit code of the process: of the claims of a program the worst by :func:`within`, of programs by :func:`worst`."""

    OK = 0
    NOT_ROBUST = 1
    INVALID = 2
    UNKNOWN = 3
    INTERNAL = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


WITHIN_FIRST = (Exit.INTERNAL, Exit.INVALID, Exit.NOT_ROBUST, Exit.UNKNOWN, Exit.OK)
"""Of the claims of one program: one that is violated says more than one that nobody knows of."""

WORST_FIRST = (Exit.INTERNAL, Exit.INVALID, Exit.UNKNOWN, Exit.NOT_ROBUST, Exit.OK)
"""Of many programs, as of a batch: one that nobody knows of may be worse than one that is violated."""


def within(codes: Iterable[Exit]) -> Exit:
    """Return the exit code of one program from those of its claims."""
    return min(codes, key=WITHIN_FIRST.index, default=Exit.OK)


def worst(codes: Sequence[Exit]) -> Exit:
    """Return the exit code of many programs from theirs."""
    return min(codes, key=WORST_FIRST.index, default=Exit.OK)
