"""Do the assertions of a program hold, and what its `outcome` lines claim? Can it hang? And which claims are about nothing?

Robust: what SC does is all there is. Not robust: what the RDMA machine does is searched, which ends for a program without
loops, and for others if its queues cannot grow for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, HangGoal, SafeGoal, StateGoal, faults_by_copy
from rdma_robust.analyses.safety.hangs import Hang, hang_of
from rdma_robust.analyses.safety.questions import Answer, Reached, ReachOutcome
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.analyses.safety.vacuity import NOT_KNOWN, Vacuity, impossible_values, vacuities
from rdma_robust.errors import NO_SPAN, InternalError, Span
from rdma_robust.expr import conj, negate
from rdma_robust.guard import found_within
from rdma_robust.language.check.meaning import divides_by_no_zero
from rdma_robust.language.check.targets import Atom, CopyCountAtom, StateTarget, ThreadAtExit, ThreadAtPoints
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName, CopiesWith, EndedAtom, InvariantLine, OutcomeLine, PointAt
from rdma_robust.language.flow.claims import OutcomeClaim as OfOutcome
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, SEARCHED, Model, ModelName
from rdma_robust.options import RECV_DEPTH


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

    `kind` is `assertion`, `invariant`, `outcome`, `hang`, `safe` (what `expect safe` says), or what else can go wrong (see
    :class:`cfg.Fault`); `text` is the source. The claim that a program does not hang, which every program makes, has no
    place in it: NO_SPAN. Claims about other models than sc and rdma are those of :mod:`handing_over`. `copy` tells copies of
    one statement apart, in a family of threads or where a macro or `for` is expanded; it is empty where there is one.
    """

    kind: str
    text: str
    span: Span
    goal: Goal | SafeGoal
    model: AnyModelName = "rdma"
    allowed: bool = False
    copy: str = ""


@dataclass(frozen=True)
class Checked:
    """A claim, whether it holds, and the answer that says why, with its run.

    `reached` says of a claim that nothing goes wrong whether what it is about is ever reached, None if that is not known or
    was not asked. `hang` is where the run of a claim about hangs ends. `model_run` is a run that `prove` has found. A
    violated claim is `expected` if an `expect` line says so.
    """

    claim: Claim
    status: Status
    answer: Reached
    reached: bool | None = None
    hang: Hang | None = None
    model_run: SafetyRun | None = None
    expected: bool = False


@dataclass(frozen=True)
class Verified:
    """What was checked, in the order of the source, and the searches behind it."""

    program: Program
    checked: tuple[Checked, ...]
    asked: ReachOutcome

    @property
    def status(self) -> Status:
        """VIOLATED if some claim is and is not expected to be, else UNKNOWN if some is, else UNREACHABLE if some is."""
        found = {each.status for each in self.checked if not each.expected}
        return next((s for s in (Status.VIOLATED, Status.UNKNOWN, Status.UNREACHABLE) if s in found), Status.HOLDS)


def claims(program: Program, *, hangs: bool = True) -> tuple[Claim, ...]:
    """Return every claim of the program about sc and rdma, in the order of the source: its `assert` statements, its
    `invariant` and `outcome` lines, what it expects about hangs, and that nothing else goes wrong where it could.

    With `hangs` it claims as well that it does not hang under RDMA, unless it says something else about that.
    """
    found = [Claim(f.kind, f.text or f.message, f.span, FaultGoal(f), copy=c) for f, c in faults_by_copy(program)]
    found += [Claim("invariant", line.text, line.span, StateGoal(_violation(program, line))) for line in program.invariants]
    found += [outcome_claim(line, c) for line in program.outcomes for c in line.claims if c.model in SEARCHED]
    expected = [e for e in program.expectations if e.kind == "hang"]
    found += [
        Claim("hang", e.text, e.span, HangGoal(), "sc" if e.model == "sc" else "rdma", not e.negated) for e in expected
    ]
    found.sort(key=lambda c: (c.span.start, c.kind, c.model))
    if hangs and all(e.negated and e.model == "sc" for e in expected):
        found.append(Claim("hang", "no hang under rdma", NO_SPAN, HangGoal()))
    return tuple(found)


def outcome_claim(line: OutcomeLine, claim: OfOutcome) -> Claim:
    """Return what a line claims about one model."""
    condition = line.text.removeprefix("outcome ").rpartition(" : ")[0]
    # An outcome says nothing of where threads are.
    counted = tuple((name, CopyCountAtom(each.thread, each.condition)) for name, each in line.counts)
    goal = StateGoal(StateTarget(condition, line.condition, (), counted), final=True)
    return Claim("outcome", condition, line.span, goal, claim.model, claim.allowed)


