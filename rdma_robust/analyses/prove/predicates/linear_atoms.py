"""Atoms of conditions in one form each, so that a predicate is known by what it says and not by how it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import NamedTuple

from rdma_robust.expr import COMPARISONS, FALSE, TRUE, Binary, Const, Expr, Ite, Unary, names, substitute


class Literal(NamedTuple):
    """A predicate, or if not `positive` its negation."""

    predicate: Expr
    positive: bool


def atoms(condition: Expr) -> Iterator[Expr]:
    """Yield the comparisons that a condition is made of by `&&`, `||`, `!` and choices, left to right."""
    match condition:
        case Const():
            return
        case Unary("!", arg):
            yield from atoms(arg)
        case Binary("&&" | "||", left, right):
            yield from atoms(left)
            yield from atoms(right)
        case Ite(test, then, other):
            for part in (test, then, other):
                yield from atoms(part)
        case Binary("==" | "!=", left, right) if _is_condition(left) or _is_condition(right):
            for part in (left, right):
                if _is_condition(part):
                    yield from atoms(part)
            if not (_is_condition(left) and _is_condition(right)):
                yield condition
        case Binary(op, _, _) if op in COMPARISONS:
            yield condition
        case _:
            yield Binary("!=", condition, Const(0))


def _is_condition(expr: Expr) -> bool:
    match expr:
        case Unary("!", _) | Binary("&&" | "||", _, _):
            return True
        case Binary(op, _, _):
            return op in COMPARISONS
        case _:
            return False


def literal(atom: Expr) -> Literal:
    """Return the one form of a comparison over integers: a sum of terms, the first with a positive factor, `<=` or `==` a
    constant, or its negation. Terms are names and what is not linear. A comparison that is always true or false is TRUE."""
    match substitute(atom, {}):
        case Binary("!=", left, right):
            return _negated(_sum_literal("==", left, right))
        case Binary("<", left, right):
            return _sum_literal("<=", Binary("+", left, Const(1)), right)
        case Binary(">", left, right):
            return _sum_literal("<=", Binary("+", right, Const(1)), left)
        case Binary(">=", left, right):
            return _sum_literal("<=", right, left)
        case Binary("<=" | "==" as op, left, right):
            return _sum_literal(op, left, right)
        case Const(value):
            return Literal(TRUE, bool(value))
        case other:
            return Literal(other, True)


def _negated(said: Literal) -> Literal:
    return Literal(said.predicate, not said.positive)


def _sum_literal(op: str, left: Expr, right: Expr) -> Literal:
    """`left op right` with all terms on one side: sum <= bound, or sum == bound."""
    factors, constant = linear_sum(Binary("-", left, right))
    bound = -constant
    if not factors:
        return Literal(TRUE, bound >= 0 if op == "<=" else bound == 0)
    divisor = gcd(*factors.values())
    if op == "==" and bound % divisor:
        return Literal(TRUE, False)
    factors = {term: factor // divisor for term, factor in factors.items()}
    bound //= divisor
    first = min(factors, key=repr)
    if factors[first] > 0:
        return Literal(_written(op, factors, bound), True)
    flipped = {term: -factor for term, factor in factors.items()}
    if op == "==":
        return Literal(_written(op, flipped, -bound), True)
    return Literal(_written(op, flipped, -bound - 1), False)


def linear_sum(expr: Expr) -> tuple[dict[Expr, int], int]:
    """Return `expr` as factors of terms, none of them 0, and a constant; a term is a name or an expression not linear."""
    factors: dict[Expr, int] = {}
    constant = _gather(expr, 1, factors)
    return {term: factor for term, factor in factors.items() if factor}, constant


def _gather(expr: Expr, factor: int, factors: dict[Expr, int]) -> int:
    """Add `factor` times `expr` to `factors`; return the constant part."""
    match expr:
        case Const(value):
            return factor * value
        case Unary("-", arg):
            return _gather(arg, -factor, factors)
        case Binary("+", left, right):
            return _gather(left, factor, factors) + _gather(right, factor, factors)
        case Binary("-", left, right):
            return _gather(left, factor, factors) + _gather(right, -factor, factors)
        case Binary("*", Const(value), right):
            return _gather(right, factor * value, factors)
        case Binary("*", left, Const(value)):
            return _gather(left, factor * value, factors)
        case _:
            factors[expr] = factors.get(expr, 0) + factor
            return 0


def _written(op: str, factors: Mapping[Expr, int], bound: int) -> Expr:
    """`x + 2 * y <= z + 3`: what is added on the left, what is taken away on the right with the bound."""
    order = sorted(factors, key=repr)
    left = [(term, factors[term]) for term in order if factors[term] > 0]
    right = [(term, -factors[term]) for term in order if factors[term] < 0]
    return Binary(op, _total(left, 0), _total(right, bound))


def _total(parts: list[tuple[Expr, int]], constant: int) -> Expr:
    total: Expr | None = None
    for term, factor in parts:
        part = term if factor == 1 else Binary("*", Const(factor), term)
        total = part if total is None else Binary("+", total, part)
    if total is None:
        return Const(constant)
    if not constant:
        return total
    return Binary("+" if constant > 0 else "-", total, Const(abs(constant)))


def sum_bound(predicate: Expr) -> tuple[Expr, str, int] | None:
    """Return a predicate in its one form as a sum without constant, `<=` or `==`, and a bound, if it is one of these."""
    if not isinstance(predicate, Binary) or predicate.op not in ("<=", "=="):
        return None
    factors, constant = linear_sum(Binary("-", predicate.left, predicate.right))
    return (_written("<=", factors, 0), predicate.op, -constant) if factors else None


def in_both_directions(predicate: Expr) -> Iterator[Expr]:
    """Yield a predicate `sum <= bound`, and the same with `>=`, in their one form; any other predicate as it is."""
    yield predicate
    if isinstance(predicate, Binary) and predicate.op == "<=":
        yield literal(Binary(">=", predicate.left, predicate.right)).predicate


def predicates_of(condition: Expr) -> tuple[Expr, ...]:
    """Return the predicates that a condition is made of, each once and in its one form, without those that are constant."""
    found = dict.fromkeys(literal(atom).predicate for atom in atoms(condition))
    return tuple(each for each in found if each not in (TRUE, FALSE) and any(True for _ in names(each)))


def renamed_literal(predicate: Expr, by: Mapping[str, Expr]) -> Literal:
    """Return what a predicate says with names replaced; a predicate that is no comparison stays as it is written."""
    replaced = substitute(predicate, by)
    match replaced:
        case Const(value):
            return Literal(TRUE, bool(value))
        case Binary(op, _, _) if op in COMPARISONS:
            return literal(replaced)
        case _:
            return Literal(replaced, True)
