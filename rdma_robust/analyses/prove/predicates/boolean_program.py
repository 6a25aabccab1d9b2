"""A boolean program as its checker sees it, and cubes that cannot be true in any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.analyses.prove.predicates.cube_oracle import Cube, Vocabulary
from rdma_robust.analyses.prove.predicates.linear_atoms import sum_bound
from rdma_robust.analyses.prove.transition_system import Update
from rdma_robust.expr import Expr


@dataclass(frozen=True)
class PredicateTransformer:
    """A predicate becomes true where one of `true` holds before, false where one of `false` does, else unknown."""

    true: tuple[Cube, ...]
    false: tuple[Cube, ...]

    def after(self, before: Cube) -> bool | None:
        """Return the value that the predicate gets, None if it is not known."""
        if any(each.within(before) for each in self.true):
            return True
        if any(each.within(before) for each in self.false):
            return False
        return None


UNKNOWN = PredicateTransformer((), ())


class ProgramWay(Protocol):
    """One way in which a statement of a boolean program can go."""

    @property
    def always(self) -> bool:
        """Whether it has no guard."""

    @property
    def copies(self) -> Mapping[str, str]:
        """Fresh names in its conditions to the folded variables that they are one value of."""

    @property
    def guard_atoms(self) -> frozenset[Expr]:
        """The predicates that its guard is made of."""

    def writes(self, number: int) -> bool:
        """Return whether it writes a variable of a predicate."""

    def blocking(self) -> Sequence[Cube]:
        """Return cubes with which its guard cannot be true."""

    def choice(self, number: int) -> PredicateTransformer:
        """Return the transformer of a predicate that it writes."""

    def excludes(self, before: Cube) -> bool:
        """Return whether all that is known before, together, contradicts the guard, if that is found out."""


class BooleanProgram(Protocol):
    """A boolean program over the predicates of `vocabulary`. `contradictions` are cubes that cannot be true."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The predicates."""

    @property
    def contradictions(self) -> Sequence[Cube]:
        """Cubes that cannot be true, wherever they are."""

    def names_of(self, number: int) -> frozenset[str]:
        """Return the variables of a predicate."""

    def steps(self, updates: tuple[Update, ...]) -> tuple[Sequence[ProgramWay], ...]:
        """Return the statements that updates are, in order, each with its ways."""


_Bound = tuple[int, str, int]
"""The number of a predicate, `<=` or `==`, and the bound."""


class Contradictions:
    """The cubes of a growing vocabulary that cannot be true."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._seen = 0
        self._by_sum: dict[Expr, list[_Bound]] = {}
        self._found: list[Cube] = []

    def found(self) -> Sequence[Cube]:
        """Return the cubes that cannot be true."""
        predicates = self._vocabulary.predicates
        for number in range(self._seen, len(predicates)):
            said = sum_bound(predicates[number])
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
