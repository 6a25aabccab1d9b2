"""Messages between threads, as the checker runs a program: posted buffers and receive completions; and rounds of barriers.

Source: docs/deployed.md, "Events" and "Consistency".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from rdma_robust.certify.hardware import EventKind
from rdma_robust.certify.remembered import UNTAGGED, Buffer, Letter, Mail, Mailbox, Tag, Value
from rdma_robust.certify.thread_events import ThreadEvent, ThreadMove
from rdma_robust.certify.thread_reading import Ahead
from rdma_robust.language.flow.cfg import ImmPut, Program, Recv, RecvPoll, Send, steps

Connection = tuple[int, int, str]
"""The numbers of a thread that sends messages and of the one that receives them, and the lane of the first, if it has a
name."""


class Mailboxes:
    """The connections of a program, and what events do to the messages on them."""

    def __init__(self, program: Program) -> None:
        self.connections = connections_of(program)
        self._names = {thread.name: number for number, thread in enumerate(program.threads)}
        self._channel = {pair: i for i, pair in enumerate(self.connections)}
        self.first_mail: Mail = tuple(
            Mailbox(
                tuple(
                    Buffer(cell, UNTAGGED)
                    for name, cell, on in program.threads[receiver].posted
                    if (name, on) == (program.threads[sender].name, lane)
                ),
                (),
            )
            for sender, receiver, lane in self.connections
        )

    def heard(self, thread: int, ahead: Ahead, mail: Mail) -> Value:
        """What the message carries whose completion a step of the thread takes, None if there is none."""
        assert ahead.hears is not None
        sender, lane = ahead.hears
        arrived = mail[self._channel[self._names[sender], thread, lane]].arrived
        return arrived[0].carries if arrived else None

    def finds_no_buffer(self, event: ThreadEvent, mail: Mail) -> bool:
        """Whether the event is a message for which no buffer is posted, or one without room for it (rnr)."""
        if not event.is_message:
            return False
        posted = mail[self.number_of(event)].posted
        return not posted or (event.fills and posted[0].cell.void)

    def resolved(self, event: ThreadEvent, mail: Mail) -> ThreadEvent:
        """Return the event with the buffer that it fills for its cell, if it is a message that fills one."""
        if not event.fills or self.finds_no_buffer(event, mail):
            return event
        return replace(event, cell=mail[self.number_of(event)].posted[0].cell)

    def number_of(self, event: ThreadEvent) -> int:
        """Return the number of the connection that an event is about."""
        assert event.peer is not None
        peer = self._names[event.peer]
        return self._channel[(*((event.thread, peer) if event.is_message else (peer, event.thread)), event.lane)]

    def mail_after(self, event: ThreadEvent, written: Value, mail: Mail, tag: Tag) -> Mail:
        """Return the messages after an event; what it posts or sends has the tag."""
        if event.peer is None:
            return mail
        number = self.number_of(event)
        posted, arrived = mail[number]
        if event.kind is EventKind.POSTS_BUFFER:
            assert event.buffer is not None
            posted = (*posted, Buffer(event.buffer, tag))
        elif event.kind is EventKind.RECEIVES:
            arrived = arrived[1:]
        else:
            carries = 0 if event.fills or written is None else written
            posted, arrived = posted[1:], (*arrived, Letter(carries, tag))
        return (*mail[:number], Mailbox(posted, arrived), *mail[number + 1 :])


def meetings_of(arriving: Iterable[ThreadMove]) -> Iterator[ThreadMove]:
    """Yield the rounds that can begin: of barriers before which all of their threads stand, each with a move of its own."""
    standing: dict[tuple[str, ...], dict[int, list[ThreadMove]]] = {}
    for move in arriving:
        standing.setdefault(move.event.meets, {}).setdefault(move.event.thread, []).append(move)
    for meets, moves in standing.items():
        for first, *rest in product(*moves.values()) if len(moves) == len(meets) else ():
            event = replace(first.event, others=tuple(each.event.thread for each in rest))
            yield replace(first, event=event, elsewhere=tuple(each.after for each in rest))


def connections_of(program: Program) -> tuple[Connection, ...]:
    """Return every two threads of which one sends messages to the other or may receive such, with the lane of the first on
    which it does, in a fixed order."""
    names = {thread.name: number for number, thread in enumerate(program.threads)}
    found: set[Connection] = set()
    for t, thread in enumerate(program.threads):
        found |= {(names[sender], t, lane) for sender, _, lane in thread.posted}
        for _, _, step in steps(thread):
            match step.op:
                case Recv(sender=sender, lane=lane) | RecvPoll(sender=sender, lane=lane):
                    found.add((names[sender], t, lane))
                case Send(to=to, lane=lane) | ImmPut(to=to, lane=lane):
                    found.add((t, names[to], lane))
                case _:
                    pass
    return tuple(sorted(found))
