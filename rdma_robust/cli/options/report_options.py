"""The options of `report` and `compare`, and their checks."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.inputs import expand
from rdma_robust.cli.options.arguments import AwaitLoops, Jobs, MaxStates, Memory, OrderedReads, Timeout, limit, seconds
from rdma_robust.cli.options.defaults import TIMEOUT_S, default_memory, processors
from rdma_robust.cli.options.help_texts import COMPARE_HELP, REPORT_HELP
from rdma_robust.cli.options.reductions_option import HELP as REDUCTIONS_HELP
from rdma_robust.cli.options.reductions_option import parse_reductions
from rdma_robust.errors import UsageError
from rdma_robust.options import CheckOptions, EngineName, Instrumentation, KernelName
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.text import printable

REPAIR_S = 10.0


commands = typer.Typer()


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.registered_commands += commands.registered_commands


def _known(names: list[str] | None) -> list[str] | None:
    for name in names or ():
        if name not in FORMS:
            raise typer.BadParameter(f"{printable(name)!r} is none of {', '.join(FORMS)}")
    return names


@commands.command("report", help=REPORT_HELP)
def _report(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", hidden=True)],
    *,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE|DIR", help="Where the report goes. Default: standard output."),
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="|".join(FORMS),
            callback=_known,
            help="Form of the report; may be given several times if the output is a folder. Default: by the suffix of the "
            "output file, else html.",
            show_default=False,
        ),
    ] = None,
    expect: Annotated[
        bool,
        typer.Option("--expect", help="Compare with the `expect` lines; a program without one counts as a mismatch."),
    ] = False,
    jobs: Jobs = None,
    timeout: Timeout = TIMEOUT_S,
    memory: Memory = None,
    max_states: MaxStates = 0,
    repair: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            callback=seconds,
            help="html: how long to look for a repair of each program that is not robust; 0 for not at all.",
        ),
    ] = REPAIR_S,
    cache: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where answers are kept between runs. Default: the user's cache folder."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep answers.")] = False,
    executor: Annotated[
        str,
        typer.Option(metavar="WHERE", help="Who decides: local, or dask://HOST:PORT, the scheduler of a Dask cluster."),
    ] = "local",
    instrumentation: Annotated[Instrumentation, typer.Option(help="Which reduction to use.")] = "pivot",
    engine: Annotated[EngineName, typer.Option(help="Search engine; auto picks by the program.")] = "auto",
    kernel: Annotated[KernelName, typer.Option(help="Search kernel; the answer is the same.")] = "auto",
    ordered_reads: OrderedReads = False,
    await_loops: AwaitLoops = False,
    self_check: Annotated[
        bool, typer.Option("--self-check", help="Decide with the other instrumentation and by brute force too, and compare.")
    ] = False,
    reductions: Annotated[str, typer.Option(metavar="NAMES", help=REDUCTIONS_HELP)] = "all",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors on standard error.")] = False,
) -> None:
    from rdma_robust.cli.commands.report import ReportRequest, run_report  # noqa: PLC0415 - each command loads what it needs

    items = expand(paths)
    if no_cache and cache is not None:
        raise UsageError("--cache and --no-cache exclude one another")
    at_a_time = min(jobs or processors(), len(items))
    options = CheckOptions(
        instrumentation=instrumentation,
        engine=engine,
        kernel=kernel,
        ordered_reads=ordered_reads,
        await_loops=await_loops,
        timeout=limit(timeout),
        max_states=max_states or None,
        memory=(default_memory(at_a_time) if memory is None else memory) or None,
        self_check=self_check,
        reductions=parse_reductions(reductions),
    )
    request = ReportRequest(
        items=items,
        options=options,
        jobs=jobs,
        expect=expect,
        formats=tuple(dict.fromkeys(formats or ())),
        path=output,
        repair=repair,
        cache=None if no_cache else cache or "",
        executor=executor,
        quiet=quiet,
    )
    context.obj.append(partial(run_report, request))


@commands.command("compare", help=COMPARE_HELP)
def _compare(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", hidden=True)],
    new: Annotated[str, typer.Argument(metavar="NEW", hidden=True)],
    *,
    format_: Annotated[Literal["text", "json", "md"], typer.Option("--format", help="Form of the comparison.")] = "text",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE instead, in one step.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="New and missing programs count as changes too.")] = False,
) -> None:
    from rdma_robust.cli.commands.compare import run_compare  # noqa: PLC0415

    context.obj.append(partial(run_compare, old, new, format_, output, strict))
