"""What somebody should look at in contracts: violations with their runs, claims that fail, what is undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rdma_robust.contracts.contract_answers import FunctionAnswer, ProcsAnswer
from rdma_robust.contracts.language.contract_program import ContractProgram, ErrorClass
from rdma_robust.errors import NO_SPAN
from rdma_robust.frame.finding import Finding, Step
from rdma_robust.reports.contracts.contract_chart import contract_chart
from rdma_robust.reports.contracts.contract_claims import JudgedContractClaim, judged_claims
from rdma_robust.reports.contracts.contract_words import first_violation, main_place, name_of, reasons_of, violation_line
from rdma_robust.reports.share.chart import ChartRow
from rdma_robust.reports.share.file_record import ShapedFinding, known_again, run_flow
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
