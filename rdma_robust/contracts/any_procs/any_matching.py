"""The matching in closed form: which send each receive gets its message from, for any number of processes.

A *pair* is a send and a receive of the text, with two maps between their iterations at all processes, inverse to each other.
docs/theory-contracts.md, "Every number of processes", says what is proved here, and why it is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Final

from rdma_robust.contracts.any_procs.any_events import NPROCS, Counters, ParametricEvent, unknown
from rdma_robust.contracts.any_procs.any_execution import ParametricFunction
from rdma_robust.contracts.any_procs.any_specs import is_process
from rdma_robust.contracts.any_procs.any_values import (
    Bool,
    Int,
    LazyValue,
    TermValue,
    UnrecognisedError,
    ValueTerm,
    background,
    divided,
    lemmas,
)
from rdma_robust.errors import LimitReached
from rdma_robust.guarded_z3 import z3
from rdma_robust.limits import Limits

_EFFORT: Final = 2_000_000
"""Of one question, as z3 counts: about a second. Proofs that are found take a third of it, most a hundredth."""


class Prover:
    """Proves from `facts`, which are true of all runs that are looked at. `questions` counts those to z3."""

    def __init__(self, facts: Sequence[Bool], limits: Limits) -> None:
        self.facts = [*background(), *facts]
        self.questions = 0
        self.points: list[Int] = []
        """Where two sums may differ."""
        self.swaps: list[Callable[[Int], Int]] = []
        """With which process one may have changed places."""
        self._limits = limits

    def proves(self, given: Sequence[Bool], claim: Bool) -> bool:
        """Whether a claim follows: only what z3 has refuted the negation of. Raises LimitReached."""
        if z3.is_true(z3.simplify(claim)):
            return True
        exceeded = self._limits.exceeded()
        if exceeded:
            raise LimitReached(exceeded, self._limits.said(exceeded), "proving")
        self.questions += 1
        solver = z3.Solver()
        solver.set("smt.mbqi", False)
        solver.set("smt.auto_config", False)
        solver.set("rlimit", _EFFORT)
        left = self._limits.seconds_left()
        if left is not None:
            solver.set("timeout", max(1, int(left * 1000)))
        asked = [*given, z3.Not(claim)]
        solver.add(*self.facts, *asked, *lemmas([*self.facts, *asked], self.points, self.swaps))
        return bool(solver.check() == z3.unsat)


Spot = tuple[Int, Counters]
"""A process, and the counters of the loops around a statement."""

P = z3.Int("P")
"""Any process."""


@dataclass(frozen=True, slots=True)
class GuessInputs:
    """The parts that a guess of a counter at `there` is made of: the own process and counters, and the partner in
    iteration 0."""

    there: Int
    here: Int
    own: Counters
    first: Int


Guess = Callable[[GuessInputs], Int]

_GUESSES: Final[tuple[Guess, ...]] = (
    lambda seen: seen.here - seen.first,
    lambda seen: seen.first - seen.here,
    lambda seen: divided("%", seen.here - seen.there + NPROCS, NPROCS),
    lambda seen: divided("%", seen.there - seen.here + NPROCS, NPROCS),
)

_DEEPEST: Final = 6
"""Messages that depend on one another through which a value is followed."""


@dataclass(frozen=True, slots=True)
class MatchedStatements:
    """A send and a receive of the text. `sent` maps each receive to its send, and `taken` each send to its receive."""

    send: int
    recv: int
    sent: Callable[[Int, Counters], Spot]
    taken: Callable[[Int, Counters], Spot]


def generic(event: ParametricEvent) -> Counters:
    """Return counters of which nothing is known."""
    return {each: z3.Int(f"i{each}") for each in event.loops}


def other_generic(event: ParametricEvent) -> Counters:
    """Return counters of which nothing is known, not even that they are the same as those of `generic`."""
    return {each: z3.Int(f"j{each}") for each in event.loops}


def happens(event: ParametricEvent | None, process: Int) -> Bool:
    """Return the condition under which an event of a process happens."""
    return z3.BoolVal(False) if event is None else z3.And(is_process(process), event.guard)


def precedes(first: ParametricEvent, at: Counters, second: ParametricEvent, then: Counters) -> Bool:
    """Return whether one event of a process is before another one of the same, in its program."""
    result = z3.BoolVal(first.number < second.number)
    common = [each for each, other in zip(first.loops, second.loops, strict=False) if each == other]
    for loop in reversed(common):
        result = z3.Or(at[loop] < then[loop], z3.And(at[loop] == then[loop], result))
    return result


def fits(send: ParametricEvent, recv: ParametricEvent) -> Bool:
    """Return whether a message has the tag that a receive asks for."""
    return z3.BoolVal(True) if recv.tag is None else recv.tag == send.tag


class Matching:
    """Looks for pairs of `function`, in which nothing is known of what is received."""

    def __init__(self, function: ParametricFunction, prover: Prover) -> None:
        self.function = function
        self.prover = prover
        events = function.run(P, {}).events.values()
        self.sends = [each for each in events if each.kind == "send" and self._possible(each)]
        self.recvs = [each for each in events if each.kind == "recv" and self._possible(each)]

    def _possible(self, event: ParametricEvent) -> bool:
        return not self.prover.proves([happens(event, P)], z3.BoolVal(False))

    def all_pairs(self) -> Iterator[tuple[MatchedStatements, ...]]:
        """Yield ways to put sends and receives in pairs, each of which is right but for order. Raises UnrecognisedError."""
        choices = []
        for recv in self.recvs:
            found = [pair for send in self.sends if send.port == recv.port for pair in self._pair(send, recv)]
            if not found:
                raise UnrecognisedError(f"line {recv.span.line}: no one send is proved to be what is received here")
            choices.append(found)
        for send in self.sends:
            if not any(pair.send == send.number for found in choices for pair in found):
                raise UnrecognisedError(f"line {send.span.line}: no one receive is proved to take what is sent here")
        for chosen in product(*choices):
            if len({each.send for each in chosen}) == len(chosen) == len(self.sends):
                yield chosen

    def _pair(self, send: ParametricEvent, recv: ParametricEvent) -> Iterator[MatchedStatements]:
        """Yield a send and a receive as a pair, if the maps between them are found."""
        at, given = generic(recv), [happens(recv, P)]
        for sent in self._maps(recv, send):
            q, there = sent(P, at)
            other = self.function.event(send.number, q, there)
            if other is None or not self.prover.proves(given, z3.And(happens(other, q), other.peer == P, fits(other, recv))):
                continue
            for taken in self._maps(send, recv):
                if self._inverse(send, recv, sent, taken):
                    yield MatchedStatements(send.number, recv.number, sent, taken)
                    return

    def _inverse(
        self,
        send: ParametricEvent,
        recv: ParametricEvent,
        sent: Callable[[Int, Counters], Spot],
        taken: Callable[[Int, Counters], Spot],
    ) -> bool:
        """Whether each send that happens is taken by the receive that a map says, and the maps are inverse."""
        at = generic(send)
        p, there = taken(P, at)
        other = self.function.event(recv.number, p, there)
        if other is None or not self.prover.proves([happens(send, P)], z3.And(happens(other, p), other.peer == P)):
            return False
        back, again = sent(p, there)
        if not self.prover.proves([happens(send, P)], z3.And(back == P, same_counters(again, at))):
            return False
        here = generic(recv)
        forth, once_more = taken(*sent(P, here))
        return self.prover.proves([happens(recv, P)], z3.And(forth == P, same_counters(once_more, here)))

    def _maps(self, here: ParametricEvent, there: ParametricEvent) -> Iterator[Callable[[Int, Counters], Spot]]:
        """Yield maps from an event to one of its partner that are worth trying."""
        guesses: list[Sequence[Guess]] = []
        for _ in there.loops:
            guesses.append((*map(_counter, here.loops), *_GUESSES))
        for chosen in product(*guesses):
            yield partial(self._mapped, here, there, chosen)

    def _mapped(
        self, here: ParametricEvent, there: ParametricEvent, guesses: Sequence[Guess], process: Int, at: Counters
    ) -> Spot:
        event = self.function.event(here.number, process, at)
        if event is None:
            return process, {each: z3.IntVal(0) for each in there.loops}
        partner = event.peer
        found = {}
        for loop, guess in zip(there.loops, guesses, strict=True):
            first = self.function.event(there.number, partner, {loop: z3.IntVal(0)})
            peer = z3.IntVal(0) if first is None else first.peer
            found[loop] = z3.simplify(guess(GuessInputs(partner, process, at, peer)))
        return partner, found

    def in_order(self, pairs: Sequence[MatchedStatements]) -> bool:
        """Whether no receive could take a message that is another's: those of one channel come in their order."""
        by_recv = {each.recv: each for each in pairs}
        for one, two in product(self.recvs, repeat=2):
            if one.port != two.port:
                continue
            at, later = generic(one), other_generic(two)
            second = self.function.event(two.number, P, later)
            if second is None:
                continue
            given = [happens(one, P), happens(second, P), one.peer == second.peer, precedes(one, at, second, later)]
            q, sent_at = by_recv[one.number].sent(P, at)
            q2, sent_later = by_recv[two.number].sent(P, later)
            first_send = self.function.event(by_recv[one.number].send, q, sent_at)
            second_send = self.function.event(by_recv[two.number].send, q2, sent_later)
            if first_send is None or second_send is None:
                return False
            kept = precedes(first_send, sent_at, second_send, sent_later)
            if not self.prover.proves(given, z3.Or(kept, z3.Not(fits(second_send, one)))):
                return False
        return True


