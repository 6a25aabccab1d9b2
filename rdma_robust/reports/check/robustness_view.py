"""The view of the answers of `check`: a row per program, what explains it beneath, numbers, JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.frame.answer import Counts, JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.answer_table import AnswerTable, Row, Totals, expected_cell, totals_line, verdict_totals
from rdma_robust.frame.formats.columns import Column
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.question import Layout, Section, View
from rdma_robust.model import PROMISED, RDMA
from rdma_robust.options import REDUCTIONS, CheckOptions
from rdma_robust.reports.check.paragraphs import explain
from rdma_robust.reports.check.result import ROBUSTNESS, Result, exit_of, why_not_expected
from rdma_robust.reports.share.recorded_remarks import recorded_remarks
from rdma_robust.text import count, one_line

if TYPE_CHECKING:
    from rdma_robust.frame.finding import Finding
    from rdma_robust.frame.formats.junit import Case

VERDICTS = {"robust": "robust", "not-robust": "NOT ROBUST", "unknown": "UNKNOWN", "error": "error"}
NOTE_WIDTH = 160


@dataclass(frozen=True)
class RobustnessView(View[Result]):
    """The answers of `check`; with `full` all of long runs are explained."""

    full: bool

    def text(self, layout: Layout) -> AnswerTable[Result]:
        columns = (
            Column("verdict", len("NOT ROBUST")),
            Column("expected?", rank=1),
            Column("instr.", rank=6),
            Column("engine", len("karp-miller"), rank=4),
            Column("states", 11, rank=3, right=True),
            Column("pivots", rank=5, right=True),
            Column("time", 9, rank=2, right=True),
        )

        def rows(result: Result, room: int) -> Iterable[Row]:
            if layout.quiet and exit_of(result, self.asking.expect) is Exit.OK and not result.broken:
                return ()  # what is seen to fail is said although it may not count
            lines = explain(result, room, full=self.full) if self.asking.explain else []
            return (Row(_cells(result), note(result, self.asking.expect), lines),)

        return AnswerTable(layout, columns, rows, totals, self.asking.expect, self.asking.explain)

    def objects(self, record: Result) -> Sequence[JsonObject]:
        return (result_object(record),)

    def numbers(self, records: Sequence[Result]) -> Mapping[str, int]:
        return ROBUSTNESS.numbers(records, expect=self.asking.expect)

    def exit_of(self, record: Result) -> Exit:
        return exit_of(record, self.asking.expect)

    def findings(self, record: Result) -> Iterable[Finding]:
        from rdma_robust.reports.check.check_findings import findings_of  # noqa: PLC0415 - for few forms

        return findings_of(record, self.asking.expect)

    def cases(self, section: Section[Any, Result]) -> Mapping[str, Sequence[Case]]:
        from rdma_robust.reports.batch.batch_exchange import check_cases  # noqa: PLC0415
        from rdma_robust.reports.batch.batch_formats import report_of_check  # noqa: PLC0415 - for few forms

        return check_cases(report_of_check(section))


def _cells(result: Result) -> Sequence[str]:
    searched = result.engine is not None
    return (
        VERDICTS[result.verdict],
        expected_word(result),
        result.instrumentation or "-",
        result.engine or "-",
        f"{result.states:,}" if searched else "-",
        f"{result.pivots:,}" if searched else "-",
        f"{result.time_s:.2f} s" if searched else "-",
    )


def totals(results: Sequence[Result], counts: Counts) -> Totals:
    """Return what the last line says: the verdicts, what was not asked about, and the hardware that was assumed."""
    told = verdict_totals("robust", "not_robust", "unknown")(results, counts)
    further = [passed_over(counts)] if counts.passed_over else []
    return told._replace(further="".join(f"; {each}" for each in further + assumed_hardware(results)))


def assumed_hardware(results: Sequence[Result]) -> list[str]:
    """Return the hardware of programs that were decided, in the words of a `hardware` line, as far as no row names it."""
    decided = [result for result in results if result.verdict != "error"]
    rows_that_say = sum(result.model is not None for result in decided)
    if rows_that_say == len(decided):
        return []
    return [f"hardware cpu {RDMA.cpu}, order {RDMA.order_name}{' where no row says otherwise' if rows_that_say else ''}"]


def verdicts_line(results: Sequence[Result], counts: Counts, expect: bool, width: int | None = None) -> list[str]:
    """Return the last line of a table whose rows are written elsewhere."""
    return totals_line(totals(results, counts), counts, expect, width)


def passed_over(counts: Counts) -> str:
    """Return what to say of the files that nothing was asked about."""
    return f"{count(counts.passed_over or 0, 'file')} passed over, which only `prove` is asked about"


def expected_word(result: Result) -> str:
    """Return whether the verdict is the expected one: `yes`, `NO`, `?` (undecided), or `-` without an `expect` line."""
    return expected_cell(result.as_expected, claimed=result.expected is not None or result.as_expected is False)


OF_STANDARDS: Final = ": standards, no NIC"


def note(result: Result, expect: bool = False) -> str:
    """Return what a row says besides its numbers, on one line; with `expect` first why it counts."""
    remarks = why_not_expected(result) if expect else []
    if result.verdict in ("unknown", "error"):
        remarks.append(result.reason)
    elif result.copies is not None and not result.spin_only:
        remarks.append(result.reason.partition(":")[0])
    if result.verdict in ("robust", "not-robust"):
        remarks += recorded_remarks(result.warnings, bad=result.verdict == "not-robust")
    if result.model is not None:
        remarks.append(result.model.words + OF_STANDARDS * (result.model.order in PROMISED))
    if result.spin_only:
        remarks.append("only through failed spin reads")
    for may in dict.fromkeys(each.may for each in result.faults):
        kinds = dict.fromkeys(f"{f.kind} (line {f.where})" for f in result.faults if f.may == may)
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


def result_object(result: Result) -> JsonObject:
    """Return the JSON object of one program. A file name that is no valid Unicode is escaped."""
    members = dataclasses.asdict(result) | {"file": valid_unicode(result.file)}
    # The answer is the same with any number.
    del members["threads"], members["processes"]
    if members["copies"] is None:
        del members["copies"]
    if not members["left_out"]:
        del members["left_out"]
    if not members["send_slots"]:
        del members["send_slots"]
    if members["matters"] is None:
        del members["matters"]
    elif members["matters"]["final_states"] is not None:
        members["matters"]["final_states"] = [dict(state) for state in members["matters"]["final_states"]]
    if members["witness"] is not None:
        relations = members["witness"]["relations"]
        members["witness"]["relations"] = {name: pairs for name, pairs in relations.items() if pairs is not None}
    return members


def described(options: CheckOptions, expect: bool) -> JsonObject:
    """Return how the programs were decided; `expect` says whether the `expect` lines count."""
    reductions = [name for name in REDUCTIONS if name in options.reductions]
    members = dataclasses.asdict(options)
    for inside in ("hardware", "large", "cpu", "atomics", "order", "threads", "executor", "checkpoint"):
        del members[inside]
    return members | options.model.described() | {"expect": expect, "reductions": reductions}
