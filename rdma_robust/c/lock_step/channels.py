"""The receives that take messages, where that is the same in every run.

A channel is a communicator with a sender and a receiver. Messages of a channel are taken in their order as far as patterns
fit, by receives in theirs. A receive that names its source is *forced*, if no receive from any source with a tag that may be
the same was posted before it on the communicator: then it takes the first message of its channel that fits and no receive
before it takes, in every run.

Where what an open receive takes decides what a process does, every way is followed by itself: then `Channels.decided` says
what was decided so far, and a receive waits until it is decided, or only one message is left for it in every run.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.c.lock_step.message_layouts import BufferLayout, MessageData
from rdma_robust.c.lock_step.window_conflicts import Clock

ANY: Final = NUMBERS["ANY_SOURCE"]
Question = tuple[int, int]
"""Something that is open in a run: the process that meets it, and how many it has met before."""
Answer = tuple[int, ...]
"""A message, by its sender and how many that one has sent before; or those of several requests that are complete."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question with the answers that it may have now. If it `is_closed`, no other one can come, and what others do changes
    none of them."""

    question: Question
    answers: Sequence[Answer]
    is_closed: bool


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator: its name among all, and the processes of its ranks; those of the other group if there are two."""

    name: str
    members: tuple[int, ...]
    remote: tuple[int, ...] = ()

    @property
    def peers(self) -> tuple[int, ...]:
        """The processes that ranks of messages are."""
        return self.remote or self.members

    @property
    def everyone(self) -> tuple[int, ...]:
        """All processes of it."""
        return self.members + self.remote

    def rank(self, process: int) -> int:
        """Return the rank of a process, which is a member."""
        return self.members.index(process)


@dataclass(slots=True)
class Message:
    """A message that was issued; `at` is the place of its statement among those of its sender, and `number` how many that
    one has issued by then."""

    communicator: str
    sender: int
    receiver: int
    tag: int
    payload: MessageData
    at: int
    clock: Clock = ()
    number: int = 0
    is_taken: bool = False

    @property
    def answer(self) -> Answer:
        """What it is as an answer to the question which message is taken."""
        return self.sender, self.number


@dataclass(slots=True)
class PostedReceive:
    """A receive, or a probe, that was posted; source and tag may be `ANY`. `message` is what it takes, if it is forced
    or that is decided; `number` is that of the question which one."""

    communicator: str
    receiver: int
    source: int
    tag: int
    layout: BufferLayout
    at: int
    number: int = 0
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
    """All messages and receives of a run, by communicator and receiver; with `decided`, no receive is open."""

    messages: dict[tuple[str, int], list[Message]] = field(default_factory=dict)
    receives: dict[tuple[str, int], list[PostedReceive]] = field(default_factory=dict)
    decided: dict[Question, Answer] | None = None

    def send(self, message: Message) -> None:
        """Issue a message; a forced receive that waits for it takes it."""
        key = message.communicator, message.receiver
        self.messages.setdefault(key, []).append(message)
        if self.decided is not None:
            self.settle(key, self.decided)
            return
        for each in self.receives.get(key, ()):
            if not each.is_open and each.message is None and each.fits(message):
                each.message, message.is_taken = message, True
                return

    def post(self, receive: PostedReceive) -> None:
        """Post a receive, which is open or takes its message if that is there."""
        key = receive.communicator, receive.receiver
        before = self.receives.setdefault(key, [])
        if self.decided is not None:
            before.append(receive)
            self.settle(key, self.decided)
            return
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

    # where every way is followed

    def settle(self, key: tuple[str, int], decided: Mapping[Question, Answer]) -> list[PostedReceive]:
        """Let receives take what was decided, or what they take in every run. Return those that wait, in their order."""
        waiting: list[PostedReceive] = []
        before: list[PostedReceive] = []
        for each in self.receives.get(key, ()):
            if each.message is not None:
                continue
            each.message = self.message(key, decided.get((each.receiver, each.number)))
            is_open = each.source == ANY or any(one.is_like(each) for one in before)
            if each.message is None and not is_open:
                each.message = self.first(each)
            if each.message is not None:
                each.message.is_taken = True
                continue
            waiting.append(each)
            before += [each] * is_open
        return waiting

    def message(self, key: tuple[str, int], answer: Answer | None) -> Message | None:
        """Return the message that is an answer, if it was issued."""
        return next((each for each in self.messages.get(key, ()) if each.answer == answer), None)

    def possible(self, receive: PostedReceive, before: Sequence[PostedReceive]) -> list[Message]:
        """Return the messages of which a receive may take each now, behind others that wait."""
        firsts: dict[int, Message] = {}
        for each in self.messages.get((receive.communicator, receive.receiver), ()):
            if not each.is_taken and receive.fits(each):
                firsts.setdefault(each.sender, each)
        return [each for each in firsts.values() if not any(one.fits(each) for one in before)]

    def questions(self, process: int, awaited: Container[int], senders: Set[int]) -> list[OpenQuestion]:
        """Return which messages receives of a process may take now. It cannot go on without those that are `awaited`, and
        only some others may still send."""
        found: list[OpenQuestion] = []
        for key in self.receives:
            if key[1] != process:
                continue
            waiting = self.settle(key, self.decided or {})
            for at, each in enumerate(waiting):
                possible = self.possible(each, waiting[:at])
                is_closed = each.number in awaited and self.is_closed(each, waiting[:at], possible, senders)
                found.append(OpenQuestion((process, each.number), [one.answer for one in possible], is_closed))
        return found

    def is_closed(
        self, receive: PostedReceive, before: Sequence[PostedReceive], possible: Sequence[Message], senders: Set[int]
    ) -> bool:
        """Whether what a receive may take now is all that it may ever take: none before it may take the same, and there is a
        message of each that may still send."""
        return not any(one.is_like(receive) for one in before) and senders <= {each.sender for each in possible}
