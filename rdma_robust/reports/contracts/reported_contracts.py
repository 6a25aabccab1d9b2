"""Findings about contracts: violations with their runs, claims that fail, what is undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rdma_robust.contracts.contract_answers import FunctionAnswer, ProcsAnswer
from rdma_robust.contracts.language.contract_program import ContractClaim, ContractProgram
from rdma_robust.errors import NO_SPAN
from rdma_robust.frame.finding import Finding, Step
from rdma_robust.messages.language.contract_codes import CODES
from rdma_robust.reports.contracts.contract_words import (
    contract_chart,
    first_violation,
    main_place,
    name_of,
    reasons_of,
    violation_line,
)
from rdma_robust.reports.share.chart import ChartRow
from rdma_robust.reports.share.file_record import ShapedFinding, known_again, run_flow
from rdma_robust.text import one_line

ClaimStatus = Literal["met", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class JudgedContractClaim:
    """A claim about a function, and what was found."""

    text: str
    function: str
    status: ClaimStatus
    found: str
    line: int
    column: int


def judged_claims(program: ContractProgram, answers: Sequence[FunctionAnswer]) -> tuple[JudgedContractClaim, ...]:
    """Return every claim of `program` under its buffer about a function that there is an answer for.

    Where it makes any, it claims of its other functions that they are verified: those are among these if they are violated
    so that a line could say it (from some number of processes on).
    """
    found = {answer.name: answer for answer in answers}
    claims = [each for each in program.claims if each.buffer == program.buffer and each.name in found]
    said = {claim.name for claim in claims}
    unsaid = [answer for answer in answers if claims and answer.name not in said and _from_some_number(answer)]
    return (*(_judged(claim, found[claim.name]) for claim in claims), *(_unsaid(program, answer) for answer in unsaid))


def _from_some_number(answer: FunctionAnswer) -> bool:
    """Return whether a function is violated for all numbers of processes from one on."""
    verdicts = [each.verdict for each in answer.answers]
    return "VIOLATED" in verdicts and set(verdicts[verdicts.index("VIOLATED") :]) == {"VIOLATED"}


def _unsaid(program: ContractProgram, answer: FunctionAnswer) -> JudgedContractClaim:
    """Return the claim that a function is verified, of which no `expect` line says that it is not true."""
    violated = next((each for each in answer.answers if each.verdict == "VIOLATED"), None)
    shown = "VIOLATED" if violated is None else f"n = {violated.procs}: {_shown(violated)}"
    contract = program.contract(answer.name)
    line, column = (1, 1) if contract is None else (contract.span.line, contract.span.column)
    said = f"{shown}, and no `expect contract` line says so"
    return JudgedContractClaim(f"contract {answer.name} verified", answer.name, "failed", said, line, column)


def _judged(claim: ContractClaim, answer: FunctionAnswer) -> JudgedContractClaim:
    status = [_status(claim, each) for each in answer.answers]
    worst: tuple[ClaimStatus, ...] = ("failed", "unknown")
    word: ClaimStatus = next((each for each in worst if each in status), "met")
    differing = next((each for each, there in zip(answer.answers, status, strict=True) if there == word), None)
    said = "" if differing is None else f"n = {differing.procs}: {_shown(differing)}"
    if word == "met" and claim.any_n and answer.every is not None and answer.every.verdict != "VERIFIED":
        word, said = "failed", f"every n: {answer.every.verdict}"
    return JudgedContractClaim(_text(claim), claim.name, word, said, claim.span.line, claim.span.column)


def _status(claim: ContractClaim, answer: ProcsAnswer) -> ClaimStatus:
    """Return whether a claim is true for one number of processes."""
    if answer.verdict == "UNKNOWN":
        return "unknown"
    if claim.verified or answer.procs < claim.since:
        return "met" if answer.verdict == "VERIFIED" else "failed"
    example = answer.counterexample
    return "met" if example is not None and claim.error in (None, example.error) else "failed"


def _shown(answer: ProcsAnswer) -> str:
    example = answer.counterexample
    return answer.verdict if example is None else f"{answer.verdict} {example.error}"


def _text(claim: ContractClaim) -> str:
    under = "" if claim.buffer == "infinite" else f" under {claim.buffer}"
    if claim.verified:
        return f"contract {claim.name} verified{' any n' if claim.any_n else ''}{under}"
    error = "" if claim.error is None else f" {claim.error}"
    since = f" from {claim.since}" if claim.since > 1 else ""
    return f"contract {claim.name} violated{error}{since}{under}"


def reported_contracts(program: ContractProgram, answers: Sequence[FunctionAnswer], *, expect: bool) -> tuple[Finding, ...]:
    """Return the findings: with `expect` violations that contradict a claim; else all, and what is undecided."""
    claims = judged_claims(program, answers)
    found = [each for answer in answers for each in _of_function(program, answer, claims, expect=expect)]
    if expect and not claims:
        says = "There is no `expect contract` line"
        found.append(ShapedFinding(Finding(program.file, 1, 1, "warning", "RR013", says), "no claims"))
    return known_again(found, program.name, program.source)


def _of_function(
    program: ContractProgram, answer: FunctionAnswer, claims: Sequence[JudgedContractClaim], *, expect: bool
) -> Iterator[ShapedFinding]:
    mine = [each for each in claims if each.function == answer.name]
    failed = [each for each in mine if each.status == "failed"]
    violation = first_violation(answer)
    if violation is not None and (failed or not expect):
        yield _violation(program, answer.name, violation)
    elif violation is None:
        for each in failed:
            said = one_line(f"`{each.text}`: found {each.found}", 200)
            finding = Finding(program.file, each.line, each.column, "warning", "RR038", said)
            yield ShapedFinding(finding, f"claim {each.text}")
    is_open = any(each.status == "unknown" for each in mine) if expect else answer.verdict == "UNKNOWN"
    reasons = reasons_of(answer)
    if is_open and reasons:
        contract = program.contract(answer.name)
        place = NO_SPAN if contract is None else contract.span
        text = f"Undecided: {answer.name}, {'; '.join(reasons)}"
        finding = Finding(program.file, place.line, place.column, "warning", "RR011", text)
        yield ShapedFinding(finding, f"undecided {answer.name}")


def _violation(program: ContractProgram, function: str, found: ProcsAnswer) -> ShapedFinding:
    """Return a violation at the clause or statement it is about, with the run that was replayed."""
    example = found.counterexample
    assert example is not None
    place = main_place(program, example)
    chart = contract_chart(program, "", function, example)
    finding = Finding(
        program.file,
        place.line,
        place.column,
        "error",
        CODES[example.error],
        violation_line(program, function, found, example),
        statement=program.source[place.start : place.end] if place.end_line == place.line else "",
        flows=run_flow([_step(row) for row in chart.rows if row.line is not None], place.line),
    )
    return ShapedFinding(finding, f"{function} {example.error} {example.clause}")


def _step(row: ChartRow) -> Step:
    return Step(row.line, row.column, row.text, kinds=(name_of(row.lane),))
