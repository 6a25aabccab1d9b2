"""Accesses to memory that windows of MPI expose, and which of them conflict (MPI 4.1, 12.7).

An access of a transfer lasts from its call to the call that completes it at its target; those of the owner last as they are.
Two that overlap, one of which writes, conflict unless the end of one happens before the start of the other, or both are
accumulates of one type and operation, or both are within exclusive locks. Happens-before is the order of each process, of
messages that are taken in every run, and of collective calls, by vector clocks. Processes are evaluated in an order that
respects it, so that an access is compared when it begins with all that have begun: none of these begins behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rdma_robust.c.evaluate.byte_ranges import has_some
from rdma_robust.c.evaluate.c_values import Object

Clock = tuple[int, ...]
COMMUTING: Final = ("SUM", "PROD", "MIN", "MAX", "BAND", "BOR", "BXOR", "NO_OP")
"""The operations of which any order gives the same."""


@dataclass(slots=True)
class WindowAccess:
    """An access of a process to bytes of an object in a window, from the moment `start` of all processes on.

    `end` is the moment of the process at which it is over, None while it is under way. `combines` is type and operation of
    an accumulate, and `elements` the name and the bytes of the elements in each range, those of a pair together. `is_open`
    says that what it reads or writes is not the same in every run.
    """

    process: int
    call: str
    line: int
    ranges: tuple[tuple[int, int], ...]
    writes: bool
    start: Clock
    end: int | None = None
    combines: tuple[str, str] | None = None
    elements: tuple[tuple[str, int], ...] = ()
    is_exclusive: bool = False
    is_open: bool = False

    def overlaps(self, other: WindowAccess) -> bool:
        """Whether both have a byte in common, which one of them writes."""
        if not (self.writes or other.writes):
            return False
        return any(has_some(self.ranges, *each) for each in other.ranges)

    def is_before(self, other: WindowAccess) -> bool:
        """Whether it is over before another one begins, in every run."""
        return self.end is not None and (self.process == other.process or other.start[self.process] >= self.end)

    def commutes_with(self, other: WindowAccess) -> bool:
        """Whether both are accumulates whose order makes no difference."""
        return self.may_overlap_in_time(other) and {self.combines, other.combines} <= {
            (str(self.combines and self.combines[0]), each) for each in COMMUTING
        }

    def may_overlap_in_time(self, other: WindowAccess) -> bool:
        """Whether the standard allows it beside another one: both combine in one way, or NO_OP is one of them."""
        if self.combines is None or other.combines is None or self.combines[0] != other.combines[0]:
            return False
        operations = {self.combines[1], other.combines[1]}
        return (len(operations) == 1 or "NO_OP" in operations) and self.has_elements_of(other)

    def has_elements_of(self, other: WindowAccess) -> bool:
        """Whether the elements of both, where they overlap, are the same: only these are combined as a whole."""
        return all(
            own == element and (begin - low) % own[1] == 0
            for (begin, end), own in zip(self.ranges, self.elements, strict=True)
            for (low, high), element in zip(other.ranges, other.elements, strict=True)
            if begin < high and low < end
        )

    def excludes(self, other: WindowAccess) -> bool:
        """Whether exclusive locks keep it apart from an access of another process."""
        return self.is_exclusive and other.is_exclusive and self.process != other.process


@dataclass(slots=True)
class ObjectAccesses:
    """The accesses to an object so far: those of its owner, and those of transfers."""

    own: list[WindowAccess] = field(default_factory=list)
    transfers: list[WindowAccess] = field(default_factory=list)
    known: set[tuple[object, ...]] = field(default_factory=set)


@dataclass(slots=True)
class WindowAccesses:
    """All accesses to memory in windows, by object."""

    objects: dict[Object, ObjectAccesses] = field(default_factory=dict)

    def is_known(self, name: Object, access: WindowAccess) -> bool:
        """Whether an access of the owner is one that it has made since the last call that orders anything."""
        seen = self.objects.setdefault(name, ObjectAccesses()).known
        key = access.line, access.ranges, access.writes, access.start, access.is_exclusive
        if key in seen:
            return True
        seen.add(key)
        return False

    def begin(self, name: Object, access: WindowAccess, *, of_owner: bool) -> list[WindowAccess]:
        """Add an access; return those that it overlaps and that are not ordered with it."""
        found = self.objects.setdefault(name, ObjectAccesses())
        others = found.transfers if of_owner else [*found.transfers, *found.own]
        beside = [each for each in others if access.overlaps(each) and not each.is_before(access)]
        (found.own if of_owner else found.transfers).append(access)
        return beside
