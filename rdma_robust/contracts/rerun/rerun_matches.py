"""Which messages the posted receives of one process have got: everything that the rules of matching allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rdma_robust.messages.language.message_terms import Value


class Taking(NamedTuple):
    """A posted receive; None is any."""

    source: int | None
    port: int
    tag: int | None

    def accepts(self, message: RerunMessage) -> bool:
        return (
            self.port == message.port
            and self.source in (None, message.sender)
            and self.tag in (None, message.tag)
        )  # fmt: skip


class RerunMessage(NamedTuple):
    sender: int
    port: int
    tag: int
    value: Value


Matching = frozenset[tuple[int, int]]
"""Pairs of a receive and a message, by their numbers."""


@dataclass(slots=True)
class Matches:
    """The messages that came to a process, in the order in which they were sent, and the matchings that there may be."""

    messages: list[RerunMessage] = field(default_factory=list)
    known: set[Matching] = field(default_factory=lambda: {frozenset()})

    def enabled(self, matching: Matching, posted: Sequence[Taking]) -> list[tuple[int, int]]:
        """Return the pairs that may match next, for receives in the order in which they were posted."""
        got, taken = {each for each, _ in matching}, {each for _, each in matching}
        receives = [(at, each) for at, each in enumerate(posted) if at not in got]
        waiting = [(at, each) for at, each in enumerate(self.messages) if at not in taken]
        found = []
        for at, receive in receives:
            for number, message in waiting:
                channel = message.sender, message.port
                overtakes = any(
                    before < number and (each.sender, each.port) == channel and receive.accepts(each)
                    for before, each in waiting
                )
                jumps = any(before < at and each.accepts(message) for before, each in receives)
                if receive.accepts(message) and not overtakes and not jumps:
                    found.append((at, number))
        return found

    def reachable(self, posted: Sequence[Taking]) -> set[Matching]:
        """Return every matching that there may be by now."""
        found, todo = set(self.known), list(self.known)
        while todo:
            matching = todo.pop()
            for pair in self.enabled(matching, posted):
                more = matching | {pair}
                if more not in found:
                    found.add(more)
                    todo.append(more)
        return found

    def has_got(self, matching: Matching, message: int) -> bool:
        """Whether a receive has got the message of this number."""
        return any(each == message for _, each in matching)

    def left(self, matching: Matching) -> list[RerunMessage]:
        """Return the messages that nothing has got."""
        taken = {each for _, each in matching}
        return [each for at, each in enumerate(self.messages) if at not in taken]

    def got_by(self, matching: Matching, receive: int) -> RerunMessage | None:
        """Return the message of a receive, None if it has none."""
        return next((self.messages[number] for at, number in matching if at == receive), None)
