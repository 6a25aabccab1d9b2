"""Options with which a command that decides does something else: watch files, or print a program and nothing besides."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

import typer

from rdma_robust.errors import UsageError


def watch_instead(context: typer.Context, files: Sequence[str]) -> None:
    """Note in the context that the command is run again whenever a file changes."""
    from rdma_robust.cli.watching import run_watching  # noqa: PLC0415 - few need it

    context.obj.append(partial(run_watching, sys.argv[1:], files))


def prints_alone(dump_after: object, certificate: object, places: tuple[object, object]) -> None:
    """Raise UsageError if `--dump-after` is given with an output, a format or `--certificate`."""
    if dump_after is None:
        return
    if places != (None, None):
        raise UsageError("--dump-after prints, and takes neither --output nor --format")
    if certificate is not None:
        raise UsageError("--certificate and --dump-after exclude one another")
