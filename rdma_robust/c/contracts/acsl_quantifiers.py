"""Quantifiers of ACSL, whose variables are guarded by comparisons, as those over ranges that contracts have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, cast

from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as contracts

_JOINS: Final = {"forall": "==>", "exists": "&&"}
_WORDS: Final[dict[str, Literal["sum", "count", "max", "min"]]] = {
    "\\sum": "sum",
    "\\numof": "count",
    "\\max": "max",
    "\\min": "min",
}
_MIRRORED: Final = {">": "<", ">=": "<="}


def over_range(word: str, counter: ast.Ident, ends: Sequence[object], inner: object, span: Span) -> contracts.OverRange:
    """Return `word(low, high, \\lambda integer counter; inner)`, without a range if there are not two ends."""
    low, high = ends if len(ends) == 2 else (None, None)
    return contracts.OverRange(_WORDS[word], counter, low, high, inner, span)


def ranged(found: contracts.OverRange) -> contracts.OverRange:
    """Return a quantifier with the range that its guard is, as it is where none is seen.

    The guard has the variable between two numbers, `low <= i < high`, or in two comparisons, in this order or the other.
    """
    joins = _JOINS.get(found.word)
    guard = found.inner
    if joins is None or not isinstance(guard, ast.Binary) or guard.op != joins:
        return found
    first, rest = guard.left, cast(object, guard.right)
    conjuncts = _conjuncts(first)
    if joins == "&&":
        conjuncts, rest = _conjuncts(guard), None
    bounds = [_bounds(each, found.name.text) for each in conjuncts]
    low = next((each[0] for each in bounds if each[0] is not None), None)
    high = next((each[1] for each in bounds if each[1] is not None), None)
    if low is None or high is None:
        return found
    used = [each for each in bounds if each[0] is low or each[1] is high]
    left = [part for part, each in zip(conjuncts, bounds, strict=True) if not any(each is one for one in used)]
    return contracts.OverRange(found.word, found.name, low, high, _guarded(left, rest, joins, guard.span), found.span)


def _guarded(left: list[object], rest: object, joins: str, span: Span) -> object:
    """Return what is said of each number of the range."""
    condition: object = None
    for each in left:
        condition = each if condition is None else ast.Binary("&&", condition, each, span)  # type: ignore[arg-type]
    if rest is None:
        return ast.NumberLiteral(1, span) if condition is None else condition
    return rest if condition is None else ast.Binary(joins, condition, rest, span)  # type: ignore[arg-type]


def _conjuncts(node: object) -> list[object]:
    if isinstance(node, ast.Binary) and node.op == "&&":
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


def _bounds(node: object, name: str) -> tuple[object, object]:
    """Return the least and the greatest number that a comparison leaves a variable, None for what it does not say."""
    match node:
        case contracts.ComparisonChain((low, middle, high), operators, span) if _is(middle, name):
            ends = (low, high) if operators[0] in ("<", "<=") else (high, low)
            below, above = operators if operators[0] in ("<", "<=") else (operators[1], operators[0])
            below, above = _MIRRORED.get(below, below), _MIRRORED.get(above, above)
            if below not in ("<", "<=") or above not in ("<", "<="):
                return None, None
            return _shifted(ends[0], below, "+", span), _shifted(ends[1], above, "-", span)
        case ast.Binary("<" | "<=" as op, left, right, span) if _is(right, name) and not _is(left, name):
            return _shifted(left, op, "+", span), None
        case ast.Binary("<" | "<=" as op, left, right, span) if _is(left, name):
            return None, _shifted(right, op, "-", span)
        case ast.Binary(">" | ">=" as op, left, right, span) if _is(left, name):
            return _shifted(right, _MIRRORED[op], "+", span), None
        case ast.Binary(">" | ">=" as op, left, right, span) if _is(right, name):
            return None, _shifted(left, _MIRRORED[op], "-", span)
        case _:
            return None, None


def _is(node: object, name: str) -> bool:
    return isinstance(node, contracts.NameTerm) and node.name.text == name


def _shifted(end: object, op: str, sign: str, span: Span) -> object:
    if op == "<=":
        return end
    if isinstance(end, ast.NumberLiteral) and sign == "-":
        return ast.NumberLiteral(end.value - 1, span) if end.value else ast.Unary("-", ast.NumberLiteral(1, span), span)
    return ast.Binary(sign, end, ast.NumberLiteral(1, span), span)  # type: ignore[arg-type]
