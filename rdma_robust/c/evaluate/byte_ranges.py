"""Sets of bytes of an object, as ranges from a byte to the one behind the last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rdma_robust.c.code import Leaf

Ranges = tuple[tuple[int, int], ...]
"""Ranges that neither overlap nor touch each other, in order."""
EVERYTHING = (0, 1 << 62)
"""The whole of an object, however large."""


def merged_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the bytes that are in any of some ranges."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def has_some(ranges: Ranges, low: int, high: int) -> bool:
    """Whether some bytes of a range are in a set."""
    return any(start < high and low < end for start, end in ranges)


def has_all(ranges: Ranges, low: int, high: int) -> bool:
    """Whether all bytes of a range are in a set."""
    return any(start <= low and high <= end for start, end in ranges)


@dataclass(frozen=True, slots=True)
class Touch:
    """An access of a thread to bytes of an object, and the threads that it had created before."""

    thread: str
    low: int
    high: int
    is_write: bool
    created: tuple[str, ...]


def conflicting_bytes(touches: Iterable[Touch], creators: dict[str, str]) -> list[tuple[int, int]]:
    """Return the bytes that two threads access and one writes, where nothing but the creation of threads orders them.

    `creators` says of each created thread which one has made it.
    """
    found: list[tuple[int, int]] = []
    open_: list[Touch] = []
    for each in sorted(touches, key=lambda touch: (touch.low, touch.high, touch.thread)):
        open_ = [other for other in open_ if other.high > each.low]
        for other in open_:
            is_apart = other.thread == each.thread or not (other.is_write or each.is_write)
            if not is_apart and not _is_before(other, each, creators) and not _is_before(each, other, creators):
                found.append((each.low, min(each.high, other.high)))
        open_.append(each)
    return found


def _is_before(first: Touch, second: Touch, creators: dict[str, str]) -> bool:
    """Whether an access comes before the creation of the thread that makes another one, or of one of its creators."""
    at: str | None = second.thread
    while at is not None:
        if creators.get(at) == first.thread:
            return at not in first.created
        at = creators.get(at)
    return False


def bounds_of(leaves: Iterable[Leaf]) -> set[int]:
    """Return where the scalars of an object begin and end, by their offsets; of a union the largest count, and elements of
    arrays of bytes do not."""
    found: set[int] = set()
    end = 0
    for leaf in leaves:
        if leaf.size > 1 or not leaf.path.endswith("]"):
            found |= {cut for cut in (leaf.offset, leaf.offset + leaf.size) if cut >= end}
            end = max(end, leaf.offset + leaf.size)
    return found
