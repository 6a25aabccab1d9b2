"""Calls of functions with contracts: what they require is proved, and what they ensure is known of every process then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rdma_robust.contracts.any_procs.any_events import Counters, ParametricEvent, assigned_globals
from rdma_robust.contracts.any_procs.any_execution import ParametricFunction
from rdma_robust.contracts.any_procs.any_matching import MatchedStatements, P, Prover, generic, happens
from rdma_robust.contracts.any_procs.any_specs import (
    Level,
    Moment,
    MomentReader,
    ProofGoal,
    admitted_input,
    allowed,
    is_process,
    kept,
)
from rdma_robust.contracts.any_procs.any_values import Bool, Int, TermValue, UnrecognisedError, equal, in_range
from rdma_robust.contracts.language.contract_program import Contract, StateClause
from rdma_robust.contracts.language.spec_terms import Apply, OldValue, Spec
from rdma_robust.guarded_z3 import z3

Proved = Callable[[str], tuple[Level, int | None]]
"""At which inputs a function is proved, and up to which number of processes. Raises UnrecognisedError if it is not."""

Q = z3.Int("Q")
"""Any other process."""


def whole_clause(clause: StateClause) -> Spec:
    """Return a clause with what its behavior assumes."""
    return clause.condition if clause.assumes is None else Apply("==>", (OldValue(clause.assumes), clause.condition))


def least(one: int | None, two: int | None) -> int | None:
    """Return the smaller one of two limits."""
    return min((each for each in (one, two) if each is not None), default=None)


class Calls:
    """The calls in a function, in the order of its text. `proved` says what is known of callees."""

    def __init__(self, function: ParametricFunction, prover: Prover, proved: Proved, globals_: tuple[str, ...]) -> None:
        self.function = function
        self.prover = prover
        self._proved = proved
        self._globals = globals_
        self.events = sorted(self._found(P), key=lambda each: each.number)
        self.collective = [each for each in self.events if self.contract(each).kind == "collective"]

    def _found(self, process: Int) -> Iterator[ParametricEvent]:
        return (each for each in self.function.run(process, {}).events.values() if each.kind == "call")

    @staticmethod
    def contract(event: ParametricEvent) -> Contract:
        """Return what is called."""
        assert event.callee is not None
        return event.callee

    def establish(self, pairs: Sequence[MatchedStatements]) -> int | None:
        """Prove that calls are right, and add what they ensure to the facts; return for how many processes at most.

        Raises UnrecognisedError with what is not proved.
        """
        self._apart(pairs)
        most = None
        for event in self.events:
            level, limit = self._proved(self.contract(event).name)
            most = least(most, limit)
            if event in self.collective:
                self._by_all(event)
            self._required(event, level)
            self.prover.facts += self._ensured(event)
        return most

    def _apart(self, pairs: Sequence[MatchedStatements]) -> None:
        """See to it that no message is under way as a collective function is called."""
        events = self.function.run(P, {}).events
        repeated = {loop for each in self.collective for loop in each.loops}
        for pair in pairs:
            send, recv = events[pair.send], events[pair.recv]
            if send.segment != recv.segment or repeated & {*send.loops, *recv.loops}:
                raise UnrecognisedError(f"line {send.span.line}: a message across a collective call")
        for call in self.collective:
            name = self.contract(call).name
            if any(each.kind == "quiet from" for each in self.contract(call).paths):
                raise UnrecognisedError(f"line {call.span.line}: {name} requires others to be quiet")
            if call.loops and sum(bool({*each.loops} & {*call.loops}) for each in self.collective) > 1:
                raise UnrecognisedError(f"line {call.span.line}: more than one collective call in a loop")

    def _by_all(self, event: ParametricEvent) -> None:
        """Prove that all processes make a call, as often and in the same order."""
        ranged = [in_range(at, *span) for at, span in zip(generic(event).values(), event.ranges, strict=True)]
        same = [is_process(P)]
        other = self.function.run(Q, {}).events.get(event.number)
        if other is None or not self.prover.proves([*same, *ranged], event.guard):
            raise UnrecognisedError(f"line {event.span.line}: not proved that all processes call this")
        for own, others in zip(event.ranges, other.ranges, strict=True):
            claim = z3.And(own[0] == others[0], own[1] == others[1])
            if not self.prover.proves([*same, is_process(Q)], claim):
                raise UnrecognisedError(f"line {event.span.line}: not proved that all processes call this as often")

    def moment(self, event: ParametricEvent, at: Counters) -> Moment:
        """Return what processes give a call and get from it, in one iteration."""

        def found(process: Int) -> ParametricEvent:
            there = self.function.event(event.number, process, at)
            if there is None:
                raise UnrecognisedError(f"line {event.span.line}: not proved that all processes call this")
            return there

        return Moment(
            lambda process: found(process).arguments,
            lambda process: found(process).before,
            lambda process: found(process).after,
            lambda process: found(process).result,
        )

    def _required(self, event: ParametricEvent, level: Level) -> None:
        callee, at = self.contract(event), generic(event)
        entry = self.moment(event, at).entry()
        given = [happens(event, P)]
        for clause in callee.clauses:
            if clause.kind == "requires":
                self._show(given, MomentReader(entry).goals(whole_clause(clause), P), event, "what it requires")
        inputs: dict[str, TermValue] = {**event.before, **event.arguments}
        for name in (*callee.parameters, *self._globals):
            claim = admitted_input(callee, name, inputs[name], P, level)
            self._show(given, [ProofGoal((), claim)], event, f"that {name} is what it was proved for")

    def _show(self, given: list[Bool], goals: Sequence[ProofGoal], event: ParametricEvent, what: str) -> None:
        for goal in goals:
            if not self.prover.proves([*given, *goal.given], goal.claim):
                raise UnrecognisedError(f"line {event.span.line}: not proved of {self.contract(event).name}: {what}")

    def _ensured(self, event: ParametricEvent) -> Iterator[Bool]:
        """Yield what is known after a call of every process, in every iteration."""
        callee, at = self.contract(event), generic(event)
        q = z3.FreshInt("q")
        there = self.function.event(event.number, q, at)
        if there is None:
            return
        moment = self.moment(event, at)
        known = [
            MomentReader(moment).assumed(whole_clause(clause), q) for clause in callee.clauses if clause.kind == "ensures"
        ]
        known += [self._kept(name, callee, moment, q) for name in assigned_globals(callee, self._globals)]
        for each in known:
            yield z3.ForAll([q, *at.values()], z3.Implies(happens(there, q), each))

    @staticmethod
    def _kept(name: str, callee: Contract, moment: Moment, process: Int) -> Bool:
        """Return what is known of a global that a call may change."""
        if callee.frames is None:
            return z3.BoolVal(True)
        index = z3.FreshInt("k")
        before, now = moment.before(process)[name], moment.now(process)[name]
        _, whole, cell = allowed(name, callee.frames, moment, process, index)
        inside_ = in_range(index, 0, before.length() - 1)
        cells = z3.ForAll([index], z3.Implies(z3.And(inside_, z3.Not(cell)), equal(before.cell(index), now.cell(index))))
        return z3.Or(whole, equal(before, now), z3.And(kept(before, now), cells))
