"""The answers of `scale` as a table for the terminal, JSON (`schema/scale.schema.json`) and comma-separated values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.columns import Column, Columns, sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.reports.batch.batch_exchange import csv_table
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.robustness_view import VERDICTS, expected_word, note, result_object, verdicts_line
from rdma_robust.reports.scale.growth_wording import formula, growth_sentence
from rdma_robust.reports.scale.scale_record import ANY, Growth, Law, ScaleRecord

FORMAT: Final = "rdma-robust/scale"
VERSION: Final = 1
COLUMNS: Final = (
    "verdict",
    "expected",
    "as_expected",
    "reason",
    "engine",
    "states",
    "transitions",
    "pivots",
    "counters",
    "time_s",
)


def scale_document(record: ScaleRecord) -> JsonObject:
    """Return the whole report."""
    totals = record.summary.members()
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(record.tool),
        "options": dict(record.options),
        "interrupted": record.summary.interrupted,
        "file": valid_unicode(record.file),
        "program": record.program,
        "constant": record.constant,
        "results": [{"value": value, "result": result_object(result)} for value, result in record.answers],
        "any_number": None if record.any_number is None else result_object(record.any_number),
        "changes": [{"verdict": each.verdict, "values": list(each.numbers)} for each in record.changes],
        "sentence": record.sentence,
        "growth": [_growth(each, record.constant) for each in record.growths],
        "summary": totals,
    }


def _growth(growth: Growth, name: str) -> JsonObject:
    law = growth.law
    return {
        "of": growth.of,
        "verdict": growth.verdict,
        "points": [list(point) for point in growth.points],
        "sentence": growth_sentence(growth, name),
        **_law(law, name),
        "rival": None if law.rival is None else _law(law.rival, name),
    }


def _law(law: Law, name: str) -> JsonObject:
    known = bool(law.coefficients or law.factor)
    return {
        "kind": law.kind,
        "exact": law.exact,
        "formula": formula(law, name) if known else None,
        "coefficients": [str(each) for each in law.coefficients] if law.coefficients else None,
        "factor": law.factor or None,
        "base": law.base or None,
        "exponent": law.exponent or None,
        "offset": law.offset if law.base else None,
        "off": law.off if known else None,
        "r_squared": law.fit,
        "from": law.first,
    }


def scale_csv(record: ScaleRecord) -> str:
    """Return a header and a row for each instance; the first column is the constant, `any` for any number."""
    rows = ([value, *(getattr(result, name) for name in COLUMNS)] for value, result in record.rows)
    return csv_table((record.constant, *COLUMNS), rows)


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
        results = [result for _, result in record.rows]
        return lines + verdicts_line(results, record.summary, self.expect, self.width)


def _called(value: int | None) -> str:
    return ANY if value is None else f"{value}"
