"""The `cover` command: decide coverability questions of Petri nets, each in a process that is watched."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.asked_files import certified, explains
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import FORMATS
from rdma_robust.cli.options.option_sets import BatchOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.inputs import Source, expand
from rdma_robust.limits import processors
from rdma_robust.processes import can_fork
from rdma_robust.questions.cover_question import COVER, CoverAsking
from rdma_robust.reports.cover.cover_result import CoverRecord


@with_option_sets
def cover_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Engine; auto runs several and stops at the first answer.")
    ] = "auto",
    limits: BatchOptions,
    expect: Annotated[
        bool, typer.Option("--expect", help="Compare with the comments `# expect: safe` and `# expect: unsafe`.")
    ] = False,
    format_: arguments.ReportFormat = None,
    output: arguments.OutputFile = None,
    certificate: arguments.Certificates = None,
    explain: arguments.Explain = None,
    markings: Annotated[bool, typer.Option("--markings", help="Show the marking after every step of a run.")] = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    items = expand(files, suffixes=(".spec",))
    cores = limits.jobs or processors()
    nets = sum(isinstance(item, Source) for item in items)
    asking = CoverAsking(
        engine=engine,
        **limits.of_each(items, limits.jobs),
        markings=markings,
        expect=expect,
        explain=explains(items, explain),
        processes=cores // min(cores, max(1, nets)) if can_fork() else 1,
    )
    form = report_form(output, format_, FORMATS, items)
    items = certified(items, certificate)
    context.obj.append(partial(run_cover, Run(COVER, asking, items, limits.jobs, form, output, quiet)))


def run_cover(run: Run[CoverAsking, CoverRecord]) -> Exit:
    """Decide and report every net of a run; return the exit code. Raises UsageError, BrokenPipeError."""
    from rdma_robust.petri.cover import COVER_ENGINES  # noqa: PLC0415 - slow

    names = tuple(dict.fromkeys(("auto", *COVER_ENGINES)))
    if run.asking.engine not in names:
        raise UsageError(f"--engine: there is no engine {run.asking.engine!r}; the engines are {', '.join(names)}")
    return run_question(run)
