"""The command line: options and their checks. What the commands do is in the module of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from typing import Annotated, Literal

import typer

from rdma_robust import VERSION_TEXT
from rdma_robust.cli.first_word import described, with_command
from rdma_robust.cli.inputs import Item, expand
from rdma_robust.cli.options.arguments import (
    AwaitLoops,
    Certificates,
    Files,
    Jobs,
    MaxStates,
    Memory,
    OrderedReads,
    Timeout,
    Version,
    limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S, default_memory, processors
from rdma_robust.cli.options.explore_options import explore_command
from rdma_robust.cli.options.formats import Drawing, ExplainFormat, Format, TextOrJson
from rdma_robust.cli.options.help_texts import (
    CHECK_HELP,
    COMMANDS,
    COVER_HELP,
    EXPLAIN_HELP,
    EXPLORE_HELP,
    EXPORT_HELP,
    FMT_HELP,
    OUTCOMES_HELP,
    VERIFY_HELP,
)
from rdma_robust.cli.options.reductions_option import HELP as REDUCTIONS_HELP
from rdma_robust.cli.options.reductions_option import parse_reductions
from rdma_robust.cli.processes.stop import listen
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import UsageError
from rdma_robust.model import rdma
from rdma_robust.options import CheckOptions, EngineName, Instrumentation, KernelName
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

MAX_COUNTER_BOUND = 32_767

APP_HELP = """Decide whether RDMA programs are robust.

A program is robust if everything it can do on RDMA hardware it can also do under sequential consistency.

\b
  rdma-robust FILE...             the same as: rdma-robust check FILE...
  rdma-robust check --help        options of deciding, exit codes, examples
  rdma-robust explain FILE        why the verdict is what it is
  rdma-robust cover FILE.spec...  decide coverability of Petri nets