def same_counters(one: Counters, two: Counters) -> Bool:
    """Return whether counters are the same."""
    return z3.And(*(one[each] == two[each] for each in two), z3.BoolVal(True))


def _counter(loop: int) -> Guess:
    return lambda seen: seen.own[loop]


class ReceivedValues:
    """The values that receives get: those that were sent, as the pairs say."""

    def __init__(self, function: ParametricFunction, pairs: Sequence[MatchedStatements]) -> None:
        self._function = function
        self._pairs = {each.recv: each for each in pairs}
        self._depth = 0

    def __call__(self, number: int, process: Int, counters: Counters) -> TermValue:
        pair = self._pairs.get(number)
        if pair is None:  # it never happens
            return ValueTerm(unknown(f"received {number}", process, counters))
        return LazyValue(partial(self._sent, pair, process, counters))

    def _sent(self, pair: MatchedStatements, process: Int, counters: Counters) -> TermValue:
        if self._depth > _DEEPEST:
            raise UnrecognisedError("what is sent depends on too much that was received before")
        self._depth += 1
        try:
            send = self._function.event(pair.send, *pair.sent(process, counters))
        finally:
            self._depth -= 1
        if send is None or send.value is None:
            return ValueTerm(unknown(f"received {pair.recv}", process, counters))
        return send.value
