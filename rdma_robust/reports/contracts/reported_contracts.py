"""What somebody should look at in contracts: violations with their runs, claims that fail, what is undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rdma_robust.contracts.contract_answers import FunctionAnswer, ProcsAnswer
from rdma_robust.contracts.language.contract_program import ContractProgram, ErrorClass
from rdma_robust.errors import NO_SPAN
from rdma_robust.reports.analyses.claim_findings import StepView
from rdma_robust.reports.contracts.contract_chart import contract_chart
from rdma_robust.reports.contracts.contract_claims import JudgedContractClaim, judged_claims
from rdma_robust.reports.contracts.contract_words import first_violation, main_place, name_of, reasons_of, violation_line
from rdma_robust.reports.messages.chart import ChartRow
from rdma_robust.reports.messages.message_findings import MessageFinding
from rdma_robust.text import one_line

CODES: Final[dict[ErrorClass, str]] = {
    "RTE": "RR030",
    "CCM": "RR031",
    "DL": "RR032",
    "SGV": "RR033",
    "PGV": "RR034",
    "ITF": "RR035",
    "SRV": "RR036",
    "PRV": "RR037",
    "INV": "RR039",
}
"""The codes of violations by their classes."""


def reported_contracts(
    program: ContractProgram, answers: Sequence[FunctionAnswer], *, expect: bool
) -> tuple[MessageFinding, ...]:
    """Return the findings: with `expect` violations that contradict a claim; else all, and what is undecided."""
    claims = judged_claims(program, answers)
    found = [each for answer in answers for each in _of_function(program, answer, claims, expect=expect)]
    if expect and not claims:
        found.append(MessageFinding("RR013", "warning", 1, 1, "There is no `expect contract` line", "no claims"))
    return tuple(found)


def _of_function(
    program: ContractProgram, answer: FunctionAnswer, claims: Sequence[JudgedContractClaim], *, expect: bool
) -> Iterator[MessageFinding]:
    mine = [each for each in claims if each.function == answer.name]
    failed = [each for each in mine if each.status == "failed"]
    violation = first_violation(answer)
    if violation is not None and (failed or not expect):
        yield _violation(program, answer.name, violation)
    elif violation is None:
        for each in failed:
            said = one_line(f"`{each.text}`: found {each.found}", 200)
            yield MessageFinding("RR038", "warning", each.line, each.column, said, f"claim {each.text}")
    is_open = any(each.status == "unknown" for each in mine) if expect else answer.verdict == "UNKNOWN"
    reasons = reasons_of(answer)
    if is_open and reasons:
        contract = program.contract(answer.name)
        place = NO_SPAN if contract is None else contract.span
        text = f"Undecided: {answer.name}, {'; '.join(reasons)}"
        yield MessageFinding("RR011", "warning", place.line, place.column, text, f"undecided {answer.name}")


def _violation(program: ContractProgram, function: str, found: ProcsAnswer) -> MessageFinding:
    """Return a violation at the clause or statement it is about, with the run that was replayed."""
    example = found.counterexample
    assert example is not None
    place = main_place(program, example)
    chart = contract_chart(program, "", function, example)
    there = place.end_line == place.line
    return MessageFinding(
        CODES[example.error],
        "error",
        place.line,
        place.column,
        violation_line(program, function, found, example),
        f"{function} {example.error} {example.clause}",
        run=tuple(_step(row) for row in chart.rows if row.line is not None),
        statement=program.source[place.start : place.end] if there else "",
    )


def _step(row: ChartRow) -> StepView:
    return StepView(name_of(row.lane), row.line, row.column, row.text)
