"""The engine `smt`: the constraints with their clocks, by z3; for arithmetic on what is received, and to compare with.

Definition: the table and "Questions" of docs/theory-messages.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rdma_robust.errors import LimitReached
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs
from rdma_robust.messages.encoding.match_candidates import candidate_pairs
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import (
    AssertEvent,
    ChoiceEvent,
    CollectiveEvent,
    Event,
    FaultEvent,
    LookEvent,
    NotEncodedError,
    ReadyEvent,
    ReceiveEvent,
    SendEvent,
    WaitedBeside,
    WaitEvent,
    pair_mismatches,
)
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.clock_formula import ClockFormula
from rdma_robust.messages.engines.smt_solver import SmtSolver, SmtUndecidedError
from rdma_robust.messages.engines.solved_runs import Place, mismatches_of
from rdma_robust.messages.engines.solver_answers import PartialAnswer, ask_all, count_matchings
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    MatchedPair,
    Matching,
    Matchings,
    MessageQuestions,
    Mismatch,
    OperationId,
)


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
        for receive in self._unrolled.receives:
            for send in self._formula.candidates.senders(receive.number) if receive.is_checked else ():
                match = self._formula.matches[receive.number, send.number]
                for kind, unlike in pair_mismatches(self._unrolled.symbols, receive, send):
                    both = self._z3.And(match, self._formula.terms.truth(unlike))
                    found.setdefault((receive.span, kind), []).append(both)
        return {place: self._z3.Or(wrong) for place, wrong in found.items()}

    def beyond(self) -> Any:
        """Return whether a process goes beyond the bound of loops."""
        return self._z3.Or([self._formula.done(event) for event in self._unrolled.cuts])

    def complete(self) -> Any:
        """Return whether all processes have ended, or are daemons that wait for receives, and no rule applies."""
        ended = [end for process, end in enumerate(self._formula.ends_reached) if not self._daemons[process]]
        waiting = [self._z3.And(self._waits_at(*each), self._holds_sends(each[0])) for each in self._waits()]
        return self._z3.And(self.at_rest(), *ended, *[self._z3.Not(each) for each in waiting])

    def deadlock(self) -> Any:
        """Return whether no rule applies and somebody waits who is no daemon waiting for a receive."""
        stuck = [self._waits_at(look, passed) for look, passed in self._held_looks() if not self._daemons[look.process]]
        stuck += [
            self._z3.And(self._waits_at(wait, passed), *([self._holds_sends(wait)] if self._daemons[wait.process] else []))
            for wait, passed in self._waits()
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
                lacks = [z3.Implies(formula.terms.truth(each.guard), self._lacks(each)) for each in wait.beside]
                held_up = z3.And(formula.terms.truth(wait.guard), self._lacks(wait), not wait.tests, *lacks)
                said.append(z3.Implies(self._waits_at(wait, passed), held_up))
            for look, passed in self._held_looks():
                there = [
                    z3.And(self._unmatched(each), formula.looks.accepts(look, each)) for each in formula.looks.messages(look)
                ]
                held_up = z3.And(formula.terms.truth(look.guard), z3.Not(z3.Or(there)))
                said.append(z3.Implies(self._waits_at(look, passed), held_up))
            said += [each for pairs in formula.candidates.endpoints for each in self._nothing_fits(pairs)]
            self._rest = formula.solver.named("at rest", z3.And(said))
        return self._rest

    def _lacks(self, wait: WaitEvent | WaitedBeside) -> Any:
        """Return whether only a match, that has not been made, completes an operation."""
        if self._unrolled.opened(wait, self._formula.buffer) == "infinite":
            return self._z3.BoolVal(False)
        matched = self._formula.matched_receive if wait.kind == "receive" else self._formula.matched_send
        return self._z3.Not(matched[wait.operation])

    def _holds_sends(self, wait: WaitEvent) -> Any:
        return self._formula.terms.truth(wait.holds_sends(self._unrolled.symbols))

    def _waits(self) -> Iterator[tuple[WaitEvent, Any]]:
        for (process, position), passed in self._formula.passed.items():
            event = self._unrolled.events[process][position]
            if isinstance(event, WaitEvent):
                yield event, passed

    def _held_looks(self) -> Iterator[tuple[LookEvent, Any]]:
        """Yield the looks that a process may have to wait at. Where no match is left it has to if they accept nothing."""
        for (process, position), passed in self._formula.passed.items():
            event = self._unrolled.events[process][position]
            if isinstance(event, LookEvent):
                yield event, passed

    def _waits_at(self, wait: WaitEvent | LookEvent, passed: Any) -> Any:
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


_TOGETHER: Final = 64
"""Pairs that one question is about."""


def by_smt(program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits) -> BufferAnswer:
    """Answer all questions about a program under one buffer semantics.

    `unknown` where a limit is reached, where z3 does not know, where a loop can go beyond its bound, and where the program
    cannot be encoded. Raises UsageError where z3 is not installed.
    """
    found, solver = PartialAnswer(), SmtSolver(limits)
    try:
        left = candidate_pairs(unroll(program, questions.loop_bound, limits, with_looks=True), buffer, limits)
        found.work["pairs"] = left.count()
        ask_all(program, buffer, questions, SmtQuestions(program, ClockFormula(left, solver)), found)
    except LimitReached as reached:
        found.reasons.append(str(reached))
    except SmtUndecidedError as unknown:
        found.reasons.append(f"z3 does not know: {unknown}")
    except NotEncodedError as cannot:
        found.reasons.append(f"{cannot}: not encoded")
    found.work |= {"formulas": solver.added, "calls": solver.calls}
    return found.answer(buffer, "smt", questions)


@dataclass(frozen=True, slots=True, eq=False)
class SmtRun:
    """An execution that z3 has found."""

    formula: ClockFormula
    model: Any

    def true(self, goal: Any) -> bool:
        if goal is True:
            return True
        return bool(self.formula.z3.is_true(self._worth(goal)))

    def _worth(self, term: Any) -> Any:
        return self.model.eval(term, model_completion=True)

    def number(self, symbol: Symbol) -> int:
        """Return what a term is worth."""
        return symbol.value if symbol.constant else int(self._worth(self.formula.terms.number(symbol)).as_long())

    def matched(self) -> list[tuple[int, int]]:
        """Return the pairs by their numbers, in the order of their times."""
        found = [pair for pair, match in self.formula.matches.items() if self.true(match)]
        return sorted(found, key=lambda pair: int(self._worth(self.formula.receive_time[pair[0]]).as_long()))

    def named(self, receive: int, send: int) -> MatchedPair:
        a, b = self.formula.unrolled.receives[receive], self.formula.unrolled.sends[send]
        return MatchedPair(OperationId(a.process, self.number(a.rank)), OperationId(b.process, self.number(b.rank)))

    def pairs(self) -> tuple[MatchedPair, ...]:
        return tuple(self.named(*pair) for pair in self.matched())

    def order(self) -> tuple[MatchedPair | int, ...]:
        """Return the matches, and the processes whose looks, and steps that others see, come between them."""
        seen: list[tuple[int, int, MatchedPair | int]] = [
            (int(self._worth(self.formula.receive_time[receive]).as_long()), 2, self.named(receive, send))
            for receive, send in self.matched()
        ]
        expecting = self.formula.unrolled.program.expecting
        for events in self.formula.unrolled.events:
            for event in events:
                if isinstance(event, LookEvent | ReadyEvent) or (
                    isinstance(event, ReceiveEvent) and event.port in expecting
                ):
                    passed = self.formula.passed.get((event.process, event.position), True)
                    if self.true(passed) and self._happens(event):
                        time = int(self._worth(self.formula.clock(event)).as_long())
                        seen.append((time, int(isinstance(event, ReceiveEvent)), event.process))
        return tuple([each for *_, each in sorted(seen, key=lambda each: each[:2])])

    def choices(self) -> tuple[tuple[int, ...], ...]:
        leaf = self.formula.unrolled.symbols.leaf
        found = []
        for events in self.formula.unrolled.events:
            made = [each for each in events if isinstance(each, ChoiceEvent) and self._happens(each)]
            found.append(tuple([self.number(leaf("choice", each.number)) if each.options > 1 else 0 for each in made]))
        return tuple(found)

    def granted(self) -> frozenset[OperationId]:
        found = []
        for (process, position), passed in self.formula.passed.items():
            event = self.formula.unrolled.events[process][position]
            if isinstance(event, WaitEvent) and event.kind == "send" and self.true(passed) and self._happens(event):
                send = self.formula.unrolled.sends[event.operation]
                found.append(OperationId(send.process, self.number(send.rank)))
        return frozenset(found)

    def _happens(self, event: Event) -> bool:
        return self.true(self.formula.done(event))


class SmtQuestions:
    """Questions for z3, in the words of solver_answers.Solver."""

    def __init__(self, program: MessageProgram, formula: ClockFormula) -> None:
        self._program, self._formula, self._z3 = program, formula, formula.z3
        self._goals, self._unrolled = SmtGoals(formula), formula.unrolled

    def _find(self, *formulas: Any) -> SmtRun | None:
        goal = self._formula.solver.truth("goal")
        for each in formulas:
            self._formula.solver.add(self._z3.Implies(goal, each))
        model = self._formula.solver.model(goal)
        self._formula.solver.add(self._z3.Not(goal))
        return None if model is None else SmtRun(self._formula, model)

    def violations(self) -> dict[Place, Any]:
        return self._goals.violations()

    def one_of(self, goals: Collection[Any]) -> SmtRun | None:
        return self._find(self._z3.Or(list(goals)))

    def beyond(self) -> bool:
        return bool(self._unrolled.cuts) and self._find(self._goals.beyond()) is not None

    def deadlock(self) -> SmtRun | None:
        return self._find(self._goals.deadlock())

    def leak(self) -> SmtRun | None:
        return self._find(self._goals.leak())

    def mismatches(self) -> Iterator[Mismatch]:
        differ = self._goals.differ
        return mismatches_of(self._program, self._formula.buffer, lambda one, other: self._find(differ(one, other)))

    def feasible(self, found: set[MatchedPair]) -> bool:
        """Add the feasible pairs to `found`: ask for pairs with a name that is in no run so far, until there is none."""
        todo = list(self._formula.matches)
        for first in range(0, len(todo), _TOGETHER):
            run: SmtRun | None = None
            while new := [each for pair in todo[first : first + _TOGETHER] if (each := self._new(*pair, found)) is not None]:
                run = self._find(self._z3.Or(new))
                if run is None:
                    break
                found.update(run.pairs())
        return True

    def _new(self, receive: int, send: int, found: set[MatchedPair]) -> Any | None:
        """Return whether a pair happens by names that are not in `found`; None if it has these names only."""
        a, b = self._unrolled.receives[receive], self._unrolled.sends[send]
        match, named = self._formula.matches[receive, send], self._only_name(receive, send)
        if named is not None:
            return None if named in found else match
        known = [each for each in found if (each.receive.process, each.send.process) == (a.process, b.process)]
        return self._z3.And(match, *[self._z3.Not(self._is(each, receive, send)) for each in known])

    def _only_name(self, receive: int, send: int) -> MatchedPair | None:
        """Return the names of a pair if they are the same in every run."""
        a, b = self._unrolled.receives[receive], self._unrolled.sends[send]
        if not (a.rank.constant and b.rank.constant):
            return None
        return MatchedPair(OperationId(a.process, a.rank.value), OperationId(b.process, b.rank.value))

    def _is(self, pair: MatchedPair, receive: int, send: int) -> Any:
        """Return whether operations have the names of a pair."""
        ranks = self._unrolled.receives[receive].rank, self._unrolled.sends[send].rank
        number = self._formula.terms.number
        return self._z3.And(number(ranks[0]) == pair.receive.nth, number(ranks[1]) == pair.send.nth)

    def matchings(self, limit: int, listed: int, *, exact: bool) -> Matchings:
        """Count the matchings of complete executions up to a limit, each once."""
        return count_matchings(self._complete_matchings(), limit, listed, exact=exact)

    def _complete_matchings(self) -> Iterator[Matching]:
        complete = self._formula.solver.named("complete", self._goals.complete())
        while (run := self._find(complete)) is not None:
            matching = frozenset(run.pairs())
            yield matching
            self._formula.solver.add(self._z3.Implies(complete, self._other(matching)))

    def _other(self, matching: Matching) -> Any:
        """Return whether some pair happens that is not in a matching, or one of it does not."""
        z3 = self._z3
        differences: list[Any] = []
        inside: dict[MatchedPair, list[Any]] = {pair: [] for pair in matching}
        for (receive, send), match in self._formula.matches.items():
            only = self._only_name(receive, send)
            if only is not None:
                inside.get(only, differences).append(match)
                continue
            a, b = self._unrolled.receives[receive], self._unrolled.sends[send]
            alike = [pair for pair in matching if (pair.receive.process, pair.send.process) == (a.process, b.process)]
            named = [z3.And(match, self._is(pair, receive, send)) for pair in alike]
            for pair, same in zip(alike, named, strict=True):
                inside[pair].append(same)
            differences.append(z3.And(match, z3.Not(z3.Or(named))))
        return z3.Or(*differences, *[z3.Not(z3.Or(same)) for same in inside.values()])
