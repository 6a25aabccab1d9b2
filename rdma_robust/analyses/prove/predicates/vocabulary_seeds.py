"""Predicates to begin with, when nobody gives any: atoms of guards and claims, closed under wp of single assignments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from rdma_robust.analyses.prove.predicates.linear_atoms import predicates_of
from rdma_robust.analyses.prove.predicates.update_ways import is_fresh, ways_of
from rdma_robust.analyses.prove.transition_system import Update
from rdma_robust.expr import Expr, names

DEPTH: Final = 2
"""Assignments back from an atom, at first."""

DEEPEST: Final = 6
"""Assignments back at most. Going back is cheap: a predicate that is there exactly needs no search for cubes."""

MOST: Final = 64
"""No more predicates than this by closing; what they do not say, refinement finds."""


def seeds(
    seen: Iterable[tuple[Update, ...]],
    conditions: Iterable[tuple[Update, ...]],
    together: Collection[frozenset[str]],
    depth: int = DEPTH,
) -> tuple[Expr, ...]:
    """Return the predicates of guards of what was `seen` and of `conditions` of claims, and what these are before at most
    `depth` assignments: those with fewer first, in the order in which they were seen. A predicate is of use only where all
    its variables are live, `together`."""
    programs = tuple(way for updates in dict.fromkeys((*conditions, *seen)) for way in ways_of(updates))
    found = dict.fromkeys(_atoms(way.guard for way in programs))
    layer = tuple(found)
    for _ in range(depth):
        before = (
            each
            for way in programs
            for predicate in layer
            if not way.written.isdisjoint(names(predicate))
            for each in way.before(predicate)
        )
        layer = tuple(dict.fromkeys(each for each in _atoms(before) if each not in found and _live(each, together)))
        if len(found) + len(layer) > MOST:
            break
        found |= dict.fromkeys(layer)
    return tuple(found)


def _live(predicate: Expr, together: Collection[frozenset[str]]) -> bool:
    used = frozenset(names(predicate))
    return any(used <= live for live in together)


def _atoms(conditions: Iterable[Expr]) -> Iterator[Expr]:
    for condition in conditions:
        for each in predicates_of(condition):
            if not any(is_fresh(name) for name in names(each)):
                yield each
