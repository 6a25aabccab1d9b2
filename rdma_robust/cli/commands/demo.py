"""The `demo` command: the list of demos; each module adds its own."""

from __future__ import annotations

from types import ModuleType

import typer

from rdma_robust.cli.commands import demo_abp, demo_finite, demo_pcp, demo_vass
from rdma_robust.cli.options.help_page import HelpedCommand

PARTS: tuple[ModuleType, ...] = (demo_pcp, demo_abp, demo_vass, demo_finite)
"""Modules with demos, in the order of the list; each has its commands in `commands`."""


demo_command = typer.Typer(invoke_without_command=True, no_args_is_help=False)
demo_command.registered_commands += [command for part in PARTS for command in part.commands.registered_commands]
for each in demo_command.registered_commands:
    each.cls = HelpedCommand


@demo_command.callback(invoke_without_command=True)
def _list(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        from rdma_robust.cli.commands.demo_show import list_demos  # noqa: PLC0415 - each command loads what it needs

        names = [(str(each.name), str(each.short_help)) for each in demo_command.registered_commands]
        context.obj.append(lambda: list_demos(names))
