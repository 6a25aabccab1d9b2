"""Circles of two matches, known before any solution: each of two processes gets what the other one sends afterwards."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, permutations
from typing import Final

import numpy as np

from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs
from rdma_robust.messages.encoding.match_candidates import Candidates
from rdma_robust.messages.encoding.order_graph import Circle, Overtaking, Taken
from rdma_robust.messages.encoding.unrolled import SendEvent

_MOST: Final = 20_000
"""Circles that are returned; others are found when they are needed."""


def circles_of_two(candidates: Candidates, overtaking: Overtaking) -> Iterator[Circle]:
    """Yield circles: p waits for a receive that takes S of q before it sends S', and q for one that takes S' before S.

    Of sends of one channel with no wait between them only the first counts: the others are taken later.
    """
    found = (
        Circle((ours, theirs), ())
        for here, there in permutations(candidates.endpoints, 2)
        if here.process < there.process
        for ours, theirs in _mutual(here, there, overtaking)
    )
    return islice(found, _MOST)


def _mutual(here: EndpointPairs, there: EndpointPairs, overtaking: Overtaking) -> Iterator[tuple[Taken, Taken]]:
    arriving, leaving = list(_firsts(here, there, overtaking)), list(_firsts(there, here, overtaking))
    rows = [np.flatnonzero(here.possible[:, column]).tolist() for column, _ in arriving]
    others = [np.flatnonzero(there.possible[:, column]).tolist() for column, _ in leaving]
    for (column, waited_there), first in zip(arriving, rows, strict=True):
        for (other, waited_here), second in zip(leaving, others, strict=True):
            ours, theirs = _taken(here, column, first, waited_here), _taken(there, other, second, waited_there)
            if ours is not None and theirs is not None:
                yield ours, theirs


def _firsts(to: EndpointPairs, of: EndpointPairs, overtaking: Overtaking) -> Iterator[tuple[int, int]]:
    """Yield the columns of `to` that the process of `of` sends, and how many of its receives it has waited for by then;
    of equally many the first one."""
    last = 0
    for column, send in enumerate(to.sends):
        if send.process == of.process and send.to.constant:
            waited = _waited(of, send, overtaking)
            if waited > last:
                yield column, waited
            last = waited


def _waited(pairs: EndpointPairs, send: SendEvent, overtaking: Overtaking) -> int:
    """Return how many receives, from the first on, the process has surely waited for where it issues a send."""
    waits = overtaking.waits[pairs.process]
    for count, receive in enumerate(pairs.receives):
        wait = waits.get(receive.number)
        if wait is None or wait.position > send.position or not overtaking.guards.implies(send.guard, wait.guard):
            return count
    return len(pairs.receives)


def _taken(pairs: EndpointPairs, column: int, rows: Sequence[int], before: int) -> Taken | None:
    """Return that a send is taken by one of the first receives, of the rows that may take it; None if it cannot be."""
    count = bisect_left(rows, before)
    if not count:
        return None
    return Taken(pairs.sends[column].number, pairs.receives[rows[0]].number, pairs.receives[rows[count - 1]].number)
