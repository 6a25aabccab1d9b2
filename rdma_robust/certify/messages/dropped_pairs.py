"""Pairs that no execution has, one after the other: each by a count over the pairs that are left then.

Candidates 2 and 3 of docs/theory-messages.md (Lemma 5). What patterns exclude is no pair from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from rdma_robust.certify.messages.formula_values import PossibleValues
from rdma_robust.certify.messages.unfolded_terms import TermNode, implied_truth
from rdma_robust.certify.messages.unfolding import Issue, UnfoldedProgram

OVERTAKES = 2
"""The receive would have to leave earlier messages of the channel to fewer receives than they are."""

TOO_LATE = 3
"""Earlier receives would have to take other sends, and there are fewer than they are."""


class MatchPairs:
    """The pairs that are left of those that are `compatible`. Sets of receives and of sends are bits of numbers."""

    def __init__(self, unfolded: UnfoldedProgram, values: PossibleValues) -> None:
        self._unfolded, self._values = unfolded, values
        self.compatible = values.senders
        self.senders = [sum(1 << send for send in sends) for sends in values.senders]
        self.takers = [0] * len(unfolded.sends)
        for receive, sends in enumerate(values.senders):
            for send in sends:
                self.takers[send] |= 1 << receive
        self._sure: dict[tuple[int, int], bool] = {}
        self._sends, self._receives = _lines(unfolded.sends), _lines(unfolded.receives)

    def has(self, receive: int, send: int) -> bool:
        return 0 <= receive < len(self.senders) and send >= 0 and bool(self.senders[receive] >> send & 1)

    def drop(self, receive: int, send: int, rule: int) -> bool:
        """Drop a pair for a reason; False if that is none."""
        reason = {OVERTAKES: self._overtakes, TOO_LATE: self._too_late}.get(rule)
        if reason is None or not self.has(receive, send) or not reason(receive, send):
            return False
        self.senders[receive] &= ~(1 << send)
        self.takers[send] &= ~(1 << receive)
        return True

    def _overtakes(self, receive: int, send: int) -> bool:
        messages = [each for each in self._messages_before[send] if self._accepts(receive, each)]
        takers = 0
        for each in messages:
            takers |= self.takers[each]
        return (takers & self._posted_before[receive]).bit_count() < len(messages)

    def _too_late(self, receive: int, send: int) -> bool:
        receives = [each for each in self._receives_before[receive] if self._accepts(each, send)]
        others = 0
        for each in receives:
            others |= self.senders[each]
        return (others & ~self._sent_behind[send]).bit_count() < len(receives)

    def _accepts(self, receive: int, send: int) -> bool:
        """Return whether a receive surely accepts a send."""
        found = self._sure.get((receive, send))
        if found is None:
            found = self._sure[receive, send] = self._surely(self._unfolded.receives[receive], self._unfolded.sends[send])
        return found

    def _surely(self, receive: Issue, send: Issue) -> bool:
        if receive.port != send.port or not self._equal(send.peer, receive.process):
            return False
        if receive.peer is not None and not self._equal(receive.peer, send.process):
            return False
        return receive.tag is None or receive.tag is send.tag

    def _equal(self, node: TermNode | None, number: int) -> bool:
        return node is not None and self._values.of(node) == frozenset((number,))

    @cached_property
    def _messages_before(self) -> list[list[int]]:
        """For each send those that surely come before it in its channel."""
        return [_before(each, self._sends[each.process, each.port]) for each in self._unfolded.sends]

    @cached_property
    def _receives_before(self) -> list[list[int]]:
        """For each receive those of its endpoint that are surely posted before it."""
        return [_before(each, self._receives[each.process, each.port]) for each in self._unfolded.receives]

    @cached_property
    def _posted_before(self) -> list[int]:
        found = []
        for receive in self._unfolded.receives:
            line = self._receives[receive.process, receive.port]
            found.append(sum(1 << each.number for each in line if each.place < receive.place))
        return found

    @cached_property
    def _sent_behind(self) -> list[int]:
        """For each send itself and those behind it in its channel."""
        found = []
        for send in self._unfolded.sends:
            line = self._sends[send.process, send.port]
            found.append(sum(1 << each.number for each in line if each.place >= send.place))
        return found


def _lines(issues: Sequence[Issue]) -> dict[tuple[int, int], list[Issue]]:
    found: dict[tuple[int, int], list[Issue]] = {}
    for issue in issues:
        found.setdefault((issue.process, issue.port), []).append(issue)
    return found


def _before(issue: Issue, line: Sequence[Issue]) -> list[int]:
    return [each.number for each in line if each.place < issue.place and implied_truth(issue.guard, each.guard)]
