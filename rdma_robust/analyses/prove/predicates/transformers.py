"""Transformers of a boolean program: for each tuple of updates and each predicate, the cubes that make it true or false.

`b_p := choose(F(wp(st, p)), F(wp(st, !p)))`, F(f) being the largest disjunction of cubes over the predicates that implies f
(section 4.1 of both papers). Only predicates with a variable that the statement writes have a transformer; cubes are over
the predicates that are connected with it by variables (its cone of influence), of at most `size` literals.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from rdma_robust.analyses.prove.predicates.cube_oracle import (
    EMPTY,
    Answer,
    Countermodel,
    Cube,
    CubeOracle,
    CubeSearch,
    Implication,
    Impossible,
    Neighbours,
    SolverCounts,
    Vocabulary,
    bit_numbers,
)
from rdma_robust.analyses.prove.predicates.linear_atoms import predicates_of, renamed_literal, sum_bound
from rdma_robust.analyses.prove.predicates.solving import Formulas, UpdateCase, ways_of
from rdma_robust.analyses.prove.transition_system import Update
from rdma_robust.expr import TRUE, Expr, names, negate


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


LARGEST = 4
"""Cubes have no more literals, as in the papers."""

WAIT_MS = 2000
"""The solver gives up on a query after so many milliseconds; what is not known is not implied."""


@dataclass
class _CubesFound:
    """The cubes that a search has found, and with how many predicates."""

    cubes: tuple[Cube, ...] = ()
    models: list[Countermodel] = field(default_factory=list)
    version: tuple[int, int] = (-1, 0)


class AbstractWay:
    """One way of a tuple of updates as a statement of the boolean program; searched for only as far as it is asked."""

    def __init__(self, way: UpdateCase, builder: Transformers) -> None:
        self.way = way
        self._builder = builder
        self._statement = CubeOracle(way, builder.vocabulary, builder.formulas, builder.counts, WAIT_MS)
        self._found: dict[tuple[Expr, ...], _CubesFound] = {}
        self._choices: dict[int, tuple[tuple[int, int], PredicateTransformer]] = {}
        self._blocking: tuple[tuple[int, int], tuple[Cube, ...]] = ((-1, 0), ())
        self._impossible: list[Cube] = []
        self.guard_atoms: frozenset[Expr] = frozenset(predicates_of(way.guard))

    @property
    def always(self) -> bool:
        """Whether it has no guard."""
        return self.way.guard == TRUE

    @property
    def copies(self) -> Mapping[str, str]:
        """Fresh names in its conditions to the folded variables that they are one value of."""
        return self.way.copies

    def writes(self, number: int) -> bool:
        """Return whether it writes a variable of a predicate."""
        return not self.way.written.isdisjoint(self._builder.names_of(number))

    def blocking(self) -> tuple[Cube, ...]:
        """Return the cubes with which the guard cannot be true: F of its negation."""
        if self.always:
            return ()
        if self._blocking[0] != self._builder.version:
            self._blocking = (self._builder.version, self._search((), self.way.read()))
        return (*self._blocking[1], *self._impossible)

    def choice(self, number: int) -> PredicateTransformer:
        """Return the transformer of a predicate."""
        known = self._choices.get(number)
        if known is None or known[0] != self._builder.version:
            known = self._choices[number] = (self._builder.version, self._choice(number))
        return known[1]

    def _choice(self, number: int) -> PredicateTransformer:
        goals = self.way.before(self._builder.vocabulary.predicates[number])
        if all(each == TRUE for each in goals):
            return PredicateTransformer((EMPTY,), ())
        denied = tuple(dict.fromkeys(negate(each) for each in goals))
        if all(each == TRUE for each in denied):
            return PredicateTransformer((), (EMPTY,))
        if exact := self._written(goals):
            return exact
        near = frozenset(self.way.copies.get(name, name) for each in goals for name in names(each))
        near |= frozenset(self.way.copies.get(name, name) for name in names(self.way.guard))
        true = self._search(goals, near)
        return PredicateTransformer(true, () if EMPTY in true else self._search(denied, near, true))

    def _written(self, goals: tuple[Expr, ...]) -> PredicateTransformer | None:
        """The transformer if what must hold before is a predicate or its negation: no cube says more."""
        if len(goals) > 1 or self.way.copies:
            return None
        said = renamed_literal(goals[0], {})
        number = self._builder.vocabulary.numbers.get(said.predicate)
        if number is None:
            return None
        found = PredicateTransformer((Cube(1 << number, 0),), (Cube(0, 1 << number),))
        return found if said.positive else PredicateTransformer(found.false, found.true)

    def _search(self, goals: tuple[Expr, ...], near: frozenset[str], avoided: Iterable[Cube] = ()) -> tuple[Cube, ...]:
        """Return F of the conjunction of `goals`, or without goals of the negation of the guard."""
        builder = self._builder
        known = self._found.setdefault(goals, _CubesFound())
        if known.version == builder.version:
            return known.cubes
        blocking = self.blocking() if goals else ()
        search = CubeSearch(
            partial(self._asked, goals=goals),
            Neighbours(builder.having(near), builder.beside),
            builder.poll,
            avoided=[*avoided, *blocking, *builder.contradictions],
            models=[self._statement.renewed(each) for each in known.models],
            found=known.cubes,
        )
        started = time.monotonic()
        try:
            known.cubes = search.run(builder.size, builder.given)
        finally:
            builder.seconds += time.monotonic() - started
        known.models = search.models
        known.version = builder.version
        return known.cubes

    def _asked(self, cube: Cube, goals: tuple[Expr, ...]) -> Answer:
        answer = self._statement.ask(cube, goals)
        return Implication(answer.by) if isinstance(answer, Impossible) and not goals else answer

    def all_cubes(self) -> tuple[Cube, ...]:
        """Return every cube found so far."""
        return tuple(cube for each in self._found.values() for cube in each.cubes)

    def excludes(self, before: Cube) -> bool:
        """Return whether all that is known before, together, contradicts the guard; what contradicts it is remembered."""
        answer = self._statement.ask(before, ())
        if isinstance(answer, Impossible):
            self._impossible.append(answer.by)
            return True
        return False


class Transformers:
    """The boolean program over a vocabulary, built as far as it is asked for. `size` is that of the largest cubes.

    `given` are cubes that are tried whatever their size. With `single`, each update is a statement of its own, as in the
    papers; else all of a transition are one, which knows more. `seconds` went into cube search. Raises LimitReached
    through `poll`.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        formulas: Formulas,
        counts: SolverCounts,
        poll: Callable[[], None],
        *,
        single: bool = False,
    ) -> None:
        self.vocabulary = vocabulary
        self.formulas = formulas
        self.counts = counts
        self.poll = poll
        self.size = 1
        self.single = single
        self.given: tuple[Cube, ...] = ()
        self._bounds = Contradictions(vocabulary)
        self.seconds = 0.0
        self._ways: dict[tuple[Update, ...], tuple[AbstractWay, ...]] = {}
        self._names: list[frozenset[str]] = []
        self._beside: dict[tuple[int, int], int] = {}

    @property
    def contradictions(self) -> Sequence[Cube]:
        """Cubes that cannot be true, as far as that is seen from how predicates are written."""
        return self._bounds.found()

    @property
    def version(self) -> tuple[int, int]:
        """What has to be the same for cubes found before to be all."""
        return len(self.vocabulary), self.size

    def enlarge(self, most: int) -> bool:
        """Let cubes have one literal more, up to `most`; return whether they could have fewer until now."""
        if self.size >= most:
            return False
        self.size += 1
        return True

    def steps(self, updates: tuple[Update, ...]) -> tuple[tuple[AbstractWay, ...], ...]:
        """Return the statements that updates are, each with its ways."""
        return tuple(self.of((each,)) for each in updates) if self.single else (self.of(updates),)

    def of(self, updates: tuple[Update, ...]) -> tuple[AbstractWay, ...]:
        """Return the ways of a tuple of updates; equal tuples have the same."""
        made = self._ways.get(updates)
        if made is None:
            made = self._ways[updates] = tuple(AbstractWay(each, self) for each in ways_of(updates))
        return made

    def names_of(self, number: int) -> frozenset[str]:
        """Return the variables of a predicate."""
        for predicate in self.vocabulary.predicates[len(self._names) :]:
            self._names.append(frozenset(names(predicate)))
        return self._names[number]

    def having(self, variables: frozenset[str]) -> int:
        """Return the predicates with one of these variables."""
        numbers = range(len(self.vocabulary))
        return sum(1 << each for each in numbers if not self.names_of(each).isdisjoint(variables))

    def beside(self, number: int) -> int:
        """Return the predicates that share a variable with one."""
        key = (number, len(self.vocabulary))
        if key not in self._beside:
            self._beside[key] = self.having(self.names_of(number))
        return self._beside[key]

    def cubes_used(self) -> frozenset[Cube]:
        """Return the cubes of two or more literals in all transformers built."""
        return frozenset(cube for ways in self._ways.values() for way in ways for cube in way.all_cubes() if cube.size > 1)


def known_literals(vocabulary: Vocabulary, cube: Cube) -> tuple[Expr, ...]:
    """Return what a cube says, as conditions."""
    true = [vocabulary.predicates[each] for each in bit_numbers(cube.true)]
    return (*true, *(negate(vocabulary.predicates[each]) for each in bit_numbers(cube.false)))
