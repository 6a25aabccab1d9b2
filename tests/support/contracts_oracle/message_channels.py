"""Channels of a run: what was sent and not taken, for each sender, receiver and port."""

from __future__ import annotations

from typing import NamedTuple

from rdma_robust.messages.language.message_terms import Value

Channel = tuple[int, int, int]
"""Sender, receiver and port."""


class Message(NamedTuple):
    """A message. `ticket` says which send of its sender waits for somebody to get it, None if none does."""

    tag: int
    value: Value
    ticket: int | None = None


Channels = tuple[tuple[Channel, tuple[Message, ...]], ...]
"""Those that are not empty, in order, the earliest message first."""


def first_with(messages: tuple[Message, ...], tag: int | None) -> int | None:
    """Return the place of the message that a receive with this tag takes, None if there is none."""
    return next((at for at, each in enumerate(messages) if tag in (None, each.tag)), None)


def with_channel(channels: Channels, channel: Channel, messages: tuple[Message, ...]) -> Channels:
    """Return channels of which one has other messages."""
    found = {**dict(channels), channel: messages}
    return tuple((each, found[each]) for each in sorted(found) if found[each])
