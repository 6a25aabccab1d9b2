"""A queue pair of RDMA as deployed: what its card has been handed, how far each event is, and which may happen next.

Source: docs/deployed.md, "The machine". What an event waits for is said by the order tables (:mod:`requests`); what
follows from values, locks of words and receive buffers is the machine's (:mod:`deployed_card`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from rdma_robust.semantics.kinds import Kind, as_variant, is_variant, memory_of
from rdma_robust.semantics.machines.requests import NOWHERE, CardEvent, CardRequest, WaitRule
from rdma_robust.semantics.machines.threadcode import Registers
from rdma_robust.semantics.order_table import BEFORE_RECEIVE_COMPLETIONS
from rdma_robust.semantics.trace import EventType

TO_COME, BUFFERED, OVER = range(3)
"""How far an event is: it has not happened, it is a write in its buffer, it has taken effect."""

Placed = Mapping[int, Kind]
"""What a message is that fills one of these words; all others are plain."""


class PostedRequest(NamedTuple):
    """A request that the card has, by its command's number.

    `env` are the registers that it took along, `value` is what it has read last, and `way` the way in which it goes, NOWHERE
    while that depends on what it is still to read. `stages` has an entry for every event of its way, or so far of those that
    all its ways begin with. `buffer` is the word
    that its message fills, NOWHERE if it has taken none yet. `polled`: no poll will take its completion (any more). `told`:
    its receiver will get no receive completion for it (any more). `number`: that among its thread's
    requests, from 1; 0 where the machine does not number them. `exempt`: how many requests of the queue pair behind it were
    posted before a poll took its completion, or a later one; NOWHERE if none did, or if nothing depends on it.
    """

    command: int
    env: Registers
    value: int
    way: int
    stages: tuple[int, ...]
    buffer: int
    polled: bool
    told: bool
    number: int = 0
    exempt: int = NOWHERE

    @property
    def over(self) -> bool:
        """Whether all its events have taken effect."""
        return self.way != NOWHERE and all(stage == OVER for stage in self.stages)


Queue = tuple[PostedRequest, ...]
"""The requests of a queue pair in the order in which they were posted, without those of which nothing is left to happen.

The pipe are those with events to come; wbR and wbL are the writes that are BUFFERED.
"""


def events_of_request(request: CardRequest, posted: PostedRequest) -> tuple[CardEvent, ...]:
    """Return the events of a request; of one that may still go in several ways those with which it starts."""
    return request.ways[max(posted.way, 0)].parts


def ready(
    requests: Sequence[CardRequest | None],
    rules: Mapping[Kind, WaitRule],
    queue: Queue,
    placed: Placed,
    *,
    fills: Kind = EventType.NRW,
    elsewhere: int = 0,
) -> Iterator[tuple[int, int]]:
    """Yield what may happen next as far as orders go, as (place in the queue, event of the request).

    `placed` is what messages are by their buffers, and `fills` what the next one is; `elsewhere` are the kinds of writes
    to memories behind cards in the buffers of other queue pairs.
    """

    def rule(posted: PostedRequest, part: CardEvent) -> WaitRule:
        return rules[kind_now(posted, part, placed, fills)]

    buffered = reduce(or_, (_landing(requests, posted, rule) for posted in queue), elsewhere)
    unissued, undone, sending = 0, 0, set[int]()
    undone_at: dict[int, int] = {}
    in_order = issues_messages_in_order(rules)
    polled: list[tuple[int, int]] = []
    for place, posted in enumerate(queue):
        request, reads = _request(requests, posted), False
        union = request.union if posted.way == NOWHERE else 0
        told = reduce(or_, (types for first, types in polled if place >= first), 0)
        for number, (part, stage) in enumerate(_events(requests, posted)):
            if stage == OVER:
                continue
            waits = rule(posted, part)
            own = reads and waits_for_own_reads(part)
            late = bool(waits.done & undone or waits.polled & told or waits.on_word & undone_at.get(part.cell, 0))
            if stage == BUFFERED:
                held = late
            elif part.buffered:
                held = bool(waits.issued & unissued) or own or (part.message and request.connection in sending)
            else:
                held = bool(waits.issued & unissued or waits.flushed & buffered) or late or own
            if not held:
                yield place, number
            undone |= waits.bit | union
            if waits.on_word:
                undone_at[part.cell] = undone_at.get(part.cell, 0) | waits.bit | union
            if stage == TO_COME:
                unissued |= waits.bit | union
                reads |= part.reads
                sending |= {request.connection} if part.message and in_order else set()
        if posted.exempt != NOWHERE:
            polled.append((place + posted.exempt + 1, _landing(requests, posted, rule)))


def issues_messages_in_order(rules: Mapping[Kind, WaitRule]) -> bool:
    """Return whether messages of a connection are issued in order: where writes wait for the reads of earlier requests, and
    all messages for the same, nobody can tell."""
    put, send = rules[EventType.NRW].issued, rules[as_variant(EventType.NRW)].issued
    reads = rules[EventType.NLR].bit | rules[as_variant(EventType.NLR)].bit
    return put == send and put & reads == reads


def waits_for_own_reads(part: CardEvent) -> bool:
    """Return whether an event needs what earlier events of its request read: two operands are read in either order."""
    return not part.act.operand


def _landing(
    requests: Sequence[CardRequest | None], posted: PostedRequest, rule: Callable[[PostedRequest, CardEvent], WaitRule]
) -> int:
    """Return the kinds of the request's writes that are BUFFERED."""
    return reduce(or_, (rule(posted, part).bit for part, stage in _events(requests, posted) if stage == BUFFERED), 0)


