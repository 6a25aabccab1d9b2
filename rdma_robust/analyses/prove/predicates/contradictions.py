"""Cubes that cannot be true because their predicates bound the same sum: seen without a solver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rdma_robust.analyses.prove.predicates.cube_search import Cube
from rdma_robust.analyses.prove.predicates.linear_atoms import bounded
from rdma_robust.analyses.prove.predicates.statement import Vocabulary
from rdma_robust.expr import Expr

_Bound = tuple[int, str, int]
"""The number of a predicate, `<=` or `==`, and the bound."""


class Contradictions:
    """What predicates of a growing vocabulary cannot be together."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._seen = 0
        self._by_sum: dict[Expr, list[_Bound]] = {}
        self._found: list[Cube] = []

    def found(self) -> Sequence[Cube]:
        """Return the cubes that cannot be true."""
        predicates = self._vocabulary.predicates
        for number in range(self._seen, len(predicates)):
            said = bounded(predicates[number])
            if said is not None:
                same = self._by_sum.setdefault(said[0], [])
                new = (number, said[1], said[2])
                self._found += [cube for each in same for cube in _pair(each, new)]
                same.append(new)
                self._found += _equal(new, same)
        self._seen = len(predicates)
        return self._found


def _pair(one: _Bound, other: _Bound) -> Iterator[Cube]:
    """Yield what two predicates about one sum cannot be."""
    first, second = sorted((one, other), key=lambda each: (each[1], each[2]))
    low, high = 1 << first[0], 1 << second[0]
    match first[1], second[1]:
        case "<=", "<=":
            yield Cube(low, high)
        case "==", "==":
            yield Cube(low | high, 0)
        case _:  # `<=` comes first
            yield Cube(high, low) if second[2] <= first[2] else Cube(high | low, 0)


def _equal(new: _Bound, same: Sequence[_Bound]) -> Iterator[Cube]:
    """Yield that what is at most c and not at most c - 1 is c, for each c of which a new predicate is a part."""
    at_most = {bound: number for number, op, bound in same if op == "<="}
    for number, op, bound in same:
        parts = (number, at_most.get(bound), at_most.get(bound - 1))
        if op == "==" and None not in parts and new[0] in parts:
            yield Cube(1 << at_most[bound], 1 << number | 1 << at_most[bound - 1])
