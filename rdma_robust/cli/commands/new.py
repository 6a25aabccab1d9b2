"""The `new` command: write a program to begin with."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options.arguments import Define, Force, MadeFile
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.frame.exits import Exit
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
from rdma_robust.text import filled, printable


def new_command(
    context: typer.Context,
    name: Annotated[
        PatternName | None, typer.Argument(metavar="[ring|lock|mailbox|barrier|rpc|kv|halo|workers|calls]", hidden=True)
    ] = None,
    *,
    define: Define = None,
    output: MadeFile = None,
    force: Force = False,
) -> None:
    """Note in the context what is to be done."""
    made_file(output, (), force=force)
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
    return ["Programs to begin with, for rdma-robust new NAME:", "", *lines]
