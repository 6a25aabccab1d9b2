"""The decision of goals: answers, the arguments for them, and the steps that one program and any number of copies share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from rdma_robust.analyses.safety.alone import never_waits_alone
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, faults
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.guard import cut_short
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits, Progress
from rdma_robust.model import Model, ModelName
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Copies, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.waiting_points import may_hang
from rdma_robust.semantics.waits import where_none_waits


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
    PROOF = "proof"
    MODEL_RUN = "model run"
    LIMIT = "limit"


@dataclass(frozen=True)
class Reached:
    """The answer for one goal; `reason` is one line for people.

    `run` is of the machine of the model asked about; one into a hang that SC has too is of the SC machine. `traced` unless
    it is no trace that the axioms could judge: a thread goes on although a message before still waits for its buffer.
    For a program with crowds the answer is about any number of copies, and the run one of `copies.program`. `end` is the
    last state of the run in words.
    """

    answer: Answer
    argument: Argument
    reason: str
    run: Run | None = None
    traced: bool = True
    copies: Copies | None = None
    end: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReachOutcome:
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


class ReachProcedure(ABC):
    """The goals, each once; what is found out about each under SC and, where that is asked, under RDMA."""

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
        self.progress = progress
        self.started = time.monotonic()
        self.recv_depth = recv_depth
        self.under_sc: dict[Goal, Reached] = {}
        self.under_rdma: dict[Goal, Reached] = {}
        self.sc_states = self.rdma_states = self.check_states = 0
        self.robust = robust
        self.open: Reached | None = None

    def asked(self) -> ReachOutcome:
        """Answer the questions: what was answered before a limit ended the searches stays answered.

        Raises InternalError if a run that was found is not confirmed.
        """
        for stage in self.stages():
            if why := cut_short(self.limits, stage, lambda: True):
                self.open = Reached(Answer.UNKNOWN, Argument.LIMIT, why)
                self.under_sc = dict.fromkeys(self.goals, self.open) | self.under_sc
        known = {"sc": self.under_sc, "rdma": self.under_rdma}
        others = {} if self.open is None else dict.fromkeys(self.goals, self.open)
        answers = tuple((others | known[model])[goal] for goal, model in self.questions)
        took = time.monotonic() - self.started
        return ReachOutcome(answers, self.sc_states, self.rdma_states, self.check_states, self.robust, took)

    @abstractmethod
    def stages(self) -> Sequence[Callable[[], None]]:
        """Return what finds an answer for every goal: where a limit ends one of these, the next go on from what is known."""

    @abstractmethod
    def never(self, waits: Sequence[FaultGoal]) -> bool:
        """Return whether it is known that SC meets none of these faults, where messages do not wait."""

    def left(self) -> list[Goal]:
        """Return what is still to be answered under RDMA."""
        return [goal for goal in self.goals if goal in self.wanted and goal not in self.under_rdma]

    def settled_by_robustness(self, is_about_threads: Callable[[Goal], bool], share: float) -> list[Goal]:
        """Return the goals that SC does not reach and that a robust program does not either, if the program is robust.

        Deciding that takes at most this `share` of the time that is left. Not where a message waits for its buffer under SC:
        then a thread of the hardware may do what no trace has, and what is robust says nothing of it.
        """
        unreached = (goal for goal in self.left() if self.under_sc[goal].answer is Answer.UNREACHABLE)
        goals = [goal for goal in unreached if is_about_threads(goal)]
        waits = [FaultGoal(fault) for fault in faults(where_none_waits(self.program)) if fault.kind == "rnr"]
        if not goals or (waits and not self.never(waits)):
            return []
        if self.robust is None:
            self._decide(share)
        return goals if self.robust else []

    def _decide(self, share: float) -> None:
        outcome = decide(self.program, CheckOptions(hardware=self.hardware), self.progress, limits=self.limits.share(share))
        self.check_states = outcome.counts.states
        if outcome.verdict is not Verdict.UNKNOWN:
            self.robust = outcome.verdict is Verdict.ROBUST


def no_hang_alone(program: Program, limits: Limits) -> Reached | None:
    """Return that nothing hangs, if that is known of each thread by itself."""
    if not may_hang(program):
        return Reached(Answer.UNREACHABLE, Argument.THREAD, "no thread has to wait, and every loop goes on or ends")
    if never_waits_alone(program, limits.share(0.1)):
        reason = "no thread waits for another, and every poll has a completion to take"
        return Reached(Answer.UNREACHABLE, Argument.THREAD, reason)
    return None
