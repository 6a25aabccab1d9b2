"""The view of the answers of `contracts check`: a row for each function, numbers, JSON, and the forms for other tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.frame.answer import Counts, JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding
from rdma_robust.frame.formats.answer_table import AnswerTable, Row, Totals, expected_cell
from rdma_robust.frame.formats.columns import Column
from rdma_robust.frame.question import Asking, Layout, Section, View
from rdma_robust.reports.contracts.contracts_record import ContractsRecord, FunctionRow
from rdma_robust.reports.share.file_record import reported_findings
from rdma_robust.text import count, one_line, printable

if TYPE_CHECKING:
    from rdma_robust.frame.formats.junit import Case

_MOST_NOTE: Final = 300
_NO_ROW: Final = FunctionRow("", "UNKNOWN", None, "", "", "", 0, 0, 0.0)


class ContractsView(View[ContractsRecord]):
    """The answers of `contracts check`."""

    def text(self, layout: Layout) -> AnswerTable[ContractsRecord]:
        columns = (
            Column("function", 14),
            *((Column("expected?", rank=1),) if self.asking.expect else ()),
            Column("verdict", len("VIOLATED SGV")),
            Column("n", len("1..4"), rank=2),
            Column("mode", len("modular"), rank=5),
            Column("bounds", rank=7, wraps=True),
            Column("runs", 5, rank=4, right=True),
            Column("z3", 4, rank=6, right=True),
            Column("time", 7, rank=3, right=True),
        )

        def rows(record: ContractsRecord, _: int) -> Iterable[Row]:
            return () if layout.quiet and record.exit_code == Exit.OK else _rows(record, self.asking)

        return AnswerTable(layout, columns, rows, _totals, self.asking.expect, self.asking.explain)

    def objects(self, record: ContractsRecord) -> Sequence[JsonObject]:
        return () if record.result is None else (record.result,)

    def numbers(self, records: Sequence[ContractsRecord]) -> Mapping[str, int]:
        return contract_numbers(records, expect=self.asking.expect)

    def exit_of(self, record: ContractsRecord) -> Exit:
        return Exit(record.exit_code)

    def findings(self, record: ContractsRecord) -> Iterable[Finding]:
        return reported_findings(record)

    def cases(self, section: Section[Any, ContractsRecord]) -> Mapping[str, Sequence[Case]]:
        from rdma_robust.reports.batch.contract_rows import contract_cases  # noqa: PLC0415 - for few forms

        return {"contracts": contract_cases(section.records, expect=self.asking.expect)} if section.records else {}


def contract_numbers(records: Sequence[ContractsRecord], *, expect: bool) -> dict[str, int]:
    """Return the numbers of functions by their verdicts, and of files in error and as they claim."""
    verdicts = [verdict for record in records for verdict in record.verdicts]
    open_files = sum(not each.verdicts and each.error_kind is None and bool(each.reason) for each in records)
    return {
        "functions": len(verdicts),
        "verified": verdicts.count("VERIFIED"),
        "violated": verdicts.count("VIOLATED"),
        "unknown": verdicts.count("UNKNOWN") + open_files,
        "error": sum(each.error_kind is not None for each in records),
        "as_expected": sum(each.as_expected is True for each in records),
        "mismatched": sum(
            each.as_expected is False or (expect and not each.claims and each.error_kind is None) for each in records
        ),
    }


def _totals(_: Sequence[ContractsRecord], counts: Counts) -> Totals:
    counted = f"{count(counts.done, 'file')}, {count(counts['functions'], 'function')}"
    return Totals(counted, [(word, counts[word]) for word in ("verified", "violated", "unknown")])


def _rows(record: ContractsRecord, asking: Asking) -> Iterator[Row]:
    """Yield the rows of a file: one for each function."""
    if not record.rows:
        word = "error" if record.error_kind else "UNKNOWN" if record.reason else "no contract"
        dashes = ["-"] * len(_cells(_NO_ROW, asking))
        verdict = 2 if asking.expect else 1
        yield Row([*dashes[:verdict], word, *dashes[verdict + 1 :]], record.reason)
    for row in record.rows:
        explained = asking.explain and bool(row.lines)
        yield Row(_cells(row, asking), "" if explained else one_line(row.note, _MOST_NOTE), row.lines)


def _cells(row: FunctionRow, asking: Asking) -> tuple[str, ...]:
    return (
        printable(row.function),
        *((expected_cell(row.expected, claimed=row.claimed),) if asking.expect else ()),
        row.said,
        row.procs,
        row.mode,
        row.bounds or "-",
        str(row.runs),
        str(row.solver_calls),
        f"{row.time_s:.2f} s",
    )
