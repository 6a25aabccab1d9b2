"""The `contracts` commands: contracts of procedures that pass messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import typer

from rdma_robust.cli.commands.contracts_check import check_command
from rdma_robust.cli.commands.contracts_explain import explain_command
from rdma_robust.cli.commands.contracts_infer import infer_command
from rdma_robust.cli.options.contracts_help_text import CONTRACTS_COMMANDS
from rdma_robust.cli.options.help_page import HelpedCommand

contracts_command = typer.Typer(invoke_without_command=True, no_args_is_help=False)

FUNCTIONS: Final[dict[str, Callable[..., None]]] = {
    "check": check_command,
    "explain": explain_command,
    "infer": infer_command,
}

for name, text in CONTRACTS_COMMANDS.items():
    contracts_command.command(name, help=text, cls=HelpedCommand)(FUNCTIONS[name])


@contracts_command.callback(invoke_without_command=True)
def _listed(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
