"""The table of `messages check` for people: a row for each program, what explains it beneath, totals at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.frame.formats.columns import Column, Columns, of_files
from rdma_robust.frame.formats.row_text import beneath, expected_cell, last_line
from rdma_robust.reports.messages.messages_record import MessagesRecord
from rdma_robust.reports.messages.messages_totals import MessagesSummary
from rdma_robust.text import count, one_line, printable

ASSERTS: Final = {"hold": "hold", "violated": "VIOLATED", "unknown": "UNKNOWN", None: "-"}
_MOST_NOTE: Final = 200


@dataclass(frozen=True)
class MessagesText:
    """Writes lines of text for programs whose files are known beforehand, so that rows align while they stream.

    `expect` says whether the claims of `expect` lines count, `explained` whether what is beneath the rows is printed;
    `width` is that of the terminal, None where there is none.
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
            *((Column("expected?", rank=1),) if self.expect else ()),
            Column("asserts", len("VIOLATED")),
            Column("deadlock", len("zero, any")),
            Column("races", rank=2, right=True),
            Column("matchings", rank=3, right=True),
            Column("engine", len("states"), rank=5),
            Column("time", 7, rank=4, right=True),
        )
        return Columns(columns, self.width)

    def rows(self, record: MessagesRecord) -> list[str]:
        """Return the row of a program and, if explanations are on, what explains it."""
        cells = (
            printable(record.file),
            *((expected_word(record),) if self.expect else ()),
            "error" if record.error_kind else ASSERTS[record.asserts],
            deadlock_cell(record),
            record.races,
            record.matchings,
            record.engine,
            f"{record.time_s:.2f} s" if record.headlines else "-",
        )
        lines = self._columns.row(cells, one_line(record.note, _MOST_NOTE))
        return lines + (beneath(record.lines) if self.explained else [])

    def totals(self, summary: MessagesSummary) -> list[str]:
        """Return the last line."""
        numbers = [
            ("good", summary.good),
            ("violated", summary.violated),
            ("with deadlocks" if summary.deadlocked != 1 else "with a deadlock", summary.deadlocked),
            ("unknown", summary.unknown),
        ]
        notes = [f"{number} {word}" for word, number in (("racing", summary.racing), ("leaking", summary.leaking)) if number]
        return last_line(
            count(summary.programs, "program"),
            numbers,
            summary.error,
            done=summary.programs,
            requested=summary.requested,
            interrupted=summary.interrupted,
            time_s=summary.time_s,
            expected=(summary.as_expected, summary.mismatched) if self.expect else None,
            note=f" ({', '.join(notes)})" if notes else "",
            width=self.width,
        )


def deadlock_cell(record: MessagesRecord) -> str:
    """Return `no`, `YES`, or the buffers under which there is a deadlock if these are not all that were asked about."""
    if record.deadlock != "yes":
        return {"no": "no", "unknown": "UNKNOWN", None: "-"}[record.deadlock]
    there = [each.buffer for each in record.headlines if each.deadlock == "yes"]
    return "YES" if len(there) == len(record.headlines) else ", ".join(there)


def expected_word(record: MessagesRecord) -> str:
    """Return whether all is as expected: `yes`, `NO`, `?` (open), or `-` without claims."""
    return expected_cell(record.as_expected, claimed=bool(record.claims))
