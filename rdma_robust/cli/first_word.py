"""The first word of a command line: which command is meant, and the description of that one only."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from importlib import import_module
from typing import Final

import typer

from rdma_robust.cli.options.help_texts import COMMANDS

_ELSEWHERE: Final = {
    "options.repair_options": ("repair",),
    "options.report_options": ("report", "compare"),
    "commands.demo": ("demo",),
    "options.safety_options": ("reach", "verify"),
}
"""The commands that modules of their own describe, in the order of the help; most command lines need none of them."""


def with_command(arguments: Sequence[str]) -> list[str]:
    """Return `arguments` with the default command in front unless they begin with a command or ask about the tool."""
    if not arguments or arguments[0] in (*COMMANDS, "--help", "-h", "--version"):
        return list(arguments)
    return ["check", *arguments]


def described(app: typer.Typer, named: Sequence[str] = ()) -> typer.Typer:
    """Return `app` with all commands, or only with the one that is named: to describe all takes as long as deciding."""
    one = copy(app)
    one.registered_commands, one.registered_groups = [*app.registered_commands], [*app.registered_groups]
    wanted = {*named} & {*COMMANDS}
    for module, commands in _ELSEWHERE.items():
        if not wanted or wanted & {*commands}:
            import_module(f"rdma_robust.cli.{module}").register(one)
    if not wanted:
        return one
    one.registered_commands = [command for command in one.registered_commands if command.name in wanted]
    one.registered_groups = [group for group in one.registered_groups if group.name in wanted]
    return one
