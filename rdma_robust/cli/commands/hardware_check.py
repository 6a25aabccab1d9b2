"""The `hardware check` command: whether a file is an order table, and what decides programs under it."""

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
from rdma_robust.text import printable


def check_command(
    context: typer.Context,
    table: TableArgument,
    *,
    format_: arguments.AnswerFormat = None,
    output: arguments.OutputFile = None,
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_hardware_check, table, report_form(output, format_, TEXT_OR_JSON, ()), output))


def run_hardware_check(file: str, form: str, to: str | None) -> Exit:
    """Say that a file is a table and what decides programs under it; return the exit code.

    Raises UsageError for a file with mistakes.
    """
    from rdma_robust.frame.formats.columns import sentence  # noqa: PLC0415 - slow
    from rdma_robust.reports.analyses.hardware_report import decided_by, hardware_object  # noqa: PLC0415

    table = arguments.table_in(file)
    said = f"{printable(file)}: an order table, {printable(table.name)}; {decided_by(table)}"
    return write_tables(sentence(said, width_of_output(to)), hardware_object([table], TOOL), form, to)
