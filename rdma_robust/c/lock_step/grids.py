"""Grids and graphs of processes, as topologies of MPI are: coordinates of ranks, lengths of dimensions, neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import prod


@dataclass(frozen=True, slots=True)
class Grid:
    """A cartesian topology: the length of each dimension, and whether it is periodic."""

    lengths: tuple[int, ...]
    periods: tuple[bool, ...]

    @property
    def size(self) -> int:
        """Return how many processes have a place."""
        return prod(self.lengths)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """Return the coordinates of a rank; the last dimension changes fastest."""
        found: list[int] = []
        for length in reversed(self.lengths):
            rank, at = divmod(rank, length)
            found.append(at)
        return tuple(reversed(found))

    def rank(self, coordinates: tuple[int, ...]) -> int | None:
        """Return the rank at coordinates, None outside of a dimension that is not periodic."""
        found = 0
        for at, length, is_periodic in zip(coordinates, self.lengths, self.periods, strict=True):
            if not is_periodic and not 0 <= at < length:
                return None
            found = found * length + at % length
        return found

    def neighbours(self, rank: int) -> list[int | None]:
        """Return the ranks beside one, before and behind it in each dimension."""
        here = self.coordinates(rank)
        steps = [(along, step) for along in range(len(here)) for step in (-1, 1)]
        return [self.rank((*here[:at], here[at] + step, *here[at + 1 :])) for at, step in steps]


@dataclass(frozen=True, slots=True)
class NeighbourGraph:
    """A topology of a graph: from whom each rank takes, to whom it gives; `ends` is the list that `MPI_Graph_create` got."""

    sources: tuple[tuple[int, ...], ...]
    destinations: tuple[tuple[int, ...], ...]
    ends: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Return how many processes `MPI_Graph_create` gave a place."""
        return len(self.ends)


def balanced(number: int, dimensions: int) -> tuple[int, ...]:
    """Return as many lengths with this product, the largest as small as can be, largest first."""
    divisors = [each for each in range(number, 0, -1) if number % each == 0]
    fitting = [each for each in combinations_with_replacement(divisors, dimensions) if prod(each) == number]
    return min(fitting)
