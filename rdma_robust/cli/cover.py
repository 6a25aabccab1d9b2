"""The `cover` command: decide coverability questions of Petri nets, each in a process that is watched."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from rdma_robust import TOOL
from rdma_robust.cli.cover_net import CoverAnswer, CoverOptions, answer_net, lost_net, overdue
from rdma_robust.cli.formats import Format
from rdma_robust.cli.inputs import Item, Missing, Source, loaded
from rdma_robust.cli.limits import processors
from rdma_robust.cli.messages import warn
from rdma_robust.cli.meter import Meter, wanted
from rdma_robust.cli.output import Output, output
from rdma_robust.cli.pool import Work, can_fork, in_processes
from rdma_robust.cli.stop import Stopped, released
from rdma_robust.errors import UsageError
from rdma_robust.reports import cover_report, json_report
from rdma_robust.reports.escape import printable
from rdma_robust.reports.exits import Exit


@dataclass(frozen=True, slots=True)
class CoverRequest:
    """What to decide and how to report it. `explain` of None is for one net."""

    items: Sequence[Item]
    options: CoverOptions
    jobs: int | None = None
    expect: bool = False
    format: Format = "text"
    path: str | None = None
    explain: bool | None = None
    quiet: bool = False


@dataclass
class _Run:
    """The state of a batch: answers by number, and how many are reported."""

    request: CoverRequest
    out: Output
    text: cover_report.CoverText
    answers: dict[int, CoverAnswer] = field(default_factory=dict)
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

    def report(self, answer: CoverAnswer) -> None:
        request, record = self.request, answer.record
        for message in answer.messages:
            warn(message)
        if request.format == "jsonl":
            self.out.line(json_report.dump(cover_report.record_object(record)))
        elif request.format == "text":
            counts = cover_report.exit_of(record, request.expect) is not Exit.OK
            for line in self.text.rows(record) if counts or not request.quiet else ():
                self.out.line(line)

    def end(self, started: float, stopped: Exit | None) -> Exit:
        request = self.request
        records = [self.answers[n].record for n in sorted(self.answers)]
        summary = cover_report.summarise(
            records,
            requested=len(request.items),
            expect=request.expect,
            time_s=time.monotonic() - started,
            stopped=stopped,
        )
        if request.format == "text":
            self.out.line(self.text.totals(summary))
        elif request.format == "json":
            options = dataclasses.asdict(request.options) | {"expect": request.expect}
            self.out.line(json_report.layout(cover_report.document(records, summary, TOOL, options)))
        elif summary.interrupted:
            warn(f"interrupted: {summary.nets} of {summary.requested} nets done")
        return Exit(summary.exit_code)


def run_cover(request: CoverRequest) -> Exit:
    """Decide and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    from rdma_robust.vass.cover import COVER_ENGINES  # noqa: PLC0415 - slow

    started = time.monotonic()
    names = tuple(dict.fromkeys(("auto", *COVER_ENGINES)))
    if request.options.engine not in names:
        raise UsageError(f"--engine: there is no engine {request.options.engine!r}; the engines are {', '.join(names)}")
    _protect_inputs(request)
    stopped: Exit | None = None
    with output(request.path) as out:
        run = _Run(request, out, _text(request))
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
        return run.end(started, stopped)


def _answers(request: CoverRequest, meter: Meter) -> Generator[tuple[int, CoverAnswer]]:
    """Yield the numbered answers as they come: first those that need no deciding."""
    work: list[tuple[int, Item]] = []
    for number, item in enumerate(request.items):
        item = item if isinstance(item, Missing) else loaded(item)
        if isinstance(item, Missing):
            yield number, answer_net(item, request.options)
        else:
            work.append((number, item))
    if not work:
        return
    options = request.options
    if can_fork():
        cores = request.jobs or processors()
        jobs = min(cores, len(work))
        crew = Work(
            lambda item, *tell: answer_net(item, options, *tell, processes=cores // jobs),
            partial(lost_net, options),
            partial(overdue, options),
            families=True,
            watch=meter.search if wanted(request.quiet) else None,
        )
        yield from in_processes(work, crew, jobs, meter.tick)
        return
    for number, item in work:
        yield number, answer_net(item, options)


def _text(request: CoverRequest) -> cover_report.CoverText:
    explain = request.explain if request.explain is not None else len(request.items) == 1
    terminal = request.path is None and sys.stdout.isatty()
    width = shutil.get_terminal_size((100, 24)).columns if terminal or "COLUMNS" in os.environ else 100
    return cover_report.CoverText([item.name for item in request.items], request.expect, explain, width)


def _protect_inputs(request: CoverRequest) -> None:
    """Refuse to write the report over one of the nets."""
    if request.path is None:
        return
    report = os.path.realpath(request.path)
    for item in request.items:
        if isinstance(item, Source) and item.path is not None and os.path.realpath(item.path) == report:
            raise UsageError(f"--output {printable(request.path)} is one of the nets")
