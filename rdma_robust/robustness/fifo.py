"""Bounded first-in first-out queues of small numbers, packed into variables of a counter program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Ite, Name, disj

BITS: Final = 30
"""Bits of one variable: those of a natural number of every engine."""


@dataclass(frozen=True, slots=True)
class Fifo:
    """A queue of at most `capacity` entries, each a number from 1 on of `width` bits, at most :data:`BITS`.

    The oldest entry is in the lowest bits of the first variable; where there is no entry the bits are 0.
    """

    name: str
    width: int
    capacity: int

    @property
    def _each(self) -> int:
        """Entries in one variable."""
        return max(1, BITS // self.width)

    def variables(self) -> tuple[tuple[str, int], ...]:
        """Return the variables and how many bits each has."""
        count = -(-self.capacity // self._each)
        sizes = (min(self._each, self.capacity - k * self._each) for k in range(count))
        return tuple((f"{self.name}{k or ''}", size * self.width) for k, size in enumerate(sizes))

    def holding(self, entries: Iterable[int]) -> tuple[tuple[str, int], ...]:
        """Return the variables with the values that they have where the queue holds these entries, oldest first."""
        values = dict.fromkeys(dict(self.variables()), 0)
        names = list(values)
        for place, entry in enumerate(entries):
            name = names[place // self._each]
            values[name] |= entry << self.width * (place % self._each)
        return tuple(values.items())

    def some(self) -> Expr:
        """Non-zero iff the queue is not empty."""
        return Name(self.name) if self.capacity else FALSE

    def oldest(self, bits: int) -> Expr:
        """These bits of the oldest entry, 0 without one."""
        return Binary("&", Name(self.name), Const(bits)) if self.capacity and bits else Const(0)

    def everywhere(self, bits: int) -> Iterator[tuple[str, int]]:
        """Yield for each variable its name and these bits of every entry that it has room for."""
        for name, size in self.variables():
            yield name, sum(bits << place for place in range(0, size, self.width))

    def any(self, bits: int) -> Expr:
        """Non-zero iff one of these bits is set in some entry."""
        return disj(*(Binary("&", Name(name), Const(mask)) for name, mask in self.everywhere(bits)))

    def without_oldest(self) -> dict[str, Expr]:
        """Return the variables as they are without the oldest entry."""
        names = [name for name, _ in self.variables()]
        full = self.width * (self._each - 1)
        moved: dict[str, Expr] = {}
        for name, after in zip_longest(names, names[1:]):
            moved[name] = Binary(">>", Name(name), Const(self.width))
            if after is not None:
                first = Binary("&", Name(after), Const((1 << self.width) - 1))
                moved[name] = Binary("|", moved[name], Binary("*", first, Const(1 << full)))
        return moved

    def with_newest(self, entry: Expr) -> dict[str, Expr]:
        """Return the variables as they are with one more entry, which is dropped where there is no room."""
        found: dict[str, Expr] = {}
        reached: Expr = TRUE
        for name, size in self.variables():
            place: Expr = Const(0)
            for at in reversed(range(0, size, self.width)):
                place = Ite(Binary("<", Name(name), Const(1 << at)), Const(1 << at), place)
            if reached != TRUE:
                place = Ite(reached, place, Const(0))
            found[name] = Binary("|", Name(name), Binary("*", entry, place))
            reached = Binary("<=", Const(1 << size - self.width), Name(name))
        return found
