"""The `hardware` command: order tables, listed, shown, checked and compared."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust.cli.options.arguments import order_in
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import StandardOutput
from rdma_robust.orders import order_name
from rdma_robust.text import one_line

ACTIONS: Final = {"list": (0, 0), "show": (1, 1000), "check": (1, 1000), "compare": (2, 2)}
"""What can be done with tables, and how many it takes at least and at most."""

Action = Annotated[str, typer.Argument(metavar="[list|show|check|compare]", hidden=True)]
Tables = Annotated[list[str] | None, typer.Argument(metavar="[NAME|FILE]...", hidden=True)]


def hardware_command(context: typer.Context, action: Action = "list", tables: Tables = None) -> None:
    """Note in the context what is to be done."""
    asked = tuple(tables or ())
    if action not in ACTIONS:
        raise UsageError(f"{one_line(action)!r} is nothing that can be done with tables; expected {', '.join(ACTIONS)}")
    least, most = ACTIONS[action]
    if not least <= len(asked) <= most:
        many = "no table" if not most else "a table" if most > least else f"{least} tables"
        raise UsageError(f"hardware {action} takes {many}, by name or as FILE.toml")
    context.obj.append(partial(run_hardware, action, tuple(order_in(each) for each in asked)))


def run_hardware(action: str, orders: tuple[str, ...]) -> Exit:
    """Print what was asked of tables; return the exit code. Raises BrokenPipeError."""
    from rdma_robust.reports.analyses import hardware_report as report  # noqa: PLC0415 - few ask for it

    lines: list[str] = []
    match action:
        case "list":
            lines = report.tables_listed()
        case "compare":
            lines = [*report.compared(*orders)]
        case "check":
            lines = [line for order in orders for line in (f"{order_name(order)}:", *report.decided_by(order))]
        case _:
            for number, order in enumerate(orders):
                lines += [*([""] if number else []), *report.shown(order)]
    StandardOutput().write("\n".join([*lines, ""]))
    return Exit.OK
