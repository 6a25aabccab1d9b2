"""Values of which some are not known, and the decisions that computing with them takes.

Whoever computes asks :class:`Decisions`; what is not decided on the path raises :class:`ForkError`, and is computed again
on the path of each alternative. So nothing may be changed before all decisions are made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rdma_robust.contracts.runs.fact_solver import FactSolver
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_terms import Condition, Number, SymbolicTerm, TermTable, TooManyError
from rdma_robust.messages.language.message_terms import LONGEST, FaultError


@dataclass(frozen=True, slots=True, eq=False)
class ArrayInput:
    """An array of which nothing is known but between which numbers its length is; `elements` has all it may have."""

    name: str
    low: int
    high: int
    elements: tuple[Data, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """A value of which nothing at all is known, not even whether it is a number; it can be moved and not looked at."""

    name: str


Data = int | SymbolicTerm | tuple["Data", ...] | ArrayInput | Unknown
"""A number or an array."""

_MANY: Final = 64
"""Values of one number that are tried one after the other where a number has to be known."""


_FACTS: Final = 200
"""Facts of a path that still forks."""

_UNKNOWN: Final = 2
"""Questions that z3 gives up, each after its time, before the run is given up."""

_CELLS: Final = 32
"""Elements of an array of which one is looked at or changed whose index stays open."""


class ForkError(Exception):
    """Something is not decided: `condition` is true or not, or the array has one of its lengths."""

    def __init__(self, condition: SymbolicTerm | None, array: ArrayInput | None = None) -> None:
        super().__init__()
        self.condition = condition
        self.array = array


class NeedsDecisionError(Exception):
    """While something is only tried: it takes a decision."""


class WeakError(NeedsDecisionError):
    """An unknown value is looked at; says which."""


class Decisions:
    """Decisions on a path. While `trying`, nothing forks; while `joining`, both sides of branches are followed."""

    def __init__(self, terms: TermTable, solver: FactSolver) -> None:
        self.terms = terms
        self.solver = solver
        self.path = Path()
        self.trying = 0
        self.joining = False

    def decide(self, condition: Condition) -> bool:
        """Return whether a condition is true. Raises ForkError if it may be and may not be, UndecidedError while trying."""
        if isinstance(condition, bool):
            return condition
        found = self.path.verdict(condition, self.terms)
        if found is not None:
            return found
        if self.trying:
            raise NeedsDecisionError
        found = self._solved(condition)
        if found is None:
            if len(self.path.facts) > _FACTS:
                raise TooManyError(f"what happens depends on more than {_FACTS} conditions of the inputs")
            raise ForkError(condition)
        return found

    def _solved(self, condition: SymbolicTerm) -> bool | None:
        path = self.path
        seen = None if path.model is None else bool(self.solver.value(condition, path.model))
        for wanted in (True, False):
            if seen is wanted:
                continue
            fact = condition if wanted else self.terms.negation(condition)
            assert isinstance(fact, SymbolicTerm)
            possible = self.feasible(fact)
            if possible is None and self.solver.unknown > _UNKNOWN:
                raise TooManyError("z3 does not know which way branches can go")
            if possible is False:
                path.learn(self.terms.negation(fact), self.terms)
                return not wanted
        return None

    def feasible(self, fact: SymbolicTerm) -> bool | None:
        """Return whether a fact is possible on this path, None if that is not known."""
        return self.solver.possible((*self.path.facts, fact), self.path.model)[0]

    def choose(self, condition: SymbolicTerm, *, value: bool) -> bool:
        """Assume what was forked on; return False if that is impossible."""
        fact = condition if value else self.terms.negation(condition)
        if not self.path.assume(fact, self.terms):
            return False
        possible, model = self.solver.possible(self.path.facts, None)
        self.path.model = model
        return possible is not False

    def number(self, value: Data) -> Number:
        """Return `value` itself. Raises FaultError if it is an array."""
        if isinstance(value, int | SymbolicTerm):
            return value
        if isinstance(value, Unknown):
            raise WeakError(value.name)
        raise FaultError("kind")

    def array(self, value: Data) -> tuple[Data, ...]:
        """Return the elements. Raises FaultError if it is a number."""
        if isinstance(value, tuple):
            return value
        if isinstance(value, ArrayInput):
            return value.elements[: self.length(value)]
        if isinstance(value, Unknown):
            raise WeakError(value.name)
        raise FaultError("kind")

    def length(self, array: ArrayInput) -> int:
        """Return the length of an input."""
        found = self.path.lengths.get(array)
        if found is None:
            if array.low == array.high:
                return array.low
            if self.trying:
                raise NeedsDecisionError
            raise ForkError(None, array)
        return found

    def truth(self, value: Data) -> Condition:
        return self.terms.truth(self.number(value))

    def among(self, number: Number, count: int) -> int | None:
        """Return which of the numbers 0 to `count` - 1 it is, None if it is none of them."""
        if type(number) is int:
            return number if 0 <= number < count else None
        assert isinstance(number, SymbolicTerm)
        known = self.path.value_of(number)
        if known is not None:
            return known if 0 <= known < count else None
        return next((each for each in range(count) if self.decide(self.terms.compare("==", number, each))), None)

    def some(self, number: Number, what: str) -> int:
        """Return a number that has to be known, one path for each. Raises TooManyError."""
        if type(number) is int:
            return number
        assert isinstance(number, SymbolicTerm)
        known = self.path.value_of(number)
        if known is not None:
            return known
        for _ in range(_MANY):
            guess = self._guess(number)
            if guess is None:
                raise TooManyError(f"the values of {what} are not known without z3")
            if self.decide(self.terms.compare("==", number, guess)):
                return guess
        raise TooManyError(f"{what} has more than {_MANY} values")

    def _guess(self, number: SymbolicTerm) -> int | None:
        """Return a value that a number has on this path for some inputs."""
        possible, model = self.solver.possible(self.path.facts, self.path.model)
        if not possible or model is None:
            return None
        return self.solver.value(number, model)

    def element(self, value: Data, index: Data) -> Data:
        """Return an element of an array. Raises FaultError if there is none."""
        items, at = self.array(value), self.number(index)
        if self._stays_open(at, items):
            assert isinstance(at, SymbolicTerm)
            found = self.number(items[-1])
            for each in range(len(items) - 2, -1, -1):
                found = self.terms.either(self.terms.compare("==", at, each), self.number(items[each]), found)
            return found
        return items[self._index(at, len(items))]

    def _index(self, at: Number, count: int) -> int:
        found = self.among(at, count)
        if found is None:
            raise FaultError("index")
        return found

    def _stays_open(self, at: Number, items: tuple[Data, ...]) -> bool:
        """Whether an index is in range, not known, and need not be, as all elements are numbers."""
        if type(at) is int or self.path.value_of(at) is not None or not 0 < len(items) <= _CELLS:
            return False
        if not all(isinstance(each, int | SymbolicTerm) for each in items):
            return False
        terms = self.terms
        if not (self.decide(terms.compare(">=", at, 0)) and self.decide(terms.compare("<", at, len(items)))):
            raise FaultError("index")
        return True

    def stored(self, value: Data, indices: tuple[Number, ...], new: Data) -> Data:
        """Return `value` with what stands at `indices` replaced by `new`. Raises FaultError."""
        if not indices:
            return new
        items, index = self.array(value), indices[0]
        if len(indices) == 1 and isinstance(new, int | SymbolicTerm) and self._stays_open(index, items):
            terms = self.terms
            cells = [(terms.compare("==", index, at), self.number(old)) for at, old in enumerate(items)]
            return tuple([terms.either(here, new, old) for here, old in cells])
        at = self._index(index, len(items))
        return (*items[:at], self.stored(items[at], indices[1:], new), *items[at + 1 :])

    def zeros(self, size: Data) -> tuple[Data, ...]:
        """Return that many zeros. Raises FaultError if there cannot be so many."""
        length = self.number(size)
        if self.decide(self.terms.compare("<", length, 0)) or self.decide(self.terms.compare(">", length, LONGEST)):
            raise FaultError("length")
        return (0,) * self.some(length, "the length of an array")
