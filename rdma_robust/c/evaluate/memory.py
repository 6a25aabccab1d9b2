"""Private memory during evaluation: the contents of one object, by byte offsets."""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.c.evaluate.byte_ranges import Ranges
from rdma_robust.c.evaluate.c_values import (
    NO_VALUE,
    Scalar,
    Symbolic,
    UnknownValue,
    Value,
    bytes_of,
    joined,
    map_one,
    map_two,
)

Key = tuple[frozenset[tuple[int, int, Value]], bool]
"""The contents of a block, to be compared."""


def decided_before(value: Scalar) -> Scalar:
    """Return a value after something was decided by what was drawn, maybe by this: then it may not be any number."""
    if not isinstance(value, UnknownValue) or not value.is_random:
        return value
    return UnknownValue(f"{value.reason}, on which something may have been decided before")


class ObjectBytes:
    """The contents of an object: cells with raw values, that do not overlap. What is in no cell is zero or has no value."""

    __slots__ = ("_key", "_symbols", "_widest", "cells", "zero")

    def __init__(self, cells: dict[int, tuple[int, Value]] | None = None, zero: bool = False) -> None:
        self.cells = {} if cells is None else cells
        self.zero = zero
        self._key: Key | None = None
        self._symbols: tuple[Symbolic, ...] | None = None
        self._widest = max((size for size, _ in self.cells.values()), default=0)

    def copy(self) -> ObjectBytes:
        """Return a block that can be changed by itself."""
        other = ObjectBytes(None, self.zero)
        other.cells, other._widest = dict(self.cells), self._widest
        return other

    def without(self, ranges: Ranges) -> ObjectBytes:
        """Return the contents where nothing is known of the bytes in some ranges."""
        other = self.copy()
        for low, high in ranges:
            other._clear(low, high - low)
        return other

    def key(self) -> Key:
        """Return what is equal for equal contents."""
        if self._key is None:
            self._key = frozenset((offset, *cell) for offset, cell in self.cells.items()), self.zero
        return self._key

    def symbols(self) -> tuple[Symbolic, ...]:
        """Return the symbolic values in it."""
        if self._symbols is None:
            self._symbols = tuple(value for _, value in self.cells.values() if isinstance(value, Symbolic))
        return self._symbols

    def changed(self) -> None:
        """Forget what was computed of the contents, which change."""
        self._key = self._symbols = None

    def change(self, changed: Callable[[Value], Value]) -> None:
        """Put another value in the place of each."""
        self.changed()
        self.cells = {at: (size, changed(value)) for at, (size, value) in self.cells.items()}

    def overlapping(self, offset: int, size: int) -> list[tuple[int, int, Value]]:
        """Return the cells that have bytes in a range, by their offsets: offset, size and value."""
        exact = self.cells.get(offset)
        if exact is not None and exact[0] == size:
            return [(offset, *exact)]
        end, first = offset + size, offset - self._widest + 1
        if end - first < len(self.cells):
            near = ((at, cell) for at in range(first, end) if (cell := self.cells.get(at)) is not None)
            return [(at, *cell) for at, cell in near if offset < at + cell[0]]
        return sorted(
            ((at, *cell) for at, cell in self.cells.items() if at < end and offset < at + cell[0]), key=lambda cell: cell[0]
        )

    def read(self, offset: int, size: int, name: str) -> Value:
        """Return the raw value of a range; `name` says of what it is if there is none."""
        found = self.overlapping(offset, size)
        if len(found) == 1 and found[0][:2] == (offset, size):
            return found[0][2]
        missing: Scalar = 0 if self.zero else UnknownValue(f"`{name}`{NO_VALUE}")
        parts: list[tuple[Value, int]] = []
        at = offset
        for start, width, value in found:
            if start > at:
                parts.append((_gap(missing, start - at), start - at))
                at = start
            low, count = at - start, min(start + width, offset + size) - at
            parts.append((map_one(value, _Piece(width, low, count)), count))
            at += count
        if at < offset + size:
            parts.append((_gap(missing, offset + size - at), offset + size - at))
        return _together(parts)

    def pieces(self, offset: int, size: int, name: str) -> list[tuple[int, int, Value]]:
        """Return a range cell by cell, with what is missing: where in the range, size and raw value."""
        found: list[tuple[int, int, Value]] = []
        at = offset
        for start, width, _ in self.overlapping(offset, size):
            found += [(at - offset, start - at, self.read(at, start - at, name))] if start > at else []
            low, high = max(start, at), min(start + width, offset + size)
            found.append((low - offset, high - low, self.read(low, high - low, name)))
            at = high
        return (
            [*found, (at - offset, offset + size - at, self.read(at, offset + size - at, name))]
            if at < offset + size
            else found
        )

    def write(self, offset: int, size: int, value: Value) -> None:
        """Store a raw value; what it overlaps keeps its other bytes."""
        self._clear(offset, size)
        self.cells[offset] = (size, value)
        self._widest = max(self._widest, size)

    def clear(self, offset: int, size: int, total: int) -> None:
        """Make a range zero; `total` is the size of the object, 0 if that is not known."""
        if offset <= 0 and total and offset + size >= total:
            self._key, self._symbols, self.cells, self.zero = None, None, {}, True
            return
        self._clear(offset, size)
        if not self.zero and size:
            self.cells.update({offset + at: (min(8, size - at), 0) for at in range(0, size, 8)})
            self._widest = max(self._widest, 8)

    def _clear(self, offset: int, size: int) -> None:
        self.changed()
        for at, width, value in self.overlapping(offset, size):
            del self.cells[at]
            below, above = offset - at, at + width - (offset + size)
            if below > 0:
                self.cells[at] = (below, map_one(value, _Piece(width, 0, below)))
            if above > 0:
                self.cells[offset + size] = (above, map_one(value, _Piece(width, width - above, above)))


class _Piece:
    """A function that takes some bytes of a raw value."""

    def __init__(self, size: int, low: int, width: int) -> None:
        self._range = (size, low, width)

    def __call__(self, value: Scalar) -> Scalar:
        return bytes_of(value, *self._range)


def _gap(missing: Scalar, size: int) -> Scalar:
    return missing if isinstance(missing, UnknownValue) else bytes_of(missing, 8, 0, size)


def _together(parts: list[tuple[Value, int]]) -> Value:
    """Return the raw value of several parts, of which some may be symbolic."""
    value, size = parts[0]
    for other, width in parts[1:]:
        value = map_two(value, other, _Joiner(size, width))
        size += width
    return value


class _Joiner:
    """A function that puts two raw values behind each other."""

    def __init__(self, low: int, high: int) -> None:
        self._sizes = (low, high)

    def __call__(self, low: Scalar, high: Scalar) -> Scalar:
        return joined([(low, self._sizes[0]), (high, self._sizes[1])])
