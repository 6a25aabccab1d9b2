"""Do the assertions of a program hold, and what its `outcome` lines claim? Can it hang? And which claims are about nothing?

Robust: what SC does is all there is. Not robust: what the RDMA machine does is searched, which ends for a program without
loops, and for others if its queues cannot grow for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from rdma_robust.analyses.safety.goals import FaultGoal, Goal, HangGoal, StateGoal, faults
from rdma_robust.analyses.safety.hangs import Hang, hang_of
from rdma_robust.analyses.safety.reach import Answer, Asked, Reached, answer
from rdma_robust.analyses.safety.vacuity import Vacuity, impossible_values, reached
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.check.targets import Target
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, Model, ModelName

_MODELS: Final[dict[str, ModelName]] = {"sc": "sc", "rdma": "rdma"}
"""The models of claims that are answered here."""


class Status(Enum):
    """Of a claim. A VIOLATED one comes with a confirmed run, unless it claims that there is one. One that holds only because
    what it is about is never reached is UNREACHABLE."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class Claim:
    """Something the program claims: that `goal` is reachable under `model` (`allowed`) or that it is not.

    `kind` is `assertion`, `outcome`, `hang`, or what else can go wrong (see :class:`cfg.Fault`); `text` is the source. The
    claim that a program does not hang, which every program makes, has no place in it: NO_SPAN.
    """

    kind: str
    text: str
    span: Span
    goal: Goal
    model: ModelName = "rdma"
    allowed: bool = False


@dataclass(frozen=True)
class Checked:
    """A claim, whether it holds, and the answer that says why, with its run.

    `reached` says of a claim that nothing goes wrong whether what it is about is ever reached, None if that is not known or
    was not asked. `hang` is where the run of a claim about hangs ends.
    """

    claim: Claim
    status: Status
    answer: Reached
    reached: bool | None = None
    hang: Hang | None = None


@dataclass(frozen=True)
class Verified:
    """What was checked, in the order of the source, and the searches behind it."""

    program: Program
    checked: tuple[Checked, ...]
    asked: Asked

    @property
    def status(self) -> Status:
        """VIOLATED if some claim is, else UNKNOWN if some is, else UNREACHABLE if some is."""
        found = {each.status for each in self.checked}
        return next((s for s in (Status.VIOLATED, Status.UNKNOWN, Status.UNREACHABLE) if s in found), Status.HOLDS)


def claims(program: Program, *, hangs: bool = True) -> tuple[Claim, ...]:
    """Return every claim of the program, in the order of the source: its `assert` statements, its `outcome` lines, what it
    expects about hangs, and that nothing else goes wrong where it could.

    With `hangs` it claims as well that it does not hang under RDMA, unless it says something else about that.
    """
    found = [Claim(f.kind, f.text or f.message, f.span, FaultGoal(f)) for f in faults(program)]
    for line in program.outcomes:
        for claim in line.claims:
            model = _MODELS.get(claim.model)
            if model is None:
                continue  # asked of `prove`
            condition = line.text.removeprefix("outcome ").rpartition(" : ")[0]
            goal = StateGoal(Target(condition, line.condition), final=True)
            found.append(Claim("outcome", condition, line.span, goal, model, claim.allowed))
    expected = [e for e in program.expectations if e.kind == "hang"]
    found += [
        Claim("hang", e.text, e.span, HangGoal(), "sc" if e.model == "sc" else "rdma", not e.negated) for e in expected
    ]
    found.sort(key=lambda c: (c.span.start, c.kind, c.model))
    if hangs and all(e.negated and e.model == "sc" for e in expected):
        found.append(Claim("hang", "no hang under rdma", NO_SPAN, HangGoal()))
    return tuple(found)


def verify(
    program: Program, limits: Limits, hardware: Model = RDMA, *, hangs: bool = True, progress: Progress = ignore
) -> Verified:
    """Check every claim of the program, see :func:`claims`. Raises InternalError if a run is not confirmed."""
    every = claims(program, hangs=hangs)
    asked = answer(program, [(c.goal, c.model) for c in every], limits, hardware, progress=progress)
    checked = [_checked(program, c, reached) for c, reached in zip(every, asked.answers, strict=True)]
    return Verified(program, _about_something(program, checked, limits, hardware, asked.robust), asked)


def _checked(program: Program, claim: Claim, answer: Reached) -> Checked:
    hang = hang_of(program, answer.run) if claim.kind == "hang" and answer.run is not None else None
    return Checked(claim, _status(claim, answer), answer, None, hang)


def _status(claim: Claim, answer: Reached) -> Status:
    if answer.answer is Answer.UNKNOWN:
        return Status.UNKNOWN
    return Status.HOLDS if (answer.answer is Answer.REACHABLE) == claim.allowed else Status.VIOLATED


def _about_something(
    program: Program, checked: Sequence[Checked], limits: Limits, hardware: Model, robust: bool | None
) -> tuple[Checked, ...]:
    """Return what was checked; claims that hold but are about nothing are UNREACHABLE."""
    found = list(checked)
    asked = []
    for i, each in enumerate(found):
        claim = each.claim
        if each.status is not Status.HOLDS or claim.allowed or claim.kind == "hang":
            continue
        why = impossible_values(program, claim.goal.target.condition) if isinstance(claim.goal, StateGoal) else ""
        if why:
            found[i] = _judged(each, Vacuity(False, f"no state can have these values: {why}"))
        else:
            asked.append(i)
    if asked:
        questions = [(found[i].claim.goal, found[i].claim.model) for i in asked]
        for i, vacuity in zip(asked, reached(program, questions, limits, hardware, robust), strict=True):
            found[i] = _judged(found[i], vacuity)
    return tuple(found)


def _judged(checked: Checked, vacuity: Vacuity) -> Checked:
    answer = checked.answer
    if vacuity.reached is None:
        return replace(checked, answer=replace(answer, reason=f"{answer.reason}; {vacuity.reason}"))
    if vacuity.reached:
        return replace(checked, reached=True)
    return replace(checked, status=Status.UNREACHABLE, reached=False, answer=replace(answer, reason=vacuity.reason))
