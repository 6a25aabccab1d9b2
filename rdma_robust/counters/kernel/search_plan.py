"""The plan of a search of the kernel, in plain data: a search is made as often as there are threads, here or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any, Final

from rdma_robust.counters.kernel._arrange import Arrange
from rdma_robust.counters.kernel._kernel import Search
from rdma_robust.counters.kernel._partition import Partition
from rdma_robust.counters.kernel._proofs import LookAhead

_ALL: Final = (1 << 64) - 1
_SLOTS: Final = 64
"""Slots of a part."""
_LOOKED_AT: Final = 2000
"""States of a part that are looked at, at most, to tell how even parts are."""
_TRIED: Final = 24
"""Divisions that are tried, at most."""
_UNEVEN: Final = 1.2
"""How many times the mean a part may have: it is what its process needs memory for."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The plan of a search, as :class:`_kernel.Search` takes it: plain data, which goes to another machine.

    `masks` are the bits of each word by which a state is in a slot, `owners` the part that each slot belongs to.
    """

    words: int
    pairs: tuple[tuple[int, int], ...]
    fields: list[tuple[int, int, int, int]]
    numbers: list[list[int]]
    rank_fields: list[int]
    reduce: bool
    by_rank: bool
    longest_chain: int
    ahead: tuple[Any, ...] | None
    alike: tuple[Any, ...] | None
    masks: list[int]
    owners: list[int]

    def search(self, counters: int, *, accelerate: bool, most: int) -> Search:
        """Make the search, without code. Raises MemoryError."""
        made = Search(
            self.words,
            self.pairs,
            self.fields,
            self.numbers,
            counters,
            self.rank_fields,
            reduce=self.reduce,
            by_rank=self.by_rank,
            accelerate=accelerate,
            longest_chain=self.longest_chain,
            most=most,
        )
        if self.ahead is not None:
            made.ahead = LookAhead(self.words, self.fields, *self.ahead)
        if self.alike is not None:
            made.alike = Arrange(self.words, *self.alike)
        return made

    def divided(self, search: Search, parts: int) -> SearchPlan:
        """Return the plan with the fields by which parts have most done soonest, as far as the states of a search tell.

        Where few of the fields change in a step, most successors stay with their parents; where they have few values, one
        part has more to do than others. So those that change least are taken, and so many that half of the slots have some
        of these states: with fewer, parts that are even for these were not for all, by up to three times as measured.
        """
        every = max(1, search.states // (_LOOKED_AT * parts))
        changes = search.changes(every)
        order = sorted((number, field) for field, number in enumerate(changes) if number)
        slots, masks = parts * _SLOTS, [0] * self.words
        for taken, (_, field) in enumerate(order, 1):
            _, mask, word, shift = self.fields[field]
            masks[word] |= mask << shift
            if taken * _TRIED // len(order) > (taken - 1) * _TRIED // len(order):
                sizes = search.spread(Partition(masks, list(range(slots)), slots, 0), every)
                owners, uneven = _dealt(sizes, parts)
                if uneven <= _UNEVEN and 2 * sizes.count(0) <= slots:
                    return replace(self, masks=masks, owners=owners)
        return replace(self, masks=[_ALL] * self.words, owners=[slot % parts for slot in range(slots)])


def _dealt(sizes: list[int], parts: int) -> tuple[list[int], float]:
    """Return to which part each slot belongs, so that parts are even, and how many times the mean the largest has.

    The largest slot goes to the smallest part, and so on (Graham 1969); each slot has one state more than was seen there.
    """
    owners, loads = [0] * len(sizes), [(0, part) for part in range(parts)]
    for size, slot in sorted(((size, slot) for slot, size in enumerate(sizes)), reverse=True):
        load, part = heappop(loads)
        owners[slot] = part
        heappush(loads, (load + size + 1, part))
    return owners, max(load for load, _ in loads) * parts / sum(load for load, _ in loads)
