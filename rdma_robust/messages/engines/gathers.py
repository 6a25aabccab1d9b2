"""Processes that only send, to processes that only receive and take everything: decided without a search.

All sends are issued whatever is matched, so receives take them in any order but that of their channels: Lemma 7 of
docs/theory-messages.md. With as many receives as sends these orders are the interleavings of the channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from math import comb, perm
from typing import Final

from rdma_robust.errors import InternalError, LimitReached, Span
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.endpoint_pairs import endpoint_pairs
from rdma_robust.messages.encoding.unrolled import (
    AssertEvent,
    NotEncodedError,
    ReceiveEvent,
    SendEvent,
    UnrolledProgram,
    WaitEvent,
)
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.relaxed import OrderRelaxation
from rdma_robust.messages.engines.solved_runs import violations_of
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import NormalFormDecisions, NormalFormRun
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    Leak,
    MatchedPair,
    Matching,
    Matchings,
    MessageQuestions,
    OperationId,
    Violation,
)

MOST_COUNTED: Final = 10**4000
"""Larger counts are said to be at least that: what prints numbers takes no longer ones."""


MOST_PAIRS: Final = 1_000_000
"""So many pairs are made at most: the answer does not wait for more, which nobody reads."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The receives of an endpoint in posting order, and its sends by sender, each in the order of its channel.

    There are at most as many receives as sends.
    """

    receives: tuple[OperationId, ...]
    channels: tuple[tuple[OperationId, ...], ...]

    @property
    def sends(self) -> int:
        return sum(map(len, self.channels))

    def completed(self, given: Sequence[OperationId | None]) -> list[OperationId] | None:
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

    def orders(self) -> Iterator[tuple[OperationId, ...]]:
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

    def pairs(self) -> Iterator[MatchedPair]:
        """Yield the pairs of all orders: a receive takes the j-th of a channel if others can fill the places before it."""
        for channel in self.channels:
            others = self.sends - len(channel)
            for place, receive in enumerate(self.receives):
                for send in channel[max(0, place - others) : place + 1]:
                    yield MatchedPair(receive, send)

    def partners(self) -> Iterator[MatchedPair]:
        """Yield for each receive a pair with one send of each channel that it can take, as far as it can take two."""
        for place, receive in enumerate(self.receives):
            first = (c[max(0, place - (self.sends - len(c))) : place + 1][:2] for c in self.channels)
            yield from (MatchedPair(receive, send) for send in islice(chain.from_iterable(first), 2))


@lru_cache(maxsize=1)
def feasible(endpoints: tuple[Endpoint, ...]) -> tuple[frozenset[MatchedPair], bool]:
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
            MatchedPair(receive, send)
            for endpoint, order in zip(endpoints, orders, strict=True)
            for receive, send in zip(endpoint.receives, order, strict=True)
        )


def _products(endpoints: Sequence[Endpoint]) -> Iterator[tuple[tuple[OperationId, ...], ...]]:
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


Endpoints = dict[tuple[int, int], Endpoint]


def by_gathering(
    program: MessageProgram,
    buffer: Buffer,
    questions: MessageQuestions,
    limits: Limits,
    unrolled: UnrolledProgram | None = None,
) -> BufferAnswer | None:
    """Answer all questions about a program of that kind; None if it is of another, or an assertion needs a search."""
    try:
        unrolled = unrolled or unroll(program, questions.loop_bound, limits)
        endpoints = None if program.checks_matches else _endpoints(unrolled)
        if endpoints is None or not (_none_waits(unrolled, buffer) or _all_are_taken(unrolled, endpoints)):
            return None
        violations = _Violations(program, buffer, unrolled, endpoints)
        if not violations.found(limits):
            return None
    except (NotEncodedError, LimitReached):
        return None
    leak = _leak(program, buffer, endpoints)
    known = tuple(endpoints.values())
    pairs, all_of_them = feasible(known) if questions.pairs else (None, True)
    return BufferAnswer(
        buffer,
        "assignment",
        "yes" if violations.places else "no",
        "no",
        "yes" if leak else "no",
        tuple(violations.places.values()),
        None,
        leak,
        pairs,
        all_of_them,
        matchings=count_of(known, questions.listed) if questions.count else None,
        reason="" if all_of_them else f"there are more than {MOST_PAIRS:,} pairs, of which two of each receive are told",
        work={"receives": len(unrolled.receives), "sends": len(unrolled.sends)},
    )


def _none_waits(unrolled: UnrolledProgram, buffer: Buffer) -> bool:
    """Return whether every send completes at once."""
    return all(unrolled.buffer_of(each, buffer) == "infinite" for each in unrolled.sends)


def _endpoints(unrolled: UnrolledProgram) -> Endpoints | None:
    """Return the endpoints of a program of this kind; None if it is of another."""
    always = unrolled.symbols.true
    of_events = [each for events in unrolled.events for each in events]
    plain = all(
        isinstance(each, AssertEvent) or (isinstance(each, _COMMUNICATION) and each.guard is always) for each in of_events
    )
    whole = all(each is always for each in unrolled.ends) and not any(each.daemon for each in unrolled.program.processes)
    if not plain or not whole or {each.process for each in unrolled.sends} & {each.process for each in unrolled.receives}:
        return None
    if not all(each.source is None and (each.tag is None or each.tag.constant) for each in unrolled.receives):
        return None
    if not all(each.to.constant and each.tag.constant for each in unrolled.sends):
        return None
    tags: dict[tuple[int, int], set[int]] = {}
    for send in unrolled.sends:
        tags.setdefault((send.to.value, send.port), set()).add(send.tag.value)
    for receive in unrolled.receives:
        if receive.tag is not None and tags.get((receive.process, receive.port)) != {receive.tag.value}:
            return None
    receives: dict[tuple[int, int], list[OperationId]] = {}
    for receive in unrolled.receives:
        receives.setdefault((receive.process, receive.port), []).append(OperationId(receive.process, receive.rank.value))
    channels: dict[tuple[int, int], dict[int, list[OperationId]]] = {}
    for send in unrolled.sends:
        of_endpoint = channels.setdefault((send.to.value, send.port), {})
        of_endpoint.setdefault(send.process, []).append(OperationId(send.process, send.rank.value))
    found = {
        key: Endpoint(tuple(receives.get(key, ())), tuple(map(tuple, channels.get(key, {}).values())))
        for key in sorted({*receives, *channels})
    }
    return found if all(len(each.receives) <= each.sends for each in found.values()) else None


_COMMUNICATION = WaitEvent | SendEvent | ReceiveEvent


def _all_are_taken(unrolled: UnrolledProgram, endpoints: Endpoints) -> bool:
    """Return whether all sends are matched also where their waits hold up: as many receives, and no sender that waits for a
    send to one endpoint before it sends to another."""
    if any(len(each.receives) != each.sends for each in endpoints.values()):
        return False
    for events in unrolled.events:
        sends = [each for each in events if isinstance(each, SendEvent)]
        first = next((each.position for each in events if isinstance(each, WaitEvent)), len(events))
        single = len({(each.to.value, each.port) for each in sends}) < 2
        if not single and any(each.position > first for each in sends):
            return False
    return True


class _Violations:
    """The assertions that are false in some run, by their places."""

    def __init__(self, program: MessageProgram, buffer: Buffer, unrolled: UnrolledProgram, endpoints: Endpoints) -> None:
        self.program, self.buffer, self.unrolled, self.endpoints = program, buffer, unrolled, endpoints
        self.places: dict[tuple[Span, str], Violation] = {}

    def found(self, limits: Limits) -> bool:
        """Decide all assertions; return whether that was possible."""
        relaxation = OrderRelaxation(self.unrolled, endpoint_pairs(self.unrolled), limits)
        for events in self.unrolled.events:
            for event in events:
                if not isinstance(event, AssertEvent) or (event.span, "assert") in self.places:
                    continue
                way = relaxation.may_fail(event)
                if way is None:
                    continue
                matches = self._matches(way.sends) if way.exact else None
                if matches is None:
                    return False
                for place, each in violations_of(self.program, self.buffer, NormalFormDecisions(matches)).items():
                    self.places.setdefault(place, each)
                if (event.span, "assert") not in self.places:
                    raise InternalError("matches that were to violate an assertion do not")
        return True

    def _matches(self, sends: dict[int, int]) -> tuple[MatchedPair, ...] | None:
        """Return the matches of all receives in order, some of them as given by numbers; None if channels forbid them."""
        given: dict[OperationId, OperationId] = {}
        for number, send in sends.items():
            receive, message = self.unrolled.receives[number], self.unrolled.sends[send]
            given[OperationId(receive.process, receive.rank.value)] = OperationId(message.process, message.rank.value)
        found: list[MatchedPair] = []
        for endpoint in self.endpoints.values():
            order = endpoint.completed([given.get(each) for each in endpoint.receives])
            if order is None:
                return None
            found += map(MatchedPair, endpoint.receives, order)
        return tuple(sorted(found))


def _leak(program: MessageProgram, buffer: Buffer, endpoints: Endpoints) -> Leak | None:
    """Return a run that leaves sends unmatched, if there are more than receives."""
    if all(len(each.receives) == each.sends for each in endpoints.values()):
        return None
    course = NormalFormRun(program, buffer, NormalFormDecisions(()))
    course.make_all(sorted(some_of(tuple(endpoints.values()))))
    sends = [OperationId(me, op.nth) for me, frame in enumerate(course.frames) for op in frame.sends]
    return Leak(tuple(sends), (), tuple(course.moves))
