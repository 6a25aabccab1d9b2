"""The `new` command: write a starter program."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import Annotated, Final, Literal

import typer

from rdma_robust.cli.answering import answer_item, default_limits, only
from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options.arguments import Define, Force, MadeFile
from rdma_robust.cli.options.option_sets import CFileOptions, with_option_sets
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, Source, read_source
from rdma_robust.frame.shell.output import StandardOutput, replace_file, width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.teaching.patterns import (
    MESSAGE_PATTERNS,
    PATTERNS,
    PatternName,
    pattern_constants,
    pattern_summary,
    with_values,
)
from rdma_robust.text import count, filled, printable

HARNESS: Final = "harness"
NewName = Literal[PatternName, "harness"]
"""What can be written: a pattern, or a harness for a C file."""


@with_option_sets
def new_command(
    context: typer.Context,
    name: Annotated[
        NewName | None,
        typer.Argument(metavar="[ring|lock|mailbox|barrier|rpc|kv|halo|workers|calls]", hidden=True),
    ] = None,
    file: Annotated[str | None, typer.Argument(metavar="[harness FILE.c]", help="The C that a harness is for.")] = None,
    *,
    define: Define = None,
    c: CFileOptions,
    output: MadeFile = None,
    force: Force = False,
) -> None:
    """Note in the context what is to be done."""
    made_file(output, (), force=force)
    if (name == HARNESS) != (file is not None):
        raise UsageError(f"`rdma-robust new {HARNESS} FILE.c`: a harness is for a C file, and nothing else is")
    if name == "harness":
        assert file is not None
        item = only(file, "new", [*(define or ()), *c.definitions()])
        context.obj.append(partial(run_harness, item, None if output == "-" else output, force))
        return
    if c.definitions():
        raise UsageError(f"{c.definitions()[0].partition('=')[0]} is for `rdma-robust new {HARNESS} FILE.c`")
    if name is None and (define or output is not None):
        raise UsageError(f"which program? One of {', '.join((*PATTERNS, *MESSAGE_PATTERNS))}")
    context.obj.append(partial(run_new, name, tuple(define or ()), None if output == "-" else output))


def run_new(name: PatternName | None, define: tuple[str, ...], path: str | None) -> Exit:
    """Write the program called `name`, or list them all; return the exit code. Raises UsageError, BrokenPipeError."""
    if name is None:
        StandardOutput().say("\n".join(_listed()))
        return Exit.OK
    text = _with_constants(name, define)
    if path is None:
        StandardOutput().write(text)
    else:
        replace_file(path, text)
        warn(f"written: {printable(path)}; try rdma-robust {_next(name, printable(path))}")
    return Exit.OK


def run_harness(item: Item, path: str | None, force: bool) -> Exit:
    """Write a harness for a C file; return the exit code. Raises UsageError, BrokenPipeError."""
    made_file(path, [item], force=force)

    def written(source: Source, _text: str) -> Exit:
        from rdma_robust.c.harness import harness_of  # noqa: PLC0415 - few ask for one

        beside = os.path.join(os.path.dirname(source.name), f"{HARNESS}.c")
        text = harness_of(read_source(replace(source, define=())), source.name, path or beside, source.define)
        if path is None:
            StandardOutput().write(text)
        else:
            replace_file(path, text)
            left = text.count("TODO") - 1
            warn(f"written: {printable(path)}; {count(left, 'TODO')}, then rdma-robust check {printable(path)}")
        return Exit.OK

    return answer_item(item, default_limits(), written)


def _next(name: PatternName, path: str) -> str:
    """Return what to do with a program that was written."""
    if name in MESSAGE_PATTERNS:
        return f"messages check --expect {path}, and messages explain"
    return f"check --expect {path}, and verify, explore, repair"


def _with_constants(name: PatternName, define: tuple[str, ...]) -> str:
    try:
        return with_values(name, define)
    except ProgramError as error:
        first = error.diagnostics[0]
        raise UsageError(f"with {', '.join(define)} this is no program: line {first.span.line}: {first.message}") from error


def _listed() -> list[str]:
    width = width_of_output() or 100
    lines = []
    for name in (*PATTERNS, *MESSAGE_PATTERNS):
        if name == MESSAGE_PATTERNS[0]:
            lines += ["", "Programs that pass messages:", ""]
        values = ", ".join(f"{constant} = {value}" for constant, value in pattern_constants(name))
        text = pattern_summary(name) + (f" Constants: {values}." if values else "")
        first, *more = filled(text, width - 12)
        lines += [f"  {name:8}  {first}", *(f"{'':12}{line}" for line in more)]
    lines += ["", *filled("And `rdma-robust new harness FILE.c`: a file that says what the C does not.", width)]
    return ["Starter programs, for rdma-robust new NAME:", "", *lines]
