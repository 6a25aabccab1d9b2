"""The `messages check` command: decide message programs, report them in order, and say by the exit code how it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answered_files import FilesRequest, FilesRun, answer_files
from rdma_robust.cli.asked_otherwise import watch_instead
from rdma_robust.cli.batch import Question
from rdma_robust.cli.destinations import report_form
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
from rdma_robust.cli.processes.decide_messages import (
    MessagesAnswer,
    MessagesAsking,
    answer_messages,
    load_messages_room,
    lost_messages,
)
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.shell.inputs import MESSAGES_SUFFIX, expand
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.reports.messages.messages_json import document
from rdma_robust.reports.messages.messages_table import MessagesText
from rdma_robust.reports.messages.messages_totals import MessagesSummary, messages_summary

if TYPE_CHECKING:
    from rdma_robust.reports.batch.batch_view import BatchReport


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
        watch_instead(context, files)
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
    context.obj.append(partial(run_messages_check, FilesRequest(items, asking, jobs, form, path, quiet)))


class _Run(FilesRun[MessagesAnswer, MessagesSummary]):
    """Where and how to report message programs."""

    def said(self, answer: MessagesAnswer) -> Sequence[str]:
        told = self.request.format in WRITERS
        hides = told or (self.request.quiet and answer.record.error_kind is None)
        return answer.messages[len(answer.messages) - answer.uncertified if hides else 0 :]

    def results(self, answer: MessagesAnswer) -> Sequence[JsonObject]:
        return answer.record.results

    def summary(self, answers: Sequence[MessagesAnswer], spent: float, stopped: Exit | None) -> MessagesSummary:
        records, expect = [answer.record for answer in answers], self.request.asking.expect
        made = messages_summary(records, len(self.request.items), expect=expect, time_s=spent, stopped=stopped)
        if any(answer.uncertified for answer in answers) and stopped is None:
            return replace(made, exit_code=worst([Exit(made.exit_code), Exit.UNKNOWN]))
        return made

    def document(self, results: Sequence[JsonObject], summary: MessagesSummary, options: Mapping[str, object]) -> JsonObject:
        return document(results, summary, TOOL, options)

    def with_records(self, report: BatchReport, answers: Sequence[MessagesAnswer]) -> BatchReport:
        return replace(report, messages=[answer.record for answer in answers])

    def done(self, summary: MessagesSummary) -> str:
        return f"{summary.programs} of {summary.requested} programs"


def run_messages_check(request: FilesRequest[MessagesAsking]) -> Exit:
    """Answer and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    asking = request.asking
    question = Question(lambda item, *_tell: answer_messages(item, asking), lost_messages, asking.limits, load_messages_room)
    text = MessagesText([item.name for item in request.items], asking.expect, asking.explain, asking.width)
    return answer_files(request, question, _Run, text)
