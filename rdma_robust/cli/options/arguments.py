"""Arguments and options that several commands have, each declared once, as types of parameters."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Annotated

import typer

from rdma_robust.cli.options import formats
from rdma_robust.errors import UsageError
from rdma_robust.frame.shell.defaults import MEMORY_HELP, MOST, MOST_MIB, default_memory
from rdma_robust.language.flow.send_queues import MAX_DEPTH
from rdma_robust.limits import ENDLESS
from rdma_robust.model import CARDS, Atomics, Processor, Rnr
from rdma_robust.options import ALL_REDUCTIONS, MOST_RECEIVES, REDUCTIONS, EngineName, Instrumentation, KernelName
from rdma_robust.orders import SHIPPED, order_name
from rdma_robust.text import printable


def seconds(value: float) -> float:
    """Check a number of seconds. Raises BadParameter."""
    if math.isnan(value) or value < 0:
        raise typer.BadParameter("a number of seconds, 0 or more, is needed")
    return value


def limit(value: float) -> float | None:
    """Return a limit as the options of deciding have it: None for none, which is 0 or infinity on the command line."""
    return None if value == 0 or math.isinf(value) else value


def searched_states(value: int | None) -> int | None:
    """Return the limit of states of commands whose searches have limits of their own: None for those, ENDLESS for none."""
    return ENDLESS if value == 0 else value


def memory_limit(value: int | None, jobs: int = 1) -> int | None:
    """Return the limit in mebibytes that --memory asks for, of each of `jobs` programs at a time: None for none, which is
    0 on the command line."""
    return (default_memory(jobs) if value is None else value) or None


def orders_in(text: str) -> tuple[str, ...]:
    """Return the orders that a list names, by names, files or flags. Raises as :func:`order_in`."""
    return tuple(order_in(word.strip()) for word in split_list(text))


def columns_in(text: str) -> tuple[str, ...]:
    """Return the orders that are columns of a matrix. Raises as :func:`order_in`, and UsageError for two of one name."""
    tables = orders_in(text)
    if twice := [name for name, times in Counter(map(order_name, tables)).items() if times > 1]:
        raise UsageError(f"--orders: two tables are called {printable(twice[0])}; a column needs a name of its own")
    return tables


def split_list(text: str) -> list[str]:
    """Return the items of a list with commas; those of `fi(FLAG, FLAG)` divide none."""
    whole = re.sub(r"\([^()]*\)", lambda flags: flags[0].replace(",", "\0"), text)
    return [item.replace("\0", ",") for item in whole.split(",")]


def order_in(text: str) -> str:
    """Return the order that a name or a file of a table stands for. Raises BadParameter for what is none, and
    ProgramError with what is wrong with a file."""
    if text in SHIPPED:
        return text
    from rdma_robust.orders.named_tables import order_asked  # noqa: PLC0415 - few tables are of files or flags

    try:
        return order_asked(text)
    except UsageError as error:
        raise typer.BadParameter(str(error)) from None


def parse_reductions(text: str) -> frozenset[str]:
    """Return the set of names that `text` asks for. Raises UsageError for an unknown name."""
    items = [item.strip() for item in text.split(",")]
    chosen = set(ALL_REDUCTIONS) if items[0].startswith("-") else set()
    for item in items:
        name = item.removeprefix("-")
        if item in ("all", "none"):
            chosen = set(ALL_REDUCTIONS) if item == "all" else set()
        elif name not in REDUCTIONS:
            known = ", ".join(("all", "none", *REDUCTIONS))
            raise UsageError(f"--reductions: no reduction is called {name!r}; the names are {known}")
        elif item.startswith("-"):
            chosen.discard(name)
        else:
            chosen.add(name)
    return frozenset(chosen)


File = Annotated[str, typer.Argument(metavar="FILE", hidden=True)]
Files = Annotated[list[str], typer.Argument(metavar="FILE...", hidden=True)]

Define = Annotated[
    list[str] | None,
    typer.Option(
        "-D",
        metavar="NAME=VALUE",
        help="Take VALUE for the constant NAME of the program; may be given several times.",
        show_default=False,
    ),
]
Defines = Annotated[
    list[str] | None,
    typer.Option(
        "-D",
        metavar="NAME=VALUES",
        help="Take a value for the constant NAME of the program, or decide it for each of N=2..8 or N=2,4,8. Several times: "
        "for every combination.",
        show_default=False,
    ),
]

IncludeFolders = Annotated[
    list[str] | None,
    typer.Option("-I", metavar="FOLDER", help="C: look for headers here too. Several times.", show_default=False),
]
WithFiles = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="FILE", help="C: a further file of the program. Several times.", show_default=False),
]
CompileCommands = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="C: files and options of the program are those of compile_commands.json here.",
        show_default=False,
    ),
]
CProcesses = Annotated[
    str | None,
    typer.Option(
        "-n",
        metavar="VALUES",
        help="C: processes of a program of which all run the same, or decide it for each of 2..4 or 2,4.",
        show_default=False,
    ),
]
ProgramArguments = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="VALUE",
        help="C: an argument that the program is run with, or decide it for each of 0..3. Several times: all of them.",
        show_default=False,
    ),
]
WcErrors = Annotated[bool, typer.Option("--wc-errors", help="C: completions of verbs may tell of an error, too.")]
WithC = Annotated[bool, typer.Option("--c", help="Search folders for C too.")]

InstrumentationOption = Annotated[
    Instrumentation, typer.Option(help="Which reduction to use: pivot is the fast one, paper the reference.")
]
Engine = Annotated[EngineName, typer.Option(help="Search engine; auto picks by the program.")]
Kernel = Annotated[
    KernelName, typer.Option(help="Search kernel; auto is the compiled one where it is installed, python the reference.")
]
OrderedReads = Annotated[
    bool, typer.Option("--ordered-reads", help="Assume that the hardware keeps the order of two remote reads.")
]
CpuOption = Annotated[
    Processor | None,
    typer.Option(
        "--cpu",
        help="Whether processors buffer stores and posted requests: tso, or sc. Default: as the program says, else sc.",
        show_default=False,
    ),
]
AtomicsOption = Annotated[
    Atomics | None,
    typer.Option(
        "--atomics",
        help="Remote atomics exclude only each other (hca), or every access (glob). Default: as the program says, else hca.",
        show_default=False,
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="NAME|FILE",
        parser=order_in,
        help="What the network keeps of the order of a queue pair, by the name of a table or as a file, FILE.toml: "
        f"{', '.join(SHIPPED)}. Default: as the program says, else default.",
        show_default=False,
    ),
]
CARDS_NAMES = ",".join(CARDS)
OrdersOption = Annotated[
    str,
    typer.Option(
        "--orders",
        metavar="NAMES",
        help="The orders to look at, separated by commas; none and accumulate are what standards promise.",
    ),
]
SHIPPED_NAMES = ",".join(SHIPPED)
ColumnsOption = Annotated[
    str,
    typer.Option(
        "--orders",
        metavar="TABLES",
        help="The tables to ask whether they are enough, and the columns of the matrix: names, FILE.toml or fi(FLAG, ...), "
        "separated by commas. Default: those of the tool.",
        show_default=False,
    ),
]
RecvDepth = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, max=MOST_RECEIVES, help="Receives of a connection that are posted, or filled and not yet polled."
    ),
]
SendDepth = Annotated[
    int | None,
    typer.Option(
        "--send-depth",
        metavar="N",
        min=1,
        max=MAX_DEPTH,
        help="Requests that each send queue has room for. Default: as the program says, else no limit.",
        show_default=False,
    ),
]
RnrOption = Annotated[
    Rnr | None,
    typer.Option(
        "--rnr",
        help="A message that finds no buffer is a fault, or waits, forever if need be. Default: as the program says, "
        "else fault.",
        show_default=False,
    ),
]
AwaitLoops = Annotated[
    bool, typer.Option("--await-loops", help="Read loops without effect, as `while x != 1 {}`, as blocking reads.")
]
_REDUCTIONS = (
    "Reductions of the search: `all`, `none`, or names separated by commas, `-` in front of a name takes it away "
    f"(`-por` is all but por): {', '.join(REDUCTIONS)}."
)
Reductions = Annotated[str, typer.Option(metavar="NAMES", help=_REDUCTIONS)]
SelfCheck = Annotated[
    bool, typer.Option("--self-check", help="Decide with the other instrumentation and by brute force too, and compare.")
]

Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", callback=seconds, help="Time limit per program; 0 for none.", show_default="300")
]
Number = Annotated[
    int, typer.Option("--number", "-n", metavar="N", min=1, max=64, help="Run the program as so many processes.")
]
RunFile = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="FILE", help="Write the recorded run: a program `.rdma`, or for messages a trace `.json`."
    ),
]
RUN_TIMEOUT_S = 60.0
RunTimeout = Annotated[
    float, typer.Option("--run-timeout", metavar="SECONDS", min=0.1, help="How long the program may run.")
]
MaxStates = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, max=MOST, help="Stored states per search; 0 for no limit.", show_default="no limit"),
]
SearchedStates = Annotated[
    int | None,
    typer.Option(
        "--max-states",
        metavar="N",
        min=0,
        max=MOST,
        help="Stored states per search; 0 for no limit. Default: no limit, but where the states of a program with loops are "
        "searched one by one, 100000.",
        show_default=False,
    ),
]
Memory = Annotated[int | None, typer.Option(metavar="MIB", min=0, max=MOST_MIB, help=MEMORY_HELP, show_default=False)]
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
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=256,
        help="Threads of a compiled search that has 100,000 states. Default: with --jobs one for each processor in all.",
        show_default=False,
    ),
]
Processes = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="Who shares a search of 100,000 states: local:N, processes, or dask://HOST:PORT, workers of a Dask cluster.",
        show_default=False,
    ),
]
Checkpoints = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        help="With --executor: every minute keep what there is in DIR; after a loss, or run again, it goes on from there.",
        show_default=False,
    ),
]

Expect = Annotated[
    bool, typer.Option("--expect", help="Compare with the `expect` lines; a program without one counts as a mismatch.")
]
_FORMAT = typer.Option("--format", help="Form of the report. Default: by the suffix of OUT, else text.", show_default=False)
ReportFormat = Annotated[formats.Format | None, _FORMAT]
VerdictsFormat = Annotated[formats.VerdictFormat | None, _FORMAT]
NeedsFormat = Annotated[formats.NeedsFormat | None, _FORMAT]
FindingsFormat = Annotated[formats.FindingFormat | None, _FORMAT]
ScaleOutput = Annotated[formats.ScaleFormat | None, _FORMAT]
AnswerFormat = Annotated[formats.TextOrJson | None, _FORMAT]
ComparisonFormat = Annotated[formats.CompareFormat | None, _FORMAT]
ExplanationFormat = Annotated[formats.ExplainFormat | None, _FORMAT]
ContractsFormat = Annotated[formats.ContractFormat | None, _FORMAT]
RepairFormat = Annotated[formats.RepairFormat | None, _FORMAT]
OutputFile = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="OUT", help="Write the report to OUT instead of standard output, in one step."),
]
MadeFile = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="OUT", help="Write the result to OUT, a new file; - prints it."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a program or model that is there; never an input.")]
Certificates = Annotated[
    str | None, typer.Option(metavar="DIR", help="Write a certificate of every verdict into DIR, for verify-certificate.")
]
Explain = Annotated[
    bool | None,
    typer.Option(
        "--explain/--no-explain",
        "-v",
        help="Explain answers beneath the rows: -v every step of long runs, with its event. Default: if there is one file.",
        show_default=False,
    ),
]
AllSteps = Annotated[
    bool, typer.Option("--all-steps", "-v", help="Show every step of long runs, with the names of the events.")
]
AboutRaces = Annotated[bool, typer.Option("--races", help="Ask for data races, not for robustness.")]
Watch = Annotated[bool, typer.Option("--watch", help="Run again whenever a file has changed, until Ctrl-C.")]
NoHangs = Annotated[bool, typer.Option("--no-hangs", help="Do not check that the program cannot hang.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Count claims whose line or final state is never reached against the exit code.")
]
Enable = Annotated[
    list[str] | None, typer.Option("--enable", metavar="CODE", help="Warn of CODE too, such as RR722. Repeat for several.")
]
Disable = Annotated[
    list[str] | None,
    typer.Option("--disable", metavar="CODE", help="Do not warn of CODE, such as RR701. Repeat for several."),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only rows that count against the exit code, and the totals.")
]
