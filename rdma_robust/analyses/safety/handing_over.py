"""`verify` with the help of `prove`: claims about other models, programs with unbounded data, and what was left open.

The own search (:mod:`verify`) knows robustness, hangs and queues of any length; proofs know invariants over integers without
bound. What both leave open is UNKNOWN, with both reasons.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from rdma_robust.analyses.prove.safety_outcome import AllowedClaim, Safety, SafetyOutcome, SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim, safety_claims
from rdma_robust.analyses.safety.goals import FaultGoal, SafeGoal, StateGoal
from rdma_robust.analyses.safety.questions import Answer, Argument, Reached, ReachOutcome
from rdma_robust.analyses.safety.verify import (
    Checked,
    Claim,
    Status,
    Verified,
    check_claims,
    claims,
    outcome_claim,
    status_of,
)
from rdma_robust.guard import found_within
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName, ExpectedAnswer
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, SEARCHED, Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.values import is_loop_free

OWN_SHARE: Final = 0.7
"""Of the time, for the own search of a program for which others may come after it."""

PROVEN_ON: Final = (RDMA, RDMA.with_ordered_reads(True))
"""The hardware about which proofs know something."""

_NO_HANGS: Final = "whether a program with unbounded data hangs is not decided"
_NO_CROWDS: Final = "`prove` answers for a given number of copies only"
_UNBOUNDED: Final = "the data have no bound"


def verify_all(
    program: Program,
    limits: Limits,
    hardware: Model = RDMA,
    *,
    hangs: bool = True,
    recv_depth: int = RECV_DEPTH,
    progress: Progress = ignore,
) -> Verified:
    """Check every claim of the program: those of :func:`verify.claims`, outcomes under other models, `expect safe` and
    `expect violated`.

    Raises InternalError if a run is not confirmed.
    """
    started = time.monotonic()
    own_claims = claims(program, hangs=hangs)
    besides = under_sc(program, own_claims)
    if program.undecided:
        every = [*(c for c in own_claims if c.kind != "hang" or c.text in _said(program)), *besides]
        verified = Verified(program, tuple(map(_unasked, every)), ReachOutcome((), 0, 0, 0, None, 0.0))
    else:
        handed = not program.crowds and hardware in PROVEN_ON
        more = bool(_others(program)) or (handed and not is_loop_free(program))
        own = limits.share(OWN_SHARE) if more else limits
        verified = check_claims(
            program, own, hardware, hangs=hangs, besides=besides, recv_depth=recv_depth, progress=progress
        )
    checked = [*verified.checked, *map(_unasked, _others(program))]
    answers = with_expected_violations(program, _Handing(program, limits, hardware, progress).over(checked))
    answers.sort(key=lambda c: (not c.claim.span.end, c.claim.span.start, c.claim.kind, c.claim.model))
    asked = replace(verified.asked, time_s=time.monotonic() - started)
    return Verified(program, tuple(answers), asked)


def _said(program: Program) -> set[str]:
    return {each.text for each in program.expectations}


def _others(program: Program) -> list[Claim]:
    """Return the claims that only proofs can answer: outcomes under models without a search here, and `expect safe`."""
    found = [outcome_claim(line, claim) for line in program.outcomes for claim in line.claims if claim.model not in SEARCHED]
    return found + [
        Claim("safe", each.text, each.span, SafeGoal(), each.model, each.negated)
        for each in program.expectations
        if each.kind == "safe" and each.model is not None
    ]


def _unasked(claim: Claim) -> Checked:
    reason = _NO_HANGS if claim.kind == "hang" else _UNBOUNDED if claim.model in SEARCHED else ""
    return Checked(claim, Status.UNKNOWN, Reached(Answer.UNKNOWN, Argument.LIMIT, reason))


def _unproven(checked: Checked) -> Checked:
    """What only proofs know of a program with crowds: they know no number of copies but a given one."""
    return replace(checked, answer=replace(checked.answer, reason=_NO_CROWDS))


class _Handing:
    def __init__(self, program: Program, limits: Limits, hardware: Model, progress: Progress) -> None:
        self.program = program
        self.limits = limits
        self.hardware = hardware
        self.progress = progress

    def over(self, checked: Sequence[Checked]) -> list[Checked]:
        """Return what was checked, with answers of `prove` for what is open."""
        done = list(checked)
        if self.program.crowds:
            return [_unproven(each) if each.claim.model not in SEARCHED else each for each in done]
        open_ = [i for i, each in enumerate(done) if each.status is Status.UNKNOWN and each.claim.kind != "hang"]
        models = list(dict.fromkeys(done[i].claim.model for i in open_))
        for number, model in enumerate(models):
            mine = [i for i in open_ if done[i].claim.model == model]
            limits = self.limits.share(1 / (len(models) - number))
            asked = [done[i] for i in mine]
            work = partial(self._answers, model, asked, limits)
            answers = found_within(limits, work, partial(_left_open, asked))
            for i, answer in zip(mine, answers, strict=True):
                done[i] = answer
        return done

    def _answers(self, model: AnyModelName, asked: Sequence[Checked], limits: Limits) -> Iterable[Checked]:
        if refused := model_refusals(self.program, model):
            reason = f"{refused[0].message} (line {refused[0].span.where})"
            return [_with(each, None, None, f"`prove` was not asked: {reason}") for each in asked]
        if self.hardware not in PROVEN_ON:
            return asked
        outcome: SafetyOutcome | None = None
        if any(each.claim.kind == "safe" for each in asked):
            from rdma_robust.analyses.prove.prove import decide_safety  # noqa: PLC0415 - slow, and most programs need none

            outcome = decide_safety(self.program, model, limits.share(0.5), progress=self.progress)
        wanted = [each for each in asked if each.claim.kind != "safe"]
        known = safety_claims(self.program, model)
        proven = outcome is not None and outcome.safety is Safety.SAFE
        left = [_same(each.claim, known) for each in wanted if not (proven and not each.claim.allowed)]
        from rdma_robust.analyses.prove.prove import each_possible  # noqa: PLC0415 - slow, and most programs need none

        found = {each.claim: each for each in each_possible(self.program, model, left, limits, self.progress)}
        return [self._answer(each, outcome, known, found) for each in asked]

    def _answer(
        self,
        checked: Checked,
        outcome: SafetyOutcome | None,
        known: Sequence[SafetyClaim],
        found: dict[SafetyClaim, AllowedClaim],
    ) -> Checked:
        claim = checked.claim
        if claim.kind == "safe" and outcome is not None:
            happens = {Safety.SAFE: False, Safety.UNSAFE: True, Safety.UNKNOWN: None}[outcome.safety]
            return _with(checked, happens, outcome.run, outcome.reason)
        answer = found.get(_same(claim, known))
        if answer is None:
            return _with(checked, False, None, "")
        if answer.possible and claim.model == "rdma" and self.hardware.ordered_reads:
            return _with(checked, None, None, "`prove` has a run, with reads that are not ordered")
        return _with(checked, answer.possible, answer.run, answer.reason)


def _same(claim: Claim, known: Sequence[SafetyClaim]) -> SafetyClaim:
    """Return the claim as `prove` has it."""
    goal = claim.goal
    if isinstance(goal, FaultGoal):
        return next(each for each in known if each.fault == goal.fault)
    assert isinstance(goal, StateGoal)
    places = [each for each in known if each.span == claim.span and each.allowed == claim.allowed]
    return next(each for each in places if each.kind == claim.kind)


def _left_open(asked: Sequence[Checked], why: str) -> Iterable[Checked]:
    return [_with(each, None, None, why) for each in asked]


def _with(checked: Checked, happens: bool | None, run: SafetyRun | None, reason: str) -> Checked:
    """Return a claim with what `prove` has said of it."""
    claim, own = checked.claim, checked.answer.reason
    if happens is None:
        told = reason if reason.startswith("`prove`") else f"`prove` leaves it open: {reason}"
        said = "; ".join(part for part in (own, told) if part)
        return replace(checked, answer=replace(checked.answer, reason=said))
    if happens:
        answer = Reached(Answer.REACHABLE, Argument.MODEL_RUN, f"`prove` has a run of the machine of model {claim.model}")
    else:
        answer = Reached(Answer.UNREACHABLE, Argument.PROOF, f"`prove` has a proof under model {claim.model}")
    return replace(checked, status=status_of(claim, answer), answer=answer, model_run=run)


# What a program claims of all its executions fails under RDMA if it fails under SC. So a line `expect violated` about
# SC foresees what fails there; one about RDMA foresees all that fails.


_APART: Final = ("hang", "outcome", "safe", "violated")
"""Kinds of claims that `expect` and `outcome` lines make themselves."""


def under_sc(program: Program, every: Iterable[Claim]) -> list[Claim]:
    """Return the claims that have to be asked about SC too, because a line expects that one of them is violated there."""
    if not any(each.model == "sc" for each in _expected_violations(program)):
        return []
    return [replace(each, model="sc") for each in every if _fallible(each)]


def with_expected_violations(program: Program, checked: Sequence[Checked]) -> list[Checked]:
    """Return the answers with one for each line that expects a violation, in place of those of :func:`under_sc`.

    Claims that are violated as such a line says are `expected` to be.
    """
    said = _expected_violations(program)
    if not said:
        return list(checked)
    fallible = [each for each in checked if _fallible(each.claim)]
    violated = [each.claim for each in fallible if each.status is Status.VIOLATED]
    meant = {_key(each) for each in violated if each.model == "sc" or any(line.model == "rdma" for line in said)}
    found = [each for each in checked if not _fallible(each.claim) or each.claim.model != "sc"]
    found = [replace(each, expected=each.claim in violated and _key(each.claim) in meant) for each in found]
    return [*found, *(_of_line(line, [each for each in fallible if each.claim.model == line.model]) for line in said)]


def _expected_violations(program: Program) -> list[ExpectedAnswer]:
    return [each for each in program.expectations if each.kind == "violated"]


def _fallible(claim: Claim) -> bool:
    return claim.kind not in _APART


def _key(claim: Claim) -> tuple[str, int, str]:
    return claim.kind, claim.span.start, claim.text


def _of_line(line: ExpectedAnswer, fallible: Sequence[Checked]) -> Checked:
    """Return whether some claim under the model of a line is violated."""
    claim = Claim("violated", line.text, line.span, SafeGoal(), line.model or "rdma", allowed=True)
    violated = next((each for each in fallible if each.status is Status.VIOLATED), None)
    if violated is not None:
        reason = f"{violated.claim.kind}, line {violated.claim.span.where}: {violated.answer.reason}"
        return Checked(claim, Status.HOLDS, replace(violated.answer, answer=Answer.REACHABLE, reason=reason))
    unknown = next((each for each in fallible if each.status is Status.UNKNOWN), None)
    if unknown is not None:
        return Checked(claim, Status.UNKNOWN, replace(unknown.answer, answer=Answer.UNKNOWN))
    reason = "every claim holds" if fallible else "there is no assertion or invariant, and nothing can go wrong"
    return Checked(claim, Status.VIOLATED, Reached(Answer.UNREACHABLE, Argument.SC_EXHAUSTED, reason))
