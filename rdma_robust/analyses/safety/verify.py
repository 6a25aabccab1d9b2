"""Do the assertions of a program hold, and what its `outcome` lines claim?

Robust: what SC does is all there is. Not robust: what the RDMA machine does is searched, which ends for a program without
loops, and for others if its queues cannot grow for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rdma_robust.analyses.safety.goals import FaultGoal, Goal, StateGoal, faults
from rdma_robust.analyses.safety.reach import Answer, Asked, Reached, answer
from rdma_robust.errors import Span
from rdma_robust.language.check.targets import Target
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, Model, ModelName


class Status(Enum):
    """Of a claim. A VIOLATED one comes with a confirmed run, unless it claims that there is one."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Claim:
    """Something the program claims: that `goal` is reachable under `model` (`allowed`) or that it is not.

    `kind` is `assertion`, `outcome`, or what else can go wrong (see :class:`cfg.Fault`); `text` is the source.
    """

    kind: str
    text: str
    span: Span
    goal: Goal
    model: ModelName = "rdma"
    allowed: bool = False


@dataclass(frozen=True)
class Checked:
    """A claim, whether it holds, and the answer that says why, with its run."""

    claim: Claim
    status: Status
    answer: Reached


@dataclass(frozen=True)
class Verified:
    """What was checked, in the order of the source, and the searches behind it."""

    program: Program
    checked: tuple[Checked, ...]
    asked: Asked

    @property
    def status(self) -> Status:
        """VIOLATED if some claim is, else UNKNOWN if some is."""
        found = {each.status for each in self.checked}
        return next((s for s in (Status.VIOLATED, Status.UNKNOWN) if s in found), Status.HOLDS)


def claims(program: Program) -> tuple[Claim, ...]:
    """Return every claim of the program, in the order of the source: its `assert` statements, its `outcome` lines, and that
    nothing else goes wrong where it could."""
    found = [Claim(f.kind, f.text or f.message, f.span, FaultGoal(f)) for f in faults(program)]
    for line in program.outcomes:
        for claim in line.claims:
            condition = line.text.removeprefix("outcome ").rpartition(" : ")[0]
            goal = StateGoal(Target(condition, line.condition), final=True)
            found.append(Claim("outcome", condition, line.span, goal, claim.model, claim.allowed))
    return tuple(sorted(found, key=lambda c: (c.span.start, c.kind, c.model)))


def verify(program: Program, limits: Limits, hardware: Model = RDMA, *, progress: Progress = ignore) -> Verified:
    """Check every claim of the program. Raises InternalError if a run that was found is not confirmed."""
    every = claims(program)
    asked = answer(program, [(c.goal, c.model) for c in every], limits, hardware, progress=progress)
    checked = tuple(Checked(c, _status(c, reached), reached) for c, reached in zip(every, asked.answers, strict=True))
    return Verified(program, checked, asked)


def _status(claim: Claim, answer: Reached) -> Status:
    if answer.answer is Answer.UNKNOWN:
        return Status.UNKNOWN
    return Status.HOLDS if (answer.answer is Answer.REACHABLE) == claim.allowed else Status.VIOLATED
