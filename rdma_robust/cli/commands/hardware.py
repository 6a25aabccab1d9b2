"""The `hardware` command: order tables, listed, shown, checked and compared."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust import TOOL
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import layout
from rdma_robust.frame.shell.inputs import source_of
from rdma_robust.frame.shell.output import output as output_to
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.orders import SHIPPED
from rdma_robust.text import one_line

ACTIONS: Final = {"list": (0, 0), "show": (1, 1000), "check": (1, 1000), "compare": (2, 2)}
"""What can be done with tables, and how many it takes at least and at most."""

COMPARE_S: Final = 60.0

Action = Annotated[str, typer.Argument(metavar="[list|show|check|compare]", hidden=True)]
Tables = Annotated[list[str] | None, typer.Argument(metavar="[NAME|FILE]...", hidden=True)]
UpTo = Annotated[int, typer.Option(metavar="N", min=1, max=6, help="compare: statements of the largest programs.")]
Seconds = Annotated[
    float,
    typer.Option(metavar="SECONDS", callback=arguments.seconds, help="compare: time limit for all programs; 0 for none."),
]


def hardware_command(
    context: typer.Context,
    action: Action = "list",
    tables: Tables = None,
    *,
    up_to: UpTo = 4,
    timeout: Seconds = COMPARE_S,
    format_: arguments.AnswerFormat = None,
    output: arguments.OutputFile = None,
) -> None:
    """Note in the context what is to be done."""
    asked = tuple(tables or ())
    if action not in ACTIONS:
        raise UsageError(f"{one_line(action)!r} is nothing that can be done with tables; expected {', '.join(ACTIONS)}")
    least, most = ACTIONS[action]
    if not least <= len(asked) <= most:
        many = "no table" if not most else "a table" if most > least else f"{least} tables"
        raise UsageError(f"hardware {action} takes {many}, by name or as FILE.toml")
    form = report_form(output, format_, TEXT_OR_JSON, [source_of(each) for each in asked])
    orders = tuple(arguments.order_in(each) for each in asked) or SHIPPED
    context.obj.append(partial(run_hardware, action, orders, (up_to, arguments.limit(timeout)), form, output))


def run_hardware(
    action: str, orders: tuple[str, ...], within: tuple[int, float | None], form: str, path: str | None
) -> Exit:
    """Write what was asked of tables; return the exit code. Raises UsageError, BrokenPipeError."""
    from rdma_robust.analyses.hardware.tables_apart import tables_apart  # noqa: PLC0415 - few ask for it
    from rdma_robust.reports.analyses import hardware_report as report  # noqa: PLC0415

    found = list(tables_apart(orders[0], orders[1], *within)) if action == "compare" else None
    lines: list[str] = []
    width = width_of_output(path)
    if form == "json":
        lines = [layout(report.hardware_object(orders, TOOL, found))]
    elif found is not None:
        lines = [*report.compared(orders[0], orders[1], found, width)]
    elif action == "list":
        lines = report.tables_listed(width)
    elif action == "check":
        lines = [line for order in orders for line in report.decided_by(order, width)]
    else:
        for number, order in enumerate(orders):
            lines += [*([""] if number else []), *report.shown(order, width)]
    with output_to(path) as out:
        out.line("\n".join(lines))
    return Exit.OK
