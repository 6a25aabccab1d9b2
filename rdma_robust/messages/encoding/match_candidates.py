"""Which pairs of a receive and a send can be matched at all: four rules that drop pairs, each with its reason.

Too many candidates are harmless, since the constraints refuse them; so a pair may go only if no execution has it. "Surely"
means: in every execution in which both operations happen. Definition: the four rules, Lemma 5 of docs/theory-messages.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs, Truths, endpoint_pairs, implied, same_rows
from rdma_robust.messages.encoding.must_order import must_order
from rdma_robust.messages.encoding.possible_values import ValueSets
from rdma_robust.messages.encoding.unrolled import SendEvent, Unrolled, accepts
from rdma_robust.messages.language.message_program import Buffer

RULES: Final = frozenset({1, 2, 3, 4})

REASONS: Final = {
    1: "port, source or tag never fit",
    2: "too few receives before it can take the sends before this one in the channel, which it would take first",
    3: "too few other sends can be taken by the receives before it, which would take this one first",
    4: "it is matched before the send is issued, or one of the two never happens",
}
"""Why a pair is no candidate, by the number of the rule; "it" is the receive."""


@dataclass(frozen=True, slots=True)
class DroppedPair:
    """A receive and a send by their numbers, the rule that excludes the pair, and at which step."""

    receive: int
    send: int
    rule: int
    step: int

    @property
    def reason(self) -> str:
        return REASONS[self.rule]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidate pairs of an unrolled program under a buffer semantics, by endpoint. A receive is in one endpoint."""

    unrolled: Unrolled
    buffer: Buffer
    endpoints: tuple[EndpointPairs, ...]
    _of_receive: dict[int, tuple[SendEvent, ...]] = field(default_factory=dict)

    def senders(self, receive: int) -> tuple[SendEvent, ...]:
        """Return the candidates of a receive, in the order of their numbers."""
        if not self._of_receive:
            for pairs in self.endpoints:
                for row, each in enumerate(pairs.receives):
                    found = tuple([pairs.sends[column] for column in np.flatnonzero(pairs.possible[row])])
                    self._of_receive[each.number] = found
        return self._of_receive.get(receive, ())

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield all candidate pairs: the numbers of a receive and a send."""
        for pairs in self.endpoints:
            for row, column in zip(*np.nonzero(pairs.possible), strict=True):
                yield pairs.receives[row].number, pairs.sends[column].number

    def count(self) -> int:
        return sum(int(pairs.possible.sum()) for pairs in self.endpoints)

    def dropped(self) -> Iterator[DroppedPair]:
        """Yield the pairs of one endpoint that are no candidates."""
        for pairs in self.endpoints:
            for row, column in zip(*np.nonzero(~pairs.possible), strict=True):
                rule, step = int(pairs.rule[row, column]), int(pairs.step[row, column])
                yield DroppedPair(pairs.receives[row].number, pairs.sends[column].number, rule, step)


def candidates(unrolled: Unrolled, buffer: Buffer, limits: Limits = NO_LIMITS, rules: frozenset[int] = RULES) -> Candidates:
    """Return the candidate pairs that are left when none of the `rules` drops another. Raises LimitReached.

    Only rule 4 depends on the buffer semantics. Without rule 1, sets of values are not looked at; constants always are.
    """
    found = Candidates(unrolled, buffer, endpoint_pairs(unrolled))
    step, changed = 2, True
    loose = any(not pairs.sure[pairs.possible].all() for pairs in found.endpoints)
    while changed:
        limits.look("looking for candidates")
        changed = False
        if 1 in rules and loose:
            changed |= _values(found, step)
        for pairs in found.endpoints:
            for rule, dropped in ((2, _messages_in_order), (3, _receives_in_order)):
                if rule in rules and pairs.possible.any():
                    changed |= pairs.drop(dropped(pairs), rule, step)
        if 4 in rules:
            order = must_order(unrolled, found.endpoints, buffer)
            for pairs in found.endpoints:
                changed |= pairs.drop(order.excluded(pairs), 4, step)
        step = min(step + 1, np.iinfo(np.uint16).max)
        found._of_receive.clear()
    return found


def _values(found: Candidates, step: int) -> bool:
    """Rule 1: drop pairs that do not fit whatever the values are; note those that surely fit."""
    changed = False
    sets = ValueSets(found.unrolled, found.senders)
    for pairs in found.endpoints:
        never = np.zeros(pairs.possible.shape, np.bool_)
        for row, column in zip(*np.nonzero(pairs.possible & ~pairs.sure), strict=True):
            few = sets.of(accepts(found.unrolled, pairs.receives[row], pairs.sends[column]))
            if few is not None and 1 not in few:
                never[row, column] = True
            elif few is not None and 0 not in few:
                pairs.sure[row, column] = changed = True
        changed |= pairs.drop(never, 1, step)
    return changed


def _messages_in_order(pairs: EndpointPairs) -> Truths:
    """Rule 2: let L be the sends of S's channel that surely precede S and that R surely accepts. They are matched before R,
    to receives before R; so if fewer of those may accept one of L than L has, R does not get S."""
    dropped = np.zeros(pairs.possible.shape, np.bool_)
    for columns in pairs.channels():
        if columns.stop - columns.start < 2:
            continue
        possible, guards = pairs.possible[:, columns], [each.guard for each in pairs.sends[columns]]
        for rows, surely in same_rows(pairs.sure[:, columns]):
            for group, happen in implied(guards):
                counted = surely & happen
                if not counted.any():
                    continue
                takes_one = np.logical_or.accumulate(possible & counted, axis=1)[:, :-1]
                earlier = np.zeros((len(possible), len(guards)), np.int32)
                earlier[1:, 1:] = np.cumsum(takes_one, axis=0, dtype=np.int32)[:-1]
                needed = np.concatenate(([0], np.cumsum(counted)[:-1]))
                dropped[:, columns] |= (earlier < needed) & np.outer(rows, group)
    return dropped


def _receives_in_order(pairs: EndpointPairs) -> Truths:
    """Rule 3: let E be the receives that surely precede R and surely accept S. They are matched before R, to sends that are
    neither S nor behind it in its channel; so if fewer of those may be accepted by one of E than E has, R does not get S."""
    dropped = np.zeros(pairs.possible.shape, np.bool_)
    if len(pairs.receives) < 2:
        return dropped
    channels = list(pairs.channels())
    for columns, surely in same_rows(pairs.sure.T):
        for group, happen in implied([each.guard for each in pairs.receives]):
            counted = surely & happen
            if not counted.any():
                continue
            taken = np.zeros(pairs.possible.shape, np.bool_)
            taken[1:] = np.logical_or.accumulate(pairs.possible & counted[:, None], axis=0)[:-1]
            others = np.broadcast_to(taken.sum(axis=1, dtype=np.int32)[:, None], taken.shape).copy()
            for channel in channels:
                others[:, channel] -= np.cumsum(taken[:, channel][:, ::-1], axis=1, dtype=np.int32)[:, ::-1]
            needed = np.concatenate(([0], np.cumsum(counted)[:-1]))
            dropped |= (others < needed[:, None]) & np.outer(group, columns)
    return dropped
