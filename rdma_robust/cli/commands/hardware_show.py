"""The `hardware show` command: one order table with its sources."""

from __future__ import annotations

from functools import partial

import typer

from rdma_robust import TOOL
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.options.hardware_options import TableArgument, write_tables
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import width_of_output


def show_command(
    context: typer.Context,
    table: TableArgument,
    *,
    format_: arguments.AnswerFormat = None,
    output: arguments.OutputFile = None,
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_hardware_show, table, report_form(output, format_, TEXT_OR_JSON, ()), output))


def run_hardware_show(name: str, form: str, to: str | None) -> Exit:
    """Print a table; return the exit code. Raises UsageError for what is none."""
    from rdma_robust.reports.analyses.hardware_report import hardware_object, show_text  # noqa: PLC0415 - slow

    table = arguments.table_in(name)
    return write_tables(show_text(table, width_of_output(to)), hardware_object([table], TOOL), form, to)
