"""What z3 is asked: "Queries" of docs/theory-messages.md as formulas over clocks and matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs
from rdma_robust.messages.encoding.unrolled import (
    AssertEvent,
    CollectiveEvent,
    FaultEvent,
    ReceiveEvent,
    SendEvent,
    WaitEvent,
)
from rdma_robust.messages.engines.clock_formula import ClockFormula
from rdma_robust.messages.engines.run_violations import Place


class SmtGoals:
    """The goals of one formula."""

    def __init__(self, formula: ClockFormula) -> None:
        self._formula, self._z3, self._unrolled = formula, formula.z3, formula.unrolled
        self._daemons = [each.daemon for each in formula.unrolled.program.processes]
        self._rest: Any = None

    def violations(self) -> dict[Place, Any]:
        """P: return for each place whether something goes wrong there."""
        found: dict[Place, list[Any]] = {}
        for events in self._unrolled.events:
            for event in events:
                if isinstance(event, AssertEvent):
                    wrong = self._z3.Not(self._formula.terms.truth(event.condition))
                    found.setdefault((event.span, "assert"), []).append(self._z3.And(self._formula.done(event), wrong))
                elif isinstance(event, FaultEvent):
                    found.setdefault((event.span, event.kind), []).append(self._formula.done(event))
        return {place: self._z3.Or(wrong) for place, wrong in found.items()}

    def beyond(self) -> Any:
        """Return whether a process goes beyond the bound of loops."""
        return self._z3.Or([self._formula.done(event) for event in self._unrolled.cuts])

    def complete(self) -> Any:
        """Return whether all processes have ended, or are daemons that wait for receives, and no rule applies."""
        ended = [end for process, end in enumerate(self._formula.ends_reached) if not self._daemons[process]]
        waiting = [self._waits_at(wait, passed) for wait, passed in self._waits() if wait.kind == "send"]
        return self._z3.And(self.at_rest(), *ended, *[self._z3.Not(each) for each in waiting])

    def deadlock(self) -> Any:
        """Return whether no rule applies and somebody waits who is no daemon waiting for a receive."""
        stuck = [
            self._waits_at(wait, passed)
            for wait, passed in self._waits()
            if wait.kind == "send" or not self._daemons[wait.process]
        ]
        return self._z3.And(self.at_rest(), self._z3.Or(stuck))

    def leak(self) -> Any:
        """Return whether an execution is complete and leaves operations unmatched, other than receives of daemons."""
        left = [self._unmatched(send) for send in self._unrolled.sends]
        left += [self._unmatched(each) for each in self._unrolled.receives if not self._daemons[each.process]]
        return self._z3.And(self.complete(), self._z3.Or(left))

    def at_rest(self) -> Any:
        """Return whether no rule applies and no process has stopped: each has ended, or is at a wait that is not open."""
        if self._rest is None:
            z3, formula = self._z3, self._formula
            said = [
                z3.Implies(end, formula.terms.truth(self._unrolled.ends[process]))
                for process, end in enumerate(formula.ends_reached)
            ]
            for wait, passed in self._waits():
                matched = formula.matched_receive if wait.kind == "receive" else formula.matched_send
                held_up = z3.And(formula.terms.truth(wait.guard), z3.Not(matched[wait.operation]))
                said.append(z3.Implies(self._waits_at(wait, passed), held_up))
            said += [each for pairs in formula.candidates.endpoints for each in self._nothing_fits(pairs)]
            self._rest = formula.solver.named("at rest", z3.And(said))
        return self._rest

    def _waits(self) -> Iterator[tuple[WaitEvent, Any]]:
        for (process, position), passed in self._formula.passed.items():
            event = self._unrolled.events[process][position]
            if isinstance(event, WaitEvent):
                yield event, passed

    def _waits_at(self, wait: WaitEvent, passed: Any) -> Any:
        return self._z3.And(self._formula.reached[wait.process][wait.position], self._z3.Not(passed))

    def _unmatched(self, operation: SendEvent | ReceiveEvent) -> Any:
        formula = self._formula
        matched = formula.matched_send if isinstance(operation, SendEvent) else formula.matched_receive
        return self._z3.And(formula.done(operation), self._z3.Not(matched[operation.number]))

    def _nothing_fits(self, pairs: EndpointPairs) -> Iterator[Any]:
        """Yield that no receive accepts a send if both are issued and not matched."""
        z3, formula = self._z3, self._formula
        receives = [formula.solver.named("unmatched", self._unmatched(each)) for each in pairs.receives]
        sends = [formula.solver.named("unmatched", self._unmatched(each)) for each in pairs.sends]
        if pairs.sure.all():
            yield z3.Or(z3.Not(z3.Or(receives)), z3.Not(z3.Or(sends)))
            return
        for row, column in zip(*np.nonzero(pairs.rule != 1), strict=True):
            accepted = formula.accepted(pairs, int(row), int(column))
            yield z3.Not(z3.And(receives[row], sends[column], accepted))

    def differ(self, one: int, other: int) -> Any:
        """Return whether two processes call different library procedures, as far as they get, or one ends with fewer."""
        z3, terms, calls = self._z3, self._formula.terms, [self._calls(each) for each in (one, other)]
        ways = []
        for a in calls[0]:
            for b in calls[1]:
                if not self._same_name(a, b):
                    unlike = z3.BoolVal(True)
                elif a.root is None or b.root is None:
                    continue
                else:
                    unlike = terms.number(a.root) != terms.number(b.root)
                together = terms.number(a.rank) == terms.number(b.rank)
                ways.append(z3.And(self._formula.done(a), self._formula.done(b), together, unlike))
        for caller, silent, end in ((calls[0], calls[1], other), (calls[1], calls[0], one)):
            ended = z3.And(self._formula.ends_reached[end], terms.truth(self._unrolled.ends[end]))
            made = z3.Sum([z3.If(self._formula.done(each), 1, 0) for each in silent]) if silent else z3.IntVal(0)
            ways += [z3.And(ended, self._formula.done(each), terms.number(each.rank) >= made) for each in caller]
        return z3.Or(ways)

    def _same_name(self, a: CollectiveEvent, b: CollectiveEvent) -> bool:
        return a.name == b.name and (a.root is None) == (b.root is None)

    def _calls(self, process: int) -> Sequence[CollectiveEvent]:
        return [each for each in self._unrolled.events[process] if isinstance(each, CollectiveEvent)]
