"""What a search of the kernel is made of, in plain data: it is made as often as there are threads, here or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rdma_robust.counters.kernel._arrange import Arrange
from rdma_robust.counters.kernel._kernel import Search
from rdma_robust.counters.kernel._proofs import LookAhead
from rdma_robust.limits import MOST_NUMBERS


@dataclass(frozen=True, slots=True)
class Plan:
    """What a search is made of, as :class:`_kernel.Search` takes it: plain data, which goes to another machine."""

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

    def search(self, counters: int = 0, *, accelerate: bool = False, most: int = MOST_NUMBERS) -> Search:
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
