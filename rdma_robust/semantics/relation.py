"""Binary relations over the events 0..n-1 of a trace, as rows of bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Relation:
    """`rows[a]` has bit b set iff (a, b) is in the relation. Relations combined must have the same number of rows."""

    rows: tuple[int, ...]

    @staticmethod
    def of(n: int, pairs: Iterable[tuple[int, int]]) -> Relation:
        rows = [0] * n
        for a, b in pairs:
            rows[a] |= 1 << b
        return Relation(tuple(rows))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for a, row in enumerate(self.rows):
            while row:
                low = row & -row
                yield a, low.bit_length() - 1
                row ^= low

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return bool(self.rows[pair[0]] >> pair[1] & 1)

    def __or__(self, other: Relation) -> Relation:
        return Relation(tuple(a | b for a, b in zip(self.rows, other.rows, strict=True)))

    def __and__(self, other: Relation) -> Relation:
        return Relation(tuple(a & b for a, b in zip(self.rows, other.rows, strict=True)))

    def minus(self, other: Relation) -> Relation:
        return Relation(tuple(a & ~b for a, b in zip(self.rows, other.rows, strict=True)))

    def then(self, other: Relation) -> Relation:
        """Return the composition self ; other."""
        rows = []
        for row in self.rows:
            out = 0
            while row:
                low = row & -row
                out |= other.rows[low.bit_length() - 1]
                row ^= low
            rows.append(out)
        return Relation(tuple(rows))

    def inverse(self) -> Relation:
        return Relation.of(len(self.rows), ((b, a) for a, b in self))

    def restrict(self, domain: int) -> Relation:
        """Return [S] ; self, where bit a of `domain` is set iff event a is in S."""
        return Relation(tuple(row if domain >> a & 1 else 0 for a, row in enumerate(self.rows)))

    def without_identity(self) -> Relation:
        return Relation(tuple(row & ~(1 << a) for a, row in enumerate(self.rows)))

    def closure(self) -> Relation:
        """Return the transitive closure (Warshall's algorithm on bit rows)."""
        rows = list(self.rows)
        for k in range(len(rows)):
            through = rows[k]
            for a in range(len(rows)):
                if rows[a] >> k & 1:
                    rows[a] |= through
        return Relation(tuple(rows))

    def is_irreflexive(self) -> bool:
        return not any(row >> a & 1 for a, row in enumerate(self.rows))
