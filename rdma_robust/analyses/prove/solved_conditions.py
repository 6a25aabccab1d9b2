"""Integers for which conditions hold: difference constraints by shortest paths, all others by z3 if it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final

from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.zones.linear_form import LinearForm
from rdma_robust.analyses.prove.zones.linear_ways import MOST_WAYS, Facts, Ways
from rdma_robust.expr import Expr, evaluate
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
    ways = Ways(lambda: next(fresh))
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
