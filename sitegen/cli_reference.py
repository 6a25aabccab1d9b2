"""The command line as a page: every command, argument and option, as the command line itself declares them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import typer.main

from rdma_robust.cli.app import command_line
from rdma_robust.cli.options.help_page import meaning
from rdma_robust.frame import registry
from rdma_robust.frame.exits import WORST_FIRST, Exit
from rdma_robust.options import REDUCTIONS
from rdma_robust.petri.cover import COVER_ENGINES
from rdma_robust.pipeline import PASSES
from sitegen.text import GENERATED, cell, table

MEANINGS = {
    Exit.OK: "all is well: robust, as expected, valid, safe, unchanged or written, as the command asks",
    Exit.NOT_ROBUST: "the answer is the other one: not robust, a mismatch, unsafe, invalid certificates, changed",
    Exit.INVALID: "wrong usage, or an input that cannot be read or is not valid, or an output that cannot be written",
    Exit.UNKNOWN: "a limit was reached before there was an answer",
    Exit.INTERNAL: "a defect of the tool",
    Exit.INTERRUPTED: "interrupted (Ctrl-C); what was done by then is reported",
    Exit.BROKEN_PIPE: "broken pipe",
    Exit.TERMINATED: "terminated (SIGTERM); what was done by then is reported",
}
"""What each exit code means for all commands; the help of a command says what it means there."""

INTRODUCTION = f"""{GENERATED}

# Command line

`rdma-robust FILE...` is `rdma-robust check FILE...`. `rdma-robust COMMAND --help` prints what is below for that command, and
`rdma-robust --version` the version and the search kernel in use.
"""


def cli_reference() -> str:
    """Return the page."""
    group: Any = typer.main.get_command(command_line())
    context = group.make_context("rdma-robust", [], resilient_parsing=True)
    commands = (_command(context, name) for name in sorted(registry.commands()))
    return "\n".join((INTRODUCTION, *commands, _exit_codes(), _reductions(), _passes(), _engines()))


def _command(parent: Any, name: str, level: int = 2) -> str:
    """Return the section of the command `name` of the context `parent`, with those of its own commands."""
    command = parent.command.commands[name]
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    usage = re.sub(r"[{}]", "", " ".join(command.collect_usage_pieces(context)))
    records = [record for each in command.get_params(context) if (record := each.get_help_record(context)) is not None]
    rows = [(_declaration(_one_line(left)), _meaning(_one_line(right))) for left, right in records]
    path = context.command_path
    return "\n".join(
        (
            f"{'#' * level} {path.partition(' ')[2]}\n",
            f"```text\n{path} {usage}\n```\n",
            *_paragraphs(command.help),
            table(("argument or option", "meaning"), rows),
            *(_command(context, each, level + 1) for each in getattr(command, "commands", {})),
        )
    )


def _declaration(text: str) -> str:
    """Return `--format <text|json>` as code, the values apart: a bar in code would end the cell of a table."""
    names, bar, values = re.sub(r"[<\[](\S+\|\S+)[>\]]$", r"=\1", text).partition(" =")
    return f"`{names}`" + (f" {', '.join(f'`{each}`' for each in values.split('|'))}" if bar else "")


def _meaning(text: str) -> str:
    return cell(meaning(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the help as Markdown. What follows a line `\\b` keeps its line ends, and its first line may be a title."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\x08)", text.strip()):
        if not paragraph.startswith("\b"):
            yield f"{cell(_one_line(paragraph))}\n"
            continue
        first, *rest = paragraph.removeprefix("\b").strip("\n").split("\n")
        has_title = not re.search(r"\S {2,}\S", first)
        if has_title:
            yield f"**{cell(first)}**\n"
        kept = "\n".join(rest if has_title else [first, *rest])
        yield f"```text\n{dedent(kept)}\n```\n"


def _exit_codes() -> str:
    order = ", ".join(str(int(code)) for code in WORST_FIRST)
    rows = [(str(int(code)), MEANINGS[code]) for code in sorted(Exit)]
    return f"## Exit codes\n\nOf several files the worst counts, in the order {order}.\n\n" + table(("code", "means"), rows)


def _reductions() -> str:
    rows = [(f"`{name}`", cell(what)) for name, what in REDUCTIONS.items()]
    proofs = "The names that `--reductions` takes. The verdict is the same with any of them off: [proofs](../reductions.md)."
    return f"## Reductions\n\n{proofs}\n\n{table(('name', 'does'), rows)}"


def _passes() -> str:
    rows = [(f"`{each.name}`", cell(each.requires.says), cell(each.ensures.says)) for each in PASSES]
    return (
        "## Passes\n\nThe names that `check --dump-after` takes, in the order in which they run.\n\n"
        f"{table(('name', 'needs', 'gives'), rows)}"
    )


def _engines() -> str:
    names = ", ".join(f"`{name}`" for name in COVER_ENGINES)
    return f"## Engines for nets\n\nThe names that `cover --engine` [takes](../coverability.md#engines): {names}.\n"
