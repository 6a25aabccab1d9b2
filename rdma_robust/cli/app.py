"""The command line: options and their checks. What the commands do is in `check`, `fmt` and `outcomes`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from typing import Annotated

import typer

from rdma_robust import VERSION_TEXT
from rdma_robust.cli.formats import Format, TextOrJson
from rdma_robust.cli.inputs import expand
from rdma_robust.cli.limits import TIMEOUT_S, default_memory, processors
from rdma_robust.cli.messages import warn
from rdma_robust.cli.reductions import HELP as REDUCTIONS_HELP
from rdma_robust.cli.reductions import parse_reductions
from rdma_robust.cli.stop import listen
from rdma_robust.errors import UsageError
from rdma_robust.options import CheckOptions, EngineName, Instrumentation, KernelName
from rdma_robust.reports.escape import printable
from rdma_robust.reports.exits import Exit

COMMANDS = ("check", "fmt", "outcomes")

APP_HELP = """Decide whether RDMA programs are robust.

A program is robust if everything it can do on RDMA hardware it can also do under sequential consistency.

\b
  rdma-robust FILE...             the same as: rdma-robust check FILE...
  rdma-robust check --help        options of deciding, exit codes, examples
"""

CHECK_HELP = """Decide robustness of every program. This is the default command.

FILE is a file, a directory (every *.rdma below it), a glob pattern, or - for standard input.

\b
Verdicts
  robust       all that RDMA allows, sequential consistency allows too: the search was exhausted
  NOT ROBUST   with a counterexample that the axioms of the model have confirmed
  UNKNOWN      a limit was reached, the row says which; try a larger --timeout, --memory or --max-states
  error        the program could not be read or is invalid; the others are still decided
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  all robust (--expect: all as expected)       3  some unknown
  1  some not robust (--expect: a mismatch)       4  internal error
  2  usage, or an invalid program                 130  interrupted
\b
Examples
  rdma-robust sb.rdma                       one program, explained if it is not robust
  rdma-robust litmus/*.rdma --expect        a suite against its `expect` lines
  rdma-robust src/ --format json -o r.json  a report for machines
  rdma-robust --timeout 5 --max-states 1000000 'protocols/**/*.rdma'
  rdma-robust - < sb.rdma

See also: rdma-robust outcomes FILE lists the final states that only RDMA reaches; rdma-robust fmt FILE formats.
"""

FMT_HELP = """Format programs: print them in their one layout, comments kept.

A program that does not parse is reported and never written.

\b
Exit codes
  0  done (--check: nothing would change)    1  --check: something would change    2  usage, invalid program
\b
Examples
  rdma-robust fmt sb.rdma
  rdma-robust fmt --check litmus/
  rdma-robust fmt --write *.rdma
"""

OUTCOMES_HELP = """List the reachable final states of a program under SC and under RDMA side by side.

Final states that only RDMA reaches are marked, and the `outcome` lines of the program are checked. A program with loops
needs --depth or --max-states; a search that was cut is reported as cut.

\b
Exit codes
  0  every claim of the `outcome` lines holds      3  a claim is undecided because a search was cut
  1  a claim fails                                 2  usage, invalid program      4  internal error
\b
Examples
  rdma-robust outcomes litmus/sb-put-plain.rdma
  rdma-robust outcomes --depth 40 pingpong.rdma
"""


app = typer.Typer(
    name="rdma-robust",
    help=APP_HELP,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _seconds(value: float) -> float:
    if math.isnan(value) or value < 0:
        raise typer.BadParameter("a number of seconds, 0 or more, is needed")
    return value


Files = Annotated[list[str], typer.Argument(metavar="FILE", hidden=True)]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", callback=_seconds, help="Time limit per program; 0 for none.", show_default="300")
]
MaxStates = Annotated[
    int, typer.Option(metavar="N", min=0, help="Stored states per search; 0 for no limit.", show_default="no limit")
]
Memory = Annotated[
    int | None,
    typer.Option(
        metavar="MIB",
        min=0,
        help="Memory limit per program; 0 for none. Default: 4096, or less so that all jobs take at most three quarters "
        "of the machine.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Decide N programs at a time. Default: one per processor.",
        show_default=False,
    ),
]
OrderedReads = Annotated[
    bool, typer.Option("--ordered-reads", help="Assume that the hardware keeps the order of two remote reads.")
]
Version = Annotated[bool, typer.Option("--version", help="Print the version and the search kernel in use, and exit.")]


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
    await_loops: Annotated[
        bool, typer.Option("--await-loops", help="Read loops without effect, as `while x != 1 {}`, as blocking reads.")
    ] = False,
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
    from rdma_robust.cli.check import Request, run_check  # noqa: PLC0415 - each command loads what it needs

    items = expand(files, COMMANDS)
    at_a_time = min(jobs or processors(), len(items))
    options = CheckOptions(
        instrumentation=instrumentation,
        engine=engine,
        kernel=kernel,
        ordered_reads=ordered_reads,
        await_loops=await_loops,
        timeout=_limit(timeout),
        max_states=max_states or None,
        memory=(default_memory(at_a_time) if memory is None else memory) or None,
        self_check=self_check,
        reductions=parse_reductions(reductions),
    )
    if dump_after is not None:
        from rdma_robust.cli.dump import run_dump  # noqa: PLC0415

        context.obj.append(partial(run_dump, items, options, dump_after))
        return
    request = Request(items, options, jobs, expect, format_, output, explain, quiet)
    context.obj.append(partial(run_check, request))


@app.command("fmt", help=FMT_HELP)
def _fmt(
    context: typer.Context,
    files: Files,
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if something would change.")] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Write the programs back instead of printing them.")] = False,
) -> None:
    from rdma_robust.cli.fmt import Mode, run_fmt  # noqa: PLC0415

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
    from rdma_robust.cli.outcomes import Bounds, run_outcomes  # noqa: PLC0415

    bounds = Bounds(ordered_reads, depth, max_states or None, _limit(timeout))
    context.obj.append(partial(run_outcomes, file, bounds, format_))


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
            app(args=list(arguments), obj=plan)
    except SystemExit as end:
        if complaint.getvalue():
            warn(printable(complaint.getvalue().rstrip(), "\n"))
        if end.code != 0 or not plan:
            raise


def with_command(arguments: Sequence[str]) -> list[str]:
    """Return `arguments` with the default command in front unless they begin with a command or ask about the tool."""
    if not arguments or arguments[0] in (*COMMANDS, "--help", "-h", "--version"):
        return list(arguments)
    return ["check", *arguments]


def _limit(value: float) -> float | None:
    return None if value == 0 or math.isinf(value) else value
