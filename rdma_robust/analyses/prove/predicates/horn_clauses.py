"""Constrained Horn clauses over the wide variables, one relation a control state or a cut of a path, asked of z3's spacer.

A clause says: if the relation before has the values, and the updates can be made, the relation after has the values after
them. Where updates take one value of a folded variable, the relation before must have that value in its place as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

from rdma_robust.analyses.prove.predicates.solving import Formulas, NotExpressible, as_expr
from rdma_robust.analyses.prove.predicates.update_ways import UpdateCase, ways_of
from rdma_robust.analyses.prove.transition_system import Update
from rdma_robust.expr import Expr, Name, names

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
