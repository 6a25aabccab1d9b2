"""Functions with contracts as a section of a report: rows of tables and tests, one for each function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.answer_table import expected_cell
from rdma_robust.frame.formats.junit import Case, Kind
from rdma_robust.frame.formats.report_section import CsvRow, ReportSection, SectionRow, numbered_line
from rdma_robust.frame.formats.sarif import ScannedFile
from rdma_robust.reports.batch.batch_view import family_of_file
from rdma_robust.reports.contracts.contract_words import shown_verdict
from rdma_robust.reports.contracts.contracts_record import ContractsRecord, FunctionRow
from rdma_robust.reports.contracts.contracts_view import contract_numbers
from rdma_robust.reports.share.file_record import reported_findings, source_digest
from rdma_robust.text import count, one_line

COLUMNS = ("program", "function", "verdict", "class", "n", "expected?", "mode", "bounds", "time", "note")
"""The cells of a row, by their headings."""

KINDS: Final = {"VERIFIED": "robust", "VIOLATED": "not-robust", "UNKNOWN": "unknown", "error": "error"}
"""The colours of verdicts: those of programs that share memory."""


LEGEND: Final = (
    "A contract is <b>verified</b> for the numbers of processes n and the inputs within its bounds, by an exhausted search; "
    "<b>VIOLATED</b> follows a run that was replayed."
)


def contract_section(records: Sequence[ContractsRecord], *, expect: bool) -> ReportSection:
    """Return the section: a row for each function, one for a file without an answer."""
    return ReportSection(
        name="contracts",
        title="Contracts",
        heading="Contracts",
        label="Functions with contracts",
        line=contracts_line(records, expect=expect),
        columns=COLUMNS,
        left=len(COLUMNS),
        rows=[row for record in records for row in _rows(record)],
        numbers=[row for record in records for row in _numbers(record)],
        objects=[each.result for each in records if each.result is not None],
        cases=contract_cases(records, expect=expect),
        files=[ScannedFile(each.file, each.source, list(reported_findings(each))) for each in records],
        legend=LEGEND,
    )


def _rows(record: ContractsRecord) -> list[SectionRow]:
    if not record.rows:
        word = "error" if record.error_kind else "UNKNOWN"
        return [SectionRow((record.file, "-", word, *6 * ("-",), one_line(record.reason, 140)), {2: KINDS[word]})]
    return [
        SectionRow(
            _cells(record.file, row),
            {2: KINDS[row.verdict]},
            row.page,
            f": {row.function}, {shown_verdict(row.verdict)} {row.error or '-'}",
        )
        for row in record.function_rows
    ]


def _cells(file: str, row: FunctionRow) -> tuple[str, ...]:
    return (
        file,
        row.function,
        shown_verdict(row.verdict),
        row.error or "-",
        row.procs,
        expected_cell(row.expected, claimed=row.claimed),
        row.mode,
        row.bounds or "-",
        f"{row.time_s:.2f} s",
        one_line(row.note, 300),
    )


def _numbers(record: ContractsRecord) -> list[CsvRow]:
    """Return the rows of a table of numbers, one for each function, by the names of their columns; a file without an answer
    has one row, whose verdict is `unknown` or `error`."""
    both: dict[str, object] = {
        "file": record.file,
        "family": family_of_file(record.file),
        "program": record.program,
        "warnings": len(record.warnings),
        "sha256": source_digest(record),
    }
    if not record.rows:
        verdict = "error" if record.error_kind else "unknown"
        return [both | {"verdict": verdict, "reason": record.reason, "time_s": record.time_s}]
    return [both | _of_function(record, row) for row in record.function_rows]


def _of_function(record: ContractsRecord, row: FunctionRow) -> dict[str, object]:
    claims = [each.text for each in record.claims if each.function == row.function]
    return {
        "function": row.function,
        "verdict": row.verdict.lower(),
        "class": row.error,
        "n": row.procs,
        "mode": row.mode,
        "bounds": row.bounds,
        "runs": row.runs,
        "expected": "; ".join(claims),
        "as_expected": row.expected,
        "reason": row.note if row.verdict == "UNKNOWN" else "",
        "violated": row.violation,
        "time_s": row.time_s,
    }


def contracts_line(records: Sequence[ContractsRecord], *, expect: bool) -> str:
    """Return the totals in a sentence."""
    totals = contract_numbers(records, expect=expect)
    numbers = {
        "verified": totals["verified"],
        "violated": totals["violated"],
        "unknown": totals["unknown"],
        "in error": totals["error"],
    }
    counted = f"{count(len(records), 'file')} with contracts, {count(totals['functions'], 'function')}"
    return numbered_line(counted, numbers, (totals["as_expected"], totals["mismatched"]) if expect else None)


def contract_cases(records: Sequence[ContractsRecord], *, expect: bool) -> list[Case]:
    """Return a test for each function, one for a file without an answer or, where claims count, without any claim."""
    return [case for record in records for case in _cases(record, expect=expect)]


def _cases(record: ContractsRecord, *, expect: bool) -> list[Case]:
    cases = [_case(record.file, row, expect=expect) for row in record.function_rows]
    if expect and cases and not record.claims:
        said = "no `expect contract` line"
        cases.append(Case(record.file, _CLASS, 0.0, "failure", "contracts", said, said))
    if not cases and (record.error_kind or record.reason):
        text = "\n".join(f"{record.file}:{each.line}:{each.column}: {each.message}" for each in record.errors)
        kind = record.error_kind or "unknown"
        cases.append(Case(record.file, _CLASS, record.time_s, "error", kind, record.reason, text))
    return cases


_CLASS: Final = "rdma-robust.contracts"


def _case(file: str, row: FunctionRow, *, expect: bool) -> Case:
    name = f"{file}: {row.function}"
    code = _exit(row, expect=expect)
    if code is Exit.OK:
        return Case(name, _CLASS, row.time_s, text=row.note)
    kind: Kind = "failure" if code is Exit.NOT_ROBUST else "error"
    return Case(name, _CLASS, row.time_s, kind, row.error or "contracts", row.note, "\n".join(row.lines))


def _exit(row: FunctionRow, *, expect: bool) -> Exit:
    if expect:
        met = {True: Exit.OK, False: Exit.NOT_ROBUST, None: Exit.UNKNOWN}
        return met[row.expected] if row.claimed else Exit.OK
    return {"VERIFIED": Exit.OK, "VIOLATED": Exit.NOT_ROBUST, "UNKNOWN": Exit.UNKNOWN}[row.verdict]