def _violation(program: Program, line: InvariantLine) -> StateTarget:
    """Return the states in which an invariant does not hold."""
    condition = negate(conj(divides_by_no_zero(line.condition), line.condition))
    atoms = tuple((name, _atom(program, of)) for name, of in line.atoms)
    return StateTarget(line.text, condition, atoms, _counted(program, line.counts))


def _counted(program: Program, counts: Iterable[tuple[str, CopiesWith]]) -> tuple[tuple[str, CopyCountAtom], ...]:
    return tuple(
        (name, CopyCountAtom(each.thread, each.condition, tuple((word, _atom(program, atom)) for word, atom in each.atoms)))
        for name, each in counts
    )


def _atom(program: Program, of: PointAt | EndedAtom) -> Atom:
    if isinstance(of, EndedAtom):
        return ThreadAtExit(of.thread)
    thread = next(thread for thread in program.threads if thread.name == of.thread)
    return ThreadAtPoints(of.thread, thread.points_at(of.label))


def check_claims(
    program: Program,
    limits: Limits,
    hardware: Model = RDMA,
    *,
    hangs: bool = True,
    besides: Sequence[Claim] = (),
    recv_depth: int = RECV_DEPTH,
    progress: Progress = ignore,
) -> Verified:
    """Check every claim of the program, see :func:`claims`, and those `besides`. Raises InternalError if a run is not
    confirmed."""
    every = (*claims(program, hangs=hangs), *besides)
    questions = [_question(c) for c in every]
    asked = answer_goals(program, questions, limits, hardware, recv_depth=recv_depth, progress=progress)
    checked = []
    for claim, found in zip(every, asked.answers, strict=True):
        is_hang = claim.kind == "hang" and found.run is not None
        there = program if found.copies is None else found.copies.program
        hang = hang_of(there, found.run or (), hardware, recv_depth) if is_hang else None
        checked.append(Checked(claim, status_of(claim, found), found, None, hang))

    def about(claimed: list[tuple[Goal, ModelName]]) -> list[Vacuity]:
        look = partial(vacuities, program, claimed, limits, hardware, asked.robust, recv_depth=recv_depth)
        return found_within(limits, look, lambda why: [Vacuity(None, f"{NOT_KNOWN}: {why}")] * len(claimed))

    return Verified(program, _about_something(program, checked, about), asked)


def _question(claim: Claim) -> tuple[Goal, ModelName]:
    """Return what is asked about a claim of :func:`claims`."""
    if isinstance(claim.goal, SafeGoal):
        raise InternalError("a claim that only proofs answer is asked of a search")
    return claim.goal, "sc" if claim.model == "sc" else "rdma"


def status_of(claim: Claim, answer: Reached) -> Status:
    """Return what an answer means for a claim."""
    if answer.answer is Answer.UNKNOWN:
        return Status.UNKNOWN
    return Status.HOLDS if (answer.answer is Answer.REACHABLE) == claim.allowed else Status.VIOLATED


def _about_something(
    program: Program,
    checked: Sequence[Checked],
    about: Callable[[list[tuple[Goal, ModelName]]], list[Vacuity]],
) -> tuple[Checked, ...]:
    """Return what was checked; claims that hold but, as `about` says, are about nothing are UNREACHABLE."""
    found = list(checked)
    asked = []
    for i, each in enumerate(found):
        claim = each.claim
        if each.status is not Status.HOLDS or claim.allowed or claim.kind in ("hang", "invariant"):
            continue
        of_state = isinstance(claim.goal, StateGoal) and not program.crowds
        why = (
            impossible_values(program, claim.goal.target.condition) if isinstance(claim.goal, StateGoal) and of_state else ""
        )
        if why:
            found[i] = _judged(each, Vacuity(False, f"no state can have these values: {why}"))
        else:
            asked.append(i)
    if asked:
        questions = [_question(found[i].claim) for i in asked]
        for i, vacuity in zip(asked, about(questions), strict=True):
            found[i] = _judged(found[i], vacuity)
    return tuple(found)


def _judged(checked: Checked, vacuity: Vacuity) -> Checked:
    answer = checked.answer
    if vacuity.reached is None:
        return replace(checked, answer=replace(answer, reason=f"{answer.reason}; {vacuity.reason}"))
    if vacuity.reached:
        return replace(checked, reached=True)
    return replace(checked, status=Status.UNREACHABLE, reached=False, answer=replace(answer, reason=vacuity.reason))
