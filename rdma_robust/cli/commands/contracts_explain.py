"""The `contracts explain` command: check the contracts of one file, and draw the runs that violate them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import typer

from rdma_robust import TOOL, __version__
from rdma_robust.cli.answering import only, tell_of
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.contracts_options import ContractOptions
from rdma_robust.cli.options.formats import CONTRACT_FORMATS
from rdma_robust.cli.options.messages_options import NAMED
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Source, expand
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.frame.shell.stderr import warn_of
from rdma_robust.limits import Limits
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.questions.contracts_question import ContractsAsking, check_in_time, load_contracts_room

if TYPE_CHECKING:
    from rdma_robust.reports.contracts.contracts_explanation import ContractsExplanation


@with_option_sets
def explain_command(
    context: typer.Context,
    file: arguments.File,
    *,
    asked: ContractOptions,
    define: arguments.Define = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    memory: arguments.Memory = None,
    format_: arguments.ContractsFormat = None,
    output: arguments.OutputFile = None,
    all_steps: arguments.AllSteps = False,
) -> None:
    """Note in the context what is to be done."""
    asking = ContractsAsking(
        asked.checking(),
        arguments.limit(timeout),
        arguments.memory_limit(memory),
        define=tuple(define or ()),
        each=all_steps,
        width=width_of_output(output),
    )
    form = report_form(output, format_, CONTRACT_FORMATS, expand([file], suffixes=(MESSAGES_SUFFIX,), named=NAMED))
    context.obj.append(partial(run_contracts_explain, file, asking, form, output))


def run_contracts_explain(file: str, asking: ContractsAsking, form: str, to: str | None) -> Exit:
    """Check and explain `file`; return the exit code, that of `contracts check`. Raises UsageError."""
    item = only(file, "contracts explain", asking.define, (MESSAGES_SUFFIX,), NAMED)
    return tell_of(item, (form, to), asking.limits, partial(_told, asking, form), _load)


def _load() -> None:
    load_contracts_room()
    import rdma_robust.reports.contracts.contracts_explanation  # noqa: F401, PLC0415 - slow: before limits


def _told(asking: ContractsAsking, form: str, source: Source, limits: Limits) -> tuple[str, Exit]:
    from rdma_robust.reports.contracts.contracts_explanation import contracts_explanation  # noqa: PLC0415 - loaded by then

    found = check_in_time(source, asking, limits)
    program = found.program
    assert program is not None
    warn_of(program.warnings, program.file, program.source)
    told = contracts_explanation(program, found.answers)
    return _written(told, asking, form), told.exit_code


def _written(told: ContractsExplanation, asking: ContractsAsking, form: str) -> str:
    match form:
        case "text":
            from rdma_robust.reports.contracts.contracts_explanation import contracts_explanation_text  # noqa: PLC0415

            return "\n".join(contracts_explanation_text(told, asking.width, full=asking.each))
        case "json":
            from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415
            from rdma_robust.reports.contracts.contracts_explanation import contracts_explanation_object  # noqa: PLC0415

            return layout(contracts_explanation_object(told, TOOL))
        case "svg" | "mermaid":
            from rdma_robust.reports.messages.chart_languages import chart_mermaid  # noqa: PLC0415
            from rdma_robust.reports.share.chart_svg import chart_svg  # noqa: PLC0415

            if not told.findings:
                raise UsageError("no contract is violated: there is no run to draw")
            return (chart_svg if form == "svg" else chart_mermaid)(told.findings[0].chart)
        case _:
            from rdma_robust.reports.contracts.contracts_explanation import contracts_page  # noqa: PLC0415

            return contracts_page(told, __version__)
