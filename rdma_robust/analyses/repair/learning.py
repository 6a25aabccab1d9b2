"""What a counterexample says of all sets: the rows that it adds to the integer program.

A candidate that leaves a counterexample lies within a set T that leaves it too, made as large as it can be. Every solution
then has something outside of T, or lacks a get that the candidate has (`extension`). Where polls of one queue pair decide, a
row about their number is stronger than one about the places where they stand: with fewer polls before a point, less the gets
in front, than it takes to come to the operation that decides, no distribution of them is a solution.
"""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.analyses.repair.extension import Extension, Limit
from rdma_robust.analyses.repair.hitting import HittingSets
from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice


class Lesson:
    """What one counterexample says of one candidate. `go_on` may say that there is no time for more."""

    def __init__(self, bones: Extension, sets: HittingSets, chosen: Choices, go_on: Callable[[], bool]) -> None:
        self._bones, self._sets, self._go_on = bones, sets, go_on
        self._chosen = chosen
        self._away = frozenset(c for c in sets.universe if c.place not in bones.places)

    def learn(self) -> bool:
        """Add a row that excludes the candidate, and return whether there is one: if the candidate leaves the violation."""
        most = self._chosen | self._away
        least: Choices = frozenset()
        if not self._bones.survives(most, least):
            least = frozenset(c for c in self._chosen - self._away if c.kind is Barrier.GET)
            if not least or not self._bones.survives(most, least):
                return False
            for get in sorted(least, key=lambda c: (c.copy, c.order), reverse=True):
                if self._bones.survives(most, least - {get}):
                    least -= {get}
        if any(self._counted(thread, node, slots) for thread, node, slots in self._bones.queue_pairs):
            return True
        kept = self._grown(most, least, None)
        self._sets.hit((c for c in self._sets.universe if c not in kept), least)
        return True

    def _counted(self, thread: int, node: str, slots: int) -> bool:
        """Add a row about the number of polls of a queue pair, if there is one that excludes the candidate."""
        operations = self._bones.operations(thread, node)

        def leaves(most: int, until: int) -> bool:
            return self._bones.survives(self._chosen | self._away, frozenset(), Limit(thread, node, most, until))

        if not operations or leaves(operations, slots) or not leaves(0, slots):
            return False
        most = _last(0, operations, lambda number: leaves(number, slots))
        until = slots - _last(0, slots, lambda fewer: leaves(most, slots - fewer))
        limit = Limit(thread, node, most, until)
        weights, needed = self._bones.row(limit)
        here = {c: weights.get((c.place, c.kind), 0) for c in self._sets.universe if c.node == node}
        if sum(here.get(c, 0) for c in self._chosen) >= needed:
            return False
        polls = frozenset(c for c in here if c.kind is Barrier.POLL and (c.place, c.kind) in weights)
        kept = self._grown(self._chosen | self._away | polls, frozenset(), limit)
        self._sets.reach(here, needed, [c for c in self._sets.universe if c not in kept])
        return True

    def _grown(self, kept: Choices, least: Choices, limit: Limit | None) -> Choices:
        """Return a superset of `kept` that the trace survives and to which nothing can be added, by repeated halving.

        What is cheap is kept if there is a choice: then the row asks for what is dear. Late in the time it may be less.
        Where one more of equal statements is one too many, so are all others of them.
        """
        full: set[tuple[int, Barrier, str]] = set()

        def add(group: list[InsertionChoice], kept: Choices) -> Choices:
            if not self._go_on():
                return kept
            group = [c for c in group if (c.place, c.kind, c.node) not in full]
            if not group or self._bones.survives(kept | frozenset(group), least, limit):
                return kept | frozenset(group)
            if len(group) == 1:
                full.add((group[0].place, group[0].kind, group[0].node))
                return kept
            half = len(group) // 2
            return add(group[half:], add(group[:half], kept))

        return add([c for c in self._sets.cheapest_first if c not in kept], kept)


def _last(known: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the greatest number before `end` for which something holds that holds for `known` and for less than what it
    holds for."""
    while end - known > 1:
        middle = (known + end) // 2
        known, end = (middle, end) if holds(middle) else (known, middle)
    return known
