"""The `completion` command: print the script that completes command lines in a shell."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.completion.scripts import SCRIPTS, Shell
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import StandardOutput


def completion_command(
    context: typer.Context, shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", hidden=True)]
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_completion, shell))


def run_completion(shell: Shell) -> Exit:
    """Print the script; return the exit code. Raises BrokenPipeError."""
    StandardOutput().write(SCRIPTS[shell])
    return Exit.OK
