"""The receives that take messages, where that is the same in every run.

A channel is a communicator with a sender and a receiver. Messages of a channel are taken in their order as far as patterns
fit, by receives in theirs. A receive that names its source is *forced*, if no receive from any source with a tag that may be
the same was posted before it on the communicator: then it takes the first message of its channel that fits and no receive
before it takes, in every run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_robust.c.lock_step.message_layouts import BufferLayout, MessageData
from rdma_robust.c.lock_step.window_conflicts import Clock

ANY = -1


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator: its name among all, and the processes of its ranks."""

    name: str
    members: tuple[int, ...]

    def rank(self, process: int) -> int:
        """Return the rank of a process, which is a member."""
        return self.members.index(process)


@dataclass(slots=True)
class Message:
    """A message that was issued; `at` is the place of its statement among those of its sender."""

    communicator: str
    sender: int
    receiver: int
    tag: int
    payload: MessageData
    at: int
    clock: Clock = ()
    is_taken: bool = False


@dataclass(slots=True)
class PostedReceive:
    """A receive, or a probe, that was posted; source and tag may be `ANY`. `message` is what a forced one takes."""

    communicator: str
    receiver: int
    source: int
    tag: int
    layout: BufferLayout
    at: int
    is_open: bool = False
    message: Message | None = None
    is_done: bool = False

    def fits(self, message: Message) -> bool:
        """Whether it may take a message of its communicator to its process."""
        return self.source in (ANY, message.sender) and self.tag in (ANY, message.tag)

    def is_like(self, other: PostedReceive) -> bool:
        """Whether both may take one message."""
        tags = ANY in (self.tag, other.tag) or self.tag == other.tag
        return tags and (ANY in (self.source, other.source) or self.source == other.source)


@dataclass(slots=True)
class Channels:
    """All messages and receives of a run, by communicator and receiver."""

    messages: dict[tuple[str, int], list[Message]] = field(default_factory=dict)
    receives: dict[tuple[str, int], list[PostedReceive]] = field(default_factory=dict)

    def send(self, message: Message) -> None:
        """Issue a message; a forced receive that waits for it takes it."""
        key = message.communicator, message.receiver
        self.messages.setdefault(key, []).append(message)
        for each in self.receives.get(key, ()):
            if not each.is_open and each.message is None and each.fits(message):
                each.message, message.is_taken = message, True
                return

    def post(self, receive: PostedReceive) -> None:
        """Post a receive, which is open or takes its message if that is there."""
        key = receive.communicator, receive.receiver
        before = self.receives.setdefault(key, [])
        receive.is_open = receive.source == ANY or any(each.is_open and each.is_like(receive) for each in before)
        before.append(receive)
        if not receive.is_open:
            receive.message = self.first(receive)
            if receive.message is not None:
                receive.message.is_taken = True

    def first(self, receive: PostedReceive) -> Message | None:
        """Return the first message that is not taken and fits a receive."""
        found = self.messages.get((receive.communicator, receive.receiver), ())
        return next((each for each in found if not each.is_taken and receive.fits(each)), None)

    def is_open_to(self, receive: PostedReceive) -> bool:
        """Whether a receive, or a probe, which is not posted would be an open one."""
        before = self.receives.get((receive.communicator, receive.receiver), ())
        return receive.source == ANY or any(each.is_open and each.is_like(receive) for each in before)

    def may_complete(self, receive: PostedReceive) -> bool:
        """Whether a receive can be over: a forced one has its message. For an open one there are more messages that fit than
        receives of the same pattern before it, which come first."""
        if not receive.is_open:
            return receive.message is not None
        key = receive.communicator, receive.receiver
        pattern = receive.source, receive.tag
        earlier = 0
        for each in self.receives[key]:
            if each is receive:
                break
            earlier += each.is_open and (each.source, each.tag) == pattern
        fitting = sum(not each.is_taken and receive.fits(each) for each in self.messages.get(key, ()))
        return fitting > earlier
