"""Is a state reachable with some number of copies? Under SC decided for all numbers together; under RDMA inherited, or P(n).

Under RDMA, in this order: what some P(n) reaches under SC; what a named thread cannot do by itself; what is about threads
only is unreachable if the program is robust for any number of copies and SC does not reach it; for the rest the machine of
P(1), P(2) and so on is searched, where a run is an answer, and no run is none for larger numbers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rdma_robust.analyses.safety.alone import impossible_alone, never_waits_alone
from rdma_robust.analyses.safety.crowds.absences import search_absence
from rdma_robust.analyses.safety.crowds.any_number import Instance, numbers_from, search_any_number
from rdma_robust.analyses.safety.crowds.crowd_words import copies_said, none_up_to
from rdma_robust.analyses.safety.crowds.instances import goal_in
from rdma_robust.analyses.safety.crowds.safety_system import SafetySystem
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, HangGoal, StateGoal, faults, is_local
from rdma_robust.analyses.safety.reach import Answer, Argument, Asked, Reached, answer
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import Limits, Progress
from rdma_robust.model import Model, ModelName
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Copies, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.threadcode import written_by_cards
from rdma_robust.semantics.machines.waiting_points import may_hang
from rdma_robust.text import count

MOST_COPIES: Final = 3
"""Copies in all of the P(n) that are searched one by one."""

_EXACT: Final = 20_000
"""Markings of a search with exact numbers, unless there is another limit."""

_SMALL_STATES: Final = 20_000
"""States of a search of one P(n), unless there is another limit."""

_SHARE: Final = 0.4
"""Of the time that is left, for one search among several."""


class CrowdQuestions:
    """The goals, each once, and what is found out about each under SC and, where that is asked, under RDMA."""

    def __init__(
        self,
        program: Program,
        questions: Sequence[tuple[Goal, ModelName]],
        limits: Limits,
        hardware: Model,
        *,
        robust: bool | None,
        recv_depth: int,
        progress: Progress,
    ) -> None:
        self.program = program
        self.questions = questions
        self.goals = tuple(dict.fromkeys(goal for goal, _ in questions))
        self.wanted = {goal for goal, model in questions if model == "rdma"}
        self.limits = limits
        self.hardware = hardware
        self.robust = robust
        self.recv_depth = recv_depth
        self.progress = progress
        self.said = " and ".join(thread.name for thread in program.crowds)
        self.under_sc: dict[Goal, Reached] = {}
        self.under_rdma: dict[Goal, Reached] = {}
        self.sc_states = self.rdma_states = self.check_states = 0

    def asked(self) -> Asked:
        """Answer the questions. Raises InternalError if a run that was found is not confirmed."""
        started = time.monotonic()
        self._coverable()
        for goal in self.goals:
            if isinstance(goal, HangGoal) or (isinstance(goal, StateGoal) and goal.final):
                self.under_sc[goal] = self._absence(goal)
        self._from_sc()
        self._by_threads()
        self._by_robustness()
        self._one_by_one()
        answers = tuple(self.under_sc[g] if model == "sc" else self.under_rdma[g] for g, model in self.questions)
        took = time.monotonic() - started
        return Asked(answers, self.sc_states, self.rdma_states, self.check_states, self.robust, took, self.hardware)

    def _left(self) -> list[Goal]:
        return [goal for goal in self.goals if goal in self.wanted and goal not in self.under_rdma]

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
        if isinstance(goal, HangGoal):
            if not may_hang(self._single()):
                return Reached(Answer.UNREACHABLE, Argument.THREAD, "no thread has to wait, and every loop goes on or ends")
            if never_waits_alone(self._single(), self.limits.share(0.1)):
                reason = "no thread waits for another, and every poll has a completion to take"
                return Reached(Answer.UNREACHABLE, Argument.THREAD, reason)
        goals = [goal] if isinstance(goal, StateGoal) else []
        system = SafetySystem(self.program, goals, recv_depth=self.recv_depth)
        limits = self.limits.share(_SHARE)
        kept = search_absence(system, goal, replace(limits, states=limits.states or _EXACT), self.progress)
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
        limits = replace(limits, states=limits.states or _SMALL_STATES)
        unclear = ""
        done = -1
        for place, numbers in enumerate(every):
            there = copies_of(self.program, numbers)
            asked = answer(
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
                return _with_copies(found, Copies(tuple(numbers.items()), there, least=not unclear)), done
            if found.answer is Answer.UNKNOWN:
                unclear = unclear or found.reason
            elif not unclear:
                done = sum(numbers.values())
            if limits.exceeded():
                break
        if done < 0:
            return Reached(
                Answer.UNKNOWN, Argument.LIMIT, f"not even decided without a copy of {self.said}: {unclear}"
            ), done
        why = f"{none_up_to(done, self.said)}; not decided for more"
        return Reached(Answer.UNKNOWN, Argument.LIMIT, why), done

    def _from_sc(self) -> None:
        """What some P(n) reaches under SC it reaches under RDMA, unless it is about a put or get that is half done."""
        for goal in self._left():
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
            asked = answer(
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
        left = [g for g in self._left() if isinstance(g, FaultGoal) or (isinstance(g, StateGoal) and not g.target.counts)]
        reached = Reached(Answer.UNREACHABLE, Argument.THREAD, "whatever it reads, the thread cannot do that")
        for place in sorted(impossible_alone(self._single(), left, self.limits.share(0.1))):
            self.under_rdma[left[place]] = reached

    def _single(self) -> Program:
        return copies_of(self.program, {thread.name: 1 for thread in self.program.crowds})

    def _by_robustness(self) -> None:
        local = [
            goal
            for goal in self._left()
            if self.under_sc[goal].answer is Answer.UNREACHABLE and _is_local(self.program, goal, self.hardware)
        ]
        if not local or not self._finds_buffers():
            return
        if self.robust is None:
            self._decide()
        if self.robust:
            for goal in local:
                reason = f"the program is robust, and {self.under_sc[goal].reason}"
                self.under_rdma[goal] = replace(self.under_sc[goal], argument=Argument.ROBUST, reason=reason)

    def _finds_buffers(self) -> bool:
        """Return whether under SC no message ever waits for its buffer, whatever the number of copies: see :mod:`reach`."""
        waits = [FaultGoal(fault) for fault in faults(self.program) if fault.kind == "rnr"]
        if not waits:
            return True
        limits = self.limits.share(_SHARE)
        found = search_any_number(self.program, waits, limits, self.progress, recv_depth=self.recv_depth)
        self.sc_states = max(self.sc_states, found.states)
        return not found.found and not found.open

    def _decide(self) -> None:
        remaining = self.limits.seconds_left()
        options = CheckOptions(
            hardware=self.hardware,
            timeout=None if remaining is None else _SHARE * remaining,
            max_states=self.limits.states,
            memory=self.limits.memory,
        )
        outcome = decide(self.program, options, self.progress)
        self.check_states = outcome.counts.states
        if outcome.verdict is not Verdict.UNKNOWN:
            self.robust = outcome.verdict is Verdict.ROBUST

    def _one_by_one(self) -> None:
        left = self._left()
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
    return is_local(program, goal.target, written)


def _instance(found: Instance) -> Reached:
    lifted = found.lifted
    copies = Copies(lifted.numbers, lifted.program, found.least)
    return _with_copies(Reached(Answer.REACHABLE, Argument.SC_RUN, "a run under sequential consistency", lifted.run), copies)


def _with_copies(found: Reached, copies: Copies) -> Reached:
    return replace(found, copies=copies, reason=f"{found.reason}, {copies_said(copies)}")


def _markings(number: int) -> str:
    return count(number, "marking")
