"""Integers for which conditions hold: difference constraints by shortest paths, all others by z3 if it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.analyses.prove.zones.linear_form import LinearForm
from rdma_robust.analyses.prove.zones.linear_ways import MOST_WAYS, Facts, Ways
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary, conj, evaluate

if TYPE_CHECKING:
    import z3

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
    try:
        import z3  # noqa: PLC0415 - an extra, and slow to load
    except ImportError:
        return None
    solver = z3.Solver()
    solver.set("timeout", SOLVER_MS)
    known = {name: z3.Int(name) for name in variables}
    solver.add(_boolean(conj(*conditions), known))
    answer = solver.check()
    if answer == z3.unsat:
        return []
    if answer != z3.sat:
        return None
    model = solver.model()
    values = {name: model.eval(variable, model_completion=True).as_long() for name, variable in known.items()}
    return [values] if _true(conditions, values) else None


def _boolean(expr: Expr, known: Mapping[str, Any]) -> z3.BoolRef:
    import z3  # noqa: PLC0415

    match expr:
        case Unary("!", arg):
            return z3.Not(_boolean(arg, known))
        case Binary("&&", left, right):
            return z3.And(_boolean(left, known), _boolean(right, known))
        case Binary("||", left, right):
            return z3.Or(_boolean(left, known), _boolean(right, known))
        case Binary("==" | "!=" | "<" | "<=" | ">" | ">=" as op, left, right):
            return _COMPARED[op](_integer(left, known), _integer(right, known))
        case _:
            return _integer(expr, known) != 0


def _integer(expr: Expr, known: Mapping[str, Any]) -> Any:
    """Return the value as z3's; a quotient by 0 is any integer, which the test of the model sees to."""
    import z3  # noqa: PLC0415

    match expr:
        case Const(value):
            return z3.IntVal(value)
        case Name(name):
            return known[name]
        case Unary("-", arg):
            return -_integer(arg, known)
        case Ite(test, then, other):
            return z3.If(_boolean(test, known), _integer(then, known), _integer(other, known))
        case Binary("+" | "-" | "*" | "/" | "%" as op, left, right):
            return _ARITHMETIC[op](_integer(left, known), _integer(right, known))
        case _:
            return z3.If(_boolean(expr, known), z3.IntVal(1), z3.IntVal(0))


def _truncated(a: Any, b: Any) -> Any:
    """C's quotient; that of z3 leaves a remainder that is not negative."""
    import z3  # noqa: PLC0415

    return z3.If(a >= 0, a / b, -(-a / b))


_COMPARED: Final[Mapping[str, Any]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_ARITHMETIC: Final[Mapping[str, Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _truncated,
    "%": lambda a, b: a - b * _truncated(a, b),
}
