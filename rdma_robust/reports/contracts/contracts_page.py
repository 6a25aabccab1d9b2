"""The explanation of contracts as one HTML file that needs nothing else: no network, no fonts, no library."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from rdma_robust.reports.contracts.contracts_explanation import HEADS, ContractsExplanation, cells_of
from rdma_robust.reports.explanation.explanation_page import SCRIPT, STYLE
from rdma_robust.reports.messages.chart import ChartRow
from rdma_robust.reports.messages.chart_svg import chart_svg
from rdma_robust.reports.messages.messages_page import KINDS, marked_lines
from rdma_robust.reports.share.html_templates import templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, page_script

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
