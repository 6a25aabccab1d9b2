"""Conditions over integers: in which cases they hold, as differences `x - y <= c` where they are such, and their closure.

The closure of differences is exact: a list of them has no solution in integers exactly if some cycle of them has a negative
sum, and implies `x - y <= c` exactly if the shortest path from x to y is at most c.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Name, Unary

ZERO: Final = ""
"""Stands for 0 where a difference has one variable only."""

MOST_CASES: Final = 256


class DifferenceBound(NamedTuple):
    """left - right <= most; ZERO for no variable."""

    left: str
    right: str
    most: int


Literal = DifferenceBound | Expr
"""A difference, or a condition that is none."""

Case = tuple[Literal, ...]
"""Holds if all its literals do."""

Term = tuple[Mapping[str, int], int]
"""A linear expression: coefficients, none of them 0, and a constant."""

_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}


def linear(expr: Expr) -> Term | None:
    """Return an expression as a linear one, None if it is not written as one."""
    match expr:
        case Const(value):
            return {}, value
        case Name(name):
            return {name: 1}, 0
        case Unary("-", arg):
            return _scaled(linear(arg), -1)
        case Binary("+", left, right):
            return _sum(linear(left), linear(right))
        case Binary("-", left, right):
            return _sum(linear(left), _scaled(linear(right), -1))
        case Binary("*", Const(value), arg) | Binary("*", arg, Const(value)):
            return _scaled(linear(arg), value)
        case _:
            return None


def _scaled(term: Term | None, by: int) -> Term | None:
    return None if term is None else ({n: k * by for n, k in term[0].items() if by}, term[1] * by)


def _sum(left: Term | None, right: Term | None) -> Term | None:
    if left is None or right is None:
        return None
    found = dict(left[0])
    for name, k in right[0].items():
        found[name] = found.get(name, 0) + k
    return {name: k for name, k in found.items() if k}, left[1] + right[1]


def difference_cases(expr: Expr, *, holds: bool = True) -> list[Case] | None:
    """Return cases of which one is true exactly where a condition holds (or does not); None if there are too many."""
    match expr:
        case Const(value):
            return [()] if bool(value) == holds else []
        case Unary("!", arg):
            return difference_cases(arg, holds=not holds)
        case Binary("&&" | "||" as op, left, right):
            first, second = difference_cases(left, holds=holds), difference_cases(right, holds=holds)
            if first is None or second is None:
                return None
            return both(first, second) if (op == "&&") == holds else first + second
        case Binary(op, left, right) if op in _NEGATED:
            return _compared(op if holds else _NEGATED[op], left, right)
        case _:
            return _compared("!=" if holds else "==", expr, Const(0))


def every_case(conditions: Iterable[Expr]) -> list[Case] | None:
    """Return the cases in which all conditions hold, None if there are too many."""
    found: list[Case] | None = [()]
    for condition in conditions:
        these = difference_cases(condition)
        found = None if found is None or these is None else both(found, these)
    return found


def both(first: list[Case], second: list[Case]) -> list[Case] | None:
    """Return the cases in which one of each list holds, None if there are too many."""
    if len(first) * len(second) > MOST_CASES:
        return None
    return [(*a, *b) for a in first for b in second]


def _compared(op: str, left: Expr, right: Expr) -> list[Case]:
    term = linear(Binary("-", left, right))
    if term is None:
        return [(Binary(op, left, right),)]
    match op:
        case "<=" | "<":
            found = [[_at_most(term, 0 if op == "<=" else -1)]]
        case ">=" | ">":
            found = [[_at_most(_scaled(term, -1), 0 if op == ">=" else -1)]]
        case "==":
            found = [[_at_most(term, 0), _at_most(_scaled(term, -1), 0)]]
        case _:
            found = [[_at_most(term, -1)], [_at_most(_scaled(term, -1), -1)]]
    if any(literal is None for case in found for literal in case):
        return [(Binary(op, left, right),)]
    made = [tuple(literal for literal in case if literal is not None and literal != TRUE) for case in found]
    return [case for case in made if FALSE not in case]


def _at_most(term: Term | None, most: int) -> Literal | None:
    """Return that a linear expression is at most `most`: TRUE or FALSE if it is constant, None if it is no difference."""
    assert term is not None
    coefficients, constant = term
    most -= constant
    match sorted(coefficients.items(), key=lambda item: item[1]):
        case []:
            return TRUE if most >= 0 else FALSE
        case [(name, k)]:
            return DifferenceBound(name, ZERO, most // k) if k > 0 else DifferenceBound(ZERO, name, most // -k)
        case [(right, less), (left, more)] if more == -less:
            return DifferenceBound(left, right, most // more)
        case _:
            return None


class DifferenceClosure:
    """Differences that imply one another, with the smallest bound of each; `possible` iff they have a solution."""

    def __init__(self) -> None:
        self.least: dict[str, dict[str, int]] = {}
        self.possible = True

    def copy(self) -> DifferenceClosure:
        found = DifferenceClosure()
        found.least = {left: dict(row) for left, row in self.least.items()}
        found.possible = self.possible
        return found

    def bound(self, left: str, right: str) -> int | None:
        """Return the smallest c for which `left - right <= c` follows, None if there is none."""
        if left == right:
            return 0
        row = self.least.get(left)
        return None if row is None else row.get(right)

    def implies(self, left: str, right: str, most: int) -> bool:
        if left == right:
            return most >= 0
        row = self.least.get(left)
        if row is None:
            return False
        least = row.get(right)
        return least is not None and least <= most

    def add(self, left: str, right: str, most: int) -> None:
        """Let `left - right <= most` hold as well."""
        if not self.possible or self.implies(left, right, most):
            return
        back = self.bound(right, left)
        if left == right or (back is not None and back + most < 0):
            self.possible = False
            return
        into = [(left, 0), *((other, row[left]) for other, row in self.least.items() if left in row)]
        out = [(right, 0), *self.least.get(right, {}).items()]
        for start, before in into:
            row = self.least.setdefault(start, {})
            for end, after in out:
                if start != end:
                    total = before + most + after
                    known = row.get(end)
                    if known is None or total < known:
                        row[end] = total

    def add_all(self, differences: Iterable[DifferenceBound]) -> None:
        for each in differences:
            self.add(*each)
