"""Receives and what has arrived for them, of one connection: what both machines of RDMA as deployed know of messages."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from rdma_robust.language.flow.cfg import Program, Step
from rdma_robust.semantics.connections import Connection
from rdma_robust.semantics.machines.threadcode import Registers


class Inbox(NamedTuple):
    """`posted` are the words that wait for a message, by number, oldest first; `arrived` the immediates of the receive
    completions not yet polled. `room` is how many more receives can be posted: a poll of a completion makes room again."""

    posted: tuple[int, ...]
    arrived: tuple[int, ...]
    room: int

    def has(self, place: int, unfit: Container[int]) -> bool:
        """Return whether a word is there at this place, other than the `unfit` ones."""
        return len(self.posted) > place and self.posted[place] not in unfit

    def offered(self, cell: int) -> Inbox:
        return self._replace(posted=(*self.posted, cell))

    def reserved(self) -> Inbox:
        return self._replace(room=self.room - 1)

    def rest(self, place: int = 0) -> Inbox:
        """Return what is left after the oldest word was taken, or the one at `place` for a message that others overtakes."""
        return self._replace(posted=(*self.posted[:place], *self.posted[place + 1 :]))

    def told(self, imm: int) -> Inbox:
        return self._replace(arrived=(*self.arrived, imm))

    def polled(self) -> Inbox:
        return self._replace(arrived=self.arrived[1:], room=self.room + 1)


Inboxes = tuple[Inbox, ...]


def at_start(program: Program, connections: Sequence[Connection], depth: int) -> Inboxes:
    """Return the receives of every connection that are posted before anything runs."""
    cells = {cell: i for i, cell in enumerate(program.cells)}
    found = []
    for number, receiver, lane in connections:
        sender, to = program.threads[number].name, program.threads[receiver]
        mine = tuple(cells[cell] for name, cell, on in to.posted if (name, on) == (sender, lane))
        found.append(Inbox(mine, (), depth * program.words_of(number, receiver, lane) - len(mine)))
    return tuple(found)


def with_inbox(inboxes: Inboxes, place: int, inbox: Inbox) -> Inboxes:
    return (*inboxes[:place], inbox, *inboxes[place + 1 :])


class ThreadPlace(NamedTuple):
    """Where a thread is: its program point, its registers, and per queue pair the completions that it may still poll.

    `inboxes` are the receives of all connections. `stuck` are the queue pairs, by number, on which a message waits for a
    buffer, and with it all that was posted after it: `messages` are the steps of those messages. `held` is the command whose
    message the thread itself waits for, -1 for none.
    """

    point: int
    registers: Registers
    unpolled: tuple[int, ...]
    inboxes: tuple[Inbox, ...] = ()
    stuck: tuple[int, ...] = ()
    messages: tuple[Step, ...] = ()
    held: int = -1
