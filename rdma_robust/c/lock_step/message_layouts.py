"""Data of messages: where it lies in memory, and what was there when it was sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rdma_robust.c.evaluate.byte_ranges import has_some
from rdma_robust.c.evaluate.c_values import Object, Pointer, UnknownValue, known_scalar
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.mpi.datatypes import ElementRun
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.evaluate.thread_run import ThreadRun
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.digraph import by_key

PACKED: Final = "PACKED"


@dataclass(frozen=True, slots=True)
class BufferLayout:
    """Memory of a process that a message is read from or written to: runs of elements from an offset of an object on."""

    object: Object | None
    offset: int
    runs: tuple[ElementRun, ...]

    @property
    def size(self) -> int:
        """Its bytes."""
        return sum(each.size for each in self.runs)

    @property
    def basic(self) -> int | None:
        """The number of the one predefined type of its elements, None if it has several, or may be any."""
        names = {each.name for each in self.runs}
        return None if len(names) != 1 or PACKED in names else NUMBERS[names.pop()]

    @property
    def predefined(self) -> str:
        """The predefined types of its elements, as accumulates tell them apart."""
        return " ".join(sorted({each.predefined for each in self.runs}))

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The bytes of the object that it covers, each from and to."""
        return tuple((self.offset + each.offset, self.offset + each.offset + each.size) for each in self.runs)

    def overlaps(self, other: BufferLayout) -> bool:
        """Whether some byte is in both."""
        if self.object is None or self.object != other.object:
            return False
        return any(has_some(self.ranges, *each) for each in other.ranges)


NOTHING: Final = BufferLayout(None, 0, ())


def doubled_byte(layouts: Iterable[BufferLayout]) -> int | None:
    """Return a byte of an object that layouts have twice, None if there is none."""
    ranges = by_key((layout.object, each) for layout in layouts if layout.object is not None for each in layout.ranges)
    pairs = (pair for found in ranges.values() for pair in pairwise(sorted(found)))
    return next((begin for (_, end), (begin, _) in pairs if begin < end), None)


@dataclass(frozen=True, slots=True)
class MessageData:
    """The data of a message: its bytes, one behind the other; their number and the predefined type of the elements."""

    block: ObjectBytes
    size: int
    basic: int | None

    @property
    def number(self) -> int:
        """The only element, if it is one number of a type of integers that is known; else 0."""
        value = known_scalar(self.block.read(0, self.size, "")) if 0 < self.size <= 8 else 0
        return value if isinstance(value, int) else 0


EMPTY: Final = MessageData(ObjectBytes(), 0, None)


def message_data(run: ThreadRun, state: State, layout: BufferLayout) -> MessageData:
    """Return what lies in a layout. Raises Refusal for memory that cannot be read."""
    block, at = ObjectBytes(), 0
    for each in layout.runs:
        assert layout.object is not None
        start = layout.offset + each.offset
        if layout.object.kind == "text":
            for index in range(each.size):
                block.write(at + index, 1, run.raw_read(state, layout.object, start + index, 1))
        else:
            run.raw_read(state, layout.object, start, 1)
            for low, width, value in state.memory[layout.object].pieces(start, each.size, layout.object.name):
                block.write(at + low, width, value)
        at += each.size
    return MessageData(block, at, layout.basic)


def delivered_into(run: ThreadRun, state: State, payload: MessageData, layout: BufferLayout) -> None:
    """Store what a message carries in a layout, as far as there is room."""
    at = 0
    for each in layout.runs:
        size = min(each.size, payload.size - at)
        if size <= 0:
            return
        assert layout.object is not None
        for low, width, value in payload.block.pieces(at, size, "a message"):
            run.raw_write(state, layout.object, layout.offset + each.offset + low, width, value)
        at += size


def forget(run: ThreadRun, state: State, layouts: Iterable[BufferLayout], reason: str) -> None:
    """Let nothing be known of what lies in layouts, for a reason."""
    for layout in layouts:
        for each in layout.runs:
            assert layout.object is not None
            run.raw_write(state, layout.object, layout.offset + each.offset, each.size, UnknownValue(reason))


def pointed(value: object) -> tuple[Object | None, int]:
    """Return object and offset of an address; no object for one that is none."""
    return (value.object, value.offset) if isinstance(value, Pointer) else (None, 0)
