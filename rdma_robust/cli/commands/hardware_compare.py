"""The `hardware compare` command: in what two order tables differ, with programs that notice it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import answering
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.options.hardware_options import TableArgument, write_tables
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.limits import Limits

if TYPE_CHECKING:
    from rdma_robust.analyses.synthesis.tables_apart import ToldApart
    from rdma_robust.orders.order_record import OrderTable


def compare_tables_command(
    context: typer.Context,
    first: TableArgument,
    second: TableArgument,
    *,
    up_to: Annotated[int, typer.Option(metavar="N", min=1, max=6, help="Statements of the largest programs.")] = 4,
    timeout: arguments.Timeout = TIMEOUT_S,
    format_: arguments.AnswerFormat = None,
    output: arguments.OutputFile = None,
) -> None:
    """Note in the context what is to be done."""
    form = report_form(output, format_, TEXT_OR_JSON, ())
    context.obj.append(partial(run_hardware_compare, (first, second), (up_to, arguments.limit(timeout)), form, output))


def run_hardware_compare(names: tuple[str, str], within: tuple[int, float | None], form: str, to: str | None) -> Exit:
    """Say in what two tables differ, with programs; return the exit code. Raises UsageError for what is no table."""
    from rdma_robust.reports.analyses.hardware_report import compare_text, hardware_object  # noqa: PLC0415 - slow

    tables = (arguments.table_in(names[0]), arguments.table_in(names[1]))
    found = answering(" ".join(names), Limits.of(within[1]), partial(_apart, tables, *within))
    if isinstance(found, Exit):
        return found
    return write_tables(compare_text(tables, found, width_of_output(to)), hardware_object(tables, TOOL, found), form, to)


def _apart(tables: tuple[OrderTable, OrderTable], size: int, seconds: float | None) -> list[ToldApart]:
    from rdma_robust.analyses.synthesis.tables_apart import tables_apart  # noqa: PLC0415 - slow

    return list(tables_apart(*tables, size, None if seconds is None else _SHARE * seconds))


_SHARE = 0.9
"""Of the time, for the programs: what was found is to be told within the limit."""
