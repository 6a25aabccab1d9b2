"""The table of `prove` for people: a row per program and model, what explains it beneath, models side by side, totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import Column, Columns, of_files
from rdma_robust.frame.formats.row_text import expected_cell, last_line
from rdma_robust.reports.prove.proof_record import ModelRecord, ProofRecord
from rdma_robust.text import count, one_line, printable

WORDS: Final = {"safe": "SAFE", "unsafe": "UNSAFE", "unknown": "UNKNOWN", "refused": "refused", "error": "error"}
_MOST_NOTE: Final = 160


@dataclass(frozen=True)
class ProofText:
    """Writes lines of text for programs whose files are known beforehand, so that rows align while they stream.

    `explained` says whether the lines beneath the rows are printed; `width` is that of the terminal, None where there is
    none.
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
            Column("model", len("rdma")),
            Column("verdict", len("UNKNOWN")),
            Column("expected?", rank=1),
            Column("engine", len("predicates"), rank=4),
            Column("states", 9, rank=3, right=True),
            Column("time", 9, rank=2, right=True),
        )
        return Columns(columns, self.width)

    def rows(self, record: ProofRecord, quiet: bool = False) -> list[str]:
        """Return the rows of a program and what explains them; with `quiet` only of what counts against the exit code."""
        if not record.models:
            if quiet and record.exit_of(self.expect) is Exit.OK:
                return []
            cells = (printable(record.file), "-", WORDS[record.verdict], *"----")
            return self._columns.row(cells, one_line(record.reason, _MOST_NOTE))
        lines: list[str] = []
        for each in record.models:
            if not (quiet and each.exit_of(self.expect) is Exit.OK):
                lines += self._columns.row(_cells(record.file, each), _note(each))
        if self.explained and not quiet:
            body = [line for each in record.models if each.lines for line in ("", *each.lines)]
            body += ["", *record.lines] if record.lines else []
            lines += [*(f"  {line}".rstrip() for line in body), ""] if body else []
        return lines

    def matrix(self, records: Sequence[ProofRecord]) -> list[str]:
        """Return programs and models side by side; nothing if there is only one of either."""
        models = list(dict.fromkeys(each.model for record in records for each in record.models))
        if len(records) < 2 or len(models) < 2:
            return []
        columns = Columns(
            (of_files([r.file for r in records], self.width), *(Column(model, len("UNKNOWN")) for model in models)),
            self.width,
        )
        lines = ["", *columns.head()]
        for record in records:
            found = {each.model: WORDS[each.verdict] for each in record.models}
            none = WORDS[record.verdict] if not record.models else "-"
            lines += columns.row((printable(record.file), *(found.get(model, none) for model in models)))
        return [*lines, ""]

    def totals(self, records: Sequence[ProofRecord], requested: int, time_s: float, stopped: bool) -> list[str]:
        """Return the last line."""
        answers = [each for record in records for each in record.models]
        found = Counter(each.verdict for each in answers)
        counted = count(len(records), "program")
        counted += f", {count(len(answers), 'answer')}" if len(answers) != len(records) else ""
        undecided = sum(record.verdict == "unknown" and not record.models for record in records)
        numbers = [(word, found[word]) for word in ("safe", "unsafe")]
        numbers += [("unknown", found["unknown"] + undecided), ("refused", found["refused"])]
        as_expected = sum(each.as_expected is True for each in answers)
        return last_line(
            counted,
            numbers,
            sum(record.verdict == "error" for record in records),
            done=len(records),
            requested=requested,
            interrupted=stopped,
            time_s=time_s,
            expected=(as_expected, sum(mismatched(each) for each in answers)) if self.expect else None,
            width=self.width,
        )


def mismatched(each: ModelRecord) -> bool:
    """Return whether an answer is not the expected one, as `--expect` counts: nor is one that nobody expected."""
    return each.verdict in ("safe", "unsafe") and each.as_expected is not True


def expected_word(each: ModelRecord) -> str:
    """Return whether an answer is the expected one: `yes`, `NO`, `?` (undecided), or `-` without an `expect` line."""
    return expected_cell(each.as_expected, claimed=each.expected is not None)


def engine_word(each: ModelRecord) -> str:
    """Return the engine that gave an answer, `machine` if a run was found by searching the model's machine itself."""
    if each.engine is None:
        return "machine" if each.run is not None else "-"
    return each.engine + ("+sets" if each.reduction == "sets" else "")


def _cells(file: str, each: ModelRecord) -> tuple[str, ...]:
    searched = each.engine is not None or each.states > 0
    return (
        printable(file),
        each.model,
        WORDS[each.verdict],
        expected_word(each),
        engine_word(each),
        f"{each.states:,}" if searched else "-",
        f"{each.time_s:.2f} s" if searched else "-",
    )


def _note(each: ModelRecord) -> str:
    """Return what a row says besides its numbers."""
    remarks = []
    if each.claim is None and (each.verdict in ("unknown", "refused") or each.engine is None):
        remarks.append(one_line(each.reason, _MOST_NOTE))
    elif each.claim is not None:
        kind = "" if each.claim.kind == "assertion" else f"{each.claim.kind} "
        remarks.append(f"line {each.claim.line}: {kind}{one_line(each.claim.text)}")
    impossible = [each.claim.line for each in each.possible if each.possible is False]
    undecided = [each.claim.line for each in each.possible if each.possible is None]
    remarks += [f"claimed to be possible and is not: {_lines(impossible)}"] if impossible else []
    remarks += [f"possible or not is open: {_lines(undecided)}"] if undecided else []
    nothing = [claim.line for claim in each.unreachable]
    remarks += [f"UNREACHABLE, a claim about nothing: {_lines(nothing)}"] if nothing else []
    return "; ".join(remark for remark in remarks if remark)


def _lines(numbers: Sequence[int]) -> str:
    return ", ".join(f"line {number}" for number in dict.fromkeys(numbers))
