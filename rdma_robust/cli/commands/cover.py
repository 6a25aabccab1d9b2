"""The `cover` command: decide coverability questions of Petri nets, each in a process that is watched."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from rdma_robust import TOOL
from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import (
    Certificates,
    Explain,
    Files,
    Jobs,
    MaxStates,
    Memory,
    OutputFile,
    Quiet,
    ReportFormat,
    Timeout,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S, processors
from rdma_robust.cli.options.formats import FORMATS
from rdma_robust.cli.processes.decide_net import CoverAnswer, CoverOptions, answer_net, lost_net
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import dump, layout
from rdma_robust.frame.shell.inputs import Item, Source, expand
from rdma_robust.frame.shell.output import Output, output
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.limits import Limits
from rdma_robust.processes import can_fork
from rdma_robust.reports.cover import cover_report
from rdma_robust.reports.cover.cover_result import CoverRecord


@dataclass(frozen=True, slots=True)
class CoverRequest:
    """What to decide and how to report it. `explain` of None is for one net."""

    items: Sequence[Item]
    options: CoverOptions
    jobs: int | None = None
    expect: bool = False
    format: str = "text"
    path: str | None = None
    explain: bool | None = None
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class _Run:
    """Where and how to report."""

    request: CoverRequest
    out: Output
    text: cover_report.CoverText

    def report(self, answer: CoverAnswer) -> None:
        request, record = self.request, answer.record
        for message in answer.messages:
            warn(message)
        if request.format == "jsonl":
            self.out.line(dump(cover_report.record_object(record)))
        elif request.format == "text":
            counts = cover_report.exit_of(record, request.expect) is not Exit.OK
            for line in self.text.rows(record) if counts or not request.quiet else ():
                self.out.say(line)

    def end(self, records: list[CoverRecord], spent: float, stopped: Exit | None) -> Exit:
        request = self.request
        summary = cover_report.summarise(
            records, requested=len(request.items), expect=request.expect, time_s=spent, stopped=stopped
        )
        if request.format == "text":
            self.out.say("\n".join(self.text.totals(summary)))
        elif request.format == "json":
            options = dataclasses.asdict(request.options) | {"expect": request.expect}
            self.out.line(layout(cover_report.document(records, summary, TOOL, options)))
        elif summary.interrupted:
            warn(f"interrupted: {summary.nets} of {summary.requested} nets done")
        return Exit(summary.exit_code)


def cover_command(
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
    format_: ReportFormat = None,
    output: OutputFile = None,
    certificate: Certificates = None,
    explain: Explain = None,
    markings: Annotated[bool, typer.Option("--markings", help="Show the marking after every step of a run.")] = False,
    quiet: Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    items = expand(files, suffixes=(".spec",))
    at_a_time = min(jobs or processors(), len(items))
    options = CoverOptions(
        engine=engine,
        timeout=limit(timeout),
        max_states=max_states or None,
        memory=memory_limit(memory, at_a_time),
        markings=markings,
    )
    form = report_form(output, format_, FORMATS, items)
    if certificate is not None:
        from rdma_robust.cli.certificates import with_certificates  # noqa: PLC0415

        items = with_certificates(items, certificate)
    request = CoverRequest(items, options, jobs, expect, form, output, explain, quiet)
    context.obj.append(partial(run_cover, request))


def run_cover(request: CoverRequest) -> Exit:
    """Decide and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    from rdma_robust.petri.cover import COVER_ENGINES  # noqa: PLC0415 - slow

    started = time.monotonic()
    names = tuple(dict.fromkeys(("auto", *COVER_ENGINES)))
    if request.options.engine not in names:
        raise UsageError(f"--engine: there is no engine {request.options.engine!r}; the engines are {', '.join(names)}")
    with output(request.path) as out:
        run = _Run(request, out, _text(request))
        if request.format == "text" and not request.quiet:
            out.line("\n".join(run.text.header()))
        cores = request.jobs or processors()
        answers, stopped = answer_all(request.items, _question(request, cores), cores, run.report, quiet=request.quiet)
        return run.end([answer.record for answer in answers], time.monotonic() - started, stopped)


def _question(request: CoverRequest, cores: int) -> Question[CoverAnswer]:
    """Return what is asked of every net, where those at work at a time share the processors."""
    options = request.options
    nets = sum(isinstance(item, Source) for item in request.items)
    processes = cores // min(cores, max(1, nets)) if can_fork() else 1
    return Question(
        lambda item, *tell: answer_net(item, options, *tell, processes=processes),
        partial(lost_net, options),
        partial(Limits.of, options.timeout, options.max_states, options.memory),
        families=True,
    )


def _text(request: CoverRequest) -> cover_report.CoverText:
    explain = request.explain if request.explain is not None else len(request.items) == 1
    return cover_report.CoverText(
        [item.name for item in request.items], request.expect, explain, width_of_output(request.path)
    )
