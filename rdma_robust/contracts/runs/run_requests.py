"""Requests of one process: receives that it has posted, what they have got, and sends that are not waited for."""

from __future__ import annotations

from typing import Final, NamedTuple

from rdma_robust.contracts.runs.symbolic_data import Data
from rdma_robust.messages.language.message_terms import FaultError

IDLE: Final = 0
BUFFERED: Final = -1
"""A send that is complete, and a wait for it passes."""

Slot = int | tuple[int, ...]
"""What a request is: IDLE, BUFFERED, a posted receive by its number and 1, or minus the number of a send and 2."""


class Match(NamedTuple):
    """A posted receive has got a message. `clock` counts the events and `after` has the matches that come before it."""

    value: Data
    sender: int
    tag: int
    number: int
    """Of the message, among those of its sender."""
    clock: tuple[int, ...]
    after: int


class Post(NamedTuple):
    """A receive that was posted at a point of the code; source and tag are None for any.

    `indices` are those of the places where something is stored. `clock` and `after` are as it was posted.
    """

    point: int
    source: int | None
    port: int
    tag: int | None
    indices: tuple[tuple[int, ...], ...]
    clock: tuple[int, ...]
    after: int
    got: Match | None = None
    over: bool = False

    def accepts(self, sender: int, port: int, tag: int) -> bool:
        return self.port == port and self.source in (None, sender) and self.tag in (None, tag)


class TakenSend(NamedTuple):
    """A send that somebody's receive has got: it is complete."""

    number: int
    to: int
    port: int
    tag: int
    value: Data
    clock: tuple[int, ...]
    after: int


class RequestTable(NamedTuple):
    """What a process has asked for. `posts` are all receives that it has posted, in that order.

    `after` are the matches that come before what it does next, as bits. `cursor` is the element of an array of requests that
    a wait has come to. `taken` are sends that were got and not waited for, where sends are complete only then.
    """

    slots: tuple[tuple[str, Slot], ...] = ()
    posts: tuple[Post, ...] = ()
    taken: tuple[TakenSend, ...] = ()
    after: int = 0
    cursor: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether no request is active, and no receive is posted that was not waited for."""
        active = (each for _, slot in self.slots for each in (slot if isinstance(slot, tuple) else (slot,)))
        return all(each.over for each in self.posts) and not any(active)

    def slot(self, name: str) -> Slot:
        return dict(self.slots).get(name, IDLE)

    def _with(self, name: str, slot: Slot) -> RequestTable:
        return self._replace(slots=tuple(sorted({**dict(self.slots), name: slot}.items())))

    def declared(self, name: str, size: int | None) -> RequestTable:
        """Return this after `req name`, or `req name[size]`."""
        return self._with(name, IDLE if size is None else (IDLE,) * size)

    def set(self, name: str, index: int | None, state: int) -> RequestTable:
        """Return this with another state of one request; what it was is lost."""
        slot = self.slot(name)
        if isinstance(slot, int) or index is None:
            return self._with(name, state)
        return self._with(name, (*slot[:index], state, *slot[index + 1 :]))

    def waited(self, name: str, index: int | None) -> tuple[int | None, int]:
        """Return the index and the state of what a wait has come to; IDLE for an empty array. Raises FaultError."""
        slot = self.slot(name)
        if isinstance(slot, int):
            if index is not None:
                raise FaultError("kind")
            return None, slot
        at = self.cursor if index is None else index
        return at, slot[at] if slot else IDLE

    def passed(self, name: str, index: int | None) -> tuple[RequestTable, bool]:
        """Return this after the wait for one request, and whether it goes on with the next element of an array."""
        at, state = self.waited(name, index)
        made = self if state == IDLE else self.set(name, at, IDLE)
        if state > IDLE:
            made = made.with_post(state - 1, self.posts[state - 1]._replace(over=True))
        slot = self.slot(name)
        more = index is None and isinstance(slot, tuple) and self.cursor + 1 < len(slot)
        return made._replace(cursor=self.cursor + 1 if more else 0), more

    def with_post(self, number: int, post: Post) -> RequestTable:
        """Return this with another one of its posted receives."""
        return self._replace(posts=(*self.posts[:number], post, *self.posts[number + 1 :]))


NOTHING_ASKED: Final = RequestTable()
