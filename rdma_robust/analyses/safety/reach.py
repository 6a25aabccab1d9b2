"""Is a state reachable? Exact where it can be: by the runs of SC, by robustness, or by all states of the RDMA machine.

Reachability under RDMA is undecidable in general (Theorem 3.1 of the paper), so UNKNOWN is among the answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from rdma_robust.analyses.safety.alone import impossible_alone
from rdma_robust.analyses.safety.exploration import confirmed, explore_machine
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, is_local, met_by, watched
from rdma_robust.analyses.safety.sequential import Run, Sequential, rdma_run, search_sequential
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, Model, ModelName
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.values import is_loop_free


class Answer(Enum):
    """REACHABLE comes with a run that was replayed, UNREACHABLE follows a proof, UNKNOWN names the limit."""

    REACHABLE = "reachable"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


class Argument(Enum):
    """Why the answer is right."""

    SC_RUN = "sc run"
    RDMA_RUN = "rdma run"
    SC_EXHAUSTED = "sc exhausted"
    THREAD = "thread"
    ROBUST = "robust"
    RDMA_EXHAUSTED = "rdma exhausted"
    LIMIT = "limit"


@dataclass(frozen=True)
class Reached:
    """The answer for one goal. `run` is of the machine of the model asked about; `reason` is one line for people."""

    answer: Answer
    argument: Argument
    reason: str
    run: Run | None = None


@dataclass(frozen=True)
class Asked:
    """Answers in the order of the questions.

    `sc_states`, `rdma_states` and `check_states` are the sizes of the searches: under SC, of the RDMA machine, and for
    robustness; 0 for one that was not made. `robust` is None if that was not decided.
    """

    answers: tuple[Reached, ...]
    sc_states: int
    rdma_states: int
    check_states: int
    robust: bool | None
    time_s: float


def reach(
    program: Program,
    goals: Sequence[Goal],
    model: ModelName,
    limits: Limits,
    hardware: Model = RDMA,
    *,
    progress: Progress = ignore,
) -> Asked:
    """Answer for every goal whether it is reachable under `model`, see :func:`answer`."""
    return answer(program, [(goal, model) for goal in goals], limits, hardware, progress=progress)


def answer(
    program: Program,
    questions: Sequence[tuple[Goal, ModelName]],
    limits: Limits,
    hardware: Model = RDMA,
    *,
    progress: Progress = ignore,
) -> Asked:
    """Answer for every goal whether it is reachable under its model, where `hardware` is what `rdma` means.

    What SC does is searched once for all. The states of `limits` are those of each search.

    Under RDMA, in this order: what SC reaches is reachable; what a thread cannot do by itself is unreachable
    (:mod:`alone`); if the program is robust, what is about threads only is unreachable if SC does not reach it
    (:func:`goals.is_local`); the rest is looked for among the states of the machine.
    Raises InternalError if a run that was found is not confirmed.
    """
    asked = _Questions(program, questions, limits, hardware, progress)
    asked.answer()
    took = time.monotonic() - asked.started
    answers = tuple(asked.under_sc[goal] if model == "sc" else asked.under_rdma[goal] for goal, model in questions)
    return Asked(answers, asked.sc_states, asked.rdma_states, asked.check_states, asked.robust, took)


class _Questions:
    """The goals, each once; what is found out about each under SC and, where that is asked, under RDMA."""

    def __init__(
        self,
        program: Program,
        questions: Sequence[tuple[Goal, ModelName]],
        limits: Limits,
        hardware: Model,
        progress: Progress,
    ) -> None:
        self.program = program
        self.goals = tuple(dict.fromkeys(goal for goal, _ in questions))
        self.wanted = {goal for goal, model in questions if model == "rdma"}
        self.limits = limits
        self.hardware = hardware
        self.progress = progress
        self.started = time.monotonic()
        self.machine = RdmaMachine(program, hardware, watched(program, self.goals))
        self.under_sc: dict[Goal, Reached] = {}
        self.under_rdma: dict[Goal, Reached] = {}
        self.sc_states = self.rdma_states = self.check_states = 0
        self.robust: bool | None = None

    def answer(self) -> None:
        found = search_sequential(self.program, self.goals, self.limits.share(0.4 if self.wanted else 1.0), self.progress)
        self.sc_states = found.states
        self._answer_sc(found)
        self._from_sc()
        self._by_threads()
        self._by_robustness()
        self._by_exploration()

    def _left(self) -> list[Goal]:
        """Return what is still to be answered under RDMA."""
        return [goal for goal in self.goals if goal in self.wanted and goal not in self.under_rdma]

    def _answer_sc(self, found: Sequential) -> None:
        size = _states(found.states)
        if found.cut:
            others = Reached(Answer.UNKNOWN, Argument.LIMIT, f"{self._limit(found.cut)} under SC, {size}")
        else:
            others = Reached(Answer.UNREACHABLE, Argument.SC_EXHAUSTED, f"all SC executions were searched, {size}")
        for i, goal in enumerate(self.goals):
            run = found.runs.get(i)
            reached = Reached(Answer.REACHABLE, Argument.SC_RUN, "a run under sequential consistency", run)
            self.under_sc[goal] = others if run is None else reached

    def _from_sc(self) -> None:
        """What SC can do, the hardware can do, unless the goal is about a put or get that is half done under SC."""
        for goal in self._left():
            sc_run = self.under_sc[goal].run
            if sc_run is None:
                continue
            run = rdma_run(self.machine, sc_run)
            met = met_by(goal, self.machine)
            if isinstance(goal, FaultGoal):
                run = run[: 1 + next(n for n, move in enumerate(run) if met(move))]
            if met(run[-1]):
                confirmed(self.machine, run, goal)
                self.under_rdma[goal] = Reached(Answer.REACHABLE, Argument.SC_RUN, "a run that SC allows too", run)

    def _by_threads(self) -> None:
        left = self._left()
        reached = Reached(Answer.UNREACHABLE, Argument.THREAD, "whatever it reads, the thread cannot do that")
        for place in sorted(impossible_alone(self.program, left, self.limits.share(0.1))):
            self.under_rdma[left[place]] = reached

    def _by_robustness(self) -> None:
        local = [
            goal
            for goal in self._left()
            if self.under_sc[goal].answer is Answer.UNREACHABLE and _is_local(self.program, goal)
        ]
        if not local:
            return
        remaining = self.limits.seconds_left()
        options = CheckOptions(
            hardware=self.hardware,
            timeout=None if remaining is None else 0.5 * remaining,
            max_states=self.limits.states,
            memory=self.limits.memory,
        )
        outcome = decide(self.program, options, self.progress)
        self.check_states = outcome.counts.states
        if outcome.verdict is Verdict.UNKNOWN:
            return
        self.robust = outcome.verdict is Verdict.ROBUST
        if self.robust:
            reason = f"the program is robust, and all SC executions were searched, {_states(self.sc_states)}"
            self.under_rdma |= dict.fromkeys(local, Reached(Answer.UNREACHABLE, Argument.ROBUST, reason))

    def _by_exploration(self) -> None:
        left = self._left()
        if not left:
            return
        bounded = not is_loop_free(self.program)
        explored = explore_machine(self.machine, left, self.limits.share(1.0), self.progress, bounded=bounded)
        self.rdma_states = explored.states
        if explored.cut:
            size = f"{_states(explored.states)} of the RDMA machine, {explored.depth} moves deep"
            seen = "" if explored.bound is None else f"; {_seen(explored.bound)}"
            others = Reached(Answer.UNKNOWN, Argument.LIMIT, f"{self._limit(explored.cut)} after {size}{seen}")
        else:
            reason = f"all states of the RDMA machine were searched, {_states(explored.states)}"
            others = Reached(Answer.UNREACHABLE, Argument.RDMA_EXHAUSTED, reason)
        for place, goal in enumerate(left):
            run = explored.runs.get(place)
            if run is None:
                self.under_rdma[goal] = others
                continue
            confirmed(self.machine, run, goal)
            alone = self.under_sc[goal].answer is Answer.UNREACHABLE
            reason = f"a run of the hardware{'; no run under SC leads there' if alone else ''}"
            self.under_rdma[goal] = Reached(Answer.REACHABLE, Argument.RDMA_RUN, reason, run)

    def _limit(self, cut: str) -> str:
        if cut == "states":
            return f"reached the limit of {_states(self.limits.states or 0)}"
        return f"reached {self.limits.said(cut)}"


def _is_local(program: Program, goal: Goal) -> bool:
    """Final states and what goes wrong are about threads, or about memory where nothing is under way."""
    return isinstance(goal, FaultGoal) or goal.final or is_local(program, goal.target)


def _states(number: int) -> str:
    return f"{number} state{'s' * (number != 1)}"


def _seen(bound: int) -> str:
    if bound == 0:
        return "not even all runs with short queues were seen"
    return f"all runs with at most {bound} operations of a queue pair under way were seen"
