"""The rules of the card in the machine of RDMA as deployed (docs/deployed.md, "The machine"), written without the tables.

    may_happen(machine, t, queue) is the set of events, as (place in the queue, event), that no order holds back

where the machine asks its tables. What values, locks of words and receive buffers hold back is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.queues import BUFFERED, OVER, TO_COME, PostedRequest, Queue, events_of_request
from rdma_robust.semantics.trace import EventType as T


@dataclass(frozen=True)
class Request:
    """A request of a queue, by what it does: its events with how far each is, and its word at the other side. If `exempt` is
    not negative, a poll has told of it, and what is in order with it are those behind so many more."""

    events: tuple[tuple[T, int, bool], ...]
    undecided: bool
    word: int
    exempt: int

    def stage(self, *kinds: T) -> int:
        """How far the least advanced event of these kinds is; OVER if there is none."""
        return min((stage for kind, stage, _ in self.events if kind in kinds), default=OVER)

    @property
    def reads_own(self) -> bool:
        """A put or send whose card has not read its source yet."""
        return self.stage(T.NLR) == TO_COME

    @property
    def reads_remote(self) -> bool:
        """A get, or an atomic, that has not read yet."""
        return self.stage(T.NRR, T.NAR, T.NA) == TO_COME

    @property
    def is_get(self) -> bool:
        return any(kind is T.NRR for kind, _, _ in self.events)

    @property
    def is_atomic(self) -> bool:
        return any(kind in (T.NAR, T.NA) for kind, _, _ in self.events)

    @property
    def is_fence(self) -> bool:
        return any(kind is T.NF for kind, _, _ in self.events)

    @property
    def is_order(self) -> bool:
        return any(kind is T.NO for kind, _, _ in self.events)

    @property
    def issued(self) -> bool:
        """A put or send whose writes are issued; an atomic that has read, and whose write is issued, if it has one."""
        return not self.undecided and self.stage(T.NLR, T.NRW, T.NAR, T.NAW, T.NA) != TO_COME

    @property
    def left(self) -> bool:
        """Gone from the pipe."""
        return not self.undecided and all(stage != TO_COME for _, stage, _ in self.events)


def may_happen(machine: DeployedMachine, t: int, queue: Queue) -> set[tuple[int, int]]:
    """Return the events of a queue pair that may happen next as far as their order goes."""
    order = machine.model.order
    requests = [_request(machine, t, posted) for posted in queue]
    ordered = machine.model.ordered_reads
    if order in ("none", "accumulate"):
        rules: _InOrder = (_Unordered if order == "none" else _Accumulates)(requests, False, ordered)
    else:
        rules = _InOrder(requests, ordered) if order == "default" else _Weaker(requests, order == "relaxed", ordered)
    return set(rules.events())


def _request(machine: DeployedMachine, t: int, posted: PostedRequest) -> Request:
    parts = events_of_request(machine.request(t, posted.command), posted)
    stages = (*posted.stages, *(TO_COME,) * (len(parts) - len(posted.stages)))
    events = tuple((part.type, stage, part.message) for part, stage in zip(parts, stages, strict=True))
    return Request(events, posted.way < 0, parts[-1 if parts[0].type is T.NLR else 0].cell, posted.exempt)


@dataclass
class _InOrder:
    """Order default: two FIFO buffers, wbR and wbL."""

    requests: list[Request]
    ordered_reads: bool

    def events(self) -> Iterator[tuple[int, int]]:
        for place, request in enumerate(self.requests):
            for number, (kind, stage, message) in enumerate(request.events):
                if request.undecided and number:
                    continue
                if stage == OVER:
                    continue
                waits = self.lands if stage == BUFFERED else self.happens
                if waits(place, number, kind, message):
                    yield place, number

    def earlier(self, place: int) -> list[Request]:
        return self.requests[:place]

    def fenced(self, place: int) -> bool:
        return any(r.is_fence and not r.left for r in self.earlier(place))

    def remote_buffer_empty(self) -> bool:
        return not any(s == BUFFERED for r in self.requests for k, s, _ in r.events if k in (T.NRW, T.NAW))

    def local_buffer_empty(self) -> bool:
        return not any(s == BUFFERED for r in self.requests for k, s, _ in r.events if k is T.NLW)

    def remote_writes_issued(self, place: int) -> bool:
        """Everything earlier in the pipe that writes remotely is issued; no `order` holds up what is behind it but writes
        and atomics, for which :meth:`orders_issued` asks too."""
        return all(r.is_get or r.is_fence or r.issued for r in self.earlier(place))

    def all_left(self, place: int) -> bool:
        """Everything earlier has left the pipe, but for an `order`, which says nothing of answers and fences."""
        return all(r.left or r.is_order for r in self.earlier(place))

    def orders_issued(self, place: int) -> bool:
        return all(r.stage(T.NO) != TO_COME for r in self.earlier(place))

    def orders_over(self, place: int) -> bool:
        return all(r.stage(T.NO) == OVER for r in self.earlier(place))

    def happens(self, place: int, number: int, kind: T, message: bool) -> bool:
        if self.fenced(place) and kind is not T.NF:
            return False
        match kind:
            case T.NO:
                return self.remote_writes_issued(place) and self.orders_issued(place)
            case T.NRW if not self.orders_issued(place):
                return False
            case T.NAR | T.NA if not self.orders_over(place):
                return False
        return self.goes(place, number, kind, message)

    def goes(self, place: int, number: int, kind: T, _message: bool) -> bool:
        before = self.requests[place].events[:number]
        match kind:
            case T.NLR:
                return not any(r.reads_own for r in self.earlier(place)) and self.local_buffer_empty()
            case T.NRR:
                gets_read = not any(r.is_get and r.reads_remote for r in self.earlier(place))
                return (
                    self.remote_writes_issued(place) and self.remote_buffer_empty() and (gets_read or not self.ordered_reads)
                )
            case T.NAR | T.NA:
                return self.remote_writes_issued(place) and self.remote_buffer_empty()
            case T.NRW:
                return all(stage != TO_COME for _, stage, _ in before) and self.remote_writes_issued(place)
            case T.NAW:
                return before[0][1] != TO_COME
            case _:  # an answer, or a fence: everything earlier has left the pipe
                return self.all_left(place) and all(stage != TO_COME for _, stage, _ in before)

    def lands(self, place: int, number: int, kind: T, _message: bool) -> bool:
        """The oldest entry of its buffer."""
        mine = (T.NLW,) if kind is T.NLW else (T.NRW, T.NAW, T.NO)
        older = [(k, s) for r in self.earlier(place) for k, s, _ in r.events]
        older += [(k, s) for k, s, _ in self.requests[place].events[:number]]
        return not any(k in mine and s == BUFFERED for k, s in older)


@dataclass
class _Weaker(_InOrder):
    """Orders multipath and relaxed: entries leave the buffers in any order."""

    relaxed: bool = False

    def __init__(self, requests: list[Request], relaxed: bool, ordered_reads: bool) -> None:
        super().__init__(requests, ordered_reads)
        self.relaxed = relaxed

    def sources_read(self, place: int) -> bool:
        return not any(r.reads_own for r in self.earlier(place))

    def goes(self, place: int, number: int, kind: T, message: bool) -> bool:
        before = self.requests[place].events[:number]
        own_read = all(stage == OVER for k, stage, _ in before if k in (T.NLR, T.NRR, T.NAR, T.NA))
        match kind:
            case T.NLR:
                return self.sources_read(place)
            case T.NRR:
                gets_read = not any(r.is_get and r.reads_remote for r in self.earlier(place))
                return self.sources_read(place) and (gets_read or not self.ordered_reads) and self.told_landed(place, kind)
            case T.NAR | T.NA:
                if self.relaxed:
                    return self.sources_read(place)
                in_buffer = any(s == BUFFERED for r in self.earlier(place) for k, s, _ in r.events if k in (T.NRW, T.NAW))
                return self.remote_writes_issued(place) and not in_buffer
            case T.NRW:
                sent = all(stage != TO_COME for r in self.earlier(place) for _, stage, m in r.events if m)
                return own_read and self.sources_read(place) and (sent or not message)
            case T.NAW:
                return own_read
            case T.NLW:
                gets_read = not any(r.reads_remote or (r.is_atomic and not r.issued) for r in self.earlier(place))
                own_written = all(stage != TO_COME for k, stage, _ in before if k is T.NAW)
                return own_read and own_written and self.sources_read(place) and gets_read
            case _:
                return self.all_left(place)

    def told_landed(self, place: int, kind: T) -> bool:
        """What earlier requests write at the other side is there, if a poll had told of them when this one was posted; an
        answer waits for plain writes only."""
        writes = (T.NRW,) if kind is T.NLW else (T.NRW, T.NAW)
        told = (r for i, r in enumerate(self.earlier(place)) if 0 <= r.exempt < place - i)
        return all(stage != BUFFERED for r in told for k, stage, _ in r.events if k in writes)

    def lands(self, place: int, _number: int, kind: T, _message: bool) -> bool:
        if kind is T.NO:
            return all(r.stage(T.NRW, T.NAW, T.NO) == OVER for r in self.earlier(place))
        return (kind is T.NLW or self.orders_over(place)) and self.told_landed(place, kind)


class _Unordered(_Weaker):
    """Order none: a request waits for fences and orders, its writes for its own read."""

    def goes(self, place: int, number: int, kind: T, _message: bool) -> bool:
        if kind is T.NF:
            return self.all_left(place)
        before = self.requests[place].events[:number]
        own_read = all(stage == OVER for k, stage, _ in before if k in (T.NLR, T.NRR, T.NAR, T.NA))
        gets_read = not any(r.is_get and r.reads_remote for r in self.earlier(place))
        return own_read and (gets_read or kind is not T.NRR or not self.ordered_reads)


class _Accumulates(_Unordered):
    """Order accumulate: an atomic also waits for those before it on its word."""

    def goes(self, place: int, number: int, kind: T, message: bool) -> bool:
        mine = [r for r in self.earlier(place) if r.is_atomic and r.word == self.requests[place].word]
        over = all(not r.undecided and r.stage(T.NAR, T.NAW, T.NA) == OVER for r in mine)
        return (over or kind not in (T.NAR, T.NA)) and super().goes(place, number, kind, message)
