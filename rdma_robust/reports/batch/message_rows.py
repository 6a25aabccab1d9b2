"""Message programs as a section of a report: rows of tables and tests, beside those of programs that share memory."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.junit import Case, Kind
from rdma_robust.frame.formats.report_section import CsvRow, ReportSection, SectionRow, numbered_line
from rdma_robust.frame.formats.sarif import ScannedFile
from rdma_robust.reports.batch.batch_view import family_of_file
from rdma_robust.reports.messages.messages_record import BufferHeadline, MessagesRecord, as_expected
from rdma_robust.reports.messages.messages_view import ASSERTS, claims_word, deadlock_cell, message_numbers
from rdma_robust.reports.share.file_record import reported_findings, source_digest
from rdma_robust.text import count, one_line

COLUMNS = ("program", "asserts", "deadlock", "expected?", "races", "matchings", "engine", "time", "note")
"""The cells of a row, by their headings."""

GOOD, UNDECIDED = ("hold", "no"), ("UNKNOWN",)
"""Answers that have the colour of robust programs, and of those that nobody knows of."""


def message_section(records: Sequence[MessagesRecord], *, expect: bool) -> ReportSection:
    """Return the section."""
    return ReportSection(
        name="messages",
        title="Message programs",
        heading="Programs that pass messages",
        label="Programs that pass messages",
        line=messages_line(records, expect=expect),
        columns=COLUMNS,
        left=4,
        rows=[SectionRow(cells := _cells(each), {n: _colour(cells[n]) for n in (1, 2)}, each.page) for each in records],
        numbers=[row for record in records for row in _numbers(record)],
        objects=[each for record in records for each in record.results],
        cases=message_cases(records),
        files=[ScannedFile(each.file, each.source, list(reported_findings(each))) for each in records],
    )


def _colour(answer: str) -> str:
    if answer in ("error", "-"):
        return "error"
    return "robust" if answer in GOOD else "unknown" if answer in UNDECIDED else "not-robust"


def _cells(record: MessagesRecord) -> tuple[str, ...]:
    return (
        record.file,
        "error" if record.error_kind else ASSERTS[record.asserts],
        deadlock_cell(record),
        claims_word(record),
        record.races,
        record.matchings,
        record.engine,
        f"{record.time_s:.2f} s",
        one_line(record.note, 140),
    )


def _numbers(record: MessagesRecord) -> list[CsvRow]:
    """Return the rows of a table of numbers, one for each buffer semantics, by the names of their columns: `time_s` is that
    of the program. A program without an answer has one row, whose verdict is `unknown` or `error`."""
    both: dict[str, object] = {
        "file": record.file,
        "family": family_of_file(record.file),
        "program": record.program,
        "time_s": record.time_s,
        "warnings": len(record.warnings),
        "sha256": source_digest(record),
    }
    if not record.headlines:
        return [both | {"verdict": "error" if record.error_kind else "unknown", "reason": record.reason}]
    return [both | _found_under(record, each) for each in record.headlines]


def _found_under(record: MessagesRecord, headline: BufferHeadline) -> dict[str, object]:
    claims = [each for each in record.claims if each.buffer == headline.buffer]
    return {
        "buffer": headline.buffer,
        "asserts": headline.asserts,
        "deadlock": headline.deadlock,
        "races": headline.races,
        "leak": headline.leak,
        "matchings": headline.matchings,
        "engine": headline.engine,
        "reason": headline.reason,
        "expected": "; ".join(each.text for each in claims),
        "as_expected": as_expected(claims),
        "violated": "; ".join(headline.false),
        "faults": "; ".join(headline.faulty),
        "hangs": "; ".join(f"line {line}" for line in headline.stuck),
    }


def messages_line(records: Sequence[MessagesRecord], *, expect: bool) -> str:
    """Return the totals in a sentence."""
    totals = message_numbers(records, expect=expect)
    numbers = {
        "good": totals["good"],
        "violated": totals["violated"],
        "with deadlocks": totals["deadlocked"],
        "unknown": totals["unknown"],
        "in error": totals["error"],
    }
    counted = count(len(records), "message program")
    return numbered_line(counted, numbers, (totals["as_expected"], totals["mismatched"]) if expect else None)


def message_cases(records: Sequence[MessagesRecord]) -> list[Case]:
    """Return a test for each program."""
    return [_case(each) for each in records]


def _case(record: MessagesRecord) -> Case:
    code = Exit(record.exit_code)
    if code is Exit.OK:
        return Case(record.file, "rdma-robust.messages", record.time_s, text=record.note)
    kind: Kind = "failure" if code is Exit.NOT_ROBUST else "error"
    message = f"asserts {ASSERTS[record.asserts]}, deadlock {deadlock_cell(record)}: {record.note}"
    text = "\n".join((*record.lines, *(f"{record.file}:{d.line}:{d.column}: {d.message}" for d in record.errors)))
    return Case(record.file, "rdma-robust.messages", record.time_s, kind, record.error_kind or "messages", message, text)
