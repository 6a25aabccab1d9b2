"""Is a state reachable with some number of copies? Under SC decided for all numbers together; under RDMA inherited, or P(n).

Under RDMA, in this order: what some P(n) reaches under SC; what a named thread cannot do by itself; what is about threads
only is unreachable if the program is robust for any number of copies and SC does not reach it; for the rest the machine of
P(1), P(2) and so on is searched, where a run is an answer, and no run is none for larger numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from rdma_robust.analyses.safety.alone import impossible_alone
from rdma_robust.analyses.safety.crowds.absences import search_absence
from rdma_robust.analyses.safety.crowds.any_number import GoalInstance, numbers_from, search_any_number
from rdma_robust.analyses.safety.crowds.instances import copies_said, goal_in, none_up_to, undecided_numbers
from rdma_robust.analyses.safety.crowds.safety_system import SafetySystem
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, HangGoal, StateGoal, concerns_threads
from rdma_robust.analyses.safety.questions import Answer, Argument, Reached, ReachProcedure, no_hang_alone
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.diagnose import listing
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import Limits
from rdma_robust.model import Model, ModelName
from rdma_robust.outcome import Copies
from rdma_robust.semantics.machines.threadcode import written_by_cards
from rdma_robust.semantics.waits import where_none_waits
from rdma_robust.text import count

MOST_COPIES: Final = 3
"""Copies in all of the P(n) that are searched one by one."""

_EXACT: Final = 20_000
"""Markings of a search with exact numbers, unless there is another limit."""

_SMALL_STATES: Final = 20_000
"""States of a search of one P(n), unless there is another limit."""

_SHARE: Final = 0.4
"""Of the time that is left, for one search among several."""


class CrowdQuestions(ReachProcedure):
    """The questions about any number of copies."""

    @property
    def said(self) -> str:
        """The names of the templates."""
        return listing((thread.name for thread in self.program.crowds), "and")

    def stages(self) -> Sequence[Callable[[], None]]:
        return (
            self._coverable,
            self._absences,
            self._from_sc,
            self._by_threads,
            self._by_robustness,
            self._one_by_one,
        )

    def _absences(self) -> None:
        for goal in self.goals:
            if isinstance(goal, HangGoal) or (isinstance(goal, StateGoal) and goal.final):
                self.under_sc[goal] = self._absence(goal)

    def _coverable(self) -> None:
        goals = [g for g in self.goals if isinstance(g, FaultGoal) or (isinstance(g, StateGoal) and not g.final)]
        if not goals:
            return
        limits = self.limits.share(_SHARE if self.wanted else 1.0)
        found = search_any_number(self.program, goals, limits, self.progress, recv_depth=self.recv_depth)
        self.sc_states = max(self.sc_states, found.states)
        reason = f"all SC executions with any number of copies of {self.said} were searched, {_markings(found.states)}"
        for place, goal in enumerate(goals):
            if place in found.found:
                self.under_sc[goal] = _instance(found.found[place])
            elif place in found.open:
                self.under_sc[goal] = Reached(Answer.UNKNOWN, Argument.LIMIT, found.open[place])
            else:
                self.under_sc[goal] = Reached(Answer.UNREACHABLE, Argument.SC_EXHAUSTED, reason)

    def _absence(self, goal: StateGoal | HangGoal) -> Reached:
        """Answer under SC for what is about all copies: a proof from markings, or a run of a small P(n)."""
        if isinstance(goal, HangGoal) and (found := no_hang_alone(self._single(), self.limits)) is not None:
            return found
        goals = [goal] if isinstance(goal, StateGoal) else []
        system = SafetySystem(self.program, goals, recv_depth=self.recv_depth)
        limits = self.limits.share(_SHARE)
        kept = search_absence(system, goal, limits.by_default(_EXACT), self.progress)
        self.sc_states = max(self.sc_states, kept.markings)
        if not kept.possible and not kept.cut and not system.steps.inexact:
            what = "hangs" if isinstance(goal, HangGoal) else "ends so"
            searched = f"{_markings(kept.markings)} with exact numbers"
            reason = f"no SC execution with any number of copies of {self.said} {what}, {searched}"
            return Reached(Answer.UNREACHABLE, Argument.SC_EXHAUSTED, reason)
        return self._small(goal, "sc", self.limits.share(_SHARE))[0]

    def _small(self, goal: Goal, model: ModelName, limits: Limits, most: int = MOST_COPIES) -> tuple[Reached, int]:
        """Answer from the machines of P(n) with at most so many copies: a run of the first that has one, else UNKNOWN.

        Also return up to which number of copies in all none is known to have one, -1 if that is not even known of P(0).
        """
        every = list(numbers_from(self.program, 0, most))
        limits = limits.by_default(_SMALL_STATES)
        unclear: tuple[dict[str, int], str] | None = None
        for place, numbers in enumerate(every):
            if place and (cut := limits.exceeded()):
                unclear = unclear or (numbers, f"reached {limits.said(cut)}")
                break
            there = copies_of(self.program, numbers)
            asked = answer_goals(
                there,
                [(goal_in(goal, self.program, numbers), model)],
                limits.share(1 / (len(every) - place)),
                self.hardware,
                robust=True if self.robust else None,
                recv_depth=self.recv_depth,
                progress=self.progress,
            )
            found = asked.answers[0]
            self.rdma_states = max(self.rdma_states, asked.rdma_states)
            if found.answer is Answer.REACHABLE:
                copies = Copies(tuple(numbers.items()), there, least=unclear is None)
                return _with_copies(found, copies), _below(unclear[0] if unclear else numbers)
            if found.answer is Answer.UNKNOWN:
                unclear = unclear or (numbers, found.reason)
        if unclear is None:
            return Reached(Answer.UNKNOWN, Argument.LIMIT, f"{none_up_to(most, self.said)}; not decided for more"), most
        return Reached(Answer.UNKNOWN, Argument.LIMIT, undecided_numbers(unclear[0], unclear[1], self.said)), _below(
            unclear[0]
        )

    def _from_sc(self) -> None:
        """What some P(n) reaches under SC it reaches under RDMA, unless it is about a put or get that is half done."""
        for goal in self.left():
            found = self.under_sc[goal]
            if found.copies is None:
                if found.argument is Argument.THREAD:
                    self.under_rdma[goal] = found
                continue
            total = sum(number for _, number in found.copies.numbers)
            least = total == 0
            if total:
                fewer, done = self._small(goal, "rdma", self.limits.share(0.5 * _SHARE), min(total - 1, MOST_COPIES))
                least = done == total - 1
                if fewer.copies is not None:
                    self.under_rdma[goal] = fewer
                    continue
            there = goal_in(goal, self.program, dict(found.copies.numbers))
            asked = answer_goals(
                found.copies.program,
                [(there, "rdma")],
                self.limits.share(_SHARE),
                self.hardware,
                recv_depth=self.recv_depth,
                progress=self.progress,
            )
            self.rdma_states = max(self.rdma_states, asked.rdma_states)
            if asked.answers[0].answer is Answer.REACHABLE:
                self.under_rdma[goal] = _with_copies(asked.answers[0], replace(found.copies, least=least))

    def _by_threads(self) -> None:
        """What a thread cannot do whatever it reads: the words of P(1) and of P(n) hold the same values."""
        left = [g for g in self.left() if isinstance(g, FaultGoal) or (isinstance(g, StateGoal) and not g.target.counts)]
        reached = Reached(Answer.UNREACHABLE, Argument.THREAD, "whatever it reads, the thread cannot do that")
        for place in sorted(impossible_alone(self._single(), left, self.limits.share(0.1))):
            self.under_rdma[left[place]] = reached

    def _single(self) -> Program:
        return copies_of(self.program, {thread.name: 1 for thread in self.program.crowds})

    def _by_robustness(self) -> None:
        for goal in self.settled_by_robustness(lambda goal: _is_local(self.program, goal, self.hardware), _SHARE):
            reason = f"the program is robust, and {self.under_sc[goal].reason}"
            self.under_rdma[goal] = replace(self.under_sc[goal], argument=Argument.ROBUST, reason=reason)

    def never(self, waits: Sequence[FaultGoal]) -> bool:
        limits = self.limits.share(_SHARE)
        found = search_any_number(where_none_waits(self.program), waits, limits, self.progress, recv_depth=self.recv_depth)
        self.sc_states = max(self.sc_states, found.states)
        return not found.found and not found.open

    def _one_by_one(self) -> None:
        left = self.left()
        for place, goal in enumerate(left):
            found, _ = self._small(goal, "rdma", self.limits.share(1 / (len(left) - place)))
            if found.answer is Answer.UNKNOWN and self.robust is False:
                found = replace(found, reason=f"the program is not robust, so that SC does not decide it; {found.reason}")
            self.under_rdma[goal] = found


def _is_local(program: Program, goal: Goal, hardware: Model) -> bool:
    """As of programs without crowds; the words of its own node that a target names of a copy are memory too.

    Words that only CPUs write do not change when what is under way is completed, if CPUs have no store buffers.
    """
    if not isinstance(goal, StateGoal) or goal.final:
        return True
    written = {str(cell) for cell in written_by_cards(program)} if hardware.cpu == "sc" else None
    return concerns_threads(program, goal.target, written)


def _below(numbers: dict[str, int]) -> int:
    return sum(numbers.values()) - 1


def _instance(found: GoalInstance) -> Reached:
    lifted = found.lifted
    copies = Copies(lifted.numbers, lifted.program, found.least)
    return _with_copies(Reached(Answer.REACHABLE, Argument.SC_RUN, "a run under sequential consistency", lifted.run), copies)


def _with_copies(found: Reached, copies: Copies) -> Reached:
    return replace(found, copies=copies, reason=f"{found.reason}, {copies_said(copies)}")


def _markings(number: int) -> str:
    return count(number, "marking")
