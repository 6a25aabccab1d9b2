"""The answer to --show-settings: the value of every setting of a command, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import typer
import typer.main

from rdma_robust.cli.mistakes import is_mistake, mistake_told
from rdma_robust.cli.settings import COLOR, OWN, PROJECT, TABLE, Settings
from rdma_robust.errors import UsageError
from rdma_robust.frame import registry
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import StandardOutput
from rdma_robust.text import printable


def show_settings(arguments: Sequence[str], settings: Settings, line: Callable[[Sequence[str]], typer.Typer]) -> Exit:
    """Print what the command of `arguments` would be done with; return the exit code. Raises UsageError.

    `line` makes the command line in which the commands that are named have their options.
    """
    command, own = arguments[0], list(arguments[1:])
    named = f"{command} {own.pop(0)}" if own and own[0] in registry.nested_commands().get(command, ()) else command
    if command not in registry.commands():
        raise UsageError("--show-settings stands behind a command, or alone")
    rows = list(_rows(line([command]), named, own, settings))
    file = settings.file or f"none ({OWN}, or [{TABLE}] in {PROJECT}, here or above)"
    lines = [f"settings file: {printable(file)}", "", f"{named}:"]
    widths = [max(len(row[k]) for row in rows) for k in (0, 1)] if rows else [0, 0]
    lines += [f"  {name:{widths[0]}}  {value:{widths[1]}}  {source}" for name, value, source in rows]
    counted = {(each.command, each.name) for each in settings.of(command).values()}
    others = [each for each in settings.entries if (each.command, each.name) not in counted]
    if others:
        lines += ["", "for other commands:"]
        lines += [f"  {f'{each.command}.' if each.command else ''}{each.name} = {_shown(each.value)}" for each in others]
    StandardOutput().write("\n".join(line.rstrip() for line in lines) + "\n")
    return Exit.OK


def _rows(line: typer.Typer, named: str, arguments: list[str], settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Yield name, value, and source of each setting of a command, in the order of the list of settings; `named` may have two
    words."""
    below: Any = typer.main.get_command(line)
    command, defaults = named.partition(" ")[0], settings.defaults(named.partition(" ")[0])
    try:
        context = below.make_context("rdma-robust", [command], resilient_parsing=True)
        for name in named.split():
            below = below.commands[name]
            given = arguments if name == named.rsplit(maxsplit=1)[-1] else [name]
            context = below.make_context(name, given, parent=context, resilient_parsing=True, default_map=defaults)
    except Exception as error:
        if is_mistake(error):
            raise UsageError(mistake_told(error, command)) from error
        raise
    found = settings.of(command)
    known = {param.name for param in below.get_params(context)}
    for name in (*registry.settings(), COLOR):
        parameter = name.replace("-", "_")
        if parameter not in known:
            continue
        source = context.get_parameter_source(parameter)
        if source is not None and source.name == "COMMANDLINE":
            said = "command line"
        elif name in found:
            said = f"{settings.file}:{found[name].span.line}"
        else:
            said = "default"
        value = found[name].value if name == COLOR and name in found else context.params.get(parameter)
        yield name, _shown("auto" if name == COLOR and value is None else value), printable(said)


def _shown(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(map(str, value)) or "-"
        case _:
            return printable(f"{value:g}" if isinstance(value, float) else str(value))
