"""The contracts of `report`: checked beside what programs do, and kept with runs of what violates them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rdma_robust.errors import RdmaRobustError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.formats.report_section import ReportSection
from rdma_robust.frame.question import Section
from rdma_robust.frame.report_part import AskedFile, KeptForm, Lasting, ReportAsking, ReportPart
from rdma_robust.frame.shell.inputs import Source, UnreadableError, read_source
from rdma_robust.language.load import C_SUFFIX
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX, is_contracts_in_c
from rdma_robust.questions.contracts_question import CONTRACTS_CHECK, ContractsAsking
from rdma_robust.reports.contracts.contracts_record import ContractsRecord
from rdma_robust.value_ranges import file_of

_WORD: Final = re.compile(r"\bcontract\b")
"""What every text with a contract has, and few others."""

Violated = tuple[object, object, object]
"""A function, a number of processes and the class of an error."""


class KeptContracts(KeptForm[ContractsRecord]):
    """Records with the runs of everything that is violated in them; each is run again."""

    record = ContractsRecord

    def lasting(self, asked: AskedFile, answer: Answer[ContractsRecord]) -> Lasting:  # noqa: ARG002
        record = answer.record
        if record.error_kind is not None or record.result is None or not record.rows:
            return "no"
        reasons = [str(each["reason"]) for each in _answers(record) if each["verdict"] == "UNKNOWN"]
        return "no" if any("memory" in each for each in reasons) else "limited" if reasons else "settled"

    def is_shown(self, asked: AskedFile, record: ContractsRecord, packed: Sequence[Any]) -> bool:
        if record.result is None or record.error_kind is not None:
            return False
        answers = _answers(record)
        wrong = {(each["function"], each["n"], each["class"]) for each in answers if each["verdict"] == "VIOLATED"}
        return not wrong or wrong <= _replayed(asked, packed)

    def named(self, record: ContractsRecord, file: str) -> ContractsRecord:
        return replace(record, result=(record.result or {}) | {"file": file})


def _answers(record: ContractsRecord) -> Iterator[dict[str, Any]]:
    """Yield the answers in the JSON of a record, each with the name of its function. Raises KeyError, TypeError."""
    result: Any = record.result or {"functions": []}
    for function in result["functions"]:
        for each in function["n"]:
            yield {"function": function["name"], **each}


def _replayed(asked: AskedFile, runs: Sequence[Any]) -> set[Violated]:
    """Return what is shown to be violated by runs that were kept."""
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


@dataclass(frozen=True)
class ContractsPart(ReportPart[ContractsAsking, ContractsRecord]):
    """The files with contracts, C too; those with processes are message programs as well.

    A file whose contracts have errors is no program: all its errors are told here.
    """

    def is_about(self, source: Source) -> bool:
        try:
            text = read_source(source)
        except UnreadableError:
            return False
        return is_contracts_in_c(text) if file_of(source.name).endswith(C_SUFFIX) else _WORD.search(text) is not None

    def asking(self, how: ReportAsking) -> ContractsAsking:
        return ContractsAsking(
            timeout=how.timeout,
            memory=how.memory,
            expect=how.expect,
            define=how.define,
            explain="junit" in how.forms,
            page="html" in how.forms,
            findings="sarif" in how.forms,
            proofs=how.kept,
        )

    def section(self, found: Section[ContractsAsking, ContractsRecord]) -> ReportSection:
        from rdma_robust.reports.batch.contract_rows import contract_section  # noqa: PLC0415 - only where there are some

        # The warnings of a file with processes are told of those.
        records = [replace(each, warnings=()) if each.runs else each for each in found.records]
        return contract_section(records, expect=found.asking.expect)

    def is_listed(self, record: ContractsRecord) -> bool:
        """Return whether there is a contract after all: the word may be in a comment, or a name."""
        return record.error_kind is not None or bool(record.rows) or bool(record.reason)

    def is_said(self, record: ContractsRecord) -> bool:
        return not record.runs and self.is_listed(record)

    def leaves(self, record: ContractsRecord) -> bool:
        """Return whether a file of which this is known has processes, or may have some."""
        return record.runs or (record.error_kind != "invalid" and not record.rows)


CONTRACTS_PART: Final = ContractsPart(CONTRACTS_CHECK, (MESSAGES_SUFFIX, C_SUFFIX), 20, KeptContracts())
