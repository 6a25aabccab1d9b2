"""The view of the answers of `messages check`: a row for each program, numbers, JSON, and the forms for other tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.frame.answer import Counts, JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding
from rdma_robust.frame.formats.answer_table import AnswerTable, Row, Totals, expected_cell
from rdma_robust.frame.formats.columns import Column
from rdma_robust.frame.question import Layout, Section, View
from rdma_robust.reports.messages.messages_record import MessagesRecord
from rdma_robust.reports.share.file_record import reported_findings
from rdma_robust.text import count, one_line

if TYPE_CHECKING:
    from rdma_robust.frame.formats.junit import Case

ASSERTS: Final = {"hold": "hold", "violated": "VIOLATED", "unknown": "UNKNOWN", None: "-"}
_MOST_NOTE: Final = 200


@dataclass(frozen=True)
class MessagesView(View[MessagesRecord]):
    """The answers of `messages check`; `eager` if every program is asked about an eager limit."""

    eager: bool = False

    def text(self, layout: Layout) -> AnswerTable[MessagesRecord]:
        columns = (
            *((Column("expected?", rank=1),) if self.asking.expect else ()),
            Column("asserts", len("VIOLATED")),
            Column("deadlock", len("zero, any, eager" if self.eager else "zero, any")),
            Column("races", rank=2, right=True),
            Column("matchings", rank=3, right=True),
            Column("engine", len("states"), rank=5),
            Column("time", 7, rank=4, right=True),
        )

        def rows(record: MessagesRecord, _: int) -> Iterable[Row]:
            if layout.quiet and record.exit_code == Exit.OK:
                return ()
            cells = (
                *((claims_word(record),) if self.asking.expect else ()),
                "error" if record.error_kind else ASSERTS[record.asserts],
                deadlock_cell(record),
                record.races,
                record.matchings,
                record.engine,
                f"{record.time_s:.2f} s" if record.headlines else "-",
            )
            return (Row(cells, one_line(record.note, _MOST_NOTE), record.lines),)

        return AnswerTable(layout, columns, rows, _totals, self.asking.expect, self.asking.explain)

    def objects(self, record: MessagesRecord) -> Sequence[JsonObject]:
        return record.results

    def numbers(self, records: Sequence[MessagesRecord]) -> Mapping[str, int]:
        return message_numbers(records, expect=self.asking.expect)

    def exit_of(self, record: MessagesRecord) -> Exit:
        return Exit(record.exit_code)

    def findings(self, record: MessagesRecord) -> Iterable[Finding]:
        return reported_findings(record)

    def cases(self, section: Section[Any, MessagesRecord]) -> Mapping[str, Sequence[Case]]:
        from rdma_robust.reports.batch.message_rows import message_cases  # noqa: PLC0415 - for few forms

        return {"messages": message_cases(section.records)} if section.records else {}


def message_numbers(records: Sequence[MessagesRecord], *, expect: bool) -> dict[str, int]:
    """Return the numbers of programs by what was found.

    `good` ones hold and have no deadlock; a program may count as violated and as deadlocked. `mismatched` ones have a claim
    that fails, or, where claims count, none.
    """
    return {
        "good": sum(each.asserts == "hold" and each.deadlock == "no" for each in records),
        "violated": sum(each.asserts == "violated" for each in records),
        "deadlocked": sum(each.deadlock == "yes" for each in records),
        "racing": sum(any(there.race == "yes" for there in each.headlines) for each in records),
        "leaking": sum(each.leak == "yes" for each in records),
        "unknown": sum(_is_unknown(each) for each in records),
        "error": sum(each.error_kind is not None for each in records),
        "as_expected": sum(each.as_expected is True for each in records),
        "mismatched": sum(_is_mismatch(each, expect) for each in records),
    }


def _totals(_: Sequence[MessagesRecord], counts: Counts) -> Totals:
    deadlocks = "with deadlocks" if counts["deadlocked"] != 1 else "with a deadlock"
    numbers = [("good", "good"), ("violated", "violated"), (deadlocks, "deadlocked"), ("unknown", "unknown")]
    notes = [f"{counts[word]} {word}" for word in ("racing", "leaking") if counts[word]]
    note = f" ({', '.join(notes)})" if notes else ""
    return Totals(count(counts.done, counts.noun), [(said, counts[word]) for said, word in numbers], note)


def _is_unknown(record: MessagesRecord) -> bool:
    """Whether nothing bad was found, and not everything is known."""
    if not record.headlines:
        return record.error_kind is None
    return {record.asserts, record.deadlock}.isdisjoint({"violated", "yes"}) and "unknown" in (
        record.asserts,
        record.deadlock,
    )


def _is_mismatch(record: MessagesRecord, expect: bool) -> bool:
    return record.as_expected is False or (expect and bool(record.headlines) and not record.claims)


def deadlock_cell(record: MessagesRecord) -> str:
    """Return `no`, `YES`, or the buffers under which there is a deadlock if these are not all that were asked about."""
    if record.deadlock != "yes":
        return {"no": "no", "unknown": "UNKNOWN", None: "-"}[record.deadlock]
    there = [each.buffer for each in record.headlines if each.deadlock == "yes"]
    return "YES" if len(there) == len(record.headlines) else ", ".join(there)


def claims_word(record: MessagesRecord) -> str:
    """Return whether all is as expected: `yes`, `NO`, `?` (open), or `-` without claims."""
    return expected_cell(record.as_expected, claimed=bool(record.claims))
