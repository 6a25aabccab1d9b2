"""The `hardware list` command: the order tables of the tool."""

from __future__ import annotations

from functools import partial

import typer

from rdma_robust import TOOL
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.options.hardware_options import write_tables
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.orders import SHIPPED


def list_command(
    context: typer.Context, *, format_: arguments.AnswerFormat = None, output: arguments.OutputFile = None
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_hardware_list, report_form(output, format_, TEXT_OR_JSON, ()), output))


def run_hardware_list(form: str, to: str | None) -> Exit:
    """Print the tables; return the exit code. Raises UsageError."""
    from rdma_robust.reports.analyses.hardware_report import hardware_object, list_text  # noqa: PLC0415 - slow

    tables = [arguments.table_in(name) for name in SHIPPED]
    return write_tables(list_text(tables, width_of_output(to)), hardware_object(tables, TOOL), form, to)
