"""The plan of a search of the kernel, in plain data: a search is made as often as there are threads, here or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from rdma_robust.counters.kernel._arrange import Arrange
from rdma_robust.counters.kernel._kernel import Search
from rdma_robust.counters.kernel._partition import Partition
from rdma_robust.counters.kernel._proofs import LookAhead

_ALL: Final = (1 << 64) - 1
_UNEVEN: Final = 1.2
"""How many times the mean a part may have: it is what its process needs memory for."""
_SENDING: Final = 2.0
"""What it costs to send the successors of a state to other parts, by the cost of finding them, as measured."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The plan of a search, as :class:`_kernel.Search` takes it: plain data, which goes to another machine.

    `masks` are the bits of each word by which a state belongs to a part.
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
        """Return the plan with the words by which parts have most done soonest, as far as the states of a search tell.

        Where few of the words change in a step, most successors stay with their parents; where words have few values, one
        part has more to do than others. The words of some pair of the tree are taken, or all.
        """
        best, masks = inf, [_ALL] * self.words
        for node in range(self.words + len(self.pairs)):
            words = self._words_of(node)
            tried = [_ALL if word in words else 0 for word in range(self.words)]
            apart, largest = search.spread(Partition(tried, parts, 0))
            uneven = largest * parts / search.states
            cost = uneven * (1 + _SENDING * apart / search.states)
            if cost < best and (uneven <= _UNEVEN or len(words) == self.words):
                best, masks = cost, tried
        return replace(self, masks=masks)

    def _words_of(self, node: int) -> set[int]:
        """The words in a subtree of the tree of pairs."""
        if node < self.words:
            return {node}
        one, other = self.pairs[node - self.words]
        return self._words_of(one) | self._words_of(other)
