"""Integers for the wide values along an abstract path, if there are any, and the numbers that are drawn then.

Without draws there is one value for everything, and the path is run. With draws the conditions along it are over these:
difference constraints by shortest paths, others by z3 if it is installed (extra `smt`). Whatever is said to be feasible was
tried with the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Assignment,
    Draw,
    Drop,
    Join,
    Selection,
    Suppose,
    TransitionSystem,
    Update,
)
from rdma_robust.analyses.prove.zones.linear_ways import MOST_WAYS, CaseSplitter, Facts, LinearForm
from rdma_robust.expr import TRUE, Binary, Const, Expr, Ite, Name, Unary, equals, evaluate, names, substitute
from rdma_robust.language.flow.cfg import Nondet
from rdma_robust.solver_library import has_solver, solver_library

SOLVER_MS: Final = 5000
"""What z3 may take for one path."""

Values = Mapping[str, int]


def solved(conditions: Sequence[Expr], variables: Sequence[str]) -> list[Values] | None:
    """Return one assignment of integers to the variables for which all conditions are true, [] if there is none.

    None if that is not known. A condition that divides by zero is not true.
    """
    if not variables:
        return [{}] if _true(conditions, {}) else []
    fresh = (f"part {i}" for i in count())
    ways = CaseSplitter(lambda: next(fresh))
    alternatives = [Facts()]
    for condition in conditions:
        alternatives = [a.and_(b) for a in alternatives for b in ways.facts(condition)]
        alternatives = [facts for facts in alternatives if _by_differences(facts.forms) is not None]
        if len(alternatives) > MOST_WAYS:
            return _by_solver(conditions, variables)
    for facts in alternatives:
        found = _by_differences(facts.forms)
        if found is not None:
            values = {name: found.get(name, 0) for name in variables}
            if _true(conditions, values):
                return [values]
    return _by_solver(conditions, variables) if alternatives else []


def _true(conditions: Sequence[Expr], values: Values) -> bool:
    try:
        return all(evaluate(condition, values) for condition in conditions)
    except ZeroDivisionError:
        return False


def _by_differences(forms: Sequence[LinearForm]) -> Values | None:
    """Return integers for those of the forms that are bounds of variables and of differences, None if there are none.

    Bellman and Ford: distances from a point that is 0 from everything.
    """
    edges = []
    for form in forms:
        tight = form.tightened()
        if not tight.terms and tight.constant > 0:
            return None
        more = [name for name, a in tight.terms if a == 1]
        less = [name for name, a in tight.terms if a == -1]
        if len(more) <= 1 and len(less) <= 1 and len(more) + len(less) == len(tight.terms):
            edges.append((less[0] if less else "", more[0] if more else "", -tight.constant))
    distance = dict.fromkeys((end for edge in edges for end in edge[:2]), 0)
    for _ in range(len(distance) + 1):
        changed = False
        for source, target, length in edges:
            if distance[source] + length < distance[target]:
                distance[target] = distance[source] + length
                changed = True
        if not changed:
            return {name: there - distance.get("", 0) for name, there in distance.items()}
    return None


def _by_solver(conditions: Sequence[Expr], variables: Sequence[str]) -> list[Values] | None:
    """Ask z3. A quotient by 0 is any integer there, which the test of its model sees to."""
    if not has_solver():
        return None
    formulas = Formulas(solver_library("explicit"))
    solver = formulas.library.Solver()
    solver.set("timeout", SOLVER_MS)
    solver.add([formulas.condition(condition) for condition in conditions])
    answer = solver.check()
    if answer == formulas.library.unsat:
        return []
    if answer != formulas.library.sat:
        return None
    model = solver.model()
    values = {name: model.eval(formulas.name(name), model_completion=True).as_long() for name in variables}
    return [values] if _true(conditions, values) else None


MOST_CHOICES = 512
"""Ways to pick from folded variables along one path that are tried."""


@dataclass(frozen=True, slots=True)
class PathValues:
    """The answer: there are integers, there are none, or None if that is not known.

    `draws` has a number for each `nondet` among the causes of the path, in order, None where the reduction has chosen
    a small value by itself or nobody asks.
    """

    feasible: bool | None
    draws: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class _Trail:
    """The values behind some updates: wide variables over the numbers drawn, folded ones as all that they stand for."""

    values: Mapping[str, Expr]
    folded: Mapping[str, tuple[Expr, ...]] = field(default_factory=dict)
    conditions: tuple[Expr, ...] = ()
    draws: tuple[tuple[int, str], ...] = ()

    def supposing(self, condition: Expr) -> _Trail | None:
        """Return what is known if this is true, None if it is false, or undefined."""
        if condition == TRUE:
            return self
        if not any(names(condition)):
            try:
                return self if evaluate(condition, {}) else None
            except ZeroDivisionError:
                return None
        return _Trail(self.values, self.folded, (*self.conditions, condition), self.draws)

    def setting(self, name: str, values: Sequence[Expr]) -> _Trail:
        """Return what is known after an assignment of one value, or of some that a folded variable stands for."""
        folded = {other: held for other, held in self.folded.items() if other != name}
        if len(values) > 1:
            folded[name] = tuple(dict.fromkeys(values))
        return _Trail({**self.values, name: values[0]}, folded, self.conditions, self.draws)


def path_values(system: TransitionSystem, path: AbstractPath) -> PathValues:
    """Return whether the updates along a path can be taken one after the other, in integers, from the initial values.

    A variable that was dropped has any value that it had before, as nobody asks for it.
    """
    updates = [(place, update) for place, step in enumerate(path.transitions) for update in step.updates]
    if path.bad is not None:
        updates += [(-1, update) for update in (*path.bad.updates, Suppose(path.bad.condition))]
    undecided = False
    trails = _trails(_Trail({name: Const(value) for name, value in system.wide}), updates)
    for trail in trails:
        found = None if trail is None else solved(trail.conditions, [name for _, name in trail.draws])
        if trail is None or found is None:
            undecided = True
        elif found:
            return PathValues(True, _by_cause(path, trail, found[0]))
    return PathValues(None if undecided else False)


def _by_cause(path: AbstractPath, trail: _Trail, found: Mapping[str, int]) -> tuple[int | None, ...]:
    numbers: list[int | None] = []
    for place, transition in enumerate(path.transitions):
        drawn = [found[name] for at, name in trail.draws if at == place]
        asked = [cause for cause in transition.causes if cause.step is not None and isinstance(cause.step.op, Nondet)]
        numbers += drawn if len(drawn) == len(asked) else [None] * len(asked)
    return tuple(numbers)


def _trails(start: _Trail, updates: Sequence[tuple[int, Update]]) -> Iterator[_Trail | None]:
    """Yield what is known behind the updates, for every way to pick; None at the end if there are more than are tried."""
    fresh = (f"draw {i}" for i in count())
    agenda = [(start, 0)]
    tried = 0
    while agenda:
        if tried == MOST_CHOICES:
            yield None
            return
        tried += 1
        trail, done = agenda.pop()
        while done < len(updates):
            place, update = updates[done]
            done += 1
            following = _after(trail, place, update, fresh)
            if not following:
                break
            trail, *others = following
            agenda += [(other, done) for other in reversed(others)]
        else:
            yield trail


def _after(trail: _Trail, place: int, update: Update, fresh: Iterator[str]) -> list[_Trail]:
    match update:
        case Suppose(condition):
            after = trail.supposing(substitute(condition, trail.values))
            return [] if after is None else [after]
        case Assignment(name, value):
            new = substitute(value, trail.values)
            return [known.setting(name, [new]) for known in _defined(trail, new)]
        case Draw(name, low, high):
            return _drawn(trail, place, name, (low, high), next(fresh))
        case Join(name, value):
            new = substitute(value, trail.values)
            held = trail.folded.get(name, (trail.values[name],))
            return [known.setting(name, [*held, new]) for known in _defined(trail, new)]
        case Selection(name, folded):
            return [trail.setting(name, [value]) for value in trail.folded.get(folded, (trail.values[folded],))]
        case Drop():
            return [trail]


def _defined(trail: _Trail, value: Expr) -> list[_Trail]:
    """Return the trail on which the value does not divide by zero, none if it always does."""
    if not _may_divide_by_zero(value):
        return [trail]
    known = trail.supposing(equals(value, value))
    return [] if known is None else [known]


def _may_divide_by_zero(value: Expr) -> bool:
    match value:
        case Binary("/" | "%", _, Const(divisor)) if divisor:
            return _may_divide_by_zero(value.left)
        case Binary("/" | "%", _, _):
            return True
        case Binary(_, left, right):
            return _may_divide_by_zero(left) or _may_divide_by_zero(right)
        case Unary(_, arg):
            return _may_divide_by_zero(arg)
        case Ite(test, then, other):
            return any(map(_may_divide_by_zero, (test, then, other)))
        case Const() | Name():
            return False


def _drawn(trail: _Trail, place: int, name: str, ends: tuple[Expr | None, Expr | None], new: str) -> list[_Trail]:
    for end, op in zip(ends, (">=", "<="), strict=True):
        if end is not None:
            after = trail.supposing(Binary(op, Name(new), substitute(end, trail.values)))
            assert after is not None
            trail = after
    drawn = _Trail(trail.values, trail.folded, trail.conditions, (*trail.draws, (place, new)))
    return [drawn.setting(name, [Name(new)])]
