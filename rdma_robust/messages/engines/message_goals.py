"""Goals of the solver, as literals to assume: violations, complete executions, deadlocks, leaks, bounds of loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import (
    AssertEvent,
    FaultEvent,
    ReceiveEvent,
    SendEvent,
    WaitedBeside,
    WaitEvent,
    pair_mismatches,
)
from rdma_robust.messages.engines.match_clauses import MatchClauses
from rdma_robust.messages.engines.solved_runs import Place


class Goals:
    """The goals of one formula; each literal stands for its goal only where it is assumed."""

    def __init__(self, formula: MatchClauses) -> None:
        self.formula, self.clauses = formula, formula.clauses
        self.unrolled, self.program = formula.unrolled, formula.unrolled.program
        self._rest: int | None = None
        self._complete: int | None = None

    def one_of(self, literals: Iterable[int]) -> int:
        """Return a literal to assume: one of these is true."""
        goal = self.clauses.new()
        self.clauses.clause(-goal, *literals)
        return goal

    def over(self, goal: int) -> None:
        """Take a goal back."""
        self.clauses.add([-goal])

    def violations(self) -> dict[Place, int]:
        """Return for each place whether something goes wrong there."""
        found: dict[Place, list[int]] = {}
        for events in self.unrolled.events:
            for event in events:
                if isinstance(event, AssertEvent) and event.condition is not self.unrolled.symbols.true:
                    wrong = self.clauses.both(self.formula.done(event), -self.formula.terms.truth(event.condition))
                    found.setdefault((event.span, "assert"), []).append(wrong)
                elif isinstance(event, FaultEvent):
                    found.setdefault((event.span, event.kind), []).append(self.formula.done(event))
        for receive in self.unrolled.receives:
            for send, match in self.formula.senders(receive.number) if receive.is_checked else ():
                for kind, unlike in pair_mismatches(self.unrolled.symbols, receive, send):
                    literal = self.clauses.both(match, self.formula.terms.truth(unlike))
                    found.setdefault((receive.span, kind), []).append(literal)
        return {place: self.clauses.any_of(literals) for place, literals in found.items()}

    def beyond(self) -> int:
        """Return whether a process goes beyond the bound of loops."""
        return self.clauses.any_of([self.formula.done(event) for event in self.unrolled.cuts])

    def complete(self) -> int:
        """Return what to assume for complete executions: all processes ended, or are daemons that wait for receives."""
        if self._complete is None:
            self._complete = goal = self.clauses.new()
            self.clauses.clause(-goal, self.at_rest())
            for process, end in enumerate(self.formula.ends_reached):
                if not self.program.processes[process].daemon:
                    self.clauses.clause(-goal, end)
            for wait, passed in self._waits():
                before, sends = self.formula.reached[wait.process][wait.position], self._holds_sends(wait)
                self.clauses.clause(-goal, -before, -self.formula.terms.truth(wait.guard), -sends, passed)
        return self._complete

    def deadlock(self) -> int:
        """Return what to assume for deadlocks: at rest, and somebody waits who is no daemon waiting for a receive."""
        stuck = [-end for process, end in enumerate(self.formula.ends_reached) if not self.program.processes[process].daemon]
        for wait, passed in self._waits():
            if self.program.processes[wait.process].daemon:
                stuck.append(self.clauses.all_of((self.formula.done(wait), -passed, self._holds_sends(wait))))
        goal = self.one_of(stuck)
        self.clauses.clause(-goal, self.at_rest())
        return goal

    def leak(self) -> int:
        """Return what to assume for complete executions with operations that are not matched."""
        left = [self.unmatched(send) for send in self.unrolled.sends]
        left += [self.unmatched(each) for each in self.unrolled.receives if not self.program.processes[each.process].daemon]
        goal = self.one_of(left)
        self.clauses.clause(-goal, self.complete())
        return goal

    def unmatched(self, operation: SendEvent | ReceiveEvent) -> int:
        """Return whether an operation is issued and not matched."""
        matched = self.formula.matched_send if isinstance(operation, SendEvent) else self.formula.matched_receive
        return self.clauses.both(self.formula.done(operation), -matched[operation.number])

    def at_rest(self) -> int:
        """Return what to assume for states in which no rule applies and no process has stopped."""
        if self._rest is None:
            self._rest = goal = self.clauses.new()
            for process, end in enumerate(self.formula.ends_reached):
                self.clauses.clause(-goal, -end, self.formula.terms.truth(self.unrolled.ends[process]))
            for wait, passed in self._waits():
                self._goes_on(goal, wait, passed)
            self._nothing_fits(goal)
        return self._rest

    def _waits(self) -> list[tuple[WaitEvent, int]]:
        found = []
        for (process, position), passed in self.formula.passed.items():
            event = self.unrolled.events[process][position]
            if isinstance(event, WaitEvent):
                found.append((event, passed))
        return found

    def _holds_sends(self, wait: WaitEvent) -> int:
        return self.formula.terms.truth(wait.holds_sends(self.unrolled.symbols))

    def _goes_on(self, goal: int, wait: WaitEvent, passed: int) -> None:
        """Who gets to a wait that is open passes it; and so it does if it could complete another request."""
        formula = self.formula
        before, guard = formula.reached[wait.process][wait.position], formula.terms.truth(wait.guard)
        self.clauses.clause(-goal, -before, guard, passed)
        passing: list[WaitEvent | WaitedBeside] = [wait, *wait.beside]
        for each in passing:
            is_open = self.clauses.true
            if self.unrolled.opened(each, formula.buffer) != "infinite" and not wait.tests:
                matched = formula.matched_receive if each.kind == "receive" else formula.matched_send
                is_open = matched[each.operation]
            here = self.clauses.true if each is wait else self.clauses.both(guard, formula.terms.truth(each.guard))
            self.clauses.clause(-goal, -before, -here, -is_open, passed)

    def _nothing_fits(self, goal: int) -> None:
        """No receive accepts a send if both are issued and not matched. Receives with one pattern are alike."""
        for block in self.formula.blocks:
            pairs = block.pairs
            patterns: dict[tuple[int, int], list[int]] = {}
            for row, receive in enumerate(pairs.receives):
                key = [-1 if each is None else each.number for each in (receive.source, receive.tag)]
                patterns.setdefault((key[0], key[1]), []).append(row)
            for rows in patterns.values():
                receives = self.clauses.any_of([self.unmatched(pairs.receives[row]) for row in rows])
                accepted: dict[int, tuple[Symbol, list[int]]] = {}
                for column in np.flatnonzero(pairs.rule[rows[0]] != 1).tolist():
                    fits = self.formula.overtaking.fits(pairs, rows[0], column)
                    accepted.setdefault(fits.number, (fits, []))[1].append(column)
                for fits, columns in accepted.values():
                    sends = self.clauses.any_of([self.unmatched(pairs.sends[column]) for column in columns])
                    self.clauses.clause(-goal, -receives, -sends, -self.formula.terms.truth(fits))


def dynamic_names(formula: MatchClauses, operations: Sequence[SendEvent | ReceiveEvent]) -> dict[int, dict[int, int]] | None:
    """Return for each operation the literals of its ranks, None if there are too many of one."""
    found = {}
    for each in operations:
        ranks = formula.terms.numbers(each.rank)
        if ranks is None:
            return None
        found[each.number] = dict(ranks)
    return found
