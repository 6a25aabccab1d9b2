"""The table for people: a row per program, what explains it beneath, totals at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.frame.formats.columns import PAPER, Column, Columns, of_files
from rdma_robust.frame.formats.row_text import beneath, expected_cell, last_line
from rdma_robust.reports.check.paragraphs import explain
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.summary import Summary, why_not_expected
from rdma_robust.text import count, one_line, printable

VERDICTS = {"robust": "robust", "not-robust": "NOT ROBUST", "unknown": "UNKNOWN", "error": "error"}
NOTE_WIDTH = 160


@dataclass(frozen=True)
class TextReport:
    """Writes lines of text for results whose files are known beforehand, so that rows align while they stream.

    `expect` says whether the verdicts are compared with the `expect` lines, `explained` whether every explanation is
    printed; `width` is that of the terminal, None where there is none.
    """

    files: Sequence[str]
    expect: bool
    explained: bool
    width: int | None = None
    full: bool = False

    def header(self) -> list[str]:
        return self._columns.head()

    @cached_property
    def _columns(self) -> Columns:
        columns = (
            of_files(self.files, self.width),
            Column("verdict", len("NOT ROBUST")),
            Column("expected?", rank=1),
            Column("instr.", rank=6),
            Column("engine", len("karp-miller"), rank=4),
            Column("states", 11, rank=3, right=True),
            Column("pivots", rank=5, right=True),
            Column("time", 9, rank=2, right=True),
        )
        return Columns(columns, self.width)

    def rows(self, result: Result) -> list[str]:
        """Return the row of `result` and, if explanations are on, its explanation, indented."""
        searched = result.engine is not None
        cells = (
            printable(result.file),
            VERDICTS[result.verdict],
            expected_word(result),
            result.instrumentation or "-",
            result.engine or "-",
            f"{result.states:,}" if searched else "-",
            f"{result.pivots:,}" if searched else "-",
            f"{result.time_s:.2f} s" if searched else "-",
        )
        lines = self._columns.row(cells, note(result, self.expect))
        if self.explained:
            lines += beneath(explain(result, (self.width or PAPER) - 2, full=self.full))
        return lines

    def totals(self, summary: Summary) -> list[str]:
        numbers = [("robust", summary.robust), ("not robust", summary.not_robust), ("unknown", summary.unknown)]
        return last_line(
            count(summary.programs, "program"),
            numbers,
            summary.error,
            done=summary.programs,
            requested=summary.requested,
            interrupted=summary.interrupted,
            time_s=summary.time_s,
            expected=(summary.as_expected, summary.mismatched) if self.expect else None,
            further=f"; {passed_over(summary)}" if summary.passed_over else "",
            width=self.width,
        )


def passed_over(summary: Summary) -> str:
    """Return what to say of the files that nothing was asked about."""
    return f"{count(summary.passed_over, 'file')} passed over, which only `prove` is asked about"


def expected_word(result: Result) -> str:
    """Return whether the verdict is the expected one: `yes`, `NO`, `?` (undecided), or `-` without an `expect` line."""
    return expected_cell(result.as_expected, claimed=result.expected is not None or result.as_expected is False)


def note(result: Result, expect: bool = False) -> str:
    """Return what a row says besides its numbers, on one line; with `expect` first why it counts."""
    remarks = why_not_expected(result) if expect else []
    if result.verdict in ("unknown", "error"):
        remarks.append(result.reason)
    elif result.copies is not None and not result.spin_only:
        remarks.append(result.reason.partition(":")[0])
    if result.model is not None:
        remarks.append(result.model.words)
    if result.spin_only:
        remarks.append("only through failed spin reads")
    for may in dict.fromkeys(each.may for each in result.faults):
        kinds = dict.fromkeys(f"{f.kind} (line {f.line})" for f in result.faults if f.may == may)
        remarks.append(f"{may}: {', '.join(kinds)}")
    if result.hangs:
        remarks.append(f"hangs: {hang_lines(result)}")
    if result.left_out:
        remarks.append(f"left out: {'; '.join(result.left_out)}")
    return one_line("; ".join(remarks), NOTE_WIDTH)


def hang_lines(result: Result) -> str:
    """Return where threads wait in the hang that was come by, as in `line 9, line 15`."""
    lines = sorted({wait.line for wait in result.hangs if wait.line is not None})
    return ", ".join(f"line {line}" for line in lines) or "a dead end"
