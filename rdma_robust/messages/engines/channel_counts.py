"""Endpoints whose receives take everything: how many sends of each channel the first receives have taken, in unary.

There the receives match in posting order and each channel in its own, so that these counts say all: the k-th receive takes
the j-th send of a channel if j of it are taken with it, and not before. Per receive a solver chooses a channel, not a send.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs
from rdma_robust.messages.encoding.unrolled import Guards
from rdma_robust.messages.engines.solver_clauses import Clauses

_MOST_SUMS: Final = 300_000
"""Clauses that say how many sends of all channels are matched; with more it is not said outright."""


def is_counted(pairs: EndpointPairs, guards: Guards) -> bool:
    """Return whether receives take everything, and each operation happens if a later one of its endpoint or channel does."""
    if not pairs.takes_everything or not all(each.to.constant for each in pairs.sends):
        return False
    of_channels = [[each.guard for each in pairs.sends[channel]] for channel in pairs.channels()]
    ordered = [[each.guard for each in pairs.receives], *of_channels]
    return all(guards.implies(later, earlier) for each in ordered for earlier, later in pairwise(each))


class ChannelCounts:
    """The counts of one endpoint as clauses: U, NS, and what follows from them and NR.

    `taken[column]` are the rows that may take a send, and for each the literal that it is taken there or before; of each row
    `chosen[row]` has the channels, by sender, with the literals that the receive takes the next of that one.
    """

    def __init__(self, pairs: EndpointPairs, clauses: Clauses) -> None:
        self.pairs, self._clauses = pairs, clauses
        self.taken: list[tuple[list[int], list[int]]] = []
        for column in range(len(pairs.sends)):
            rows = np.flatnonzero(pairs.possible[:, column]).tolist()
            first = clauses.new(len(rows))
            self.taken.append((rows, list(range(first, first + len(rows)))))
        for channel in pairs.channels():
            for column in range(channel.start, channel.stop):
                self._in_order(column, None if column == channel.start else column - 1)
        self.chosen = [list(self._choices(row)) for row in range(len(pairs.receives))]
        self.matched_receives = [clauses.one_at_most([literal for _, literal in each]) for each in self.chosen]
        self.matched_sends = [so_far[-1] if so_far else -clauses.true for _, so_far in self.taken]
        self._sums()

    def before(self, column: int, row: int) -> int:
        """Return the literal that says that a send is taken by a receive before this row."""
        rows, so_far = self.taken[column]
        count = bisect_left(rows, row)
        return so_far[count - 1] if count else -self._clauses.true

    def _in_order(self, column: int, earlier: int | None) -> None:
        """A send that is taken stays so, and the one before it in the channel is taken before."""
        rows, so_far = self.taken[column]
        for here, after in pairwise(so_far):
            self._clauses.add([-here, after])
        if earlier is not None:
            for row, literal in zip(rows, so_far, strict=True):
                self._clauses.clause(-literal, self.before(earlier, row))

    def _choices(self, row: int) -> Iterator[tuple[int, int]]:
        """Make the literals of the channels that a receive may take from."""
        clauses = self._clauses
        for channel in self.pairs.channels():
            if not self.pairs.possible[row, channel].any():
                continue
            chosen = clauses.new()
            self._choose(row, channel, chosen)
            yield self.pairs.sends[channel.start].process, chosen

    def _choose(self, row: int, channel: slice, chosen: int) -> None:
        """A receive takes from a channel if and only if one more of it is taken than before: there must be one."""
        clauses, earlier = self._clauses, self._clauses.true
        for column in range(channel.start, channel.stop):
            before, here = self.before(column, row), self.before(column, row + 1)
            clauses.clause(-here, before, chosen)
            clauses.clause(-chosen, -earlier, here)
            earlier = before
        clauses.clause(-chosen, -earlier)

    def _sums(self) -> None:
        """As many receives are matched as sends."""
        sums = [self.matched_sends[channel] for channel in self.pairs.channels()]
        sizes = sorted(map(len, sums))
        work = 0
        while len(sizes) > 1:
            a, b = sizes.pop(0), sizes.pop(0)
            work += 2 * a * b
            sizes = sorted([*sizes, a + b])
        if work > _MOST_SUMS:
            return
        while len(sums) > 1:
            sums.sort(key=len)
            sums.append(self._sum(sums.pop(0), sums.pop(0)))
        never = -self._clauses.true
        total = sums[0] if sums else []
        for at in range(max(len(total), len(self.matched_receives))):
            sends = total[at] if at < len(total) else never
            receives = self.matched_receives[at] if at < len(self.matched_receives) else never
            self._clauses.clause(-sends, receives)
            self._clauses.clause(sends, -receives)

    def _sum(self, a: list[int], b: list[int]) -> list[int]:
        """Return the sum of two numbers; of each the literals say that it is at least 1, 2, and so on."""
        clauses = self._clauses
        first = clauses.new(len(a) + len(b))
        total = [clauses.true, *range(first, first + len(a) + len(b)), -clauses.true]
        for i, (ours, more) in enumerate(pairwise([clauses.true, *a, -clauses.true])):
            for j, (theirs, still) in enumerate(pairwise([clauses.true, *b, -clauses.true])):
                clauses.clause(-ours, -theirs, total[i + j])
                clauses.clause(more, still, -total[i + j + 1])
        return total[1:-1]
