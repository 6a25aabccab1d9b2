"""The explanation of contracts as one HTML file that needs nothing else, and fragments for functions that violate theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from rdma_robust.contracts.contract_answers import FunctionAnswer
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.reports.contracts.contract_explained import contract_findings
from rdma_robust.reports.contracts.contracts_explanation import HEADS, ContractsExplanation, cells_of
from rdma_robust.reports.share.chart import ChartRow
from rdma_robust.reports.share.chart_listing import KINDS, marked_lines
from rdma_robust.reports.share.chart_svg import chart_svg
from rdma_robust.reports.share.html_templates import templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, SCRIPT, STYLE, page_script

PACKAGE: Final = "rdma_robust.reports.contracts"


def contracts_page(told: ContractsExplanation, version: str) -> str:
    """Return the whole page; `version` is that of the tool."""
    program = told.program
    shown: list[ChartRow] = list(told.findings[0].chart.rows) if told.findings else []
    return (
        templates(PACKAGE)
        .get_template("contracts.html.j2")
        .render(
            told=told,
            program=program,
            title=f"{program.name}: {told.verdict}",
            kind=KINDS.get(told.exit_code, "unknown"),
            heads=HEADS,
            rows=[(row, cells_of(row)) for row in told.record.rows],
            style=PAGE_STYLE + STYLE,
            script=page_script(SCRIPT),
            findings=[(each, Markup(chart_svg(each.chart, every=True))) for each in told.findings],
            source=marked_lines(program.source, shown, "mp"),
            version=version,
        )
    )


def contract_parts(program: ContractProgram, answers: Sequence[FunctionAnswer]) -> dict[str, str]:
    """Return by their names the fragments of functions that violate their contracts: run, values, the source with marks."""
    template = templates(PACKAGE).get_template("contract_part.html.j2")
    return {
        each.function: template.render(
            finding=each,
            drawing=Markup(chart_svg(each.chart, every=True)),
            source=marked_lines(program.source, each.chart.rows, "mp"),
        )
        for each in contract_findings(program, answers)
    }
