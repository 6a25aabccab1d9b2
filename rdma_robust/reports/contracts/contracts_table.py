"""The table of `contracts check` for people: a row for each function, what explains it beneath, totals at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.frame.formats.columns import Column, Columns, of_files
from rdma_robust.frame.formats.row_text import beneath, expected_cell, last_line
from rdma_robust.reports.contracts.contract_totals import ContractsSummary
from rdma_robust.reports.contracts.contracts_record import ContractsRecord, FunctionRow
from rdma_robust.text import count, one_line, printable

_MOST_NOTE: Final = 300
_NO_ROW: Final = FunctionRow("", "UNKNOWN", None, "", "", "", 0, 0, 0.0)


@dataclass(frozen=True)
class ContractsText:
    """Writes lines of text for files whose names are known beforehand, so that rows align while they stream.

    `expect` says whether the claims of `expect contract` lines count, `explained` whether what is beneath the rows is
    printed; `width` is that of the terminal, None where there is none.
    """

    files: Sequence[str]
    expect: bool
    explained: bool
    width: int | None = None

    def header(self) -> list[str]:
        """Return the headings of the rows."""
        return self._columns.head()

    @cached_property
    def _columns(self) -> Columns:
        columns = (
            of_files(self.files, self.width),
            Column("function", 14),
            *((Column("expected?", rank=1),) if self.expect else ()),
            Column("verdict", len("VIOLATED SGV")),
            Column("n", len("1..4"), rank=2),
            Column("mode", len("modular"), rank=5),
            Column("bounds", rank=7, wraps=True),
            Column("runs", 5, rank=4, right=True),
            Column("z3", 4, rank=6, right=True),
            Column("time", 7, rank=3, right=True),
        )
        return Columns(columns, self.width)

    def rows(self, record: ContractsRecord) -> list[str]:
        """Return the rows of a file and, if explanations are on, what explains them."""
        if not record.rows:
            word = "error" if record.error_kind else "UNKNOWN" if record.reason else "no contract"
            dashes = ["-"] * len(self._cells(_NO_ROW, ""))
            verdict = 3 if self.expect else 2
            cells = [printable(record.file), *dashes[1:verdict], word, *dashes[verdict + 1 :]]
            return self._columns.row(cells, record.reason)
        lines: list[str] = []
        for row in record.rows:
            explained = self.explained and bool(row.lines)
            note = "" if explained else one_line(row.note, _MOST_NOTE)
            lines += self._columns.row(self._cells(row, printable(record.file)), note)
            lines += beneath(row.lines) if explained else []
        return lines

    def _cells(self, row: FunctionRow, file: str) -> tuple[str, ...]:
        expected = expected_cell(row.expected, claimed=row.claimed)
        return (
            file,
            printable(row.function),
            *((expected,) if self.expect else ()),
            row.verdict if row.error is None else f"{row.verdict} {row.error}",
            row.procs,
            row.mode,
            row.bounds or "-",
            str(row.runs),
            str(row.solver_calls),
            f"{row.time_s:.2f} s",
        )

    def totals(self, summary: ContractsSummary) -> list[str]:
        """Return the last line."""
        numbers = [("verified", summary.verified), ("violated", summary.violated), ("unknown", summary.unknown)]
        return last_line(
            f"{count(summary.files, 'file')}, {count(summary.functions, 'function')}",
            numbers,
            summary.error,
            done=summary.files,
            requested=summary.requested,
            interrupted=summary.interrupted,
            time_s=summary.time_s,
            expected=(summary.as_expected, summary.mismatched) if self.expect else None,
            width=self.width,
        )
