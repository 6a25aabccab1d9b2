"""The table of `scale` for the terminal: a row for each value, streamed; then where the verdict changes, and the laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.frame.formats.columns import Column, Columns, sentence
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.robustness_view import VERDICTS, expected_word, note, verdicts_line
from rdma_robust.reports.scale.growth_wording import growth_sentence
from rdma_robust.reports.scale.scale_record import ANY, ScaleRecord


@dataclass(frozen=True)
class ScaleText:
    """Writes the rows of the instances; `width` is that of the terminal, None where there is none."""

    constant: str
    values: Sequence[int | None]
    expect: bool
    width: int | None

    @cached_property
    def _columns(self) -> Columns:
        columns = (
            Column(self.constant, max(len(_called(value)) for value in self.values), right=True),
            Column("verdict", len("NOT ROBUST")),
            Column("expected?", rank=0 if self.expect else 1),
            Column("states", 11, right=True),
            Column("transitions", 11, rank=2, right=True),
            Column("time", 9, rank=3, right=True),
        )
        return Columns(columns, self.width, "  ")

    def header(self) -> list[str]:
        return self._columns.head()

    def row(self, value: int | None, result: Result) -> list[str]:
        """Return the lines of one instance; without a value, of the program with any number."""
        searched = result.engine is not None
        cells = (
            _called(value),
            VERDICTS[result.verdict],
            expected_word(result),
            f"{result.states:,}" if searched else "-",
            f"{result.transitions:,}" if searched else "-",
            f"{result.time_s:.2f} s" if searched else "-",
        )
        return self._columns.row(cells, note(result))

    def end(self, record: ScaleRecord) -> list[str]:
        """Return what follows the rows."""
        lines = sentence(record.sentence, self.width) if record.sentence else []
        for growth in record.growths:
            if growth.of == "states":
                lines += sentence(growth_sentence(growth, record.constant), self.width)
        return lines + verdicts_line(record.summary, self.expect, self.width)


def _called(value: int | None) -> str:
    return ANY if value is None else f"{value}"
