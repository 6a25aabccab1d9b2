"""Does it matter that a program is not robust? Its claims are asked of the hardware, or else which final states are new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rdma_robust.analyses.safety.goals import Goal, SafeGoal
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.analyses.safety.verify import Checked, Claim, Status, check_claims, claims
from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.limits import Limits
from rdma_robust.model import ModelName
from rdma_robust.outcome import ClaimStanding, Matters, Outcome, Verdict
from rdma_robust.robustness import contracts
from rdma_robust.robustness.passes import Context, DecisionPass
from rdma_robust.semantics.machines.outcomes import explore_outcomes

MOST_STATES: Final = 3000
"""Of each search, so that the answer is the same on every machine."""

MOST_SHOWN: Final = 8
"""Final states that are kept of those that are new."""

WHAT: Final = "whether it matters"


def look_whether_it_matters(outcome: Outcome, context: Context) -> Outcome:
    """Return a NOT ROBUST `outcome` with `matters`; others as they are."""
    if outcome.verdict is not Verdict.NOT_ROBUST:
        return outcome
    if outcome.program.crowds:
        why = "there is any number of copies; `rdma-robust verify` answers for all of them"
        return replace(outcome, matters=Matters(skipped=(why,)))
    before = len(context.beside.left_out)
    found = context.beside.note(WHAT, lambda limits: what_matters(outcome, context, limits), Matters(), share=1.0)
    left_out = tuple(text.partition(": ")[2] for text in context.beside.left_out[before:])
    del context.beside.left_out[before:]  # it is said with what it is about
    return replace(outcome, matters=replace(found, skipped=(*found.skipped, *left_out)))


def what_matters(outcome: Outcome, context: Context, limits: Limits) -> Matters:
    """Return the claims that are about the hardware, with what becomes of them; else the final states that are new."""
    program, own = blocking(outcome.program), limits.at_most(MOST_STATES)
    standing: tuple[ClaimStanding, ...] = ()
    skipped: list[str] = []
    if any(map(_forbids, claims(program, hangs=False))):
        found = check_claims(program, own, outcome.model, hangs=False, recv_depth=context.options.recv_depth)
        about = [each for each in found.checked if _forbids(each.claim)]
        also = _under_sc(program, [each for each in about if each.status is Status.VIOLATED], outcome, own)
        standing = tuple(_standing(each, also) for each in about)
        if any(each.status is not Status.UNKNOWN for each in about):
            return Matters(standing)
        skipped = [about[0].answer.reason]
    states, why = _new_states(program, outcome, context, own)
    return Matters(standing, states, (*skipped, *((why,) if why else ())))


def _forbids(claim: Claim) -> bool:
    """Whether a claim is that something does not happen on the hardware; what may happen there need not."""
    return claim.model != "sc" and not claim.allowed


def _under_sc(
    program: Program, violated: Sequence[Checked], outcome: Outcome, limits: Limits
) -> Mapping[Claim, bool | None]:
    """Return which claims are violated under SC too, as far as that is found out."""
    asked = [(each.claim, each.claim.goal) for each in violated]
    questions: list[tuple[Goal, ModelName]] = [(goal, "sc") for _, goal in asked if not isinstance(goal, SafeGoal)]
    answers = answer_goals(program, questions, limits, outcome.model).answers if questions else ()
    meaning = {Answer.REACHABLE: True, Answer.UNREACHABLE: False}
    return {claim: meaning.get(found.answer) for (claim, _), found in zip(asked, answers, strict=True)}


def _standing(checked: Checked, also: Mapping[Claim, bool | None]) -> ClaimStanding:
    claim = checked.claim
    return ClaimStanding(claim.kind, claim.text, claim.span.line, checked.status.value, also.get(claim), claim.span.places)


def _new_states(
    program: Program, outcome: Outcome, context: Context, limits: Limits
) -> tuple[tuple[tuple[tuple[str, int], ...], ...] | None, str]:
    """Return the final states that only the hardware reaches, None if they are not known, and why they are not."""
    try:
        report = explore_outcomes(
            program,
            outcome.model,
            max_states=limits.states,
            timeout=limits.seconds_left(),
            recv_depth=context.options.recv_depth,
        )
    except SizeLimitError as error:
        return None, str(error)
    if report.sc.cut is not None or (report.rdma.cut is not None and not report.only_rdma):
        return None, f"the search for final states ended at {report.sc.cut or report.rdma.cut}"
    return tuple(tuple(zip(report.names, state.values, strict=True)) for state in report.only_rdma[:MOST_SHOWN]), ""


MATTERS: Final = DecisionPass("matters", look_whether_it_matters, contracts.DECIDED, contracts.DECIDED, repr)
"""The note that `check` asks for of a program that it tells about at length."""
