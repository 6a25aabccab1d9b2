"""Abstract paths asked of the solver: can one be taken, and if not, which predicates rule it out.

Constrained Horn clauses over the wide variables, one relation a control state or a cut of a path, asked of z3's spacer.

A clause says: if the relation before has the values, and the updates can be made, the relation after has the values after
them. Where updates take one value of a folded variable, the relation before must have that value in its place as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any, Final, assert_never

from rdma_robust.analyses.prove.predicates.linear_atoms import in_both_directions, predicates_of
from rdma_robust.analyses.prove.predicates.solving import Formulas, NotExpressible, UpdateCase, as_expr, ways_of
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

Place = Hashable
"""What a relation is about: a control state, or the number of a cut."""


@dataclass(frozen=True)
class Unreachable:
    """No clause leads to the goal; `solution` is what each relation may be, as spacer says, which is to be checked."""

    solution: Mapping[Place, Expr]


@dataclass(frozen=True)
class Derivation:
    """The goal is reached by these rules, in order, as far as spacer names them."""

    rules: tuple[int, ...]


class HornClauses:
    """Clauses that are collected and then solved. `arguments` gives the variables of a relation, in order."""

    def __init__(self, formulas: Formulas) -> None:
        self._formulas = formulas
        self._relations: dict[Place, tuple[Any, tuple[str, ...]]] = {}
        z3 = formulas.library
        self._engine = z3.Fixedpoint()
        self._engine.set("engine", "spacer")
        for option in ("xform.inline_linear", "xform.inline_eager", "xform.slice"):
            self._engine.set(option, False)
        self._goal = z3.Function("goal", z3.BoolSort())
        self._engine.register_relation(self._goal)
        self._rules = self._goals = 0

    def relation(self, place: Place, arguments: Iterable[str]) -> None:
        """Have a relation for a place, over these variables, if there is none yet."""
        if place in self._relations:
            return
        z3, ordered = self._formulas.library, tuple(arguments)
        made = z3.Function(f"at!{len(self._relations)}", *[z3.IntSort() for _ in ordered], z3.BoolSort())
        self._engine.register_relation(made)
        self._relations[place] = (made, ordered)

    def fact(self, place: Place, values: Mapping[str, int]) -> None:
        """The relation has these values."""
        relation, arguments = self._relations[place]
        self._engine.add_rule(relation(*[values[each] for each in arguments]), None, "start")

    def rule(self, before: Place, updates: tuple[Update, ...], after: Place | None) -> int:
        """Lead from a place to another, or with None to the goal. Return the number of the rule."""
        self._rules += 1
        self._goals += after is None
        for way in ways_of(updates):
            for values in way.values if after is not None else way.values[:1]:
                self._add(before, way, after, values)
        return self._rules

    def _add(self, before: Place, way: UpdateCase, after: Place | None, values: Mapping[str, Expr]) -> None:
        z3 = self._formulas.library
        relation, arguments = self._relations[before]
        body = [relation(*each) for each in self._choices(arguments, way.copies)]
        body.append(self._formulas.condition(way.guard))
        used = {*arguments, *names(way.guard), *way.copies}
        if after is None:
            head = self._goal()
        else:
            relation, arguments = self._relations[after]
            ends = [values.get(each, Name(each)) for each in arguments]
            used.update(name for each in ends for name in names(each))
            head = relation(*[self._formulas.number(each) for each in ends])
        clause = z3.Implies(z3.And(*body), head)
        bound = [self._formulas.name(each) for each in sorted(used)]
        self._engine.add_rule(z3.ForAll(bound, clause) if bound else clause, None, f"rule!{self._rules}")

    def _choices(self, arguments: tuple[str, ...], copies: Mapping[str, str]) -> list[list[Any]]:
        """The arguments with every choice of folded variables and their copies."""
        by_name = [[each, *(copy for copy, folded in copies.items() if folded == each)] for each in arguments]
        return [[self._formulas.name(each) for each in chosen] for chosen in product(*by_name)]

    def solve(self, wait_ms: int) -> Unreachable | Derivation | None:
        """Ask whether the goal can be reached; None if that is not found out in time or cannot be said."""
        if not self._goals:
            return Unreachable({})
        z3 = self._formulas.library
        self._engine.set("timeout", max(1, wait_ms))
        try:
            answer = self._engine.query(self._goal())
            if answer == z3.unsat:
                return Unreachable(self._solution(self._engine.get_answer()))
            return Derivation(self._trace()) if answer == z3.sat else None
        except z3.Z3Exception:
            return None

    def _trace(self) -> tuple[int, ...]:
        found = [str(each) for each in self._engine.get_rule_names_along_trace()]
        return tuple(int(each.removeprefix("rule!")) for each in reversed(found) if each.startswith("rule!"))

    def _solution(self, answer: Any) -> dict[Place, Expr]:
        """The interpretations in a conjunction of `forall arguments. relation(arguments) == formula`."""
        z3 = self._formulas.library
        by_name = {relation.name(): (place, arguments) for place, (relation, arguments) in self._relations.items()}
        found: dict[Place, Expr] = {}
        for part in answer.children() if z3.is_and(answer) else [answer]:
            said = part.body() if z3.is_quantifier(part) else part
            if not z3.is_eq(said):
                continue
            head, formula = said.children()
            place = by_name.get(head.decl().name())
            if place is not None:
                bound = dict(zip((z3.get_var_index(each) for each in head.children()), place[1], strict=True))
                with suppress(NotExpressible):  # then it is not said, and whoever needs it will notice
                    found[place[0]] = as_expr(z3, formula, bound)
        return found


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
