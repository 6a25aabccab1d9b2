"""The engine `smt`: the constraints with their clocks, by z3; for arithmetic on what is received, and to compare with.

Definition: the table and "Questions" of docs/theory-messages.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from rdma_robust.errors import LimitReached
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.match_candidates import candidates
from rdma_robust.messages.encoding.message_shapes import unroll
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import ChoiceEvent, Event, NotEncodedError, WaitEvent
from rdma_robust.messages.engines.clock_formula import ClockFormula
from rdma_robust.messages.engines.run_violations import Place
from rdma_robust.messages.engines.smt_goals import SmtGoals
from rdma_robust.messages.engines.smt_solver import SmtSolver, UndecidedError
from rdma_robust.messages.engines.solved_runs import decided
from rdma_robust.messages.engines.solver_answers import Found, ask
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.state_search import first_difference
from rdma_robust.messages.message_answers import BufferAnswer, Issued, Matching, Matchings, Mismatch, Pair, Questions

_TOGETHER: Final = 64
"""Pairs that one question is about."""


def by_smt(program: MessageProgram, buffer: Buffer, questions: Questions, limits: Limits) -> BufferAnswer:
    """Answer all questions about a program under one buffer semantics.

    `unknown` where a limit is reached, where z3 does not know, where a loop can go beyond its bound, and where the program
    cannot be encoded. Raises UsageError where z3 is not installed.
    """
    found, solver = Found(), SmtSolver(limits)
    try:
        left = candidates(unroll(program, questions.loop_bound, limits), buffer, limits)
        found.work["pairs"] = left.count()
        ask(program, buffer, questions, SmtQuestions(program, ClockFormula(left, solver)), found)
    except LimitReached as reached:
        found.reasons.append(str(reached))
    except UndecidedError as unknown:
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

    def named(self, receive: int, send: int) -> Pair:
        a, b = self.formula.unrolled.receives[receive], self.formula.unrolled.sends[send]
        return Pair(Issued(a.process, self.number(a.rank)), Issued(b.process, self.number(b.rank)))

    def pairs(self) -> tuple[Pair, ...]:
        return tuple(self.named(*pair) for pair in self.matched())

    def choices(self) -> tuple[tuple[int, ...], ...]:
        leaf = self.formula.unrolled.symbols.leaf
        found = []
        for events in self.formula.unrolled.events:
            made = [each for each in events if isinstance(each, ChoiceEvent) and self._happens(each)]
            found.append(tuple([self.number(leaf("choice", each.number)) if each.options > 1 else 0 for each in made]))
        return tuple(found)

    def granted(self) -> frozenset[Issued]:
        found = []
        for (process, position), passed in self.formula.passed.items():
            event = self.formula.unrolled.events[process][position]
            if isinstance(event, WaitEvent) and event.kind == "send" and self.true(passed) and self._happens(event):
                send = self.formula.unrolled.sends[event.operation]
                found.append(Issued(send.process, self.number(send.rank)))
        return frozenset(found)

    def _happens(self, event: Event) -> bool:
        return self.true(self.formula.done(event))


class SmtQuestions:
    """What is asked of z3, in the words of solver_answers.Solver."""

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
        """Yield for each two processes a difference in what they call, if there is one."""
        processes = self._program.processes
        for pair in combinations(range(len(processes)), 2):
            run = self._find(self._goals.differ(*pair))
            if run is not None:
                frames = decided(self._program, self._formula.buffer, run).frames
                ours, theirs = [(frames[each].calls, frames[each].status == "ended") for each in pair]
                found = first_difference(pair, ours, theirs)
                if found is not None:
                    yield Mismatch(found.position, pair, found.calls, processes[pair[0]].span)

    def feasible(self, found: set[Pair]) -> bool:
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

    def _new(self, receive: int, send: int, found: set[Pair]) -> Any | None:
        """Return whether a pair happens by names that are not in `found`; None if it has these names only."""
        a, b = self._unrolled.receives[receive], self._unrolled.sends[send]
        match, named = self._formula.matches[receive, send], self._only_name(receive, send)
        if named is not None:
            return None if named in found else match
        known = [each for each in found if (each.receive.process, each.send.process) == (a.process, b.process)]
        return self._z3.And(match, *[self._z3.Not(self._is(each, receive, send)) for each in known])

    def _only_name(self, receive: int, send: int) -> Pair | None:
        """Return the names of a pair if they are the same in every run."""
        a, b = self._unrolled.receives[receive], self._unrolled.sends[send]
        if not (a.rank.constant and b.rank.constant):
            return None
        return Pair(Issued(a.process, a.rank.value), Issued(b.process, b.rank.value))

    def _is(self, pair: Pair, receive: int, send: int) -> Any:
        """Return whether operations have the names of a pair."""
        ranks = self._unrolled.receives[receive].rank, self._unrolled.sends[send].rank
        number = self._formula.terms.number
        return self._z3.And(number(ranks[0]) == pair.receive.nth, number(ranks[1]) == pair.send.nth)

    def matchings(self, limit: int, listed: int, *, exact: bool) -> Matchings:
        """Count the matchings of complete executions up to a limit, each once."""
        complete = self._formula.solver.named("complete", self._goals.complete())
        some: list[Matching] = []
        count = 0
        while (run := self._find(complete)) is not None:
            if count == limit:
                return Matchings(count, False, tuple(some))
            matching = frozenset(run.pairs())
            count += 1
            if len(some) < listed:
                some.append(matching)
            self._formula.solver.add(self._z3.Implies(complete, self._other(matching)))
        return Matchings(count, exact, tuple(some))

    def _other(self, matching: Matching) -> Any:
        """Return whether some pair happens that is not in a matching, or one of it does not."""
        z3 = self._z3
        differences: list[Any] = []
        inside: dict[Pair, list[Any]] = {pair: [] for pair in matching}
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
