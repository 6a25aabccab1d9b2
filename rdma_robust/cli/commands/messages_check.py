"""The `messages check` command: decide message programs, report them in order, and say by the exit code how it went."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import typer

from rdma_robust import TOOL
from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.inputs import MESSAGES_SUFFIX, Item, expand
from rdma_robust.cli.options.arguments import (
    Certificates,
    Defines,
    Expect,
    Explain,
    Files,
    Jobs,
    Memory,
    OutputFile,
    Quiet,
    Timeout,
    VerdictsFormat,
    Watch,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S, processors
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.messages_options import (
    Deny,
    Matches,
    MessageOptions,
    MessagesSelfCheck,
    denied,
)
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.cli.output import Output, output
from rdma_robust.cli.processes.decide_messages import (
    MessagesAnswer,
    MessagesAsking,
    answer_messages,
    load_messages_room,
    lost_messages,
)
from rdma_robust.cli.screen import width_of_output
from rdma_robust.cli.stderr import warn
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.reports.check.json_report import dump, layout
from rdma_robust.reports.check.summary import summarise
from rdma_robust.reports.messages.message_lines import finding_lines_of
from rdma_robust.reports.messages.messages_json import document
from rdma_robust.reports.messages.messages_table import MessagesText
from rdma_robust.reports.messages.messages_totals import MessagesSummary, messages_summary
from rdma_robust.reports.share.exits import Exit, worst
from rdma_robust.reports.share.finding_lines import WRITERS

if TYPE_CHECKING:
    from rdma_robust.reports.batch.batch_view import BatchReport


@dataclass(frozen=True, slots=True)
class MessagesRequest:
    """What to ask of which programs, and how to report it. `jobs` of None is one process per processor."""

    items: Sequence[Item]
    asking: MessagesAsking
    jobs: int | None = None
    format: str = "text"
    path: str | None = None
    quiet: bool = False


@with_option_sets
def check_command(
    context: typer.Context,
    files: Files,
    *,
    asked: MessageOptions,
    self_check: MessagesSelfCheck = False,
    matches: Matches = True,
    define: Defines = None,
    timeout: Timeout = TIMEOUT_S,
    memory: Memory = None,
    jobs: Jobs = None,
    expect: Expect = False,
    deny: Deny = None,
    format_: VerdictsFormat = None,
    output: OutputFile = None,
    certificate: Certificates = None,
    explain: Explain = None,
    quiet: Quiet = False,
    watch: Watch = False,
) -> None:
    """Note in the context what is to be done."""
    if watch:
        from rdma_robust.cli.watching import run_watching  # noqa: PLC0415

        context.obj.append(partial(run_watching, sys.argv[1:], files))
        return
    items = expand(files, suffixes=(MESSAGES_SUFFIX,), define=define)
    form = report_form(output, format_, VERDICT_FORMATS, items)
    asking = MessagesAsking(
        **asked.values(),
        timeout=limit(timeout),
        memory=memory_limit(memory, min(jobs or processors(), len(items))),
        expect=expect,
        deny=denied(deny),
        define=tuple(define or ()),
        self_check=self_check,
        matches=matches,
        explain=form == "junit" or (len(items) == 1 if explain is None else explain),
        full=explain is True,
        width=width_of_output(output),
        objects=form in ("json", "jsonl"),
        findings=form in (*WRITERS, "sarif"),
    )
    if certificate is not None:
        from rdma_robust.cli.certificates import with_certificates  # noqa: PLC0415 - slow, and seldom wanted

        items = with_certificates(items, certificate)
    path = None if output == "-" else output
    context.obj.append(partial(run_messages_check, MessagesRequest(items, asking, jobs, form, path, quiet)))


@dataclass(frozen=True, slots=True)
class _Run:
    """Where and how to report."""

    request: MessagesRequest
    out: Output
    text: MessagesText

    def report(self, answer: MessagesAnswer) -> None:
        request, record = self.request, answer.record
        if request.format in WRITERS:
            for finding in finding_lines_of(record):
                self.out.line(WRITERS[request.format](finding))
            for message in answer.messages[len(answer.messages) - answer.uncertified :]:
                warn(message)
        elif not request.quiet or record.error_kind is not None or answer.uncertified:
            hidden = len(answer.messages) - answer.uncertified if request.quiet and record.error_kind is None else 0
            for message in answer.messages[hidden:]:
                warn(message)
        if request.format == "jsonl":
            for each in record.results:
                self.out.line(dump(each))
        elif request.format == "text" and not (request.quiet and record.exit_code == Exit.OK):
            for line in self.text.rows(record):
                self.out.say(line)

    def end(self, answers: Sequence[MessagesAnswer], summary: MessagesSummary) -> None:
        if self.request.format == "text":
            self.out.say("\n".join(self.text.totals(summary)))
            return
        if self.request.format == "json":
            results = [each for answer in answers for each in answer.record.results]
            options = self.request.asking.described()
            self.out.line(layout(document(results, summary, TOOL, options)))
        elif self.request.format in FORMS and self.request.format != "jsonl":
            self.out.line(FORMS[self.request.format].write(self.batch(answers, summary)).rstrip("\n"))
        if summary.interrupted:
            warn(f"interrupted: {summary.programs} of {summary.requested} programs done")

    def batch(self, answers: Sequence[MessagesAnswer], summary: MessagesSummary) -> BatchReport:
        """Return the answers as the forms for other tools are written from them."""
        from rdma_robust.reports.batch.batch_view import BatchReport  # noqa: PLC0415 - for few forms

        asking = self.request.asking
        stopped = Exit(summary.exit_code) if summary.interrupted else None
        none = summarise([], requested=0, expect=asking.expect, time_s=summary.time_s, stopped=stopped)
        totals = replace(none, exit_code=Exit(summary.exit_code))
        return BatchReport([], totals, asking.expect, TOOL, asking.described(), [answer.record for answer in answers])


def run_messages_check(request: MessagesRequest) -> Exit:
    """Answer and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    asking = request.asking
    question = Question(lambda item, *_tell: answer_messages(item, asking), lost_messages, asking.limits, load_messages_room)
    with output(request.path) as out:
        names = [item.name for item in request.items]
        run = _Run(request, out, MessagesText(names, asking.expect, asking.explain, asking.width))
        if request.format == "text" and not request.quiet:
            out.line("\n".join(run.text.header()))
        jobs = request.jobs or processors()
        answers, stopped = answer_all(request.items, question, jobs, run.report, quiet=request.quiet)
        records = [answer.record for answer in answers]
        spent = time.monotonic() - started
        summary = messages_summary(records, len(request.items), expect=asking.expect, time_s=spent, stopped=stopped)
        if any(answer.uncertified for answer in answers) and stopped is None:
            summary = replace(summary, exit_code=worst([Exit(summary.exit_code), Exit.UNKNOWN]))
        run.end(answers, summary)
    return Exit(summary.exit_code)
