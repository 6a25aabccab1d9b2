"""The `messages` commands: programs of processes that send and receive messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import typer

from rdma_robust.cli.commands.messages_check import check_command
from rdma_robust.cli.commands.messages_explain import explain_command
from rdma_robust.cli.commands.messages_matches import matches_command
from rdma_robust.cli.commands.messages_trace import trace_command
from rdma_robust.cli.options.help_page import HelpedCommand
from rdma_robust.cli.options.messages_help_text import MESSAGES_COMMANDS

messages_command = typer.Typer(invoke_without_command=True, no_args_is_help=False)

FUNCTIONS: Final[dict[str, Callable[..., None]]] = {
    "check": check_command,
    "trace": trace_command,
    "matches": matches_command,
    "explain": explain_command,
}

for name, text in MESSAGES_COMMANDS.items():
    messages_command.command(name, help=text, cls=HelpedCommand)(FUNCTIONS[name])


@messages_command.callback(invoke_without_command=True)
def _listed(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
