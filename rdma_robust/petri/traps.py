"""Traps: sets of places that, once they have a token, keep one.

A set S is a trap if every transition that takes a token from S leaves one: after it some place of S has a token, one that
it adds or one that it only reads. A trap that is marked initially stays marked, an inequality sum S >= 1 that no linear
combination of the state equation says. Source: Hack 1972; with linear programming, Esparza and Melzer 2000 and
Esparza, Ledesma-Garza, Majumdar, Meyer and Niksic 2014.
"""

from __future__ import annotations

from collections.abc import Iterable

from rdma_robust.petri.slice import Core


class Traps:
    """Finds traps of a core."""

    def __init__(self, core: Core) -> None:
        self._initial = core.initial
        self._takes: list[tuple[int, ...]] = []
        self._leaves: list[tuple[int, ...]] = []
        self._leavers: list[list[int]] = [[] for _ in core.initial]
        self._takers: list[list[int]] = [[] for _ in core.initial]
        for t, (guard, delta) in enumerate(zip(core.guards, core.deltas, strict=True)):
            after = dict(guard)
            for p, change in delta:
                after[p] = after.get(p, 0) + change
            self._takes.append(tuple(p for p, change in delta if change < 0))
            self._leaves.append(tuple(p for p, tokens in after.items() if tokens > 0))
            for p in self._takes[-1]:
                self._takers[p].append(t)
            for p in self._leaves[-1]:
                self._leavers[p].append(t)
        self.size = sum(map(len, self._takes)) + sum(map(len, self._leaves))

    def largest(self, within: Iterable[int]) -> frozenset[int]:
        """Return the largest trap among the places of `within`, which may be empty."""
        inside = set(within)
        left = {t: 0 for p in inside for t in self._takers[p]}
        for p in inside:
            for t in self._leavers[p]:
                if t in left:
                    left[t] += 1
        waiting = [t for t, count in left.items() if not count]
        while waiting:
            t = waiting.pop()
            for p in self._takes[t]:
                if p in inside:
                    inside.remove(p)
                    for other in self._leavers[p]:
                        if other in left:
                            left[other] -= 1
                            if not left[other]:
                                waiting.append(other)
        return frozenset(inside)

    def marked(self, trap: Iterable[int]) -> bool:
        return any(self._initial[p] for p in trap)

    def small(self, trap: frozenset[int]) -> frozenset[int]:
        """Return a trap inside the initially marked `trap` that is initially marked and contains no other such trap."""
        for p in sorted(trap):
            if p in trap:
                smaller = self.largest(trap - {p})
                if self.marked(smaller):
                    trap = smaller
        return trap
