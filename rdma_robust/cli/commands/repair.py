"""The `repair` command: make a program robust, or find what a robust one does not need."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import answer_item, only
from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import RepairFormat
from rdma_robust.cli.options.option_sets import HardwareOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.deciding import message_of
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import layout
from rdma_robust.frame.shell.colour import is_asked_for
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import BOM, Source, UnreadableError, read_bytes, read_source
from rdma_robust.frame.shell.output import StandardOutput, replace_bytes, width_of_output
from rdma_robust.frame.shell.stderr import warn, warn_of
from rdma_robust.guard import ENDING
from rdma_robust.limits import Limits
from rdma_robust.model import Hardware
from rdma_robust.options import CheckOptions
from rdma_robust.orders.named_tables import moved
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.analyses.repair.repairs import Costs, Repair, RepairOptions, SiteName
    from rdma_robust.language.flow.cfg import Program
    from rdma_robust.language.flow.claims import AnyModelName


CostPoll = Annotated[int, typer.Option(metavar="N", help="Cost of a poll: the processor waits for the NIC.")]
CostRfence = Annotated[int, typer.Option(metavar="N", help="Cost of a remote fence: the NIC waits.")]
CostFlush = Annotated[
    int, typer.Option(metavar="N", help="Cost of a flush, a round trip; its polls come on top. Of a `flush` statement 1.")
]
CostOrder = Annotated[
    int, typer.Option(metavar="N", help="Cost of an `order`, under order none and accumulate: the writes behind it wait.")
]
CostMfence = Annotated[int, typer.Option(metavar="N", help="Cost of an `mfence`, with --goal safe.")]
LoopWeight = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="How often the body of a loop counts, for each loop around it. With --goal safe under models but rdma 1.",
    ),
]
Goal = Annotated[
    Literal["robust", "safe"],
    typer.Option(help="robust: nothing happens that is not sequentially consistent. safe: no claim is violated."),
]
SafeModel = Annotated[
    Literal["sc", "tso", "pso", "rma", "rdma"] | None,
    typer.Option(
        "--model",
        help="The memory model to be safe under. Default: the one of the `expect safe` line, else rdma.",
        show_default=False,
    ),
]
Sites = Annotated[
    Literal["after-remote", "all"] | None,
    typer.Option(
        help="With --goal safe, where waits can stand: behind each remote operation or store, or between any statements.",
        show_default="after-remote",
    ),
]
FromFull = Annotated[
    bool, typer.Option("--from-full", help="With --goal safe: flushes and mfences of the program can go as well.")
]
AllMinimal = Annotated[
    bool, typer.Option("--all-minimal", help="List every repair from which nothing can be left out, up to 100.")
]
RemoveNeedless = Annotated[
    bool, typer.Option("--remove-needless", help="Instead find polls, fences and unread gets that can go.")
]
For = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="TABLES",
        help="Be robust under each of these orders: names of tables, FILE.toml or fi(FLAG, ...), separated by commas.",
        show_default=False,
    ),
]
Write = Annotated[bool, typer.Option("--write", "-w", help="Write the patched program back to FILE.")]
Diff = Annotated[bool, typer.Option("--diff", help="Print the unified diff and nothing else.")]


@dataclass(frozen=True, slots=True)
class SafetyRepair:
    """The goal `safe`: under which model (None: the one that the program expects), by waits at which sites, at which
    costs. `given` are the options that were given and that only rdma has, or only the others."""

    model: Literal["sc", "tso", "pso", "rma", "rdma"] | None
    sites: SiteName
    own: bool
    costs: Costs
    given: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """The program to repair, with its goal (robust if `safety` is None), and where the patched program goes: back into
    its file (`write`), into `path`, or nowhere."""

    file: str
    options: RepairOptions
    limits: CheckOptions
    needless: bool = False
    safety: SafetyRepair | None = None
    write: bool = False
    path: str | None = None
    force: bool = False
    diff: bool = False
    format: RepairFormat = "text"


@with_option_sets
def repair_command(
    context: typer.Context,
    file: arguments.File,
    *,
    goal: Goal = "robust",
    model: SafeModel = None,
    sites: Sites = None,
    from_full: FromFull = False,
    cost_poll: CostPoll = 2,
    cost_rfence: CostRfence = 1,
    cost_flush: CostFlush = 5,
    cost_order: CostOrder = 3,
    cost_mfence: CostMfence = 1,
    loop_weight: LoopWeight = 10,
    all_minimal: AllMinimal = False,
    remove_needless: RemoveNeedless = False,
    for_: For = None,
    write: Write = False,
    output: arguments.MadeFile = None,
    force: arguments.Force = False,
    diff: Diff = False,
    format_: arguments.RepairFormat = None,
    hardware: HardwareOptions,
    define: arguments.Define = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    max_states: arguments.MaxStates = 0,
    memory: arguments.Memory = None,
) -> None:
    """Note in the context what is to be done."""
    from rdma_robust.analyses.repair.repairs import Costs, RepairOptions  # noqa: PLC0415

    costs = Costs(cost_poll, cost_rfence, cost_flush, loop_weight, cost_mfence, cost_order)
    of_waits = replace(
        costs,
        flush=cost_flush if _given(context, "cost_flush") else 1,
        loop_weight=loop_weight if _given(context, "loop_weight") else 1,
    )
    orders = () if for_ is None else arguments.orders_in(for_)
    if orders and (goal == "safe" or _on_command_line(context, "order")):
        raise UsageError(f"--for and {'--goal safe' if goal == 'safe' else '--order'} exclude one another")
    options = RepairOptions(costs, all_minimal, timeout=arguments.limit(timeout), orders=orders)
    most = arguments.memory_limit(memory)
    limits = CheckOptions(
        **hardware.values(),
        max_states=max_states or None,
        memory=most,
        define=tuple(define or ()),
    )
    safety = None
    if goal == "safe":
        given = tuple(name for name in (*OF_WAITS, *OF_RDMA) if _on_command_line(context, name))
        safety = SafetyRepair(model, sites or "after-remote", from_full, of_waits, given)
    elif name := next((n for n in ("model", *OF_WAITS, "cost_mfence") if _on_command_line(context, n)), None):
        raise UsageError(f"{_option(name)} belongs to --goal safe")
    request = RepairRequest(file, options, limits, remove_needless, safety, write, output, force, diff, format_ or "text")
    context.obj.append(partial(run_repair, request))


def _given(context: typer.Context, name: str) -> bool:
    """Return whether somebody said what a parameter is, on the command line or in settings."""
    source = context.get_parameter_source(name)
    return source is not None and source.name in ("COMMANDLINE", "DEFAULT_MAP")


OF_RDMA: Final = ("cost_poll", "cost_rfence", "cost_order", "ordered_reads", "cpu", "atomics", "order", "recv_depth")
"""What is asked about RDMA, whichever the goal: of `--goal safe` the models without queue pairs do not have it."""

OF_WAITS: Final = ("sites", "from_full")
"""What only these models have."""


def _on_command_line(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def run_repair(request: RepairRequest) -> Exit:
    """Answer `request`; return the exit code. A repair that cannot be written is reported all the same.

    Raises UsageError, BrokenPipeError.
    """
    _agree(request)
    item = only(request.file, "repair", request.limits.define)
    if request.write and isinstance(item, Source) and item.path is None:
        raise UsageError("standard input cannot be written back; leave out --write")
    made_file(request.path, [item], force=request.force, back="--write")

    def repaired(source: Source, text: str) -> Exit:
        original = read_source(replace(source, define=()))
        hardware = _hardware(text, source.name)
        repair = _undefined(_repair(text, source.name, request), original, text, source)
        try:
            written = _write(repair, original, source, request)
        except (UsageError, UnreadableError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            warn(message_of(UsageError(str(error)), source.name))
            _report(repair, source, request, None, hardware)
            return Exit.INVALID
        return _report(repair, source, request, written, hardware)

    return answer_item(item, Limits.of(request.options.timeout, memory=request.limits.memory), repaired, ENDING)


def _hardware(text: str, name: str) -> Hardware:
    """Return what a program says about its hardware."""
    from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow, and reading may have failed

    return load_program(text, name).hardware


def _agree(request: RepairRequest) -> None:
    if request.write and request.path is not None:
        raise UsageError("--write and --output exclude one another")
    if request.diff and request.format != "text":
        raise UsageError(f"--diff and --format {request.format} exclude one another: that report has the changes")
    if request.path == "-" and (request.diff or request.format != "text"):
        raise UsageError(
            f"--output - prints the patched program, and leaves no room for --diff or --format {request.format}"
        )
    if request.needless and request.safety is not None and request.safety.own:
        raise UsageError("--from-full and --remove-needless exclude one another: both take out what the program has")
    if request.needless and request.options.all_minimal:
        raise UsageError("--all-minimal and --remove-needless exclude one another")


def _repair(text: str, name: str, request: RepairRequest) -> Repair:
    from rdma_robust.analyses.repair.needless import remove_needless  # noqa: PLC0415
    from rdma_robust.analyses.repair.plan import repair  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable, load_program, without_crowds  # noqa: PLC0415 - slow, not always needed

    if request.safety is None:
        program = load_decidable(text, name, crowds=not request.needless)
    else:
        program = without_crowds(load_program(text, name))
    warn_of(program.warnings, name, text)
    if request.safety is not None:
        return _made_safe(text, program, request.safety, request)
    work = remove_needless if request.needless else repair
    return work(text, name, request.options, request.limits)


def _made_safe(text: str, program: Program, safety: SafetyRepair, request: RepairRequest) -> Repair:
    from rdma_robust.analyses.repair.repairs import WaitOptions  # noqa: PLC0415
    from rdma_robust.analyses.repair.safe.placement import keep_claims, make_safe, remove_waits  # noqa: PLC0415

    model = safety.model or _expected_model(program)
    of_rdma = model == "rdma"
    for name in safety.given:
        if of_rdma == (name in OF_WAITS):
            others = "--goal safe under models without queue pairs" if of_rdma else "--goal robust, and to safe under rdma"
            raise UsageError(f"{_option(name)} belongs to {others}")
    if of_rdma:
        if request.needless:
            raise UsageError(
                "--remove-needless takes out what a robust program, or one safe under another model, does not need"
            )
        return keep_claims(text, program.file, request.options, request.limits)
    waits = WaitOptions(model, safety.sites, safety.own)
    work = remove_waits if request.needless else make_safe
    return work(text, program.file, waits, replace(request.options, costs=safety.costs), request.limits)


def _expected_model(program: Program) -> AnyModelName:
    """Return the model that the program expects to be safe or unsafe under, else rdma if it claims something of that. Raises
    UsageError."""
    from rdma_robust.analyses.repair.safe.placement import forbidding_claims  # noqa: PLC0415

    expected = {e.model for e in program.expectations if e.kind == "safe" and e.model is not None}
    if not expected and not program.undecided and forbidding_claims(program):
        return "rdma"
    if len(expected) != 1:
        named = f"the program expects something under {', '.join(sorted(expected))}" if expected else "it has no such line"
        asks = "--model, a line that expects the program to be safe under one, or claims about rdma"
        raise UsageError(f"--goal safe needs {asks}: {named}")
    return expected.pop()


def _undefined(repair: Repair, original: str, text: str, source: Source) -> Repair:
    """Return a repair of a program with other values for constants, in `text`, as one of its `original` text."""
    if not source.define:
        return repair
    from rdma_robust.analyses.repair.patch import repair_of_original  # noqa: PLC0415

    return repair_of_original(repair, original, source.define, source.name, text)


def _write(repair: Repair, text: str, source: Source, request: RepairRequest) -> str | None:
    """Put the new program where it was asked for; return the file's name. A program that is fine as it is goes to `--output`
    as it is, and is not written back."""
    if repair.status not in ("robust", "safe", "repaired"):
        return None
    new = repair.patched or text
    if (request.path or request.write) and (there := ", ".join(f for s in repair.solutions[:1] for f in s.elsewhere)):
        raise UsageError(f"what is to be changed is in {printable(there)}; `--diff` prints it, for `patch -p0`")
    if request.path == "-":
        StandardOutput().write(new)
        return None
    if request.path is not None:
        made_file(request.path, [source], force=request.force, back="--write")
        replace_bytes(request.path, _bytes(moved(new, source.name, request.path), source))
        return request.path
    if request.write and repair.solutions and source.path is not None:
        if read_source(replace(source, define=())) != text:
            raise UsageError("the file has changed meanwhile; nothing was written")
        replace_bytes(source.path, _bytes(new, source))
        return source.path
    return None


def _bytes(text: str, source: Source) -> bytes:
    """Encode a text, with the byte order mark that the program's file has."""
    begin = b"" if source.path is None else read_bytes(source)[: len(BOM)]
    return (BOM if begin == BOM else b"") + text.encode("utf-8")


