"""The `check` command: decide the programs, report them in order, and say by the exit code how it went."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from rdma_robust import TOOL
from rdma_robust.cli.decide import Answer, decide_item
from rdma_robust.cli.formats import Format
from rdma_robust.cli.inputs import Item, Missing, Source, loaded
from rdma_robust.cli.limits import processors
from rdma_robust.cli.messages import warn
from rdma_robust.cli.meter import Meter, wanted
from rdma_robust.cli.output import Output, output
from rdma_robust.cli.stop import Stopped, released
from rdma_robust.errors import UsageError
from rdma_robust.options import CheckOptions
from rdma_robust.reports import json_report
from rdma_robust.reports.escape import printable
from rdma_robust.reports.exits import Exit, worst
from rdma_robust.reports.result import Result
from rdma_robust.reports.summary import Summary, exit_of, summarise
from rdma_robust.reports.text_report import TextReport


@dataclass(frozen=True, slots=True)
class Request:
    """What to decide and how to report it. `jobs` of None is one process per processor; `explain` of None is for one."""

    items: Sequence[Item]
    options: CheckOptions
    jobs: int | None = None
    expect: bool = False
    format: Format = "text"
    path: str | None = None
    explain: bool | None = None
    quiet: bool = False


@dataclass
class _Run:
    """The state of a batch: answers by number, and how many are reported."""

    request: Request
    out: Output
    text: TextReport
    answers: dict[int, Answer] = field(default_factory=dict)
    reported: int = 0

    def report_ready(self) -> None:
        """Report the answers that are next in order."""
        while self.reported in self.answers:
            self.report(self.answers[self.reported])
            self.reported += 1

    def report_rest(self) -> None:
        """Report the answers that waited for one which will not come."""
        for number in sorted(n for n in self.answers if n >= self.reported):
            self.report(self.answers[number])

    def report(self, answer: Answer) -> None:
        result = answer.result
        if not self.request.quiet or result.verdict == "error" or answer.uncertified:
            for message in answer.messages:
                warn(message)
        if self.request.format == "jsonl":
            self.out.line(json_report.dump(json_report.result_object(result)))
        elif self.request.format == "text" and not (self.request.quiet and exit_of(result, self.request.expect) is Exit.OK):
            for line in self.text.rows(result):
                self.out.line(line)

    def results(self) -> list[Result]:
        return [self.answers[n].result for n in sorted(self.answers)]

    def end(self, summary: Summary) -> None:
        if self.request.format == "text":
            self.out.line(self.text.totals(summary))
        elif self.request.format == "json":
            options = json_report.described(self.request.options, self.request.expect)
            self.out.line(json_report.layout(json_report.document(self.results(), summary, TOOL, options)))
        elif summary.interrupted:
            warn(f"interrupted: {summary.programs} of {summary.requested} programs done")


def run_check(request: Request) -> Exit:
    """Decide and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    _protect_inputs(request)
    stopped: Exit | None = None
    with output(request.path) as out:
        run = _Run(request, out, _text_report(request))
        if request.format == "text" and not request.quiet:
            out.line(run.text.header())
        meter = Meter(len(request.items), wanted(request.quiet))
        try:
            with meter.running(), closing(_answers(request, meter)) as answers:
                for number, answer in answers:
                    run.answers[number] = answer
                    meter.printing(run.report_ready)
                    meter.done(len(run.answers))
        except Stopped as stop:
            stopped = stop.exit
            released()
            run.report_rest()
        summary = summarise(
            run.results(),
            requested=len(request.items),
            expect=request.expect,
            time_s=time.monotonic() - started,
            stopped=stopped,
        )
        if any(answer.uncertified for answer in run.answers.values()) and stopped is None:
            summary = dataclasses.replace(summary, exit_code=worst([Exit(summary.exit_code), Exit.UNKNOWN]))
        run.end(summary)
    return Exit(summary.exit_code)


def _answers(request: Request, meter: Meter) -> Generator[tuple[int, Answer]]:
    """Yield the numbered answers as they come: first those that need no deciding, then in parallel what is left."""
    work: list[tuple[int, Item]] = []
    for number, item in enumerate(request.items):
        if isinstance(item, Missing):
            yield number, decide_item(item, request.options)
        else:
            work.append((number, loaded(item)))
    jobs = min(request.jobs or processors(), len(work))
    if jobs > 1:
        from rdma_robust.cli.pool import can_fork, decide_parallel  # noqa: PLC0415 - not needed for one program

        if can_fork():
            yield from decide_parallel(work, request.options, jobs, meter.tick)
            return
    for number, item in work:
        yield number, decide_item(item, request.options, meter.search)


def _text_report(request: Request) -> TextReport:
    explain = request.explain if request.explain is not None else len(request.items) == 1
    terminal = request.path is None and sys.stdout.isatty()
    width = shutil.get_terminal_size((100, 24)).columns if terminal or "COLUMNS" in os.environ else 100
    return TextReport([item.name for item in request.items], request.expect, explain, width)


def _protect_inputs(request: Request) -> None:
    """Refuse to write the report over one of the programs."""
    if request.path is None:
        return
    report = os.path.realpath(request.path)
    for item in request.items:
        if isinstance(item, Source) and item.path is not None and os.path.realpath(item.path) == report:
            raise UsageError(f"--output {printable(request.path)} is one of the programs")
