"""Traces of runs in which messages wait for their buffers: sequential consistency under `hardware rnr wait`.

Source: docs/deployed.md, "Endless receiver-not-ready". The machine, `machines/waiting_sc.py`, shares nothing with this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import ImmPut, Program, Send
from rdma_robust.semantics.axioms import rb, sc
from rdma_robust.semantics.trace import CPU_TYPES, READ_TYPES, Event, EventType, Trace
from rdma_robust.semantics.vertices import of_threads, steps_of
from rdma_robust.semantics.waits import messages_wait

MOST: Final = 200_000
"""States of a run that are looked at for one trace."""

Point = tuple[tuple[int, ...], int]
"""How far each thread has come in its program order, and the events that are done, as bits."""


def is_sequential(program: Program, trace: Trace) -> bool:
    """Return whether a trace of the program is sequentially consistent, as the program's hardware has that.

    Raises SizeLimitError where too many runs have to be looked at.
    """
    return sc(trace).closure().is_irreflexive() or (messages_wait(program) and has_waiting_run(trace))


def has_waiting_run(trace: Trace) -> bool:
    """Return whether a run has the trace in which a message without a buffer waits, and what is behind it on its queue pair.

    Raises SizeLimitError where too many have to be looked at.
    """
    if trace.sm is None or not any(True for _ in trace.sm):
        return sc(trace).closure().is_irreflexive()
    search = _Runs(trace)
    start: Point = ((0,) * len(search.threads), search.initial)
    seen, left = {start}, [start]
    while left:
        point = left.pop()
        if point[1] == search.all:
            return True
        for after in search.following(point):
            if after not in seen:
                seen.add(after)
                left.append(after)
        if len(seen) > MOST:
            raise SizeLimitError(f"a trace has more than {MOST} states in which messages wait")
    return False


@dataclass(frozen=True)
class _Runs:
    """All runs with the events of a trace, in an order that the relations between threads allow."""

    trace: Trace

    @cached_property
    def threads(self) -> list[list[Event]]:
        return of_threads(self.trace)

    @cached_property
    def all(self) -> int:
        return (1 << len(self.trace.events)) - 1

    @cached_property
    def initial(self) -> int:
        return sum(1 << e.index for e in self.trace.events if e.type is EventType.INIT)

    @cached_property
    def vertex(self) -> dict[int, int]:
        """For each event those that are done with it, as bits."""
        first = steps_of(self.trace)
        members: dict[int, int] = {}
        for e in self.trace.events:
            head = first.get(e.index, e.index)
            members[head] = members.get(head, 0) | 1 << e.index
        return {e.index: members[first.get(e.index, e.index)] for e in self.trace.events}

    @cached_property
    def needed(self) -> list[int]:
        """For each event those of any thread that come before it, whatever has waited."""
        trace = self.trace
        found = [0] * len(trace.events)
        for relation in (trace.rf, trace.mo, rb(trace), trace.pf, trace.sm, trace.rpf):
            for a, b in relation or ():
                found[b] |= 1 << a
        for mine in self.threads:
            for e in mine:
                if e.type is EventType.FL:
                    found[e.index] |= sum(1 << d.index for d in mine if d.position < e.position and d.remote == e.remote)
        return found

    @cached_property
    def message(self) -> dict[int, int]:
        """For each event of a message, reads of its words among them, the number of its first event."""
        found: dict[int, int] = {}
        for mine in self.threads:
            first = None
            for e in mine:
                op = None if e.step is None else e.step.op
                if isinstance(op, Send | ImmPut):
                    first = e if first is None else first
                    found[e.index] = first.index
                    ends = e.type is EventType.NRW and e.peer is not None and not op.goes_on
                    first = None if ends else first
        return found

    @cached_property
    def receive(self) -> dict[int, int]:
        """For each word of a message the V of all of its words, as bits: a message waits as a whole."""
        whole: dict[int, int] = {}
        for receive, word in self.trace.sm or ():
            whole[self.message[word]] = whole.get(self.message[word], 0) | 1 << receive
        return {word: whole[self.message[word]] for _, word in self.trace.sm or ()}

    def following(self, point: Point) -> list[Point]:
        return [after for t in range(len(self.threads)) for after in self._steps(point, t)]

    def _steps(self, point: Point, t: int) -> list[Point]:
        places, done = point
        ready = self._ready(point, t)
        if ready:
            return [after for e in ready for after in self._done(point, e)]
        if places[t] == len(self.threads[t]):
            return []
        e = self.threads[t][places[t]]
        if done >> e.index & 1 or self._held(point, t, e) or self._must_wait(e, done):
            return [((*places[:t], places[t] + 1, *places[t + 1 :]), done)]
        return self._done(point, e)

    def _done(self, point: Point, e: Event) -> list[Point]:
        """The point after an event, with all that is done with it; none where that has to wait."""
        places, done = point
        members = self.vertex[e.index]
        mine = [each for each in self.trace.events if members >> each.index & 1]
        if any(self.needed[each.index] & ~members & ~done for each in mine) or not self._meet(point, e, mine):
            return []
        return [(places, done | members)]

    def _meet(self, point: Point, e: Event, mine: list[Event]) -> bool:
        """Whether the threads of all that is done together stand there: those of a barrier."""
        for t, thread in enumerate(self.threads):
            here = [each for each in mine if each.thread == thread[0].thread != e.thread]
            place = point[0][t]
            if here and (self._ready(point, t) or place == len(thread) or thread[place] not in here):
                return False
        return True

    def _queue(self, point: Point, t: int) -> list[Event]:
        """What has waited on the queue pairs of a thread, in order."""
        places, done = point
        return [e for e in self.threads[t][: places[t]] if not done >> e.index & 1]

    def _ready(self, point: Point, t: int) -> list[Event]:
        """What has waited, is the first of its queue pair, and has a buffer now if it needs one."""
        waited = self._queue(point, t)
        first = [e for k, e in enumerate(waited) if not self._is_behind(e, waited[:k])]
        return [e for e in first if not self._must_wait(e, point[1])]

    def _is_behind(self, e: Event, waited: list[Event]) -> bool:
        """Whether an event is held by what has waited on its queue pair, which is not only its own message, whose words are
        read when that begins to wait."""
        before = [each for each in waited if self._pair(each) == self._pair(e)]
        along = e.type in READ_TYPES and e.index in self.message
        return bool(before) and not (
            along
            and all(each.type is EventType.NRW and self.message.get(each.index) == self.message[e.index] for each in before)
        )

    def _pair(self, e: Event) -> str | None:
        """The queue pair of an event, by what its thread calls it."""
        return e.remote

    def _held(self, point: Point, t: int, e: Event) -> bool:
        return e.type not in CPU_TYPES and self._is_behind(e, self._queue(point, t))

    def _must_wait(self, e: Event, done: int) -> bool:
        return bool(self.receive.get(e.index, 0) & ~done)