def _report(repair: Repair, source: Source, request: RepairRequest, written: str | None, hardware: Hardware) -> Exit:
    from rdma_robust.reports.analyses import repair_report  # noqa: PLC0415

    out = StandardOutput()
    if request.path == "-" or request.diff:
        if request.diff and repair.diff:
            for_people = sys.stdout.isatty() or is_asked_for()
            (out.say if for_people else out.line)(repair.diff.removesuffix("\n"))
        if repair.status in ("impossible", "unknown"):
            warn("\n".join(repair_report.repair_text(repair, source.name, request.needless)))
    elif request.format == "json":
        report = repair_report.repair_object(repair, source.name, TOOL, _options(request, repair, hardware), written)
        out.line(layout(report))
    elif request.format == "sarif":
        log = repair_report.repair_sarif(repair, source.name, TOOL, request.needless)
        out.line(json.dumps(log, indent=1))
    else:
        width, orders = width_of_output(), request.options.orders
        out.say("\n".join(repair_report.repair_text(repair, source.name, request.needless, width, orders)))
    if written is not None:
        warn(f"{printable(written)}: written")
    return repair_report.exit_of_repair(repair)


def _options(request: RepairRequest, repair: Repair, hardware: Hardware) -> dict[str, object]:
    limits, model = request.limits, request.limits.on(hardware).model
    of_rdma = repair.waits is None or repair.waits.model == "rdma"
    costs = request.options.costs if request.safety is None or of_rdma else request.safety.costs
    return {
        "cost_poll": costs.poll,
        "cost_rfence": costs.rfence,
        "cost_flush": costs.flush,
        "cost_order": costs.order,
        "cost_mfence": costs.mfence,
        "loop_weight": costs.loop_weight,
        "goal": "robust" if request.safety is None else "safe",
        "safe_under": None if repair.waits is None else repair.waits.model,
        "sites": None if request.safety is None or of_rdma else request.safety.sites,
        "from_full": request.safety is not None and request.safety.own,
        "all_minimal": request.options.all_minimal,
        "remove_needless": request.needless,
        **model.described(),
        **({"orders": list(request.options.orders)} if request.options.orders else {}),
        "await_loops": limits.await_loops,
        "define": list(limits.define),
        "recv_depth": limits.recv_depth,
        "timeout": request.options.timeout,
        "max_states": limits.max_states,
        "memory": limits.memory,
    }
