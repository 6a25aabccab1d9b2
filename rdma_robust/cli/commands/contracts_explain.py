"""The `contracts explain` command: check the contracts of one file, and draw the runs that violate them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust import TOOL, __version__
from rdma_robust.cli.answering import answer_sources, only
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import (
    FORMAT_HELP,
    AllSteps,
    Define,
    File,
    Memory,
    OutputFile,
    Timeout,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.contracts_options import ContractOptions
from rdma_robust.cli.options.formats import CONTRACT_FORMATS, ContractFormat
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import MESSAGES_SUFFIX, Source, expand
from rdma_robust.frame.shell.output import output
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.guard import ENDING
from rdma_robust.questions.contracts_question import ContractsAsking, check_in_time, load_contracts_room
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.reports.contracts.contracts_explanation import ContractsExplanation


@dataclass(frozen=True, slots=True)
class ContractsExplainRequest:
    """What to explain and how; `to` of None is standard output."""

    file: str
    asking: ContractsAsking
    format: str
    to: str | None


@with_option_sets
def explain_command(
    context: typer.Context,
    file: File,
    *,
    asked: ContractOptions,
    define: Define = None,
    timeout: Timeout = TIMEOUT_S,
    memory: Memory = None,
    format_: Annotated[ContractFormat | None, typer.Option("--format", help=FORMAT_HELP, show_default=False)] = None,
    output: OutputFile = None,
    all_steps: AllSteps = False,
) -> None:
    """Note in the context what is to be done."""
    asking = ContractsAsking(
        asked.checking(),
        limit(timeout),
        memory_limit(memory),
        define=tuple(define or ()),
        each=all_steps,
        width=width_of_output(output),
    )
    form = report_form(output, format_, CONTRACT_FORMATS, expand([file], suffixes=(MESSAGES_SUFFIX,)))
    context.obj.append(partial(run_contracts_explain, ContractsExplainRequest(file, asking, form, output)))


def run_contracts_explain(request: ContractsExplainRequest) -> Exit:
    """Check and explain the file of `request`; return the exit code, that of `contracts check`. Raises UsageError."""
    item = only(request.file, "contracts explain", request.asking.define, (MESSAGES_SUFFIX,))
    place = output(request.to)
    load_contracts_room()
    from rdma_robust.reports.contracts.contracts_explanation import contracts_explanation  # noqa: PLC0415 - before limits

    limits = request.asking.limits()

    def explained(source: Source) -> Exit:
        found = check_in_time(source, request.asking, limits)
        program = found.program
        assert program is not None
        for warning in program.warnings:
            warn(printable(warning.render(program.file, program.source), "\n"))
        told = contracts_explanation(program, found.answers)
        text = _written(told, request).rstrip("\n")
        with place:
            (place.say if request.format == "text" else place.line)(text)
        return told.exit_code

    return answer_sources([item], lambda: limits, explained, ENDING)


def _written(told: ContractsExplanation, request: ContractsExplainRequest) -> str:
    match request.format:
        case "text":
            from rdma_robust.reports.contracts.contracts_explanation import contracts_explanation_text  # noqa: PLC0415

            return "\n".join(contracts_explanation_text(told, request.asking.width, full=request.asking.each))
        case "json":
            from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415
            from rdma_robust.reports.contracts.contracts_explanation import contracts_explanation_object  # noqa: PLC0415

            return layout(contracts_explanation_object(told, TOOL))
        case "svg" | "mermaid":
            from rdma_robust.reports.messages.chart_languages import chart_mermaid  # noqa: PLC0415
            from rdma_robust.reports.messages.chart_svg import chart_svg  # noqa: PLC0415

            if not told.findings:
                raise UsageError("no contract is violated: there is no run to draw")
            return (chart_svg if request.format == "svg" else chart_mermaid)(told.findings[0].chart)
        case _:
            from rdma_robust.reports.contracts.contracts_page import contracts_page  # noqa: PLC0415

            return contracts_page(told, __version__)
