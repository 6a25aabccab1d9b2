"""Is a state reachable? Exact where it can be: by the runs of SC, by robustness, or by all states of the RDMA machine.

Reachability under RDMA is undecidable in general (Theorem 3.1 of the paper), so UNKNOWN is among the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from rdma_robust.analyses.safety.alone import impossible_alone
from rdma_robust.analyses.safety.exploration import confirmed_events, explore_machine
from rdma_robust.analyses.safety.goals import (
    FaultGoal,
    Goal,
    HangGoal,
    StateGoal,
    concerns_threads,
    met_by,
    watched_by_goals,
)
from rdma_robust.analyses.safety.on_hardware import run_on_hardware
from rdma_robust.analyses.safety.questions import Answer, Argument, Reached, ReachOutcome, ReachProcedure, no_hang_alone
from rdma_robust.analyses.safety.sequential import Deadlocks, Sequential, search_deadlocks, search_sequential
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import is_trencher
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, Model, ModelName
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.sc import ScState
from rdma_robust.semantics.values import is_loop_free
from rdma_robust.semantics.waits import where_none_waits

HANG_STATES: Final = 100_000
"""States of a search of the SC machine for hangs, unless there is another limit."""

HANG_STATES_RDMA: Final = 20_000
"""States of a search of the RDMA machine for nothing but hangs in a program with loops, unless there is another limit."""

_GROWN: Final = "; completions that are not polled grow without bound"
_LARGE: Final = "a loop has too many local states to see whether a thread goes round in it forever"


def reach_goals(
    program: Program,
    goals: Sequence[Goal],
    model: ModelName,
    limits: Limits,
    hardware: Model = RDMA,
    *,
    recv_depth: int = RECV_DEPTH,
    progress: Progress = ignore,
) -> ReachOutcome:
    """Answer for every goal whether it is reachable under `model`, see :func:`answer_goals`."""
    questions = [(goal, model) for goal in goals]
    return answer_goals(program, questions, limits, hardware, recv_depth=recv_depth, progress=progress)


def answer_goals(
    program: Program,
    questions: Sequence[tuple[Goal, ModelName]],
    limits: Limits,
    hardware: Model = RDMA,
    *,
    robust: bool | None = None,
    recv_depth: int = RECV_DEPTH,
    progress: Progress = ignore,
) -> ReachOutcome:
    """Answer for every goal whether it is reachable under its model, where `hardware` is what `rdma` means.

    What SC does is searched once for all. The states of `limits` are those of each search. At most `recv_depth` receives of
    a connection are posted, or filled and not yet polled.

    Under RDMA, in this order: what SC reaches is reachable; what a thread cannot do by itself is unreachable
    (:mod:`alone`); if the program is robust, what is about threads only is unreachable if SC does not reach it
    (:func:`goals.concerns_threads`); the rest is looked for among the states of the machine. `robust` is what is known of
    that.
    Of a program with crowds the questions are about any number of copies, see :mod:`crowds.crowd_answers`.
    Raises InternalError if a run that was found is not confirmed.
    """
    kind: type[ReachProcedure] = _OfOneProgram
    if program.crowds:
        from rdma_robust.analyses.safety.crowds.crowd_answers import CrowdQuestions  # noqa: PLC0415 - it asks this for P(n)

        kind = CrowdQuestions
    asked = kind(program, questions, limits, hardware, robust=robust, recv_depth=recv_depth, progress=progress).asked()
    ended = tuple(_with_end(each, program, hardware) for each in asked.answers)
    return replace(asked, answers=_as_far_as_read(ended, program))


def _with_end(answer: Reached, program: Program, hardware: Model) -> Reached:
    """Return an answer with the last state of its run in words."""
    if answer.run is None:
        return answer
    there, state = program if answer.copies is None else answer.copies.program, answer.run[-1].state
    machine = sc_machine_of(there) if isinstance(state, ScState) else machine_of(there, hardware)
    return replace(answer, end=tuple(machine.describe(state)))


def _as_far_as_read(answers: tuple[Reached, ...], program: Program) -> tuple[Reached, ...]:
    """Return UNKNOWN for what is unreachable in a program that was not read as a whole (:func:`left_out`)."""
    if not any(each.answer is Answer.UNREACHABLE for each in answers) or not is_trencher(program.source, program.file):
        return answers
    from rdma_robust.language.trencher.trencher_reader import left_out  # noqa: PLC0415 - few programs are such

    reason = left_out(program)
    if not reason:
        return answers
    unknown = (replace(each, answer=Answer.UNKNOWN, reason=reason) for each in answers)
    return tuple(new if old.answer is Answer.UNREACHABLE else old for old, new in zip(answers, unknown, strict=True))


class _OfOneProgram(ReachProcedure):
    """The questions about a program without crowds."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.machine = machine_of(self.program, self.hardware, watched_by_goals(self.program, self.goals), self.recv_depth)
        self.grown = ""

    def stages(self) -> Sequence[Callable[[], None]]:
        return (
            self._under_sc,
            self._hangs,
            self._from_sc,
            self._by_threads,
            self._by_robustness,
            self._by_exploration,
        )

    def _under_sc(self) -> None:
        covered = [goal for goal in self.goals if not isinstance(goal, HangGoal)]
        if covered:
            limits = self.limits.share(0.4 if self.wanted else 1.0)
            found = search_sequential(self.program, covered, limits, self.progress, recv_depth=self.recv_depth)
            self.sc_states = found.states
            self._answer_sc(covered, found)

    def _answer_sc(self, goals: Sequence[Goal], found: Sequential) -> None:
        size = _states(found.states)
        if found.cut:
            others = Reached(Answer.UNKNOWN, Argument.LIMIT, f"reached {found.cut} under SC, {size}")
        else:
            others = Reached(Answer.UNREACHABLE, Argument.SC_EXHAUSTED, f"all SC executions were searched, {size}")
        for i, goal in enumerate(goals):
            run = found.runs.get(i)
            reached = Reached(Answer.REACHABLE, Argument.SC_RUN, "a run under sequential consistency", run)
            self.under_sc[goal] = others if run is None else reached

    def _hangs(self) -> None:
        """Hangs are looked for under SC among all states, with completions counted exactly."""
        for goal in self.goals:
            if not isinstance(goal, HangGoal):
                continue
            found = no_hang_alone(self.program, self.limits)
            if found is None:
                found = self._hang_under_sc(goal)
            else:
                self.under_rdma[goal] = found
            self.under_sc[goal] = found

    def _hang_under_sc(self, goal: HangGoal) -> Reached:
        limits = self.limits.share(0.4 if goal in self.wanted else 1.0)
        found = search_deadlocks(self.program, limits, self.progress, look=self.machine.watched)
        if found is not None:
            self.sc_states = max(self.sc_states, found.states)
            return self._deadlock_under_sc(found)
        machine = sc_machine_of(self.program, self.machine.watched, self.recv_depth)
        explored = explore_machine(machine, [goal], limits.by_default(HANG_STATES), self.progress)
        self.sc_states = max(self.sc_states, explored.states)
        size = _states(explored.states)
        if explored.runs:
            return Reached(Answer.REACHABLE, Argument.SC_RUN, "a run under sequential consistency", explored.runs[0])
        if explored.cut:
            why = f"reached {explored.cut} under SC, {size}"
            self.grown = _GROWN if explored.growing else ""
            return Reached(Answer.UNKNOWN, Argument.LIMIT, why + self.grown)
        if explored.undecided:
            return Reached(Answer.UNKNOWN, Argument.LIMIT, _LARGE)
        return Reached(Answer.UNREACHABLE, Argument.SC_EXHAUSTED, f"all SC executions were searched, {size}")

    def _deadlock_under_sc(self, found: Deadlocks) -> Reached:
        size = _states(found.states)
        if found.run is not None:
            return Reached(Answer.REACHABLE, Argument.SC_RUN, "a run under sequential consistency", found.run)
        if found.cut:
            return Reached(Answer.UNKNOWN, Argument.LIMIT, f"reached {found.cut} under SC, {size}")
        return Reached(Answer.UNREACHABLE, Argument.SC_EXHAUSTED, f"all SC executions were searched, {size}")

    def _from_sc(self) -> None:
        """What SC can do, the hardware can do, unless the goal is about a put or get that is half done under SC."""
        for goal in self.left():
            sc_run = self.under_sc[goal].run
            if sc_run is None:
                continue
            if any(move.action.verb is Verb.ISSUE for move in sc_run):
                continue  # of requests that have waited there: whether hardware can do it is left to the exploration
            run = run_on_hardware(self.machine, sc_run)
            met = met_by(goal, self.machine)
            if isinstance(goal, FaultGoal):
                run = run[: 1 + next((n for n, move in enumerate(run) if met(move)), len(run))]
            if met(run[-1]):
                traced = confirmed_events(self.machine, run, goal) is not None
                # Who asks why a program hangs is served best by the run in which nothing is delayed.
                told = sc_run if isinstance(goal, HangGoal) else run
                self.under_rdma[goal] = Reached(Answer.REACHABLE, Argument.SC_RUN, "a run that SC allows too", told, traced)

    def _by_threads(self) -> None:
        left = self.left()
        reached = Reached(Answer.UNREACHABLE, Argument.THREAD, "whatever it reads, the thread cannot do that")
        for place in sorted(impossible_alone(self.program, left, self.limits.share(0.1))):
            self.under_rdma[left[place]] = reached

    def _by_robustness(self) -> None:
        goals = self.settled_by_robustness(lambda goal: _is_local(self.program, goal), 0.5)
        reason = f"the program is robust, and all SC executions were searched, {_states(self.sc_states)}"
        self.under_rdma |= dict.fromkeys(goals, Reached(Answer.UNREACHABLE, Argument.ROBUST, reason))

    def never(self, waits: Sequence[FaultGoal]) -> bool:
        program, limits = where_none_waits(self.program), self.limits.share(0.4)
        found = search_sequential(program, waits, limits, self.progress, recv_depth=self.recv_depth)
        self.sc_states = max(self.sc_states, found.states)
        return not found.runs and not found.cut

    def _by_exploration(self) -> None:
        left = self.left()
        if not left:
            return
        bounded = not is_loop_free(self.program)
        limits = self.limits.share(1.0)
        if bounded and all(isinstance(goal, HangGoal) for goal in left):
            limits = limits.by_default(HANG_STATES_RDMA)
        explored = explore_machine(self.machine, left, limits, self.progress, bounded=bounded)
        self.rdma_states = explored.states
        if explored.cut:
            size = f"{_states(explored.states)} of the RDMA machine, {explored.depth} moves deep"
            seen = "" if explored.bound is None else f"; {_seen(explored.bound)}"
            others = Reached(Answer.UNKNOWN, Argument.LIMIT, f"reached {explored.cut} after {size}{seen}")
        else:
            reason = f"all states of the RDMA machine were searched, {_states(explored.states)}"
            others = Reached(Answer.UNREACHABLE, Argument.RDMA_EXHAUSTED, reason)
        for place, goal in enumerate(left):
            run = explored.runs.get(place)
            if run is None:
                unclear = not explored.cut and place in explored.undecided
                here = Reached(Answer.UNKNOWN, Argument.LIMIT, _LARGE) if unclear else others
                if isinstance(goal, HangGoal) and explored.cut:
                    here = replace(here, reason=here.reason + self.grown)
                self.under_rdma[goal] = here
                continue
            traced = confirmed_events(self.machine, run, goal) is not None
            alone = self.under_sc[goal].answer is Answer.UNREACHABLE
            reason = f"a run of the hardware{'; no run under SC leads there' if alone else ''}"
            self.under_rdma[goal] = Reached(Answer.REACHABLE, Argument.RDMA_RUN, reason, run, traced)


def _is_local(program: Program, goal: Goal) -> bool:
    """Final states, hangs and what goes wrong are about threads, or about memory where nothing is under way."""
    return not isinstance(goal, StateGoal) or goal.final or concerns_threads(program, goal.target)


def _states(number: int) -> str:
    return f"{number} state{'s' * (number != 1)}"


def _seen(bound: int) -> str:
    if bound == 0:
        return "not even all runs with short queues were seen"
    return f"all runs with at most {bound} operations of a queue pair in flight were seen"
