"""Receives and what has arrived for them, of one connection: what both machines of RDMA as deployed know of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rdma_robust.language.flow.cfg import Program, words_of


class Inbox(NamedTuple):
    """`posted` are the words that wait for a message, by number, oldest first; `arrived` the immediates of the receive
    completions not yet polled. `room` is how many more receives can be posted: a poll of a completion makes room again."""

    posted: tuple[int, ...]
    arrived: tuple[int, ...]
    room: int

    def offered(self, cell: int) -> Inbox:
        return self._replace(posted=(*self.posted, cell))

    def reserved(self) -> Inbox:
        return self._replace(room=self.room - 1)

    def rest(self) -> Inbox:
        """Return what is left after the oldest word was taken."""
        return self._replace(posted=self.posted[1:])

    def told(self, imm: int) -> Inbox:
        return self._replace(arrived=(*self.arrived, imm))

    def polled(self) -> Inbox:
        return self._replace(arrived=self.arrived[1:], room=self.room + 1)


Inboxes = tuple[Inbox, ...]


def at_start(program: Program, pairs: Sequence[tuple[int, int]], depth: int) -> Inboxes:
    """Return the receives of every connection that are posted before anything runs."""
    cells = {cell: i for i, cell in enumerate(program.cells)}
    found = []
    for sender, receiver in pairs:
        to, of = program.threads[receiver], program.threads[sender].name
        mine = tuple(cells[cell] for name, cell in to.posted if name == of)
        found.append(Inbox(mine, (), depth * words_of(program, of, to.name) - len(mine)))
    return tuple(found)


def with_inbox(inboxes: Inboxes, place: int, inbox: Inbox) -> Inboxes:
    return (*inboxes[:place], inbox, *inboxes[place + 1 :])
