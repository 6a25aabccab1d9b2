"""`expect violated under MODEL`: the claims that are meant to fail, and whether some claim does.

What a program claims of all its executions fails under RDMA if it fails under SC. So an `expect` line about SC foresees what
fails there; one about RDMA foresees all that fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rdma_robust.analyses.safety.goals import SafeGoal
from rdma_robust.analyses.safety.questions import Answer, Argument, Reached
from rdma_robust.analyses.safety.verify import Checked, Claim, Status
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import Expectation

_APART: Final = ("hang", "outcome", "safe", "violated")
"""Kinds of claims that `expect` and `outcome` lines make themselves."""


def under_sc(program: Program, every: Iterable[Claim]) -> list[Claim]:
    """Return the claims that have to be asked about SC too, because a line expects that one of them is violated there."""
    if not any(each.model == "sc" for each in _said(program)):
        return []
    return [replace(each, model="sc") for each in every if _fallible(each)]


def with_expected_violations(program: Program, checked: Sequence[Checked]) -> list[Checked]:
    """Return the answers with one for each line that expects a violation, in place of those of :func:`under_sc`.

    Claims that are violated as such a line says are `expected` to be.
    """
    said = _said(program)
    if not said:
        return list(checked)
    fallible = [each for each in checked if _fallible(each.claim)]
    violated = [each.claim for each in fallible if each.status is Status.VIOLATED]
    meant = {_key(each) for each in violated if each.model == "sc" or any(line.model == "rdma" for line in said)}
    found = [each for each in checked if not _fallible(each.claim) or each.claim.model != "sc"]
    found = [replace(each, expected=each.claim in violated and _key(each.claim) in meant) for each in found]
    return [*found, *(_of_line(line, [each for each in fallible if each.claim.model == line.model]) for line in said)]


def _said(program: Program) -> list[Expectation]:
    return [each for each in program.expectations if each.kind == "violated"]


def _fallible(claim: Claim) -> bool:
    return claim.kind not in _APART


def _key(claim: Claim) -> tuple[str, int, str]:
    return claim.kind, claim.span.start, claim.text


def _of_line(line: Expectation, fallible: Sequence[Checked]) -> Checked:
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
