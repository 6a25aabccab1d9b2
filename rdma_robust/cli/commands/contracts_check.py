"""The `contracts check` command: check contracts, report them in order, and say by the exit code how it went."""

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
from rdma_robust.cli.processes.decide_contracts import (
    ContractsAnswer,
    ContractsAsking,
    answer_contracts,
    load_contracts_room,
    lost_contracts,
)
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.shell.inputs import MESSAGES_SUFFIX, expand
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.reports.contracts.contract_totals import ContractsSummary, contracts_summary
from rdma_robust.reports.contracts.contracts_json import contracts_document
from rdma_robust.reports.contracts.contracts_table import ContractsText

if TYPE_CHECKING:
    from rdma_robust.reports.batch.batch_view import BatchReport


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
        watch_instead(context, files)
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
    context.obj.append(partial(run_contracts_check, FilesRequest(items, asking, jobs, form, path, quiet)))


class _Run(FilesRun[ContractsAnswer, ContractsSummary]):
    """Where and how to report contracts."""

    def said(self, answer: ContractsAnswer) -> Sequence[str]:
        quiet = self.request.quiet and answer.record.error_kind is None
        return () if self.request.format in WRITERS or quiet else answer.messages

    def results(self, answer: ContractsAnswer) -> Sequence[JsonObject]:
        return () if answer.record.result is None else (answer.record.result,)

    def summary(self, answers: Sequence[ContractsAnswer], spent: float, stopped: Exit | None) -> ContractsSummary:
        records = [answer.record for answer in answers]
        expect = self.request.asking.expect
        return contracts_summary(records, len(self.request.items), expect=expect, time_s=spent, stopped=stopped)

    def document(
        self, results: Sequence[JsonObject], summary: ContractsSummary, options: Mapping[str, object]
    ) -> JsonObject:
        return contracts_document(results, summary, TOOL, options)

    def with_records(self, report: BatchReport, answers: Sequence[ContractsAnswer]) -> BatchReport:
        return replace(report, contracts=[answer.record for answer in answers])

    def done(self, summary: ContractsSummary) -> str:
        return f"{summary.files} of {summary.requested} files"


def run_contracts_check(request: FilesRequest[ContractsAsking]) -> Exit:
    """Answer and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    asking = request.asking
    question = Question(
        lambda item, *_tell: answer_contracts(item, asking), lost_contracts, asking.limits, load_contracts_room
    )
    text = ContractsText([item.name for item in request.items], asking.expect, asking.explain, asking.width)
    return answer_files(request, question, _Run, text)
