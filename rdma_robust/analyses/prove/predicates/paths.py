"""Abstract paths asked of the solver: can one be taken, and if not, which predicates rule it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, assert_never

from rdma_robust.analyses.prove.predicates.horn_clauses import HornClauses, Unreachable
from rdma_robust.analyses.prove.predicates.linear_atoms import in_both_directions, predicates_of
from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.predicates.update_ways import ways_of
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
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Name, conj, disj, equals, names, substitute

INTERPOLANT_MS: Final = 2000


class PathFeasibility(Enum):
    """The answer whether a path can be taken with some values of the wide variables."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def updates_of(path: AbstractPath) -> list[tuple[Update, ...]]:
    """Return what happens to wide variables on a path, by transition; last what makes its end bad."""
    steps = [each.updates for each in path.transitions]
    return steps if path.bad is None else [*steps, (*path.bad.updates, Suppose(path.bad.condition))]


def can_be_taken(system: TransitionSystem, path: AbstractPath, formulas: Formulas, wait_ms: int) -> PathFeasibility:
    """Ask the solver, once, whether a path can be taken from the initial values; exact about folded variables."""
    z3 = formulas.library
    solver: Any = z3.Solver()
    solver.set("timeout", max(1, wait_ms))
    for condition in path_conditions(system, path):
        solver.add(formulas.condition(condition))
    answer = solver.check()
    return PathFeasibility.YES if answer == z3.sat else PathFeasibility.NO if answer == z3.unsat else PathFeasibility.UNKNOWN


def path_conditions(system: TransitionSystem, path: AbstractPath) -> list[Expr]:
    """Return conditions that can all be true iff a path can be taken: `x~3` is a later value of x."""
    writer = _Versions({name: [Const(value)] for name, value in system.wide})
    for step in updates_of(path):
        for update in step:
            writer.add(update)
    return writer.conditions


class _Versions:
    """Conditions over versions of names; a name stands for one value, or if it is folded for several."""

    def __init__(self, now: dict[str, list[Expr]]) -> None:
        self._now = now
        self._made = 0
        self.conditions: list[Expr] = []

    def add(self, update: Update) -> None:
        """Add what an update says, and set what it changes."""
        match update:
            case Suppose(condition):
                self.conditions.append(self._read(condition))
            case Assignment(name, value):
                self._now[name] = [self._version(name, self._read(value))]
            case Draw(name, low, high):
                drawn = self._fresh(name)
                self.conditions += [] if low is None else [Binary("<=", self._read(low), drawn)]
                self.conditions += [] if high is None else [Binary("<=", drawn, self._read(high))]
                self._now[name] = [drawn]
            case Join(name, value):
                self._now[name] = [*self._now[name], self._version(name, self._read(value))]
            case Selection(name, folded):
                self._now[name] = [self._one_of(self._now[folded], name)]
            case Drop(name):
                self._now[name] = [self._fresh(name)]
            case _:
                assert_never(update)

    def _fresh(self, name: str) -> Name:
        self._made += 1
        return Name(f"{name}~{self._made}")

    def _version(self, name: str, value: Expr) -> Expr:
        if isinstance(value, Const | Name):
            return value
        version = self._fresh(name)
        self.conditions.append(equals(version, value))
        return version

    def _one_of(self, values: list[Expr], name: str) -> Expr:
        if len(values) == 1:
            return values[0]
        chosen = self._fresh(name)
        self.conditions.append(disj(*(equals(chosen, each) for each in values)))
        return chosen

    def _read(self, expr: Expr) -> Expr:
        return substitute(expr, {name: self._one_of(self._now[name], name) for name in names(expr)})


@dataclass(frozen=True)
class NewPredicates:
    """Predicates that may rule out a path: `atoms` of what must hold at its cuts, the same `both` ways, and the `whole`."""

    atoms: tuple[Expr, ...]
    both: tuple[Expr, ...]
    whole: tuple[Expr, ...]


def predicates_against(system: TransitionSystem, path: AbstractPath, formulas: Formulas, wait_ms: int) -> NewPredicates:
    """Return predicates at the cuts of a path that cannot be taken: sequence interpolants from one query, with their atoms
    in both directions; if there are none in time, the atoms of the weakest preconditions along the path."""
    found = interpolants(system, path, formulas, min(wait_ms, INTERPOLANT_MS))
    if not found:
        return NewPredicates(tuple(dict.fromkeys(_weakest(path))), (), ())
    atoms = tuple(dict.fromkeys(atom for each in found for atom in predicates_of(each)))
    both = tuple(dict.fromkeys(other for atom in atoms for other in in_both_directions(atom)))
    return NewPredicates(atoms, both, tuple(dict.fromkeys(each for each in found if each not in predicates_of(each))))


def interpolants(system: TransitionSystem, path: AbstractPath, formulas: Formulas, wait_ms: int) -> list[Expr]:
    """Return a condition for each cut of the path, such that each follows from the one before, and the last is false; empty
    if there is none in time. A chain of Horn clauses, over what is live at the cut."""
    clauses = HornClauses(formulas)
    wide = [name for name, _ in system.wide]
    place = 0
    clauses.relation(place, _live_in(system, path, 0, wide))
    clauses.fact(place, dict(system.wide))
    steps = updates_of(path)
    for number, step in enumerate(steps[:-1]):
        if step:
            clauses.relation(place + 1, _live_in(system, path, number + 1, wide))
            clauses.rule(place, step, place + 1)
            place += 1
    clauses.rule(place, steps[-1], None)
    answer = clauses.solve(wait_ms)
    if not isinstance(answer, Unreachable):
        return []
    return [each for each in answer.solution.values() if each not in (TRUE, FALSE)]


def _live_in(system: TransitionSystem, path: AbstractPath, number: int, wide: list[str]) -> list[str]:
    control = system.initial() if number == 0 else path.transitions[number - 1].to
    live = system.live(control)
    return [name for name in wide if name in live]


def _weakest(path: AbstractPath) -> Iterator[Expr]:
    """Yield the predicates of the conditions before each step for the rest of the path to be possible."""
    needed: list[Expr] = []
    for step in reversed(updates_of(path)):
        after, needed = needed, []
        for way in ways_of(step):
            needed += [each for condition in after for each in way.before(condition)]
            needed.append(way.guard)
        needed = list(dict.fromkeys(needed))
        for each in predicates_of(conj(*needed)):
            if not any("!" in name for name in names(each)):
                yield from in_both_directions(each)