"""

app = typer.Typer(
    name="rdma-robust",
    help=APP_HELP,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


@app.callback(invoke_without_command=True, no_args_is_help=False)
def _main(context: typer.Context, version: Version = False) -> None:
    if version:
        print(VERSION_TEXT)
        raise typer.Exit(Exit.OK)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(Exit.INVALID)


@app.command("check", help=CHECK_HELP)
def _check(
    context: typer.Context,
    files: Files,
    *,
    instrumentation: Annotated[
        Instrumentation, typer.Option(help="Which reduction to use: pivot is the fast one, paper the reference.")
    ] = "pivot",
    engine: Annotated[EngineName, typer.Option(help="Search engine; auto picks by the program.")] = "auto",
    kernel: Annotated[
        KernelName, typer.Option(help="Search kernel; auto is the compiled one where it is installed, python the reference.")
    ] = "auto",
    ordered_reads: OrderedReads = False,
    await_loops: AwaitLoops = False,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    jobs: Jobs = None,
    self_check: Annotated[
        bool, typer.Option("--self-check", help="Decide with the other instrumentation and by brute force too, and compare.")
    ] = False,
    reductions: Annotated[str, typer.Option(metavar="NAMES", help=REDUCTIONS_HELP)] = "all",
    expect: Annotated[
        bool,
        typer.Option("--expect", help="Compare with the `expect` lines; a program without one counts as a mismatch."),
    ] = False,
    format_: Annotated[Format, typer.Option("--format", help="Form of the report on standard output.")] = "text",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report to FILE instead, in one step.")
    ] = None,
    certificate: Certificates = None,
    explain: Annotated[
        bool | None,
        typer.Option(
            "--explain/--no-explain",
            "-v",
            help="Explain verdicts beneath the rows. Default: if there is one program.",
            show_default=False,
        ),
    ] = None,
    dump_after: Annotated[
        str | None,
        typer.Option("--dump-after", metavar="PASS", help="Print what PASS makes of each program and decide nothing."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only rows that count against the exit code, and the totals.")
    ] = False,
) -> None:
    from rdma_robust.cli.commands.check import Request, run_check  # noqa: PLC0415 - each command loads what it needs

    items = expand(files, COMMANDS)
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
    if certificate is not None and dump_after is not None:
        raise UsageError("--certificate and --dump-after exclude one another")
    if dump_after is not None:
        from rdma_robust.cli.commands.dump import run_dump  # noqa: PLC0415

        context.obj.append(partial(run_dump, items, options, dump_after))
        return
    items = _with_certificates(items, certificate)
    request = Request(items, options, jobs, expect, format_, output, explain, quiet)
    context.obj.append(partial(run_check, request))


@app.command("cover", help=COVER_HELP)
def _cover(
    context: typer.Context,
    files: Files,
    *,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Engine; auto runs several and stops at the first answer.")
    ] = "auto",
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    jobs: Jobs = None,
    expect: Annotated[
        bool, typer.Option("--expect", help="Compare with the comments `# expect: safe` and `# expect: unsafe`.")
    ] = False,
    format_: Annotated[Format, typer.Option("--format", help="Form of the report on standard output.")] = "text",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report to FILE instead, in one step.")
    ] = None,
    certificate: Certificates = None,
    explain: Annotated[
        bool | None,
        typer.Option(
            "--explain/--no-explain",
            "-v",
            help="Show runs beneath the rows. Default: if there is one net.",
            show_default=False,
        ),
    ] = None,
    markings: Annotated[bool, typer.Option("--markings", help="Show the marking after every step of a run.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only rows that count against the exit code, and the totals.")
    ] = False,
) -> None:
    from rdma_robust.cli.commands.cover import CoverRequest, run_cover  # noqa: PLC0415
    from rdma_robust.cli.processes.decide_net import CoverOptions  # noqa: PLC0415

    items = expand(files, suffixes=(".spec",))
    at_a_time = min(jobs or processors(), len(items))
    options = CoverOptions(
        engine=engine,
        timeout=limit(timeout),
        max_states=max_states or None,
        memory=(default_memory(at_a_time) if memory is None else memory) or None,
        markings=markings,
    )
    items = _with_certificates(items, certificate)
    request = CoverRequest(items, options, jobs, expect, format_, output, explain, quiet)
    context.obj.append(partial(run_cover, request))


@app.command("fmt", help=FMT_HELP)
def _fmt(
    context: typer.Context,
    files: Files,
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if something would change.")] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Write the programs back instead of printing them.")] = False,
) -> None:
    from rdma_robust.cli.commands.fmt import Mode, run_fmt  # noqa: PLC0415

    if check and write:
        raise UsageError("--check and --write exclude one another")
    mode: Mode = "check" if check else "write" if write else "print"
    context.obj.append(partial(run_fmt, expand(files), mode))


@app.command("outcomes", help=OUTCOMES_HELP)
def _outcomes(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Moves of an execution.", show_default="no limit")
    ] = None,
    max_states: MaxStates = 0,
    ordered_reads: OrderedReads = False,
    timeout: Timeout = TIMEOUT_S,
    format_: Annotated[TextOrJson, typer.Option("--format", help="Form of the report.")] = "text",
) -> None:
    from rdma_robust.cli.commands.outcomes import OutcomesRequest, run_outcomes  # noqa: PLC0415

    bounds = OutcomesRequest(rdma(ordered_reads), depth, max_states or None, limit(timeout))
    context.obj.append(partial(run_outcomes, file, bounds, format_))


@app.command("explain", help=EXPLAIN_HELP)
def _explain(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    format_: Annotated[ExplainFormat, typer.Option("--format", help="Form of the explanation.")] = "text",
    of: Annotated[Drawing, typer.Option(help="svg: what to draw.")] = "graph",
    ordered_reads: OrderedReads = False,
    await_loops: AwaitLoops = False,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    final_states: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="States of each machine searched for final states, a tenth of it for programs with loops; 0: none.",
        ),
    ] = 100_000,
    width: Annotated[
        int | None,
        typer.Option(metavar="N", min=40, help="text: width of the lines.", show_default="that of the terminal"),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="OUT", help="Write to OUT instead, in one step.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Let -o replace a file that is there.")] = False,
) -> None:
    from rdma_robust.cli.commands.explain import ExplainRequest, run_explain  # noqa: PLC0415

    options = CheckOptions(
        ordered_reads=ordered_reads,
        await_loops=await_loops,
        timeout=limit(timeout),
        max_states=max_states or None,
        memory=(default_memory(1) if memory is None else memory) or None,
    )
    request = ExplainRequest(file, options, format_, of, final_states, width, output, force)
    context.obj.append(partial(run_explain, request))


app.command("explore", help=EXPLORE_HELP)(explore_command)


@app.command("verify-certificate", help=VERIFY_HELP)
def _verify(
    context: typer.Context,
    files: Files,
    *,
    input_: Annotated[
        str | None,
        typer.Option("--input", metavar="PROGRAM_OR_NET", help="What the certificates are about, wherever it is now."),
    ] = None,
) -> None:
    from rdma_robust.cli.commands.verify_certificate import run_verify  # noqa: PLC0415

    context.obj.append(partial(run_verify, files, input_))


@app.command("export", help=EXPORT_HELP)
def _export(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    to: Annotated[Literal["promela", "spec", "dot", "json"], typer.Option(help="The form to write.")],
    instrumentation: Annotated[
        Literal["pivot", "paper", "none"] | None,
        typer.Option(
            help="What to ask of the program; none is the program under sequential consistency, and asks for its faults. "
            "Default: paper for promela, else pivot.",
            show_default=False,
        ),
    ] = None,
    of: Annotated[Literal["vass", "program"], typer.Option(help="dot: which graph to draw.")] = "vass",
    counter_bound: Annotated[
        int,
        typer.Option(
            metavar="K", min=1, max=MAX_COUNTER_BOUND, help="promela: where poll counters without a proven bound stop."
        ),
    ] = 7,
    max_states: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Control states written out.", show_default="2000 for dot, else 100000"),
    ] = 0,
    ordered_reads: OrderedReads = False,
    await_loops: AwaitLoops = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE instead of standard output.")
    ] = None,
) -> None:
    from rdma_robust.cli.commands.export import run_export  # noqa: PLC0415
    from rdma_robust.exports import ExportOptions  # noqa: PLC0415

    hardware = rdma(ordered_reads)
    options = ExportOptions(to, instrumentation, of, counter_bound, max_states or None, hardware, await_loops)
    context.obj.append(partial(run_export, file, options, output))


def run(arguments: Sequence[str]) -> int:
    """Run the command line `arguments` (without the program's name) and return the exit code.

    Raises Stopped on Ctrl-C and BrokenPipeError; turns everything else into messages.
    """
    listen()
    plan: list[Callable[[], Exit]] = []
    try:
        _parse(with_command(arguments), plan)
        return plan[0]()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else Exit.INTERNAL
    except UsageError as error:
        warn(f"error: {printable(str(error))}")
        return Exit.INVALID


def _parse(arguments: Sequence[str], plan: list[Callable[[], Exit]]) -> None:
    """Append to `plan` what `arguments` ask for. The parser has its own ideas about Ctrl-C and broken pipes, so what takes
    time is done after it. Raises SystemExit for help and for mistakes, which it has printed."""
    complaint = StringIO()
    try:
        with redirect_stderr(complaint):
            described(app, arguments[:1])(args=list(arguments), obj=plan)
    except SystemExit as end:
        if complaint.getvalue():
            warn(printable(complaint.getvalue().rstrip(), "\n"))
        if end.code != 0 or not plan:
            raise


def _with_certificates(items: list[Item], directory: str | None) -> list[Item]:
    if directory is None:
        return items
    from rdma_robust.cli.certificates import with_certificates  # noqa: PLC0415

    return with_certificates(items, directory)