def kind_now(posted: PostedRequest, part: CardEvent, placed: Placed, fills: Kind = EventType.NRW) -> Kind:
    """Return the kind of an event; of a message with data by its buffer, which it `fills` if it has taken none yet."""
    if not placed or not part.message or part.value is None:
        return part.kind
    found = fills if posted.buffer == NOWHERE else placed.get(posted.buffer, EventType.NRW)
    return as_variant(found) if is_variant(part.kind) else found


def buffered_behind(
    requests: Sequence[CardRequest | None], rules: Mapping[Kind, WaitRule], queue: Queue, placed: Placed
) -> int:
    """Return the kinds of the writes to memories behind cards that are in the buffers of a queue pair."""
    found = 0
    for posted in queue:
        for part, stage in _events(requests, posted):
            kind = kind_now(posted, part, placed)
            if stage == BUFFERED and memory_of(kind):
                found |= rules[kind].bit
    return found


def _request(requests: Sequence[CardRequest | None], posted: PostedRequest) -> CardRequest:
    request = requests[posted.command]
    assert request is not None
    return request


def _events(requests: Sequence[CardRequest | None], posted: PostedRequest) -> Iterator[tuple[CardEvent, int]]:
    """Yield the events of a request with how far they are; of one that may go in several ways those that are reads before
    it is known which."""
    return zip(events_of_request(_request(requests, posted), posted), posted.stages, strict=False)


def is_complete(requests: Sequence[CardRequest | None], posted: PostedRequest) -> bool:
    """Return whether the operation is complete: its completing event, if it has one, is issued, or has taken effect where a
    completion tells of that."""
    if posted.way == NOWHERE:
        return False
    for part, stage in zip(events_of_request(_request(requests, posted), posted), posted.stages, strict=True):
        if part.completing and stage < (OVER if part.placed else BUFFERED):
            return False
    return True


def after_poll(requests: Sequence[CardRequest | None], queue: Queue) -> Queue | None:
    """Return the queue without the completion that a poll takes, None if there is none yet.

    It is that of the oldest operation with one, which counts when this and all earlier ones are complete.
    """
    for place, posted in enumerate(queue):
        if not is_complete(requests, posted):
            return None
        if not posted.polled:
            return (*queue[:place], posted._replace(polled=True), *queue[place + 1 :])
    return None


def with_order(before: Queue, queue: Queue, waiting: int) -> Queue:
    """Return the queue after a poll, before which it was `before`, where a polled completion puts its operation, and all
    earlier ones, before what is posted later; `waiting` requests of the queue pair are on their way to it."""
    last = next(place for place, posted in enumerate(before) if not posted.polled)
    behind = len(queue) + waiting - 1
    return tuple(
        [
            posted._replace(exempt=behind - place) if place <= last and posted.exempt == NOWHERE else posted
            for place, posted in enumerate(queue)
        ]
    )


def completion_count(requests: Sequence[CardRequest | None], queue: Queue) -> int:
    """Return how many polls find a completion now."""
    found = 0
    for posted in queue:
        if not is_complete(requests, posted):
            break
        found += not posted.polled
    return found


def unpolled(queue: Queue) -> Queue:
    """Return the queue after what nobody can poll any more was forgotten."""
    return tuple([posted._replace(polled=True) for posted in queue])


def next_to_be_told(requests: Sequence[CardRequest | None], queue: Queue, placed: Placed, *, only_own: bool) -> int:
    """Return the place of the oldest message whose receive completion counts now, NOWHERE if there is none.

    It counts when the message is there, those before it too, and every earlier remote write and atomic of the queue pair,
    or, with `only_own`, of its request; what is on its way to a memory behind the card need only be issued.
    """

    def pends(part: CardEvent, posted: PostedRequest, stage: int) -> bool:
        return stage < (BUFFERED if memory_of(kind_now(posted, part, placed)) else OVER)

    pending = False
    for place, posted in enumerate(queue):
        pending &= not only_own
        if posted.way == NOWHERE:
            pending |= any(p.type in BEFORE_RECEIVE_COMPLETIONS for w in _request(requests, posted).ways for p in w.parts)
            continue
        for part, stage in zip(events_of_request(_request(requests, posted), posted), posted.stages, strict=True):
            if part.message and not posted.told:
                if not pends(part, posted, stage) and not pending:
                    return place
                if only_own:
                    return NOWHERE
            pending |= part.type in BEFORE_RECEIVE_COMPLETIONS and pends(part, posted, stage)
    return NOWHERE


def tidied(queue: Queue) -> Queue:
    """Return the queue without requests of which nothing is left to happen."""
    stay = [not (posted.over and posted.polled and posted.told) for posted in queue]
    left = [posted for posted, stays in zip(queue, stay, strict=True) if stays]
    if all(posted.exempt == NOWHERE for posted in left):
        return tuple(left)
    found = []
    for place, posted in enumerate(queue):
        gone = stay[place + 1 : place + 1 + max(posted.exempt, 0)].count(False)
        exempt = NOWHERE if posted.over or posted.exempt == NOWHERE else posted.exempt - gone
        found += [posted._replace(exempt=exempt)] if stay[place] else []
    return tuple(found)
