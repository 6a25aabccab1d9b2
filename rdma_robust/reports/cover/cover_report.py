"""The report of `rdma-robust cover`: a row per net and the firing sequences, as text and as JSON; totals and exit codes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import PAPER, Column, Columns, of_files
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.row_text import beneath, expected_cell, last_line
from rdma_robust.reports.cover.cover_result import CoverRecord, FiringSequence, FiringStep, RuleView, Tokens
from rdma_robust.reports.share.totals import Verdicts, envelope
from rdma_robust.text import count, filled, one_line, printable

FORMAT = "rdma-robust/cover"
VERSION = 1
SAFETY = Verdicts("safe", "unsafe")
VERDICTS = {"safe": "safe", "unsafe": "UNSAFE", "unknown": "UNKNOWN", "error": "error"}
_NOTE_WIDTH = 160
_MOST_STEPS = 200
_MOST_PLACES = 40
_PROOFS = {
    "upward": "markings with a target among them that no run enters, closed under predecessors; their least ones",
    "staged": "markings that are never entered, and a proof for what is left of the net; elements of both",
    "downward": "an inductive invariant without a target; omega-markings",
    "enumerated": "all reachable markings, too many for a certificate",
    "linear": "inequalities that no rule breaks and every target would; targets",
}


@dataclass(frozen=True, slots=True)
class CoverSummary:
    """`requested` nets were asked for, `nets` were done. `mismatched` as in the summary of `check`."""

    requested: int
    nets: int
    safe: int
    unsafe: int
    unknown: int
    error: int
    as_expected: int
    mismatched: int
    interrupted: bool
    exit_code: int
    time_s: float


def summarise(
    records: Sequence[CoverRecord], *, requested: int, expect: bool, time_s: float, stopped: Exit | None = None
) -> CoverSummary:
    """Return the totals of `records`; `stopped` is the exit code of a run that was stopped before its end."""
    totals = SAFETY.totals(records, expect=expect, time_s=time_s, stopped=stopped)
    return CoverSummary(requested=requested, nets=len(records), **totals)


def exit_of(record: CoverRecord, expect: bool) -> Exit:
    """Return the exit code that `record` alone would give."""
    return SAFETY.exit_of(record, expect)


def record_object(record: CoverRecord) -> JsonObject:
    """Return the JSON object of one net. A file name that is no valid Unicode is escaped."""
    return dataclasses.asdict(record) | {"file": valid_unicode(record.file)}


def document(
    records: Sequence[CoverRecord], summary: CoverSummary, tool: Mapping[str, object], options: Mapping[str, object]
) -> JsonObject:
    """Return the whole report, as `schema/cover.schema.json` describes it."""
    return envelope((FORMAT, VERSION), [record_object(r) for r in records], summary, tool, options)


@dataclass(frozen=True)
class CoverText:
    """Writes lines of text for records whose files are known beforehand, so that rows align while they stream.

    `width` is that of the terminal, None where there is none.
    """

    files: Sequence[str]
    expect: bool
    explained: bool
    width: int | None = None

    def header(self) -> list[str]:
        return self._columns.head()

    @cached_property
    def _columns(self) -> Columns:
        columns = (
            of_files(self.files, self.width),
            Column("verdict", len("UNKNOWN")),
            Column("expected?", rank=1),
            Column("engine", 14, rank=4),
            Column("places", 7, rank=5, right=True),
            Column("rules", 7, rank=6, right=True),
            Column("stored", 9, rank=3, right=True),
            Column("time", 9, rank=2, right=True),
        )
        return Columns(columns, self.width)

    def rows(self, record: CoverRecord) -> list[str]:
        """Return the row of `record` and, if explanations are on, its explanation, indented."""
        read, tried = record.places + record.targets > 0, record.engine is not None
        cells = (
            printable(record.file),
            VERDICTS[record.verdict],
            expected_cell(record.as_expected, claimed=record.expected is not None),
            record.engine or "-",
            f"{record.places:,}" if read else "-",
            f"{record.rules:,}" if read else "-",
            f"{record.stored:,}" if tried else "-",
            f"{record.time_s:.2f} s" if tried else "-",
        )
        note = one_line(record.reason, _NOTE_WIDTH) if record.verdict in ("unknown", "error") else ""
        lines = self._columns.row(cells, note)
        return lines + (beneath(explain(record, (self.width or PAPER) - 2)) if self.explained else [])

    def totals(self, summary: CoverSummary) -> list[str]:
        return last_line(
            count(summary.nets, "net"),
            [("safe", summary.safe), ("unsafe", summary.unsafe), ("unknown", summary.unknown)],
            summary.error,
            done=summary.nets,
            requested=summary.requested,
            interrupted=summary.interrupted,
            time_s=summary.time_s,
            expected=(summary.as_expected, summary.mismatched) if self.expect else None,
            width=self.width,
        )


def explain(record: CoverRecord, width: int = 100) -> list[str]:
    """Return the lines that explain a verdict, at most `width` characters wide where possible; [] if it needs none."""
    if record.run is not None:
        return _run(record.run, width)
    if record.invariant is not None:
        proof = _PROOFS.get(record.invariant.kind, f"a {record.invariant.kind} invariant; elements")
        return filled(f"No reachable marking covers a target. Proof: {proof}: {record.invariant.size:,}.", width, more="  ")
    if record.verdict == "unknown":
        return filled(f"Undecided: {printable(record.reason)}.", width, more="  ")
    return []


def _run(run: FiringSequence, width: int) -> list[str]:
    cone = f"target {run.cone}: {_conditions(run.target) or 'any marking'}"
    lines = filled(f"Initial marking: {_marking(run.start)}", width, more="  ")
    if run.steps:
        lines += ["", f"From there, {count(run.length, 'rule')} (how often, line, tests and changes):", ""]
        for step in run.steps[:_MOST_STEPS]:
            lines += _step(step, width)
        if len(run.steps) > _MOST_STEPS:
            lines.append(f"  ... and {len(run.steps) - _MOST_STEPS:,} more steps; --format json has them all")
        lines += ["", *filled(f"This leads to: {_marking(run.end)}", width, more="  ")]
    return [*lines, "", *filled(f"It covers {cone}", width, more="  ")]


def _step(step: FiringStep, width: int) -> list[str]:
    lines = []
    inner = "  " if len(step.rules) > 1 else ""
    if inner:
        lines.append(f"  {'once' if step.times == 1 else f'{step.times:,} times'}:")
    for rule in step.rules:
        times = rule.times if inner else rule.times * step.times
        lines += filled(_rule(rule, times), width, f"  {inner}", " " * (22 - len(f"  {inner}")))
    if step.after is not None:
        lines += filled(f"=> {_marking(step.after)}", width, " " * 7, "  ")
    return lines


def _rule(rule: RuleView, times: int) -> str:
    tests = f"if {_conditions(rule.tests)}" if rule.tests else ""
    effect = ", ".join(f"{printable(t.place)} {'+' if t.tokens > 0 else '-'} {abs(t.tokens)}" for t in rule.effect)
    often = "" if times == 1 else f"{times:,} x"
    return f"{often:>8} line {rule.line:<5} {'; '.join(part for part in (tests, effect) if part) or 'no change'}"


def _conditions(tokens: Iterable[Tokens]) -> str:
    return ", ".join(f"{printable(t.place)} >= {t.tokens}" for t in tokens)


def _marking(tokens: Sequence[Tokens]) -> str:
    shown = ", ".join(f"{printable(t.place)} = {t.tokens}" for t in tokens[:_MOST_PLACES])
    more = f", and {len(tokens) - _MOST_PLACES:,} more places" if len(tokens) > _MOST_PLACES else ""
    return f"{shown}{more}" if tokens else "no tokens"
