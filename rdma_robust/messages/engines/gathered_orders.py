"""The orders in which receives that take everything can take the sends of several channels, each in its order.

With as many receives as sends these are the interleavings of the channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from math import comb, perm
from typing import Final

from rdma_robust.messages.message_answers import Issued, Matching, Matchings, Pair

MOST_COUNTED: Final = 10**4000
"""Larger counts are said to be at least that: what prints numbers takes no longer ones."""


MOST_PAIRS: Final = 1_000_000
"""So many pairs are made at most: the answer does not wait for more, which nobody reads."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The receives of an endpoint in posting order, and its sends by sender, each in the order of its channel.

    There are at most as many receives as sends.
    """

    receives: tuple[Issued, ...]
    channels: tuple[tuple[Issued, ...], ...]

    @property
    def sends(self) -> int:
        return sum(map(len, self.channels))

    def completed(self, given: Sequence[Issued | None]) -> list[Issued] | None:
        """Return the sends of all receives, in posting order, where some are given; None if that is not found at once.

        Where None is given the receive takes the next send of a channel whose sends are not given to others.
        """
        taken = {each for each in given if each is not None}
        free = [each for channel in self.channels if taken.isdisjoint(channel) for each in channel]
        free += [each for channel in self.channels if not taken.isdisjoint(channel) for each in channel if each not in taken]
        rest = iter(free)
        found = [each if each is not None else next(rest) for each in given]
        at = {send: place for place, send in enumerate(found)}
        for channel in self.channels:
            places = [at.get(send, len(found)) for send in channel]
            if places != sorted(places):
                return None
        return found

    def count(self) -> int:
        """Return how many orders there are."""
        if all(len(channel) == 1 for channel in self.channels):
            return perm(len(self.channels), len(self.receives))
        some = self._orders_of_first()
        if some > MOST_COUNTED or len(self.receives) == self.sends:
            return some
        ways = [1] + [0] * len(self.receives)
        for channel in self.channels:
            for total in range(len(self.receives), 0, -1):
                ways[total] = sum(comb(total, some) * ways[total - some] for some in range(min(len(channel), total) + 1))
        return ways[-1]

    def _orders_of_first(self) -> int:
        """Return how many orders there are of the first sends, channel by channel, that are as many as the receives."""
        ways, left = 1, len(self.receives)
        for channel in self.channels:
            some = min(len(channel), left)
            ways *= comb(left, some)
            left -= some
        return ways

    def orders(self) -> Iterator[tuple[Issued, ...]]:
        """Yield all orders."""
        taken = [0] * len(self.channels)
        way: list[int] = []
        following = 0
        while True:
            if len(way) == len(self.receives):
                at = dict.fromkeys(range(len(self.channels)), 0)
                order = []
                for channel in way:
                    order.append(self.channels[channel][at[channel]])
                    at[channel] += 1
                yield tuple(order)
                following = len(self.channels)
            while following < len(self.channels) and taken[following] == len(self.channels[following]):
                following += 1
            if following < len(self.channels):
                taken[following] += 1
                way.append(following)
                following = 0
            elif way:
                following = way.pop()
                taken[following] -= 1
                following += 1
            else:
                return

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs of all orders: a receive takes the j-th of a channel if others can fill the places before it."""
        for channel in self.channels:
            others = self.sends - len(channel)
            for place, receive in enumerate(self.receives):
                for send in channel[max(0, place - others) : place + 1]:
                    yield Pair(receive, send)

    def partners(self) -> Iterator[Pair]:
        """Yield for each receive a pair with one send of each channel that it can take, as far as it can take two."""
        for place, receive in enumerate(self.receives):
            first = (c[max(0, place - (self.sends - len(c))) : place + 1][:2] for c in self.channels)
            yield from (Pair(receive, send) for send in islice(chain.from_iterable(first), 2))


@lru_cache(maxsize=1)
def feasible(endpoints: tuple[Endpoint, ...]) -> tuple[frozenset[Pair], bool]:
    """Return all feasible pairs, and True; where they are more than :data:`MOST_PAIRS` two of each receive, and False.

    They are the same under every buffer semantics.
    """
    if sum(min(len(each.receives), len(c)) * len(each.receives) for each in endpoints for c in each.channels) > MOST_PAIRS:
        return frozenset(pair for each in endpoints for pair in each.partners()), False
    return frozenset(pair for each in endpoints for pair in each.pairs()), True


def count_of(endpoints: tuple[Endpoint, ...], listed: int) -> Matchings:
    """Return how many matchings there are, whatever their number, and some of them."""
    count = 1
    for each in endpoints:
        count *= each.count()
    some = tuple(islice(_matchings(endpoints), listed)) if listed else ()
    return Matchings(min(count, MOST_COUNTED), count <= MOST_COUNTED, some)


def _matchings(endpoints: Sequence[Endpoint]) -> Iterator[Matching]:
    for orders in _products(endpoints):
        yield frozenset(
            Pair(receive, send)
            for endpoint, order in zip(endpoints, orders, strict=True)
            for receive, send in zip(endpoint.receives, order, strict=True)
        )


def _products(endpoints: Sequence[Endpoint]) -> Iterator[tuple[tuple[Issued, ...], ...]]:
    """Yield the ways to choose an order for each endpoint."""
    if not endpoints:
        yield ()
        return
    for rest in _products(endpoints[1:]):
        for order in endpoints[0].orders():
            yield (order, *rest)


def some_of(endpoints: tuple[Endpoint, ...]) -> Matching:
    """Return one matching."""
    return next(_matchings(endpoints))
