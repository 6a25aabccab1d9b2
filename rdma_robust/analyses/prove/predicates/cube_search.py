"""The largest disjunction of cubes that implies a condition: the search of sections 4.1 of both papers, with its prunings.

Cubes are found by size, smallest first. A cube that contains one already found is not tried, nor one that a model of an
earlier query satisfies: a cube that implies the condition differs from every such model somewhere, so the search branches
over where. Of a cube that implies it, the part that the solver needed is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple


class Cube(NamedTuple):
    """A conjunction: the predicates with these bits are true, and those false. Also what is known in a state."""

    true: int
    false: int

    def within(self, other: Cube) -> bool:
        """Whether `other` has all literals of this cube, and so implies it."""
        return not (self.true & ~other.true or self.false & ~other.false)

    @property
    def used(self) -> int:
        """The predicates that it names."""
        return self.true | self.false

    @property
    def size(self) -> int:
        """The number of its literals."""
        return self.used.bit_count()

    @property
    def contradicts_itself(self) -> bool:
        """Whether it has a predicate and its negation."""
        return bool(self.true & self.false)

    def joined(self, other: Cube) -> Cube:
        """Return the conjunction of both."""
        return Cube(self.true | other.true, self.false | other.false)


EMPTY = Cube(0, 0)


def bit_numbers(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits of a mask, smallest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Implication(NamedTuple):
    """A cube implies the condition; already this part of it does."""

    by: Cube


class Countermodel(NamedTuple):
    """A cube does not imply the condition: where these literals hold, and no others, the condition is false.

    `number` says where that was.
    """

    model: Cube
    number: int = 0


class Impossible(NamedTuple):
    """A cube is never true, where the condition is asked for: this part of it is not."""

    by: Cube


Answer = Implication | Countermodel | Impossible | None
"""None if the solver does not know."""


class Neighbours:
    """The predicates that may matter for a condition: `first` have a variable of it, and each those `beside` that share one.

    A part of a cube that shares no variable with the rest and with the condition is of no use, unless it contradicts itself.
    """

    def __init__(self, first: int, beside: Callable[[int], int]) -> None:
        self._first = first
        self._beside = beside

    def within(self, steps: int) -> int:
        """Return the predicates that a cube of so many literals can need."""
        found = self._first if steps else 0
        for _ in range(steps - 1):
            for number in bit_numbers(found):
                found |= self._beside(number)
        return found

    def connects(self, predicates: int) -> bool:
        """Return whether each of some predicates is connected with the condition through them."""
        reached = predicates & self._first
        left = predicates & ~reached
        while left:
            near = 0
            for number in bit_numbers(reached):
                near |= self._beside(number)
            if not near & left:
                return False
            reached |= near & left
            left &= ~near
        return True


class CubeSearch:
    """Finds the cubes over `neighbours` of few literals that imply a condition, asking `ask`.

    No cube is tried that contains one of `avoided`. What is known already can be given: cubes `found` before, and `models`
    in which the condition is false.
    """

    def __init__(
        self,
        ask: Callable[[Cube], Answer],
        neighbours: Neighbours,
        poll: Callable[[], None],
        *,
        avoided: Iterable[Cube] = (),
        models: Iterable[Countermodel] = (),
        found: Iterable[Cube] = (),
    ) -> None:
        self._ask = ask
        self._neighbours = neighbours
        self._candidates: list[int] = []
        self._all_avoided = list(avoided)
        self._avoided: list[Cube] = []
        self._poll = poll
        self.models = list(models)
        self.found = list(found)
        self._unknown: set[Cube] = set()

    def run(self, size: int, given: Iterable[Cube] = ()) -> tuple[Cube, ...]:
        """Return the cubes found, smallest first, and which of those `given` imply the condition too."""
        for literals in range(size + 1):
            self._reach(self._neighbours.within(literals))
            self._extend(EMPTY, EMPTY, literals)
            if EMPTY in self.found:
                return (EMPTY,)
        for cube in given:
            self._reach(cube.used)
            self._extend(cube, EMPTY, 0)
        return tuple(self.found)

    def _reach(self, predicates: int) -> None:
        """Search cubes of these predicates."""
        self._candidates = [1 << each for each in bit_numbers(predicates)]
        self._avoided = [each for each in self._all_avoided if not each.used & ~predicates]

    def _extend(self, cube: Cube, banned: Cube, left: int) -> None:
        """Find all cubes with the literals of `cube`, none of `banned` and at most `left` more."""
        self._poll()
        if any(each.within(cube) for each in self.found) or any(each.within(cube) for each in self._avoided):
            return
        model = next((each.model for each in self.models if cube.within(each.model)), None)
        if model is None and (left or self._neighbours.connects(cube.used)):
            model = self._tried(cube)
        if model is None or not left:
            return
        for literal in self._differing(model, cube, banned):
            self._extend(cube.joined(literal), banned, left - 1)
            banned = banned.joined(literal)

    def _tried(self, cube: Cube) -> Cube | None:
        """Ask whether the cube implies the condition; return a model if it does not."""
        if cube in self._unknown:
            return None
        answer = self._ask(cube)
        if isinstance(answer, Implication):
            self.found = [each for each in self.found if not answer.by.within(each)] + [answer.by]
            return None
        if isinstance(answer, Impossible):
            self._avoided.append(answer.by)
            self._all_avoided.append(answer.by)
            return None
        if answer is None:
            self._unknown.add(cube)
            return None
        self.models.append(answer)
        return answer.model

    def _differing(self, model: Cube, cube: Cube, banned: Cube) -> Iterator[Cube]:
        """Yield the literals that are not in the model and that the cube can still get."""
        for bit in self._candidates:
            if cube.used & bit:
                continue
            if not (model.true | banned.true) & bit:
                yield Cube(bit, 0)
            if not (model.false | banned.false) & bit:
                yield Cube(0, bit)
