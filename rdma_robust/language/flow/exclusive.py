"""Guards that exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from rdma_robust.digraph import by_key
from rdma_robust.expr import (
    OPERATORS,
    TRUE,
    VALUE,
    Binary,
    Const,
    Expr,
    Name,
    Unary,
    conj,
    disj,
    is_value,
    names,
    negate,
    subexpressions,
    substitute,
)
from rdma_robust.language.flow.cfg import Read, Step

MOST_CASES: Final = 20_000
"""Combinations of values that are tried before nothing is claimed."""

_OTHER_VALUE: Final = Name("$other value")
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def exclusive(first: Expr, second: Expr, *, same_read: bool) -> bool:
    """Return whether no values of the registers make both guards true; False also if that is not found out.

    With `same_read`, VALUE is the same in both, else a value of its own in each. Sound because each term that is compared
    or taken for a truth value ranges over all integers by itself; complete for comparisons with constants, of which only
    the constants and their neighbours matter.
    """
    if not same_read:
        second = substitute(second, {VALUE.name: _OTHER_VALUE})
    if _denied(first, second) or _denied(second, first):
        return True
    terms: dict[Expr, set[int]] = {}
    for guard in (first, second):
        for term, constant in _compared(guard):
            terms.setdefault(term, set()).add(constant)
    ranges = [sorted({v + d for v in values for d in (-1, 0, 1)}) for values in terms.values()]
    cases = 1
    for each in ranges:
        cases *= len(each)
        if cases > MOST_CASES:
            return False
    for values in product(*ranges):
        env = dict(zip(terms, values, strict=True))
        if _holds(first, env) and _holds(second, env):
            return False
    return True


def exclusive_guards(out: Sequence[tuple[int, Step]], excused: Callable[[Step, Step], bool]) -> frozenset[int]:
    """Return the numbers of the steps that leave no other: where one of them can be taken, no other one of `out` can, but
    for one that goes wrong and ends the execution, and one that is `excused` beside it.

    Steps that differ in the index of an array are not compared: there are many of them.
    """
    index = next((term for _, step in out for term, _ in equality_cases(step.guard)), None)
    at = [next((value for term, value in equality_cases(step.guard) if term == index), None) for _, step in out]
    sorted_out = by_key((value, number) for number, value in enumerate(at))
    found = set()
    for number, (_, step) in enumerate(out):
        near = (at[number], None) if at[number] is not None else tuple(sorted_out)
        others = [out[k][1] for key in near for k in sorted_out.get(key, ()) if k != number]
        going_on = (s for s in others if s.fault is None or s.fault.kind == "assertion")
        if all(excused(step, s) or exclusive(step.guard, s.guard, same_read=_same_read(step, s)) for s in going_on):
            found.add(number)
    return frozenset(found)


def _same_read(step: Step, other: Step) -> bool:
    return isinstance(step.op, Read) and step.op == other.op


def projected(guard: Expr, *, holds: bool = True) -> Expr:
    """Return a condition on registers alone that is true wherever `guard` (without `holds`: its negation) is for some VALUE.

    Of comparisons that cannot be said without VALUE, and of divisions, nothing is asked.
    """
    match guard:
        case Unary("!", arg):
            return projected(arg, holds=not holds)
        case Binary("&&" | "||" as op, left, right):
            join = conj if (op == "&&") is holds else disj
            return join(projected(left, holds=holds), projected(right, holds=holds))
        case _ if any(map(is_value, names(guard))) or _divides(guard):
            return TRUE
        case _:
            return guard if holds else negate(guard)


def _divides(expr: Expr) -> bool:
    return any(isinstance(each, Binary) and each.op in ("/", "%") for each in subexpressions(expr))


def equality_cases(guard: Expr) -> Iterator[tuple[Expr, int]]:
    """Yield (term, constant) for every `term == constant` over registers that `guard` asks for."""
    for part in guard_conjuncts(guard):
        match part:
            case Binary("==", term, Const(value)) if VALUE.name not in names(term):
                yield term, value
            case _:
                pass


def guard_conjuncts(guard: Expr) -> Iterator[Expr]:
    """Yield `guard` and all that it is a conjunction of."""
    yield guard
    if isinstance(guard, Binary) and guard.op == "&&":
        yield from guard_conjuncts(guard.left)
        yield from guard_conjuncts(guard.right)


def _denied(first: Expr, second: Expr) -> bool:
    """Whether one of the conjuncts of `first` is the negation of one of `second`."""
    asked = set(guard_conjuncts(second))
    return any(isinstance(part, Unary) and part.op == "!" and part.arg in asked for part in guard_conjuncts(first))


def _comparison(expr: Binary) -> tuple[Expr, str, int]:
    """Return a comparison as one of a term with a constant; of two terms, their difference is compared with 0."""
    left, op, right = expr.left, expr.op, expr.right
    if isinstance(right, Const):
        return left, op, right.value
    if isinstance(left, Const):
        return right, _MIRRORED[op], left.value
    if repr(left) > repr(right):
        left, op, right = right, _MIRRORED[op], left
    return Binary("-", left, right), op, 0


def _compared(guard: Expr) -> Iterator[tuple[Expr, int]]:
    """Yield every term whose value decides about `guard`, with what it is compared with."""
    match guard:
        case Const():
            pass
        case Unary("!", arg):
            yield from _compared(arg)
        case Binary("&&" | "||", left, right):
            yield from _compared(left)
            yield from _compared(right)
        case Binary(op) if op in _MIRRORED:
            term, _, constant = _comparison(guard)
            yield term, constant
        case _:
            yield guard, 0


def _holds(guard: Expr, env: Mapping[Expr, int]) -> bool:
    match guard:
        case Const(value):
            return value != 0
        case Unary("!", arg):
            return not _holds(arg, env)
        case Binary("&&", left, right):
            return _holds(left, env) and _holds(right, env)
        case Binary("||", left, right):
            return _holds(left, env) or _holds(right, env)
        case Binary(op) if op in _MIRRORED:
            term, op, constant = _comparison(guard)
            return bool(OPERATORS[op](env[term], constant))
        case _:
            return env[guard] != 0
