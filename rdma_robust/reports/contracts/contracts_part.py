"""What a page about many programs shows of violated contracts: a fragment of HTML for each function, without ids."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rdma_robust.contracts.contract_answers import FunctionAnswer
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.reports.contracts.contract_explained import contract_findings
from rdma_robust.reports.contracts.contracts_page import PACKAGE
from rdma_robust.reports.messages.chart_svg import chart_svg
from rdma_robust.reports.messages.messages_page import marked_lines
from rdma_robust.reports.share.html_templates import templates


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
