"""The `contracts check` command: check contracts, report them in order, and say by the exit code how it went."""

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
from rdma_robust.cli.options.contracts_options import AnyN, ContractOptions
from rdma_robust.cli.options.defaults import TIMEOUT_S, processors
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.cli.output import Output, output
from rdma_robust.cli.processes.decide_contracts import (
    ContractsAnswer,
    ContractsAsking,
    answer_contracts,
    load_contracts_room,
    lost_contracts,
)
from rdma_robust.cli.screen import width_of_output
from rdma_robust.cli.stderr import warn
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.reports.check.json_report import dump, layout
from rdma_robust.reports.check.summary import summarise
from rdma_robust.reports.contracts.contract_totals import ContractsSummary, contracts_summary
from rdma_robust.reports.contracts.contracts_json import contracts_document
from rdma_robust.reports.contracts.contracts_table import ContractsText
from rdma_robust.reports.messages.message_lines import finding_lines_of
from rdma_robust.reports.share.exits import Exit
from rdma_robust.reports.share.finding_lines import WRITERS

if TYPE_CHECKING:
    from rdma_robust.reports.batch.batch_view import BatchReport


@dataclass(frozen=True, slots=True)
class ContractsRequest:
    """What to ask of which files, and how to report it. `jobs` of None is one process per processor."""

    items: Sequence[Item]
    asking: ContractsAsking
    jobs: int | None = None
    format: str = "text"
    path: str | None = None
    quiet: bool = False


@with_option_sets
def check_command(
    context: typer.Context,
    files: Files,
    *,
    asked: ContractOptions,
    any_n: AnyN = False,
    define: Defines = None,
    timeout: Timeout = TIMEOUT_S,
    memory: Memory = None,
    jobs: Jobs = None,
    expect: Expect = False,
    format_: VerdictsFormat = None,
    output: OutputFile = None,
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
    asking = ContractsAsking(
        replace(asked.checking(), any_n=any_n),
        limit(timeout),
        memory_limit(memory, min(jobs or processors(), len(items))),
        expect=expect,
        define=tuple(define or ()),
        explain=form == "junit" or (len(items) == 1 if explain is None else explain),
        each=explain is True,
        width=width_of_output(output),
        findings=form in (*WRITERS, "sarif"),
    )
    path = None if output == "-" else output
    context.obj.append(partial(run_contracts_check, ContractsRequest(items, asking, jobs, form, path, quiet)))


@dataclass(frozen=True, slots=True)
class _Run:
    """Where and how to report."""

    request: ContractsRequest
    out: Output
    text: ContractsText

    def report(self, answer: ContractsAnswer) -> None:
        request, record = self.request, answer.record
        if request.format in WRITERS:
            for finding in finding_lines_of(record):
                self.out.line(WRITERS[request.format](finding))
        elif not request.quiet or record.error_kind is not None:
            for message in answer.messages:
                warn(message)
        if request.format == "jsonl":
            self.out.line(dump(record.result))
        elif request.format == "text" and not (request.quiet and record.exit_code == Exit.OK):
            for line in self.text.rows(record):
                self.out.say(line)

    def end(self, answers: Sequence[ContractsAnswer], summary: ContractsSummary) -> None:
        if self.request.format == "text":
            self.out.say("\n".join(self.text.totals(summary)))
            return
        if self.request.format == "json":
            results = [answer.record.result for answer in answers if answer.record.result is not None]
            options = self.request.asking.described()
            self.out.line(layout(contracts_document(results, summary, TOOL, options)))
        elif self.request.format in FORMS and self.request.format != "jsonl":
            self.out.line(FORMS[self.request.format].write(self.batch(answers, summary)).rstrip("\n"))
        if summary.interrupted:
            warn(f"interrupted: {summary.files} of {summary.requested} files done")

    def batch(self, answers: Sequence[ContractsAnswer], summary: ContractsSummary) -> BatchReport:
        """Return the answers as the forms for other tools are written from them."""
        from rdma_robust.reports.batch.batch_view import BatchReport  # noqa: PLC0415 - for few forms

        asking = self.request.asking
        stopped = Exit(summary.exit_code) if summary.interrupted else None
        none = summarise([], requested=0, expect=asking.expect, time_s=summary.time_s, stopped=stopped)
        totals = replace(none, exit_code=Exit(summary.exit_code))
        records = [answer.record for answer in answers]
        return BatchReport([], totals, asking.expect, TOOL, asking.described(), contracts=records)


def run_contracts_check(request: ContractsRequest) -> Exit:
    """Answer and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    asking = request.asking
    question = Question(
        lambda item, *_tell: answer_contracts(item, asking), lost_contracts, asking.limits, load_contracts_room
    )
    with output(request.path) as out:
        run = _Run(
            request, out, ContractsText([item.name for item in request.items], asking.expect, asking.explain, asking.width)
        )
        if request.format == "text" and not request.quiet:
            out.line("\n".join(run.text.header()))
        jobs = request.jobs or processors()
        answers, stopped = answer_all(request.items, question, jobs, run.report, quiet=request.quiet)
        records = [answer.record for answer in answers]
        spent = time.monotonic() - started
        summary = contracts_summary(records, len(request.items), expect=asking.expect, time_s=spent, stopped=stopped)
        run.end(answers, summary)
    return Exit(summary.exit_code)
