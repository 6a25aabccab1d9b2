"""Sums over ranges whose ends are not known, as a function of what they add, and what is true of such sums.

A sum is `SUM(a)`, where `a` gives for every integer what is added, and that is 0 for all but finitely many. What z3 is told
of two sums is true of any such functions a and b; each w is a new constant, of which the lemma says that there is one. The
proofs are in docs/theory-contracts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any, Final

from rdma_robust.contracts.any_procs.any_values import Bool, Int, in_range
from rdma_robust.guarded_z3 import z3

_FUNCTION: Final = z3.ArraySort(z3.IntSort(), z3.IntSort())
SUM: Final = z3.Function("sum", _FUNCTION, z3.IntSort())


def summed(low: Int, high: Int, added: Callable[[Int], Int]) -> Int:
    """Return the sum of what is added for each number from `low` to `high`."""
    at = z3.FreshInt("t")
    return SUM(z3.Lambda([at], z3.If(in_range(at, low, high), added(at), z3.IntVal(0))))


def lemmas(formulas: Iterable[Bool], points: Iterable[Int], swaps: Iterable[Callable[[Int], Int]]) -> list[Bool]:
    """Return what is true of the sums in formulas: pairwise, with the `points` at which two may differ, and with `swaps`."""
    sums = list(_sums(formulas))
    chosen_points, chosen_swaps = list(points), list(swaps)
    found = [_empty(each.arg(0)) for each in sums]
    for one, two in combinations([each.arg(0) for each in sums], 2):
        found.append(_same(one, two))
        found += [_but_one(one, two, each) for each in chosen_points]
        found += [_swapped(one, two, each) for each in chosen_swaps]
    return found


def _empty(a: Any) -> Bool:
    """If a is 0 everywhere the sum is 0."""
    w = z3.FreshInt("w")
    return z3.Implies(a[w] == 0, SUM(a) == 0)


def _same(a: Any, b: Any) -> Bool:
    """If a and b are the same everywhere the sums are."""
    w = z3.FreshInt("w")
    return z3.Implies(a[w] == b[w], SUM(a) == SUM(b))


def _but_one(a: Any, b: Any, point: Int) -> Bool:
    """If a and b are the same everywhere but at a point, the sums differ as they do there."""
    w = z3.FreshInt("w")
    return z3.Implies(z3.Or(w == point, a[w] == b[w]), SUM(a) - SUM(b) == a[point] - b[point])


def _swapped(a: Any, b: Any, swap: Callable[[Int], Int]) -> Bool:
    """If wherever a and b differ they do so in pairs that have changed places, the sums are the same."""
    w = z3.FreshInt("w")
    other = swap(w)
    pair = z3.And(a[other] == b[w], b[other] == a[w], swap(other) == w)
    return z3.Implies(z3.Or(a[w] == b[w], pair), SUM(a) == SUM(b))


def _sums(formulas: Iterable[Bool]) -> Iterator[Any]:
    """Yield every sum in formulas that says nothing of what a quantifier binds."""
    seen: set[int] = set()
    todo = list(formulas)
    while todo:
        each = todo.pop()
        if each.get_id() in seen:
            continue
        seen.add(each.get_id())
        if z3.is_quantifier(each):
            todo.append(each.body())
            continue
        if z3.is_app(each) and each.decl().eq(SUM) and not _is_open(each, 0):
            yield each
        todo += each.children()


def _is_open(term: Any, bound: int) -> bool:
    if z3.is_var(term):
        return bool(z3.get_var_index(term) >= bound)
    if z3.is_quantifier(term):
        return _is_open(term.body(), bound + term.num_vars())
    return any(_is_open(each, bound) for each in term.children())
