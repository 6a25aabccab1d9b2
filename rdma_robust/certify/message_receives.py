"""The receives that messages of a trace take, and whether a program has a choice of them, as the checker sees it.

Source: docs/deployed.md, "Messages"; docs/order-files.md, "Any posted receive"; docs/theory-orders.md, "Any posted receive".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rdma_robust.certify.document import reject
from rdma_robust.certify.hardware import EventKind, Platform
from rdma_robust.certify.thread_events import EventRecord, ThreadEvent
from rdma_robust.language.flow.cfg import Cell, Program, Recv, RecvPoll, Send, Thread, steps

MOST_OUTSTANDING: Final = 32
"""Receives of a connection that are followed at most: behind more there is taken to be a choice."""


class MatchedReceives(NamedTuple):
    """Receives of messages by numbers of events: what has posted the buffer of each message (nothing for one that always was
    posted), the message of each receive completion that is taken, and what has posted the buffer of each message's turn:
    itself if it fills another buffer."""

    filled: dict[int, int]
    heard: dict[int, int]
    turns: dict[int, int]

    def behind(self, first: int) -> MatchedReceives:
        """Return the same with numbers that begin at `first`."""
        return MatchedReceives(*({first + a: first + b for a, b in each.items()} for each in self))


@dataclass(frozen=True)
class MessageReceives:
    """Messages and receives of every two threads and lane: the k-th of the one is matched with the k-th of the other, if the
    message does not say which receive it takes."""

    program: Program
    platform: Platform
    claimed: Sequence[EventRecord]
    order: Sequence[Sequence[int]]

    def matched(self) -> MatchedReceives:
        """Return how they are matched. Raises InvalidCertificate where they cannot be."""
        found = MatchedReceives({}, {}, {})
        own = self.platform.own
        for number, claim in enumerate(self.claimed):
            if claim.takes is not None and not (own is not None and own.any_receive and claim.event.is_message):
                reject(f"event {number} of the trace, {claim.event}, cannot take a receive that is not of its turn")
            if claim.takes is not None and any(words > 1 for _, words in self.program.words):
                reject("there are no rules for messages of several words that take any receive")
        for sender, one in enumerate(self.program.threads):
            for receiver, two in enumerate(self.program.threads):
                for lane in ("", *(name for name, _ in one.lanes)):
                    self._match((sender, receiver, lane), (one, two), found)
        return found

    def _match(self, ends: tuple[int, int, str], threads: tuple[Thread, Thread], found: MatchedReceives) -> None:
        """Match what is on one lane of one thread to another."""
        (sender, receiver, lane), (one, two) = ends, threads
        sent = [i for i in self._of(sender, EventKind.PUT_WRITES, two.name, lane) if self._event(i).is_message]
        posted = self._of(receiver, EventKind.POSTS_BUFFER, one.name, lane)
        always = [cell for name, cell, on in two.posted if (name, on) == (one.name, lane)]
        receives = [*((None, cell) for cell in always), *((i, self._event(i).buffer) for i in posted)]
        taken: set[int] = set()
        for k, message in enumerate(sent):
            number = self._number(message, k, taken, len(receives))
            taken.add(number)
            self._fills(message, receives[number][1])
            (posts, buffer), (turn, wanted) = receives[number], receives[k]
            turn = message if self._event(message).fills and buffer != wanted else turn
            found.filled.update({} if posts is None else {message: posts})
            found.turns.update({} if turn is None else {message: turn})
        for k, hears in enumerate(self._of(receiver, EventKind.RECEIVES, one.name, lane)):
            if k >= len(sent):
                reject(f"event {hears} of the trace, {self._event(hears)}, finds no message")
            self._hears(hears, sent[k])
            found.heard[hears] = sent[k]

    def _event(self, number: int) -> ThreadEvent:
        return self.claimed[number].event

    def _of(self, thread: int, kind: EventKind, peer: str, lane: str) -> list[int]:
        events = ((i, self._event(i)) for i in self.order[thread])
        return [i for i, event in events if event.kind is kind and (event.peer, event.lane) == (peer, lane)]

    def _number(self, message: int, turn: int, taken: set[int], receives: int) -> int:
        """The receive that a message takes: another one than those before it, so these are as many as `receives` at most."""
        takes = self.claimed[message].takes
        number = turn if takes is None else takes
        if number in taken:
            reject(f"event {message} of the trace, {self._event(message)}, takes a buffer that another message takes")
        if number >= receives:
            reject(f"event {message} of the trace, {self._event(message)}, finds no buffer")
        return number

    def _fills(self, message: int, buffer: Cell | None) -> None:
        event = self._event(message)
        if event.fills and buffer is not None and buffer.void:
            reject(f"event {message} of the trace, {event}, finds no room in its buffer")
        if event.fills and buffer != event.cell:
            reject(f"event {message} of the trace, {event}, fills another buffer than {buffer}, which it finds")

    def _hears(self, receives: int, message: int) -> None:
        sent = self.claimed[message]
        carried = 0 if sent.event.fills else sent.written
        if self.claimed[receives].read != carried:
            reject(f"event {receives} of the trace, {self._event(receives)}, takes a message that carries {carried}")


def has_choice_of_receives(program: Program) -> bool:
    """Return whether receives of two buffers of one connection, whose messages fill them, may be posted and not polled at
    one point of the receiver, whatever it reads and whichever messages come. If not, it makes no difference which one a
    message takes."""
    threads = {thread.name: thread for thread in program.threads}
    sent = {
        (t.name, s.op) for t in program.threads for _, _, s in steps(t) if isinstance(s.op, Send) and s.op.data is not None
    }
    return any(_has_choice(threads[op.to], sender, op.lane) for sender, op in sent)


def _has_choice(receiver: Thread, sender: str, lane: str) -> bool:
    """Follow the receiver with the buffer of the receives that are posted and not polled, and how many they are."""
    always = [cell for name, cell, on in receiver.posted if (name, on) == (sender, lane)]
    todo: list[tuple[int, Cell | None, int]] = [(receiver.entry, always[0] if always else None, len(always))]
    reached = {*todo}
    other = len({*always}) > 1
    while todo and not other:
        point, buffer, count = todo.pop()
        for _, target, step in (edge for edge in receiver.edges if edge[0] == point):
            op, after = step.op, (target, buffer, count)
            if isinstance(op, Recv | RecvPoll) and (op.sender, op.lane) == (sender, lane):
                if isinstance(op, RecvPoll):
                    after = (target, buffer, count - 1)
                else:
                    other = other or (count > 0 and op.cell != buffer) or count == MOST_OUTSTANDING
                    after = (target, op.cell, count + 1)
            if after[2] >= 0 and after not in reached:
                reached.add(after)
                todo.append(after)
    return other
