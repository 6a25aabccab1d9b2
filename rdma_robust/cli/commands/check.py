"""The `check` command: decide the programs, report them in order, and say by the exit code how it went."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust import TOOL
from rdma_robust.cli.asked_otherwise import prints_alone, watch_instead
from rdma_robust.cli.batch import answer_all, deciding
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import (
    Certificates,
    Defines,
    Disable,
    Enable,
    Expect,
    Explain,
    Files,
    Jobs,
    MaxStates,
    Memory,
    OutputFile,
    Quiet,
    Reductions,
    SelfCheck,
    Timeout,
    VerdictsFormat,
    Watch,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S, processors
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.option_sets import HardwareOptions, SearchOptions, with_option_sets
from rdma_robust.cli.options.reductions_option import parse_reductions
from rdma_robust.cli.passed_over import without_proofs
from rdma_robust.cli.processes.decide_program import Answer
from rdma_robust.cli.warning_choice import chosen
from rdma_robust.frame import registry
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.formats.json_text import dump, layout
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.shell.inputs import SUFFIX, TRENCHER_SUFFIX, Item, Source, expand
from rdma_robust.frame.shell.output import Output, output
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.options import CheckOptions
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.reports.check import json_report
from rdma_robust.reports.check.check_findings import findings_of
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.summary import Summary, exit_of, summarise
from rdma_robust.reports.check.text_report import TextReport

if TYPE_CHECKING:
    from rdma_robust.reports.batch.batch_view import BatchReport


@dataclass(frozen=True, slots=True)
class Request:
    """What to decide and how to report it. `jobs` of None is one process per processor; `explain` of None is for one."""

    items: Sequence[Item]
    options: CheckOptions
    jobs: int | None = None
    expect: bool = False
    format: str = "text"
    path: str | None = None
    explain: bool | None = None
    quiet: bool = False
    passed_over: int = 0

    @property
    def at_length(self) -> bool:
        """Whether more is told of each program than its row, and whether it matters is asked."""
        return self.explain if self.explain is not None else len(self.items) == 1


@dataclass(frozen=True, slots=True)
class _Run:
    """Where and how to report."""

    request: Request
    out: Output
    text: TextReport

    def report(self, answer: Answer) -> None:
        result = answer.result
        if self.request.format in WRITERS:
            for finding in findings_of(result, self.request.expect):
                self.out.line(WRITERS[self.request.format](finding))
            for message in answer.messages[-1:] if answer.uncertified else ():
                warn(message)
        elif not self.request.quiet or result.verdict == "error" or answer.uncertified:
            for message in answer.messages:
                warn(message)
        if self.request.format == "jsonl":
            self.out.line(dump(json_report.result_object(result)))
        elif self.request.format == "text" and not (self.request.quiet and _is_good(result, self.request.expect)):
            for line in self.text.rows(result):
                self.out.say(line)

    def end(self, answers: Sequence[Answer], summary: Summary) -> None:
        if self.request.format == "text":
            self.out.say("\n".join(self.text.totals(summary)))
        elif self.request.format == "json":
            results = [answer.result for answer in answers]
            options = json_report.described(self.request.options, self.request.expect)
            self.out.line(layout(json_report.document(results, summary, TOOL, options)))
        elif self.request.format in FORMS and self.request.format != "jsonl":
            self.out.line(FORMS[self.request.format].write(_batch(self.request, answers, summary)).rstrip("\n"))
        elif summary.interrupted:
            warn(f"interrupted: {summary.programs} of {summary.requested} programs done")


def _is_good(result: Result, expect: bool) -> bool:
    """Whether nothing needs to be said of a program: what is seen to fail is said although it may not count."""
    return exit_of(result, expect) is Exit.OK and not result.broken


DumpAfter = Annotated[
    str | None,
    typer.Option("--dump-after", metavar="PASS", help="Print what PASS makes of each program and decide nothing."),
]


@with_option_sets
def check_command(
    context: typer.Context,
    files: Files,
    *,
    search: SearchOptions,
    hardware: HardwareOptions,
    define: Defines = None,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    jobs: Jobs = None,
    self_check: SelfCheck = False,
    reductions: Reductions = "all",
    expect: Expect = False,
    format_: VerdictsFormat = None,
    output: OutputFile = None,
    certificate: Certificates = None,
    explain: Explain = None,
    dump_after: DumpAfter = None,
    enable: Enable = None,
    disable: Disable = None,
    quiet: Quiet = False,
    watch: Watch = False,
) -> None:
    """Note in the context what is to be done."""
    if watch:
        watch_instead(context, files)
        return
    items, passed_over = without_proofs(expand(files, tuple(registry.commands()), (SUFFIX, TRENCHER_SUFFIX), define=define))
    if enable or disable:
        choice = chosen(enable, disable)
        items = [dataclasses.replace(item, warnings=choice) if isinstance(item, Source) else item for item in items]
    at_a_time = min(jobs or processors(), len(items))
    options = CheckOptions(
        **search.values(),
        **hardware.values(),
        timeout=limit(timeout),
        max_states=max_states or None,
        memory=memory_limit(memory, at_a_time),
        self_check=self_check,
        reductions=parse_reductions(reductions),
        define=tuple(define or ()),
    )
    prints_alone(dump_after, certificate, (output, format_))
    form = report_form(output, format_, VERDICT_FORMATS, items)
    if dump_after is not None:
        from rdma_robust.cli.commands.dump import run_dump  # noqa: PLC0415

        context.obj.append(partial(run_dump, items, options, dump_after))
        return
    if certificate is not None:
        from rdma_robust.cli.certificates import with_certificates  # noqa: PLC0415

        items = with_certificates(items, certificate)
    request = Request(items, options, jobs, expect, form, output, explain, quiet, passed_over)
    context.obj.append(partial(run_check, request))


def run_check(request: Request) -> Exit:
    """Decide and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    with output(request.path) as out:
        run = _Run(request, out, _text_report(request))
        if request.format == "text" and not request.quiet:
            out.line("\n".join(run.text.header()))
        jobs = request.jobs or processors()
        question = deciding(request.options, matters=request.at_length)
        answers, stopped = answer_all(request.items, question, jobs, run.report, quiet=request.quiet)
        results = [answer.result for answer in answers]
        spent = time.monotonic() - started
        summary = summarise(results, requested=len(request.items), expect=request.expect, time_s=spent, stopped=stopped)
        summary = dataclasses.replace(summary, passed_over=request.passed_over)
        if any(answer.uncertified for answer in answers) and stopped is None:
            summary = dataclasses.replace(summary, exit_code=worst([Exit(summary.exit_code), Exit.UNKNOWN]))
        run.end(answers, summary)
    return Exit(summary.exit_code)


def _batch(request: Request, answers: Sequence[Answer], summary: Summary) -> BatchReport:
    """Return the answers as the forms for other tools are written from them."""
    from rdma_robust.batch.job import sha256  # noqa: PLC0415 - for few forms
    from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry  # noqa: PLC0415

    entries = [ReportEntry(each.result, each.text, None if each.text is None else sha256(each.text)) for each in answers]
    return BatchReport(entries, summary, request.expect, TOOL, json_report.described(request.options, request.expect))


def _text_report(request: Request) -> TextReport:
    names, full = [item.name for item in request.items], request.explain is True
    return TextReport(names, request.expect, request.at_length, width_of_output(request.path), full)
