"""The receives and the sends of one endpoint, and which of them may make pairs, as matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from rdma_robust.digraph import by_key
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import Guards, ReceiveEvent, SendEvent, UnrolledProgram

Truths = npt.NDArray[np.bool_]

_GUARDS: Final = 16
"""With more different guards than that only what always happens counts as happening surely."""


@dataclass(frozen=True, slots=True, eq=False)
class EndpointPairs:
    """The pairs of one endpoint, receives in posting order by sends in the order of their numbers: process by process.

    `possible[k, j]` says that the pair is a candidate, `sure[k, j]` that accepts(R, S) holds whenever both happen. Sends
    whose destination is known only in the run are in the endpoints of all processes. `rule` and `step` say why and when a
    pair was dropped, 0 for candidates.
    """

    process: int
    port: int
    receives: tuple[ReceiveEvent, ...]
    sends: tuple[SendEvent, ...]
    possible: Truths
    sure: Truths
    rule: npt.NDArray[np.uint8]
    step: npt.NDArray[np.uint16]

    @property
    def takes_everything(self) -> bool:
        """Return whether every receive takes every message."""
        return all(each.source is None and each.tag is None for each in self.receives)

    def channels(self) -> Iterator[slice]:
        """Yield which columns have the sends of one process."""
        first = 0
        for at in range(1, len(self.sends) + 1):
            if at == len(self.sends) or self.sends[at].process != self.sends[first].process:
                yield slice(first, at)
                first = at

    def drop(self, which: Truths, rule: int, step: int) -> bool:
        """Drop candidates; return whether there were any of them."""
        which = which & self.possible
        if not which.any():
            return False
        self.rule[which], self.step[which] = rule, step
        self.possible[which] = False
        return True


def endpoint_pairs(unrolled: UnrolledProgram) -> tuple[EndpointPairs, ...]:
    """Return the endpoints at which something is received; what constants exclude is no candidate, by rule 1."""
    receives = by_key(((receive.process, receive.port), receive) for receive in unrolled.receives)
    fixed: dict[tuple[int, int], list[SendEvent]] = {}
    loose: dict[int, list[SendEvent]] = {}
    for send in unrolled.sends:
        if send.to.constant:
            fixed.setdefault((send.to.value, send.port), []).append(send)
        else:
            loose.setdefault(send.port, []).append(send)
    found = []
    for (process, port), posted in sorted(receives.items()):
        sends = sorted([*fixed.get((process, port), ()), *loose.get(port, ())], key=lambda each: each.number)
        found.append(_pairs(process, port, posted, sends))
    return tuple(found)


def _pairs(process: int, port: int, posted: list[ReceiveEvent], sends: list[SendEvent]) -> EndpointPairs:
    shape = len(posted), len(sends)
    possible, sure = np.ones(shape, np.bool_), np.ones(shape, np.bool_)
    sure &= np.array([each.to.constant for each in sends], np.bool_)
    senders = np.array([each.process for each in sends], np.int64)
    known = np.array([each.tag.constant for each in sends], np.bool_)
    tags = {value: at for at, value in enumerate(sorted({each.tag.value for each in sends if each.tag.constant}))}
    of_send = np.array([tags[each.tag.value] if each.tag.constant else -1 for each in sends], np.int64)
    symbols = [each.tag.number for each in sends]
    for row, receive in enumerate(posted):
        if receive.source is not None:
            if receive.source.constant:
                possible[row] &= senders == receive.source.value
            else:
                sure[row] = False
        if receive.tag is None:
            continue
        if receive.tag.constant:
            same = of_send == tags.get(receive.tag.value, -2)
            possible[row] &= same | ~known
            sure[row] &= same
        else:
            sure[row] &= np.array([number == receive.tag.number for number in symbols], np.bool_)
    rule, step = np.zeros(shape, np.uint8), np.zeros(shape, np.uint16)
    rule[~possible], step[~possible] = 1, 1
    return EndpointPairs(process, port, tuple(posted), tuple(sends), possible, sure & possible, rule, step)


def implied_by_group(guards: Sequence[Symbol]) -> Iterator[tuple[Truths, Truths]]:
    """Yield groups of events, given by their guards, and for each group the events that happen if one of the group does.

    Only what comes before an event in its process is meant: then it has been passed.
    """
    numbers = np.array([each.number for each in guards])
    distinct = {each.number: each for each in guards}
    known = Guards()
    if all(known.implies(later, earlier) for earlier, later in pairwise(guards)):
        yield np.ones(len(guards), np.bool_), np.ones(len(guards), np.bool_)
        return
    if len(distinct) > _GUARDS:
        yield np.ones(len(guards), np.bool_), np.array([each.constant for each in guards], np.bool_)
        return
    for number, guard in distinct.items():
        follows = [other for other, needed in distinct.items() if known.implies(guard, needed)]
        yield numbers == number, np.isin(numbers, follows)


def same_rows(matrix: Truths) -> Iterator[tuple[Truths, Truths]]:
    """Yield groups of rows that are equal, and what they are."""
    groups = by_key((row.tobytes(), at) for at, row in enumerate(matrix))
    for members in groups.values():
        which = np.zeros(len(matrix), np.bool_)
        which[members] = True
        yield which, matrix[members[0]]


def connected_parts(possible: Truths) -> list[tuple[list[int], list[int]]]:
    """Return the connected parts of a bipartite graph that have edges: their rows and their columns."""
    left: Truths = np.asarray(possible.any(axis=1))
    found = []
    while left.any():
        rows = np.zeros(len(left), np.bool_)
        rows[left.argmax()] = True
        while True:
            columns: Truths = np.asarray(possible[rows].any(axis=0))
            wider: Truths = np.asarray(possible[:, columns].any(axis=1))
            if (wider == rows).all():
                break
            rows = wider
        found.append((np.flatnonzero(rows).tolist(), np.flatnonzero(columns).tolist()))
        left &= ~rows
    return found
