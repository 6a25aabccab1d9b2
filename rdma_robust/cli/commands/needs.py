"""The `needs` command: which guarantees of a network programs rely on."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import NEEDS_FORMATS
from rdma_robust.cli.options.option_sets import DecisionOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.orders import SHIPPED, order_name
from rdma_robust.questions.needs_question import MOST_CHECKS, NEEDS, NeedsAsking
from rdma_robust.text import printable

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
SHIPPED_NAMES: Final = ",".join(SHIPPED)
Tables = Annotated[
    str,
    typer.Option(
        "--orders",
        metavar="TABLES",
        help="The tables to ask whether they are enough, and the columns of the matrix: names, FILE.toml or fi(FLAG, ...), "
        "separated by commas. Default: those of the tool.",
        show_default=False,
    ),
]
NeedsExpect = Annotated[
    bool, typer.Option("--expect", help="Compare with the `needs` lines; a program without one counts as a mismatch.")
]


@with_option_sets
def needs_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    max_checks: MaxChecks = MOST_CHECKS,
    expect: NeedsExpect = False,
    order: Within = None,
    orders: Tables = SHIPPED_NAMES,
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
    tables = arguments.orders_in(orders)
    if twice := [name for name, times in Counter(map(order_name, tables)).items() if times > 1]:
        raise UsageError(f"--orders: two tables are called {printable(twice[0])}; a column needs a name of its own")
    asking = NeedsAsking(deciding.check_options(items), max_checks, expect, within=order, orders=tables)
    context.obj.append(partial(run_question, Run(NEEDS, asking, items, deciding.jobs, form, output, quiet)))
