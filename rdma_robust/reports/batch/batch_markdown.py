"""A batch as Markdown, for the summary of a job, a comment on a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rdma_robust.frame.formats.report_section import ReportSection
from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry
from rdma_robust.reports.check.robustness_view import VERDICTS, expected_word, passed_over
from rdma_robust.reports.share.claim_findings import ClaimAnswer
from rdma_robust.text import count, one_line, printable

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&:@$^=])")
"""What GitHub's Markdown may read as more than text, `:` and `@` for emoji, links and mentions."""
MARKS = {"robust": "✅", "not-robust": "❌", "unknown": "❔", "error": "⚠️"}


def write_markdown(report: BatchReport) -> str:
    """Return totals, what calls for attention with its cycle, a table of the families and one of all programs; of message
    programs and contracts alone only their tables."""
    parts = [
        ["# RDMA robustness", ""],
        *(_of_programs(report) if report.entries or not report.others else _of_others(report)),
        *(section_markdown(each) for each in report.sections),
        [f"Made by {text(' '.join(str(report.tool[k]) for k in ('name', 'version')))}."],
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def _of_programs(report: BatchReport) -> list[list[str]]:
    return [
        [*_totals(report), ""],
        _attention(report),
        ["## Families", "", *_families(report), ""],
        ["## Programs", "", *_programs(report), ""],
    ]


def _of_others(report: BatchReport) -> list[list[str]]:
    return [["**Interrupted**: not everything was looked at.", ""]] if report.summary.interrupted else []


def text(plain: str) -> str:
    """Return plain text as Markdown on one line that shows just it, wherever it stands, in table cells too."""
    return SPECIAL.sub(r"\\\1", printable(" ".join(plain.split())))


def markdown_prose(plain: str, *, cell: bool = False) -> str:
    """Return plain text as :func:`text` does, with code spans for what is between backquotes: no escapes show in them."""
    pieces = re.split(r"`([^`]+)`", " ".join(plain.split()))
    spans = [*(code(each, cell=cell) for each in pieces[1::2]), ""]
    escaped = (SPECIAL.sub(r"\\\1", printable(each)) for each in pieces[::2])
    return "".join(said for pair in zip(escaped, spans, strict=True) for said in pair)


def code(plain: str, *, cell: bool = True) -> str:
    """Return plain text as a code span. A bar is escaped in a `cell` of a table alone: elsewhere the escape would show."""
    flat = printable(" ".join(plain.split()))
    flat = flat.replace("|", "\\|") if cell else flat
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _totals(report: BatchReport) -> list[str]:
    summary = report.summary
    numbers = [
        ("robust", summary["robust"]),
        ("not-robust", summary["not_robust"]),
        ("unknown", summary["unknown"]),
        ("error", summary["error"]),
    ]
    shown = ", ".join(f"{MARKS[verdict]} {number} {VERDICTS[verdict]}" for verdict, number in numbers if number)
    lines = [f"**{count(summary.done, 'program')}**: {shown or 'none decided'}; {summary.time_s:.2f} s"]
    if report.expect:
        lines += ["", f"{summary['as_expected']} as expected, **{summary['mismatched']}** not."]
    if summary.passed_over:
        lines += ["", f"{passed_over(summary)}."]
    if summary.interrupted:
        lines += ["", f"**Interrupted**: {summary.done} of {summary.requested} programs done."]
    return lines


def _attention(report: BatchReport) -> list[str]:
    """The programs that count against the exit code, each with its cycle and what makes it possible."""
    entries = [e for e in report.entries if e.exit_code(report.expect)]
    if not entries:
        return []
    lines = ["## What needs attention", ""]
    for entry in entries:
        result = entry.result
        mark = MARKS["not-robust"] if entry.violated else MARKS[result.verdict]
        lines.append(f"- {mark} {code(result.file, cell=False)}: {VERDICTS[result.verdict]}{_remark(entry, report.expect)}")
        for diagnostic in result.errors:
            lines.append(f"  - line {diagnostic.line}: {markdown_prose(diagnostic.message)}")
        if result.witness:
            lines += [f"  - {markdown_prose(each.text)}" for each in result.witness.relaxed]
        lines += [f"  - {_violation(each)}" for each in entry.violated]
    return [*lines, ""]


def _violation(finding: ClaimAnswer) -> str:
    place = "" if finding.line is None else f"line {finding.line}: "
    waits = "".join(f"; {wait.text}" for wait in finding.waits)
    return f"{place}{code(finding.text, cell=False)} is **VIOLATED**: {markdown_prose(finding.reason + waits)}"


def _remark(entry: ReportEntry, expect: bool) -> str:
    words = entry.note(expect)
    return f" ({markdown_prose(words)})" if words else ""


def _families(report: BatchReport) -> list[str]:
    columns = ("family", "programs", "robust", "not robust", "unknown", "error", "states", "time")
    rows = [
        (
            text(f.family),
            f.programs,
            f.robust,
            f.not_robust,
            f.unknown,
            f.error,
            f"{f.states:,}",
            f"{f.time_s:.2f} s",
        )
        for f in report.families
    ]
    return _table(columns, rows, left=1)


def _programs(report: BatchReport) -> list[str]:
    columns = ("program", "verdict", "expected?", "note", "states", "time")
    rows = [
        (
            code(e.result.file),
            f"{MARKS[e.result.verdict]} {VERDICTS[e.result.verdict]}",
            text(expected_word(e.result)),
            markdown_prose(one_line(e.note(report.expect), 120), cell=True),
            f"{e.result.states:,}",
            f"{e.result.time_s:.2f} s",
        )
        for e in report.entries
    ]
    return _table(columns, rows, left=4)


def section_markdown(section: ReportSection) -> list[str]:
    """Return the lines of a section: its files, with what is known of each."""
    rows = [[code(row.cells[0]), *(markdown_prose(each, cell=True) for each in row.cells[1:])] for row in section.rows]
    return [f"## {section.title}", "", f"{text(section.line)}.", "", *_table(section.columns, rows, section.left), ""]


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]], left: int) -> list[str]:
    """Return a table whose first `left` columns are aligned to the left, the others to the right."""
    rule = ["---" if number < left else "---:" for number in range(len(columns))]
    return [f"| {' | '.join(map(str, row))} |" for row in (columns, rule, *rows)]
