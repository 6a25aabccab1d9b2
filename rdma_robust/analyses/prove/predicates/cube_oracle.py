"""One tuple of updates asked about by one incremental solver: what cubes before it say of predicates after it.

The largest disjunction of cubes that implies a condition: the search of sections 4.1 of both papers, with its prunings.

Cubes are found by size, smallest first. A cube that contains one already found is not tried, nor one that a model of an
earlier query satisfies: a cube that implies the condition differs from every such model somewhere, so the search branches
over where. Of a cube that implies it, the part that the solver needed is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from rdma_robust.analyses.prove.predicates.solving import Formulas, UpdateCase
from rdma_robust.expr import Expr, Name, evaluate, names, substitute


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


@dataclass
class SolverCounts:
    """Counts of questions about cubes and of calls of the solver: what is known already is asked but not called."""

    asked: int = 0
    called: int = 0


@dataclass
class Vocabulary:
    """The predicates, numbered in the order in which they came."""

    predicates: list[Expr] = field(default_factory=list)
    numbers: dict[Expr, int] = field(default_factory=dict)

    def add(self, predicate: Expr) -> bool:
        """Add a predicate that is not there yet; return whether it was not."""
        if predicate in self.numbers:
            return False
        self.numbers[predicate] = len(self.predicates)
        self.predicates.append(predicate)
        return True

    def __len__(self) -> int:
        return len(self.predicates)


class CubeOracle:
    """A way of a tuple of updates, with the predicates that may be asked about; more may be added to them at any time."""

    def __init__(
        self, way: UpdateCase, vocabulary: Vocabulary, formulas: Formulas, counts: SolverCounts, wait_ms: int
    ) -> None:
        self.way = way
        self._vocabulary = vocabulary
        self._formulas = formulas
        self._counts = counts
        self._solver: Any = None
        self._wait_ms = wait_ms
        self._literals: dict[tuple[int, bool], Any] = {}
        self._goals: dict[tuple[Expr, ...], Any] = {}
        self._known: dict[tuple[Cube, tuple[Expr, ...]], Answer] = {}
        self._instances: dict[int, tuple[Expr, ...]] = {}
        self._models: list[_Values] = []

    def ask(self, cube: Cube, goals: tuple[Expr, ...]) -> Answer:
        """Return whether `cube` before, and the guard, imply all of `goals`, conditions on the names before.

        Without goals: whether the cube contradicts the guard.
        """
        self._counts.asked += 1
        key = (cube, goals)
        if key not in self._known:
            self._known[key] = self._answer(cube, goals)
        return self._known[key]

    def _answer(self, cube: Cube, goals: tuple[Expr, ...]) -> Answer:
        self._counts.called += 1
        z3 = self._formulas.library
        if self._solver is None:
            self._solver = z3.SolverFor("QF_LIA")  # it knows more than that, and is faster with what this is mostly
            self._solver.set("timeout", self._wait_ms)
            self._solver.add(self._formulas.condition(self.way.guard))
        assumed = {self._literal(each, True): (each, True) for each in bit_numbers(cube.true)}
        assumed |= {self._literal(each, False): (each, False) for each in bit_numbers(cube.false)}
        goal = self._goal(goals) if goals else None
        result = self._solver.check(*assumed, *([] if goal is None else [goal]))
        if result == z3.sat:
            self._models.append(_Values(self._solver.model(), self._formulas))
            return Countermodel(self._true_in(len(self._models) - 1), len(self._models) - 1)
        if result != z3.unsat:
            return None
        core = self._solver.unsat_core()
        needed = [assumed[each] for each in core if each in assumed]
        by = Cube(sum(1 << i for i, sign in needed if sign), sum(1 << i for i, sign in needed if not sign))
        return Impossible(by) if goal is None or not any(each.eq(goal) for each in core) else Implication(by)

    def _literal(self, number: int, positive: bool) -> Any:
        """A constant that implies that all instances of a predicate are true, or that all are false."""
        made = self._literals.get((number, positive))
        if made is None:
            z3 = self._formulas.library
            made = self._literals[number, positive] = z3.Bool(f"{'is' if positive else 'not'}!{number}")
            for each in self.instances(number):
                formula = self._formulas.condition(each)
                self._solver.add(z3.Implies(made, formula if positive else z3.Not(formula)))
        return made

    def _goal(self, goals: tuple[Expr, ...]) -> Any:
        """A constant that implies that one of the goals is false."""
        made = self._goals.get(goals)
        if made is None:
            z3 = self._formulas.library
            made = self._goals[goals] = z3.Bool(f"goal!{len(self._goals)}")
            self._solver.add(z3.Implies(made, z3.Or([z3.Not(self._formulas.condition(each)) for each in goals])))
        return made

    def instances(self, number: int) -> tuple[Expr, ...]:
        """Return a predicate with every choice of a folded variable and its copies: all are true, or false, or not known."""
        made = self._instances.get(number)
        if made is None:
            predicate = self._vocabulary.predicates[number]
            made = self._instances[number] = predicate_instances(predicate, self.way.copies)
        return made

    def renewed(self, refuted: Countermodel) -> Countermodel:
        """Return the same with what its model says of predicates that have been added since."""
        return Countermodel(self._true_in(refuted.number), refuted.number)

    def _true_in(self, number: int) -> Cube:
        """The literals that are true in a model."""
        values = self._models[number]
        true = false = 0
        for each in range(len(self._vocabulary)):
            held = {bool(evaluate_totally(instance, values)) for instance in self.instances(each)}
            if held == {True}:
                true |= 1 << each
            elif held == {False}:
                false |= 1 << each
        return Cube(true, false)


def predicate_instances(predicate: Expr, copies: Mapping[str, str]) -> tuple[Expr, ...]:
    """Return a predicate with every choice of a folded variable and its copies."""
    choices: list[list[tuple[str, str]]] = []
    for name in dict.fromkeys(names(predicate)):
        same = [copy for copy, folded in copies.items() if folded == name]
        if same:
            choices.append([(name, each) for each in (name, *same)])
    return tuple(substitute(predicate, {old: Name(new) for old, new in chosen}) for chosen in product(*choices))


class _Values(Mapping[str, int]):
    """The values that a model gives to names."""

    def __init__(self, model: Any, formulas: Formulas) -> None:
        self._model = model
        self._formulas = formulas
        self._values: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        if name not in self._values:
            value = self._model.eval(self._formulas.name(name), model_completion=True)
            self._values[name] = int(value.as_long())
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def evaluate_totally(expr: Expr, values: Mapping[str, int]) -> int:
    """Return the value of `expr`; a division by zero, which only a condition that is not asked for can meet, gives 0."""
    try:
        return evaluate(expr, values)
    except ZeroDivisionError:
        return 0
