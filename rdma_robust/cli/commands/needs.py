"""The `needs` command: which guarantees of a network programs rely on."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import NEEDS_FORMATS
from rdma_robust.cli.options.option_sets import DecisionOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.questions.needs_question import MOST_CHECKS, NEEDS, NeedsAsking

MOST: Final = 1000
MaxChecks = Annotated[int, typer.Option("--max-checks", min=2, max=MOST, help="Decisions at most for a program.")]
Within = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="NAME|FILE",
        parser=arguments.order_in,
        help="Ask about the guarantees of this order only: on which of them a program relies there.",
        show_default=False,
    ),
]
NeedsExpect = Annotated[
    bool, typer.Option("--expect", help="Compare with the `needs` lines; a program without one counts as a mismatch.")
]

Runs = Annotated[bool, typer.Option("--runs", help="Show the run that breaks without each guarantee, step by step.")]


@with_option_sets
def needs_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    max_checks: MaxChecks = MOST_CHECKS,
    expect: NeedsExpect = False,
    runs: Runs = False,
    order: Within = None,
    orders: arguments.ColumnsOption = arguments.SHIPPED_NAMES,
    deciding: DecisionOptions,
    format_: arguments.NeedsFormat = None,
    output: arguments.OutputFile = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    items = deciding.items(files)
    form = report_form(output, format_, NEEDS_FORMATS, items)
    if expect and order is not None:
        raise UsageError("--expect and --order exclude one another: `needs` lines are about all guarantees that there are")
    tables = arguments.columns_in(orders)
    asking = NeedsAsking(deciding.check_options(items), max_checks, expect, within=order, runs=runs, orders=tables)
    context.obj.append(partial(run_question, Run(NEEDS, asking, items, deciding.jobs, form, output, quiet)))
