"""The first word of a command line: which command is meant, and the description of that one only."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import typer

from rdma_robust.cli.options.help_texts import COMMANDS


def with_command(arguments: Sequence[str]) -> list[str]:
    """Return `arguments` with the default command in front unless they begin with a command or ask about the tool."""
    if not arguments or arguments[0] in (*COMMANDS, "--help", "-h", "--version"):
        return list(arguments)
    return ["check", *arguments]


def described(app: typer.Typer, named: Sequence[str]) -> typer.Typer:
    """Return `app` with only the command that is named, if one is: to describe all takes as long as deciding a program."""
    if not {*named} & {*COMMANDS}:
        return app
    one = copy(app)
    one.registered_commands = [command for command in app.registered_commands if command.name in named]
    one.registered_groups = [group for group in app.registered_groups if group.name in named]
    return one
