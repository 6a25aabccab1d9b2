"""Requests of a process: sends that are not waited for, and receives that are posted, in that order.

Matching is as docs/theory-messages.md has it: messages of a channel do not overtake one another, and of two receives that
accept a message the one that is posted earlier gets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rdma_robust.messages.language.message_terms import FaultError, Value
from tests.support.contracts_oracle.message_channels import Channels, first_with

INACTIVE: Final = 0
SENT: Final = 1
_FIRST: Final = 2

Slot = int | tuple[int, ...]
"""A request: INACTIVE, SENT, a posted receive by its place and 2, or minus the ticket of a send; or an array of such."""

Spot = tuple[str, tuple[int, ...]]


class Posted(NamedTuple):
    """A receive that is posted; source and tag are None for any. `got` is the value, sender and tag of its message.

    `stores` are where these go at the wait.
    """

    source: int | None
    port: int
    tag: int | None
    stores: tuple[Spot | None, Spot | None, Spot | None]
    got: tuple[Value, int, int] | None = None


class Offered(NamedTuple):
    """A send that is complete only when somebody's receive has got its message; tickets begin with 1."""

    ticket: int
    to: int
    port: int
    tag: int
    value: Value
    got: bool = False


class Pending(NamedTuple):
    """Requests by their names. `cursor` is the element of an array that a wait has come to; `offered` has tickets in use."""

    slots: tuple[tuple[str, Slot], ...] = ()
    posted: tuple[Posted, ...] = ()
    cursor: int = 0
    offered: tuple[Offered, ...] = ()

    @property
    def is_idle(self) -> bool:
        """Whether no request is active and no receive is left."""
        return not self.posted and not any(self._states())

    def _states(self) -> Iterator[int]:
        for _, slot in self.slots:
            yield from slot if isinstance(slot, tuple) else (slot,)

    def declared(self, name: str, size: int | None) -> Pending:
        """Return this after `req name`, or `req name[size]`."""
        return self._with(name, INACTIVE if size is None else (INACTIVE,) * size)

    def _slot(self, name: str) -> Slot:
        return dict(self.slots).get(name, INACTIVE)

    def _with(self, name: str, slot: Slot) -> Pending:
        made = self._replace(slots=tuple(sorted({**dict(self.slots), name: slot}.items())))
        if not made.offered:
            return made
        states = set(made._states())
        return made._replace(offered=tuple(each for each in made.offered if -each.ticket in states))

    def offer(self, name: str, index: int | None, send: Offered) -> Pending:
        """Return this with a request for a send that nobody has got."""
        made = self._replace(offered=tuple(sorted((*self.offered, send))))
        return made.set(name, index, -send.ticket)

    def offered_at(self, state: int) -> Offered | None:
        """Return the send that a request is active for, None if it is for none."""
        return next((each for each in self.offered if each.ticket == -state), None)

    def was_got(self, ticket: int) -> Pending:
        """Return this when a receive has got the message of a send, if anybody can still wait for that."""
        found = (each._replace(got=True) if each.ticket == ticket else each for each in self.offered)
        return self._replace(offered=tuple(found))

    def check(self, name: str, index: int | None) -> None:
        """Raise FaultError if there is no such request."""
        slot = self._slot(name)
        if isinstance(slot, tuple) == (index is None):
            raise FaultError("kind")
        if isinstance(slot, tuple) and index is not None and not 0 <= index < len(slot):
            raise FaultError("index")

    def set(self, name: str, index: int | None, state: int) -> Pending:
        """Return this with another state of one request; what it was is lost."""
        slot = self._slot(name)
        if index is None or isinstance(slot, int):
            return self._with(name, state)
        return self._with(name, (*slot[:index], state, *slot[index + 1 :]))

    def post(self, name: str, index: int | None, receive: Posted) -> Pending:
        """Return this with one more receive, of a request."""
        made = self.set(name, index, len(self.posted) + _FIRST)
        return made._replace(posted=(*self.posted, receive))

    def awaited(self, name: str, index: int | None) -> tuple[int | None, int]:
        """Return the index and the state of what a wait has come to; of an empty array it is INACTIVE. Raises FaultError."""
        slot = self._slot(name)
        if index is None and isinstance(slot, tuple):
            return (self.cursor, slot[self.cursor]) if slot else (None, INACTIVE)
        self.check(name, index)
        return index, slot[index] if isinstance(slot, tuple) and index is not None else slot  # type: ignore[return-value]

    def receive_at(self, state: int) -> int | None:
        """Return the place of the posted receive that a request is active for, None if it is for none."""
        return state - _FIRST if state >= _FIRST else None

    def passed(self, name: str, index: int | None) -> tuple[Pending, bool]:
        """Return this after the wait for one request, and whether it goes on with the next element of an array."""
        at, state = self.awaited(name, index)
        made = self
        if state != INACTIVE:
            made = self.set(name, at, INACTIVE)
        place = self.receive_at(state)
        if place is not None:
            made = made._without(place)
        slot = made._slot(name)
        if index is None and isinstance(slot, tuple) and self.cursor + 1 < len(slot):
            return made._replace(cursor=self.cursor + 1), True
        return made._replace(cursor=0), False

    def _without(self, place: int) -> Pending:
        def moved(state: int) -> int:
            return state - (state > place + _FIRST)

        slots = tuple(
            (name, tuple(map(moved, slot)) if isinstance(slot, tuple) else moved(slot)) for name, slot in self.slots
        )
        return self._replace(slots=slots, posted=(*self.posted[:place], *self.posted[place + 1 :]))

    def matched(self, place: int, got: tuple[Value, int, int]) -> Pending:
        """Return this when a receive has got its message."""
        receive = self.posted[place]._replace(got=got)
        return self._replace(posted=(*self.posted[:place], receive, *self.posted[place + 1 :]))

    def matches(self, channels: Channels, me: int) -> Iterator[tuple[int, int, int]]:
        """Yield what may match: the place of a receive, the sender, and the place of the message in its channel."""
        for place, receive in enumerate(self.posted):
            for (sender, to, port), messages in channels:
                if receive.got is None and (to, port) == (me, receive.port) and receive.source in (None, sender):
                    at = first_with(messages, receive.tag)
                    if at is not None and not self._is_taken_earlier(place, sender, port, messages[at].tag):
                        yield place, sender, at

    def _is_taken_earlier(self, place: int, sender: int, port: int, tag: int) -> bool:
        """Whether a receive that is posted earlier accepts a message."""
        return any(
            each.got is None and each.port == port and each.source in (None, sender) and each.tag in (None, tag)
            for each in self.posted[:place]
        )
