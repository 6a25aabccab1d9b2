"""Processes that only send, to processes that only receive and take everything: decided without a search.

All sends are issued whatever is matched, so receives take them in any order but that of their channels: Lemma 7 of
docs/theory-messages.md.
"""

from __future__ import annotations

from rdma_robust.errors import InternalError, LimitReached, Span
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.endpoint_pairs import endpoint_pairs
from rdma_robust.messages.encoding.message_shapes import unroll
from rdma_robust.messages.encoding.unrolled import (
    AssertEvent,
    NotEncodedError,
    ReceiveEvent,
    SendEvent,
    Unrolled,
    WaitEvent,
)
from rdma_robust.messages.engines.gathered_orders import MOST_PAIRS, Endpoint, count_of, feasible, some_of
from rdma_robust.messages.engines.relaxed import Relaxation
from rdma_robust.messages.engines.run_violations import violations_of
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import NormalFormDecisions, NormalFormRun
from rdma_robust.messages.message_answers import BufferAnswer, Issued, Leak, Pair, Questions, Violation

Endpoints = dict[tuple[int, int], Endpoint]


def by_gathering(
    program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits, unrolled: Unrolled | None = None
) -> BufferAnswer | None:
    """Answer all questions about a program of that kind; None if it is of another, or an assertion needs a search."""
    try:
        unrolled = unrolled or unroll(program, questions.loop_bound, limits)
        endpoints = _endpoints(unrolled)
        if endpoints is None or not (buffer == "infinite" or _all_are_taken(unrolled, endpoints)):
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


def _endpoints(unrolled: Unrolled) -> Endpoints | None:
    """Return the endpoints of a program of this kind; None if it is of another."""
    always = unrolled.symbols.true
    of_events = [each for events in unrolled.events for each in events]
    plain = all(
        isinstance(each, AssertEvent) or (isinstance(each, _COMMUNICATION) and each.guard is always) for each in of_events
    )
    whole = all(each is always for each in unrolled.ends) and not any(each.daemon for each in unrolled.program.processes)
    if not plain or not whole or {each.process for each in unrolled.sends} & {each.process for each in unrolled.receives}:
        return None
    if not all(each.source is None and each.tag is None for each in unrolled.receives):
        return None
    if not all(each.to.constant for each in unrolled.sends):
        return None
    receives: dict[tuple[int, int], list[Issued]] = {}
    for receive in unrolled.receives:
        receives.setdefault((receive.process, receive.port), []).append(Issued(receive.process, receive.rank.value))
    channels: dict[tuple[int, int], dict[int, list[Issued]]] = {}
    for send in unrolled.sends:
        of_endpoint = channels.setdefault((send.to.value, send.port), {})
        of_endpoint.setdefault(send.process, []).append(Issued(send.process, send.rank.value))
    found = {
        key: Endpoint(tuple(receives.get(key, ())), tuple(map(tuple, channels.get(key, {}).values())))
        for key in sorted({*receives, *channels})
    }
    return found if all(len(each.receives) <= each.sends for each in found.values()) else None


_COMMUNICATION = WaitEvent | SendEvent | ReceiveEvent


def _all_are_taken(unrolled: Unrolled, endpoints: Endpoints) -> bool:
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

    def __init__(self, program: MessageProgram, buffer: Buffer, unrolled: Unrolled, endpoints: Endpoints) -> None:
        self.program, self.buffer, self.unrolled, self.endpoints = program, buffer, unrolled, endpoints
        self.places: dict[tuple[Span, str], Violation] = {}

    def found(self, limits: Limits) -> bool:
        """Decide all assertions; return whether that was possible."""
        relaxation = Relaxation(self.unrolled, endpoint_pairs(self.unrolled), limits)
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

    def _matches(self, sends: dict[int, int]) -> tuple[Pair, ...] | None:
        """Return the matches of all receives in order, some of them as given by numbers; None if channels forbid them."""
        given: dict[Issued, Issued] = {}
        for number, send in sends.items():
            receive, message = self.unrolled.receives[number], self.unrolled.sends[send]
            given[Issued(receive.process, receive.rank.value)] = Issued(message.process, message.rank.value)
        found: list[Pair] = []
        for endpoint in self.endpoints.values():
            order = endpoint.completed([given.get(each) for each in endpoint.receives])
            if order is None:
                return None
            found += map(Pair, endpoint.receives, order)
        return tuple(sorted(found))


def _leak(program: MessageProgram, buffer: Buffer, endpoints: Endpoints) -> Leak | None:
    """Return a run that leaves sends unmatched, if there are more than receives."""
    if all(len(each.receives) == each.sends for each in endpoints.values()):
        return None
    course = NormalFormRun(program, buffer, NormalFormDecisions(()))
    course.make_all(sorted(some_of(tuple(endpoints.values()))))
    sends = [Issued(me, op.nth) for me, frame in enumerate(course.frames) for op in frame.sends]
    return Leak(tuple(sends), (), tuple(course.moves))
