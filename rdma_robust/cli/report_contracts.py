"""The contracts of `report`: checked beside what the programs do, and reported in the same forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rdma_robust.batch.file_cache import AskedFile, Violated, keep_contracts, known_contracts
from rdma_robust.cli.kept_answers import KeptAnswers
from rdma_robust.errors import RdmaRobustError
from rdma_robust.frame.answer import Answer, JsonObject
from rdma_robust.frame.run_question import answer_all
from rdma_robust.frame.shell.defaults import processors
from rdma_robust.frame.shell.inputs import Item, Missing, UnreadableError, read_source
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.questions.contracts_question import CONTRACTS_CHECK, ContractsAsking
from rdma_robust.reports.check.summary import with_codes
from rdma_robust.reports.contracts.contracts_record import ContractsRecord

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
        proofs=given.cache is not None,
    )
    kept = _Kept(given.cache, "contracts", asking)
    known = {item.name: record for item in items if (record := kept.known(item)) is not None}
    open_ = [item for item in items if item.name not in known]
    answers, stopped = answer_all(CONTRACTS_CHECK, asking, open_, given.jobs or processors(), kept.report, quiet=given.quiet)
    known |= {answer.record.file: answer.record for answer in answers}
    found = {name: _alone(record) for name, record in known.items()}
    records = [found[item.name] for item in items if item.name in found and not _has_none(found[item.name])]
    programs = [] if stopped is not None else [item for item in given.items if _is_program(found.get(item.name))]
    summary = with_codes(report.summary, [each.exit_code for each in records], stopped)
    return replace(report, contracts=records, summary=summary), programs


class _Kept(KeptAnswers):
    """The answers of earlier runs, and where those of this one are kept, by the names of the files."""

    def known(self, item: Item) -> ContractsRecord | None:
        """Return what is known of the contracts of a file that can be read."""
        asked = self.question(item)
        return None if self.cache is None or asked is None else known_contracts(self.cache, asked, replays)

    def report(self, answer: Answer[ContractsRecord]) -> None:
        """Say what is wrong with a file, and keep its answer."""
        _say(answer)
        asked = self.asked.get(answer.record.file)
        if self.cache is not None and asked is not None:
            keep_contracts(self.cache, asked, answer.record, answer.proofs)


def replays(asked: AskedFile, runs: Sequence[JsonObject]) -> set[Violated]:
    """Return what is shown to be violated by runs that were kept: function, number of processes and class."""
    from rdma_robust.contracts.language.load_contracts import load_contracts  # noqa: PLC0415 - only for violations
    from rdma_robust.contracts.rerun.confirming import confirmed  # noqa: PLC0415
    from rdma_robust.contracts.rerun.kept_runs import run_of  # noqa: PLC0415

    shown: set[Violated] = set()
    try:
        program = load_contracts(asked.text, asked.name)
        for each in runs:
            function, example = str(each["function"]), run_of(each["run"])
            confirmed(program, function, example)
            shown.add((function, len(example.inputs), example.error))
    except (RdmaRobustError, KeyError, TypeError, ValueError, IndexError, RecursionError):
        return set()
    return shown


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


def _say(answer: Answer[ContractsRecord]) -> None:
    """Say what is wrong with a file, once if its processes are looked at too."""
    if answer.record.runs or _has_none(answer.record):
        return
    for message in answer.messages:
        warn(message)
