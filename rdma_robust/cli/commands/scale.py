"""The `scale` command: one program for many values of a constant, and how the search grows with it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import typer

from rdma_robust import TOOL
from rdma_robust.cli.asked_files import threads_each
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import SCALE_FORMATS
from rdma_robust.cli.options.option_sets import BatchOptions, HardwareOptions, SearchOptions, with_option_sets
from rdma_robust.errors import RdmaRobustError, UsageError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import layout
from rdma_robust.frame.run_question import answer_all
from rdma_robust.frame.shell.inputs import Item, Missing, all_loaded, expand, read_source
from rdma_robust.frame.shell.output import Output, output, width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.limits import processors
from rdma_robust.options import CheckOptions
from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking
from rdma_robust.reports.check.result import Result, exit_of, summarise
from rdma_robust.reports.check.robustness_view import described
from rdma_robust.reports.scale.scale_record import ScaleRecord
from rdma_robust.reports.scale.scale_report import ScaleText
from rdma_robust.text import printable
from rdma_robust.value_ranges import definition_combinations, range_definitions


@dataclass(frozen=True, slots=True)
class ScaleRequest:
    """The program to decide, for values of a constant, smaller ones first, and how to report on it.

    `items` are its instances, one for each of `values`, or the one that cannot be read. `whole` is the program as it is, but
    for other definitions. `jobs` of None is one process per processor.
    """

    file: str
    constant: str
    values: tuple[int, ...]
    items: Sequence[Item]
    whole: Item
    options: CheckOptions
    jobs: int | None
    expect: bool
    format: str
    path: str | None
    quiet: bool


@with_option_sets
def scale_command(
    context: typer.Context,
    file: arguments.File,
    *,
    define: arguments.Defines = None,
    search: SearchOptions,
    hardware: HardwareOptions,
    reductions: arguments.Reductions = "all",
    limits: BatchOptions,
    expect: arguments.Expect = False,
    format_: arguments.ScaleOutput = None,
    output: arguments.OutputFile = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    defined = tuple(define or ())
    constant, values, items, whole = _instances(file, defined)
    options = CheckOptions(
        **search.values(),
        **hardware.values(),
        **limits.of_each(items, limits.jobs),
        reductions=arguments.parse_reductions(reductions),
        define=defined,
        threads=threads_each(None, limits.jobs, items)[0],
    )
    form = report_form(output, format_, SCALE_FORMATS, items)
    path = None if output == "-" else output
    request = ScaleRequest(file, constant, values, items, whole, options, limits.jobs, expect, form, path, quiet)
    context.obj.append(partial(run_scale, request))


def _instances(file: str, define: Sequence[str]) -> tuple[str, tuple[int, ...], list[Item], Item]:
    """Return the constant that has several values, these, the instances for them, and what they are instances of.

    Raises UsageError.
    """
    several = range_definitions(define)
    if len(several) != 1:
        names = " and ".join(f"`{each.partition('=')[0].strip()}`" for each in several)
        says = (
            f"it follows one constant, and {names} have several"
            if several
            else "`-D N=2..8`, with a constant of the program"
        )
        raise UsageError(f"scale needs several values of one constant: {says}")
    found = expand([file])
    if len(found) > 1:
        raise UsageError(f"scale takes one program, and {printable(file)} stands for {len(found)}")
    chosen = sorted(definition_combinations(define), key=lambda each: each.values)
    (item,) = found
    constant = chosen[0].values[0][0]
    if isinstance(item, Missing):
        return constant, (), [item], item
    values = tuple(each.values[0][1] for each in chosen)
    made: list[Item] = [
        dataclasses.replace(item, name=each.named(item.name), define=each.define, instance=each.shown) for each in chosen
    ]
    others = tuple(each for each in define if each not in several)
    return constant, values, made, dataclasses.replace(item, name=f"{item.name} (any number)", define=others)


@dataclass
class _Run:
    """Where and how to report, and the messages that were shown already: those of one text are alike for many values."""

    request: ScaleRequest
    out: Output
    text: ScaleText
    said: set[str] = field(default_factory=set)
    reported: int = 0

    def report(self, answer: Answer[Result]) -> None:
        request = self.request
        value = request.values[self.reported] if self.reported < len(request.values) else None
        result = answer.record
        self.reported += 1
        for message in answer.messages:
            plain = message.replace(printable(result.file), printable(request.file))
            if plain not in self.said and (not request.quiet or result.verdict == "error"):
                warn(message)
            self.said.add(plain)
        if request.format == "text" and not (request.quiet and exit_of(result, request.expect) is Exit.OK):
            for line in self.text.row(value, result):
                self.out.say(line)


def run_scale(request: ScaleRequest) -> Exit:
    """Decide and report every instance of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    items = list(all_loaded([*request.items, request.whole], request.options.limits))
    for item in items:
        if isinstance(item, Missing):
            warn(item.message())
            return Exit.UNKNOWN if item.cut else Exit.INVALID
    if not _is_crowd(items[-1], request.constant):
        items.pop()
    called = (*request.values, None)[: len(items)]
    width = width_of_output(request.path)
    with output(request.path) as out:
        run = _Run(request, out, ScaleText(request.constant, called, request.expect, width))
        if request.format == "text" and not request.quiet:
            out.line("\n".join(run.text.header()))
        jobs = request.jobs or processors()
        answers, stopped = answer_all(CHECK, RobustnessAsking(request.options), items, jobs, run.report, quiet=request.quiet)
        results, spent = [answer.record for answer in answers], time.monotonic() - started
        summary = summarise(results, requested=len(items), expect=request.expect, time_s=spent, stopped=stopped)
        found = {item.name: value for item, value in zip(request.items, request.values, strict=True)}
        record = ScaleRecord(
            request.file,
            request.constant,
            tuple((found[result.file], result) for result in results if result.file in found),
            next((result for result in results if result.file not in found), None),
            summary,
            TOOL,
            described(request.options, request.expect),
        )
        out.say("\n".join(run.text.end(record))) if request.format == "text" else out.line(_written(record, request.format))
    return Exit(summary.exit_code)


def _is_crowd(item: Item, name: str) -> bool:
    """Whether a program has a crowd `name[*]`, so that it is a question of its own whether it is robust for any number."""
    from rdma_robust.language.load import is_foreign, parse_program  # noqa: PLC0415 - slow
    from rdma_robust.language.syntax import ast  # noqa: PLC0415

    try:
        if isinstance(item, Missing) or "*" not in (text := read_source(item)) or is_foreign(text, item.name):
            return False
        threads = (each for each in parse_program(text, item.name).items if isinstance(each, ast.ThreadDeclaration))
        return any(each.name.text == name and each.family is not None and each.family.low is None for each in threads)
    except (RdmaRobustError, MemoryError):
        return False  # the instances say what is wrong


def _written(record: ScaleRecord, form: str) -> str:
    """Return the report in a form for machines or browsers, without the end of its last line."""
    from rdma_robust.reports.scale.scale_report import scale_csv, scale_document  # noqa: PLC0415 - only where it is wanted

    if form == "json":
        return layout(scale_document(record))
    if form == "csv":
        return scale_csv(record).removesuffix("\n")
    from rdma_robust.reports.scale.scale_page import scale_html, states_chart  # noqa: PLC0415 - slow

    return (scale_html(record) if form == "html" else states_chart(record)).removesuffix("\n")
