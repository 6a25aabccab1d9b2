"""What a function promises of the order of events: who has surely entered before something happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from rdma_robust.contracts.any_procs.any_calls import Calls, Q
from rdma_robust.contracts.any_procs.any_events import NPROCS, Counters, ParametricEvent
from rdma_robust.contracts.any_procs.any_matching import MatchedStatements, Matching, P, generic, happens, precedes
from rdma_robust.contracts.any_procs.any_specs import Moment, MomentReader, ProofGoal, is_process
from rdma_robust.contracts.any_procs.any_values import Bool, Int, divided, in_range
from rdma_robust.contracts.language.contract_program import PathClause, ProcessSet
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
