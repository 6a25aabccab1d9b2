"""What the answers of `cover` look like: a row for each net, its run or its proof beneath, numbers, JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.answer_table import AnswerTable, Row, verdict_totals
from rdma_robust.frame.formats.columns import Column
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.row_text import expected_cell
from rdma_robust.frame.question import Layout, View
from rdma_robust.reports.cover.cover_result import CoverRecord, FiringSequence, FiringStep, RuleView, Tokens
from rdma_robust.reports.share.totals import Verdicts
from rdma_robust.text import count, filled, one_line, printable

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


class CoverView(View[CoverRecord]):
    """The answers of `cover`."""

    def text(self, layout: Layout) -> AnswerTable[CoverRecord]:
        columns = (
            Column("verdict", len("UNKNOWN")),
            Column("expected?", rank=1),
            Column("engine", 14, rank=4),
            Column("places", 7, rank=5, right=True),
            Column("rules", 7, rank=6, right=True),
            Column("stored", 9, rank=3, right=True),
            Column("time", 9, rank=2, right=True),
        )

        def rows(record: CoverRecord, room: int) -> Iterable[Row]:
            return () if layout.quiet and self.exit_of(record) is Exit.OK else (_row(record, room),)

        last = verdict_totals("safe", "unsafe", "unknown")
        return AnswerTable(layout, columns, rows, last, self.asking.expect, self.asking.explain)

    def objects(self, record: CoverRecord) -> Sequence[JsonObject]:
        return (dataclasses.asdict(record) | {"file": valid_unicode(record.file)},)

    def numbers(self, records: Sequence[CoverRecord]) -> Mapping[str, int]:
        return SAFETY.numbers(records, expect=self.asking.expect)

    def exit_of(self, record: CoverRecord) -> Exit:
        return SAFETY.exit_of(record, self.asking.expect)


def _row(record: CoverRecord, room: int) -> Row:
    read, tried = record.places + record.targets > 0, record.engine is not None
    cells = (
        VERDICTS[record.verdict],
        expected_cell(record.as_expected, claimed=record.expected is not None),
        record.engine or "-",
        f"{record.places:,}" if read else "-",
        f"{record.rules:,}" if read else "-",
        f"{record.stored:,}" if tried else "-",
        f"{record.time_s:.2f} s" if tried else "-",
    )
    note = one_line(record.reason, _NOTE_WIDTH) if record.verdict in ("unknown", "error") else ""
    return Row(cells, note, cover_explanation(record, room))


def cover_explanation(record: CoverRecord, width: int = 100) -> list[str]:
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
