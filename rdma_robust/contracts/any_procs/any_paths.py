"""The order of events for every n: who has surely entered before something happens, and that no process waits forever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from rdma_robust.contracts.any_procs.any_calls import Calls, Q
from rdma_robust.contracts.any_procs.any_events import NPROCS, Counters, ParametricEvent
from rdma_robust.contracts.any_procs.any_matching import (
    MatchedStatements,
    Matching,
    P,
    generic,
    happens,
    other_generic,
    precedes,
)
from rdma_robust.contracts.any_procs.any_specs import Moment, MomentReader, ProofGoal, is_process
from rdma_robust.contracts.any_procs.any_values import Bool, Int, divided, in_range
from rdma_robust.contracts.language.contract_program import PathClause, ProcessSet
from rdma_robust.digraph import components
from rdma_robust.guarded_z3 import z3

_STEPS: Final = 2
"""Messages one after the other that are looked at."""

R = z3.Int("R")
"""A process that must have entered."""


@dataclass(frozen=True, slots=True)
class ProgramPoint:
    """A point in the program of a process: an event, or its end (None)."""

    process: Int
    event: ParametricEvent | None = None
    at: Counters | None = None


class Order:
    """Who has entered before a point, by messages. `pairs` are those of the matching."""

    def __init__(self, matching: Matching, pairs: Sequence[MatchedStatements], calls: Calls) -> None:
        self.matching = matching
        self.function = matching.function
        self.pairs = pairs
        self.calls = calls
        self.events = {each.number: each for each in (*matching.sends, *matching.recvs)}

    def known(self, who: Int, point: ProgramPoint, steps: int = _STEPS) -> Bool:
        """Return a condition under which process `who` has surely entered before a point."""
        ways = [who == point.process]
        for pair in self.pairs if steps else ():
            recv = self.events[pair.recv]
            for at in self._iterations(recv, who, point.process):
                event = self.function.event(recv.number, point.process, at)
                if event is None:
                    continue
                then = self._before(recv, at, point)
                if then is None:
                    continue
                q, there = pair.sent(point.process, at)
                earlier = self.known(who, ProgramPoint(q, self.events[pair.send], there), steps - 1)
                ways.append(z3.And(happens(event, point.process), then, earlier))
        for call in self.calls.collective if steps else ():
            ways += self._by_call(who, point, call, steps)
        return z3.Or(*ways)

    def _by_call(self, who: Int, point: ProgramPoint, call: ParametricEvent, steps: int) -> Iterator[Bool]:
        """Yield conditions under which a process has entered since a callee waits for it, or for one that knows of it."""
        guesses = [(who, *span) for span in call.ranges]
        for chosen in product(*guesses):
            at = dict(zip(call.loops, chosen, strict=True))
            event = self.calls.function.event(call.number, point.process, at)
            then = None if event is None else self._before(call, at, point)
            if event is None or then is None:
                continue
            reader = MomentReader(self.calls.moment(call, at).entry())
            for clause in self.calls.contract(call).paths:
                if clause.kind != "waitsfor":
                    continue
                _, active = (None, True) if clause.condition is None else reader.truth(clause.condition, point.process)
                ends = [reader.number(each, point.process)[1] for each in (clause.who.low, clause.who.high)]
                for waited in (who, *ends):
                    _, inside = member(reader, clause.who, point.process, waited)
                    earlier = self.known(who, ProgramPoint(waited, call, at), steps - 1)
                    yield z3.And(happens(event, point.process), then, active, inside, earlier)

    def _before(self, event: ParametricEvent, at: Counters, point: ProgramPoint) -> Bool | None:
        """Return whether an event is before a point of the same process; None if it never is."""
        if point.event is None or point.at is None:
            return z3.BoolVal(True)
        found = z3.simplify(precedes(event, at, point.event, point.at))
        return None if z3.is_false(found) else found

    def _iterations(self, recv: ParametricEvent, who: Int, process: Int) -> Iterator[Counters]:
        """Yield iterations in which a receive may get what `who` has sent."""
        guesses = []
        for loop in recv.loops:
            first = self.function.event(recv.number, process, {loop: z3.IntVal(0)})
            peer = z3.IntVal(0) if first is None else first.peer
            distance = (who - process + NPROCS, process - who + NPROCS)
            guesses.append([who - peer, *(divided("%", each, NPROCS) for each in distance)])
        for chosen in product(*guesses):
            yield {loop: z3.simplify(term) for loop, term in zip(recv.loops, chosen, strict=True)}


def member(reader: MomentReader, chosen: ProcessSet, process: Int, who: Int) -> tuple[Bool, Bool]:
    """Return whether there is no fault in a set, and whether it has a process in it."""
    (fine, low), (fine_too, high) = reader.number(chosen.low, process), reader.number(chosen.high, process)
    inside = z3.And(is_process(who), in_range(who, low, high))
    if chosen.others:
        inside = z3.And(inside, who != process)
    return z3.And(fine, fine_too), inside


def promised(order: Order, clause: PathClause, moment: Moment) -> Iterator[ProofGoal]:
    """Yield what has to be proved for a promise of a function to be kept at process P."""
    reader = MomentReader(moment.entry())
    active: list[Bool] = [is_process(P)]
    if clause.condition is not None:
        fine, truth = reader.truth(clause.condition, P)
        yield ProofGoal(tuple(active), fine)
        active.append(truth)
    fine, waited = member(reader, clause.who, P, R)
    yield ProofGoal(tuple(active), fine)
    if clause.kind == "waitsfor":
        yield ProofGoal((*active, waited), order.known(R, ProgramPoint(P)))
    if clause.kind != "quiet to" or clause.until is None:
        return
    fine, waited = member(reader, clause.until, P, R)
    yield ProofGoal(tuple(active), fine)
    tag = None
    if clause.tag is not None:
        fine, tag = reader.number(clause.tag, P)
        yield ProofGoal(tuple(active), fine)
    yield from _quiet_in_calls(order, clause, reader, [*active, waited])
    for send in order.matching.sends:
        if clause.port not in (None, send.port):
            continue
        _, concerned = member(reader, clause.who, P, send.peer)
        given = [*active, waited, happens(send, P), concerned]
        if tag is not None:
            given.append(send.tag == tag)
        yield ProofGoal(tuple(given), order.known(R, ProgramPoint(P, send, generic(send))))


def _quiet_in_calls(order: Order, clause: PathClause, reader: MomentReader, given: list[Bool]) -> Iterator[ProofGoal]:
    """Yield what has to be proved of calls: that process R has entered before them, or that they promise to be quiet."""
    _, concerned = member(reader, clause.who, P, Q)
    for call in order.calls.collective:
        at = generic(call)
        ways = [order.known(R, ProgramPoint(P, call, at))]
        own = MomentReader(order.calls.moment(call, at).entry())
        for promise in order.calls.contract(call).paths:
            if promise.kind != "quiet to" or promise.tag is not None or promise.until is None:
                continue
            if promise.port is not None:
                continue
            _, active = (None, True) if promise.condition is None else own.truth(promise.condition, P)
            ways.append(z3.And(active, member(own, promise.who, P, Q)[1], member(own, promise.until, P, R)[1]))
        yield ProofGoal((*given, concerned, happens(call, P)), z3.Or(*ways))


# That no process waits forever: a rank of events that grows along each process, and from each send to its receive.

Key = Callable[[ParametricEvent, Int, Counters], Int]


def _counter(event: ParametricEvent, _process: Int, at: Counters) -> Int:
    return at[event.loops[0]] if event.loops else z3.IntVal(0)


def _process(_event: ParametricEvent, process: Int, _at: Counters) -> Int:
    return process


def _down(_event: ParametricEvent, process: Int, _at: Counters) -> Int:
    return -process


def _text(event: ParametricEvent, _process: Int, _at: Counters) -> Int:
    return z3.IntVal(event.number)


RANKS: Final[tuple[tuple[Key, ...], ...]] = (
    (_text,),
    (_counter, _text),
    (_process, _counter, _text),
    (_down, _counter, _text),
    (_counter, _process, _text),
    (_counter, _down, _text),
)
"""Numbers that are compared one after the other, for events that may wait for each other in a circle."""


def well_founded(matching: Matching, pairs: Sequence[MatchedStatements]) -> bool:
    """Whether a rank of all events is found: first by the parts of the text that can follow one another, then in each."""
    events = {each.number: each for each in (*matching.sends, *matching.recvs)}
    following: dict[int, set[int]] = {each: set() for each in events}
    steps = [(a, b) for a, b in product(events.values(), repeat=2) if _can_follow(matching, a, b)]
    for first, second in steps:
        following[first.number].add(second.number)
    for pair in pairs:
        following[pair.send].add(pair.recv)
    for part in components(following):
        inside = [(a, b) for a, b in steps if a.number in part and b.number in part]
        crossing = [each for each in pairs if each.send in part and each.recv in part]
        if (inside or crossing) and not any(_grows(matching, rank, inside, crossing) for rank in RANKS):
            return False
    return True


def _can_follow(matching: Matching, first: ParametricEvent, second: ParametricEvent) -> bool:
    """Whether one process may do both, the first before the second."""
    later = other_generic(second)
    other = matching.function.event(second.number, P, later)
    given = [happens(first, P), happens(other, P), precedes(first, generic(first), second, later)]
    return not matching.prover.proves(given, z3.BoolVal(False))


def _grows(
    matching: Matching,
    rank: tuple[Key, ...],
    steps: Sequence[tuple[ParametricEvent, ParametricEvent]],
    pairs: Sequence[MatchedStatements],
) -> bool:
    """Whether a rank grows in each step of a process, and from each send to its receive."""
    events = {each.number: each for each in (*matching.sends, *matching.recvs)}
    for first, second in steps:
        at, later = generic(first), other_generic(second)
        other = matching.function.event(second.number, P, later)
        given = [happens(first, P), happens(other, P), precedes(first, at, second, later)]
        if not matching.prover.proves(given, _less(rank, (first, P, at), (second, P, later))):
            return False
    for pair in pairs:
        send, recv = events[pair.send], events[pair.recv]
        at = generic(recv)
        q, there = pair.sent(P, at)
        if not matching.prover.proves([happens(recv, P)], _less(rank, (send, q, there), (recv, P, at))):
            return False
    return True


def _less(
    rank: tuple[Key, ...], one: tuple[ParametricEvent, Int, Counters], two: tuple[ParametricEvent, Int, Counters]
) -> Bool:
    found = z3.BoolVal(False)
    for key in reversed(rank):
        a, b = key(*one), key(*two)
        found = z3.Or(a < b, z3.And(a == b, found))
    return found
