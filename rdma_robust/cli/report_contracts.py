"""The contracts of `report`: checked beside what the programs do, and reported in the same forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.inputs import Item, Missing, UnreadableError, read_source
from rdma_robust.cli.options.defaults import processors
from rdma_robust.cli.processes.decide_contracts import (
    ContractsAnswer,
    ContractsAsking,
    answer_contracts,
    load_contracts_room,
    lost_contracts,
)
from rdma_robust.cli.stderr import warn
from rdma_robust.reports.contracts.contracts_record import ContractsRecord
from rdma_robust.reports.share.exits import Exit, worst

if TYPE_CHECKING:
    from rdma_robust.cli.report_messages import Given
    from rdma_robust.reports.batch.batch_view import BatchReport

_WORD: Final = re.compile(r"\bcontract\b")
"""What every text with a contract has, and few others."""


def with_contracts(report: BatchReport, given: Given) -> tuple[BatchReport, list[Item]]:
    """Return the report with the contracts in the files, which are checked now, and the files that are programs as well.

    A file whose contracts have errors is no program: all its errors are told here.
    """
    items = [item for item in given.items if _may_have_contracts(item)]
    if not items:
        return report, list(given.items)
    asking = ContractsAsking(
        timeout=given.options.timeout,
        memory=given.options.memory,
        expect=report.expect,
        define=given.options.define,
        explain="junit" in given.forms,
        page="html" in given.forms,
        findings="sarif" in given.forms,
    )
    question = Question(
        lambda item, *_tell: answer_contracts(item, asking), lost_contracts, asking.limits, load_contracts_room
    )
    answers, stopped = answer_all(items, question, given.jobs or processors(), _say, quiet=given.quiet)
    found = {answer.record.file: _alone(answer.record) for answer in answers}
    records = [found[item.name] for item in items if item.name in found and not _has_none(found[item.name])]
    programs = [] if stopped is not None else [item for item in given.items if _is_program(found.get(item.name))]
    return _with(report, records, stopped), programs


def _with(report: BatchReport, records: Sequence[ContractsRecord], stopped: Exit | None) -> BatchReport:
    codes = [Exit(report.summary.exit_code), *(Exit(each.exit_code) for each in records)]
    code = int(worst(codes) if stopped is None else stopped)
    interrupted = report.summary.interrupted or stopped is not None
    return replace(report, contracts=records, summary=replace(report.summary, exit_code=code, interrupted=interrupted))


def _may_have_contracts(item: Item) -> bool:
    if isinstance(item, Missing):
        return False
    try:
        return _WORD.search(read_source(item)) is not None
    except UnreadableError:
        return False


def _is_program(record: ContractsRecord | None) -> bool:
    """Return whether a file of which this is known has processes, or may have some."""
    return record is None or record.runs or (record.error_kind != "invalid" and not record.rows)


def _has_none(record: ContractsRecord) -> bool:
    """Return whether there is no contract after all: the word is a comment, or a name."""
    return record.error_kind is None and not record.rows and not record.reason


def _alone(record: ContractsRecord) -> ContractsRecord:
    """Return the record without warnings if those are told of the processes in the same file."""
    return replace(record, warnings=()) if record.runs else record


def _say(answer: ContractsAnswer) -> None:
    """Say what is wrong with a file, once if its processes are looked at too."""
    if answer.record.runs or _has_none(answer.record):
        return
    for message in answer.messages:
        warn(message)
