"""A batch as one HTML page that needs nothing else: no network, no folder beside it.

The table is plain HTML. What is behind each row is compressed in the page and unpacked when the row is opened, so that
hundreds of programs with their drawings stay a file that opens at once. The content security policy of the page forbids
every connection and every script but its own; all text from outside goes through the escaping of the templates.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from jinja2 import Environment
from markupsafe import Markup

from rdma_robust.reports.batch.batch_view import BatchReport, ProgramFamily, ReportEntry
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.robustness_view import VERDICTS, expected_word, passed_over
from rdma_robust.reports.share.html_templates import SourceLine, asset, source_listing, templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, page_script
from rdma_robust.text import count, one_line, printable

PACKAGE: Final = "rdma_robust.reports.batch"
COMPRESSION: Final = 9
NARROW: Final = 530.0
NARROW_CHARACTERS: Final = 66
"""What fits beside something else on a wide screen."""
WORDS: Final = {"robust": "Robust", "not-robust": "Not robust", "unknown": "Unknown", "error": "Error"}
ANSWERS: Final = {"holds": "robust", "violated": "not-robust", "unknown": "unknown", "unreachable": "unknown"}
"""The colours of the answers for claims: those of verdicts."""
ICONS: Final = {"robust": "✓", "not-robust": "✗", "unknown": "?", "error": "!"}
SHOWN_OPTIONS: Final = ("timeout", "memory", "max_states", "ordered_reads", "await_loops", "self_check", "expect")
TIMELINE_LEGEND: Final = (
    "Time runs down, a row is one step. A purple line is an operation from its posting to its last effect: thin while it is "
    "in the pipe, thick while its write is on its way to memory, dotted until a poll takes its completion. Red steps are on "
    "the cycle; the one with the thick frame is the pivot, without which the run would be sequentially consistent."
)
GRAPH_LEGEND: Final = (
    "po: program order (dashed where RDMA does not keep it); rf: a read takes its value from a write; mo: order of the "
    "writes to a word; rb: a read comes before a later write; pf: a poll takes a completion; nfo: order of the NIC's work."
)


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """The row of a program in the table; `search` is what the text filter looks at."""

    number: int
    result: Result
    file: str
    family: str
    violated: int
    expected: str
    note: str
    searched: bool
    search: str


def write_html(report: BatchReport) -> str:
    """Return the page."""
    environment = _environment()
    page = environment.get_template("page.html.j2")
    rows = [_row(number, entry, report.expect) for number, entry in enumerate(report.entries)]
    details = [_packed(page.render(**_details(entry))) for entry in report.entries]
    programs = count(report.summary.done, "program")
    return environment.get_template("report.html.j2").render(
        title=f"RDMA robustness: {programs}",
        style=PAGE_STYLE + asset(PACKAGE, "report.css"),
        script=page_script(asset(PACKAGE, "report.js")),
        details=json.dumps(details),
        rows=rows,
        filters=list(_filters(report)),
        families=[(family, _shares(family)) for family in report.families],
        totals=_shares_of(report.results),
        summary=report.summary,
        programs=programs,
        expect=report.expect,
        passed_over=passed_over(report.summary),
        tool=report.tool,
        options=[(name.replace("_", " "), report.options[name]) for name in SHOWN_OPTIONS if report.options.get(name)],
        numbered=any(row.searched for row in rows),
        sections=[(each, Markup(each.legend), [(row, Markup(row.page)) for row in each.rows]) for each in report.sections],
    )


@cache
def _environment() -> Environment:
    environment = templates(PACKAGE)
    environment.globals.update(words=WORDS, icons=ICONS, answers=ANSWERS)
    return environment


def _packed(text: str) -> str:
    """Return text as the page's script unpacks it: zlib, then base64."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"), COMPRESSION)).decode()


def _row(number: int, entry: ReportEntry, expect: bool) -> ProgramRow:
    result, note = entry.result, entry.note(expect)
    words = f"{result.file} {result.program or ''} {VERDICTS[result.verdict]} {result.engine or ''} {note}"
    return ProgramRow(
        number=number,
        result=result,
        file=printable(result.file),
        violated=len(entry.violated),
        family=printable(entry.family),
        expected=expected_word(result),
        note=one_line(note, 140),
        searched=result.engine is not None,
        search=printable(words).lower(),
    )


def _details(entry: ReportEntry) -> dict[str, object]:
    """Return what the template of one program needs."""
    result, page = entry.result, entry.page
    source = page.source if page else ""
    if not source and entry.text is not None:
        source = source_listing(marked_source(entry))
    drawings = (
        ("Timeline", "timeline", page.timeline, TIMELINE_LEGEND) if page else None,
        ("Execution graph", "graph", page.graph, GRAPH_LEGEND) if page else None,
    )
    return {
        "result": result,
        "page": page,
        "source": Markup(source),
        "broad_source": _longest_line(entry) > NARROW_CHARACTERS,
        "drawings": [
            (title, name, Markup(svg), legend, _width(svg) > NARROW)
            for title, name, svg, legend in filter(None, drawings)
            if svg
        ],
        "orders": Markup(page.orders if page else ""),
        "diff": [(_diff_kind(line), printable(line, "\t")) for line in page.repair.splitlines()] if page else [],
        "diagnostics": (*result.errors, *result.warnings),
        "claims": entry.claims,
        "facts": _facts(entry),
    }


def _longest_line(entry: ReportEntry) -> int:
    return max((len(line) for line in (entry.text or "").split("\n")), default=0)


def _width(svg: str) -> float:
    """Return the width of a drawing in pixels; a broad one gets a row of the page for itself."""
    found = re.search(r'<svg[^>]* width="([0-9.]+)', svg)
    return float(found[1]) if found else 0.0


def _diff_kind(line: str) -> str:
    return "place" if line.startswith(("@@", "---", "+++")) else {"+": "added", "-": "removed"}.get(line[:1], "")


def _facts(entry: ReportEntry) -> list[tuple[str, str]]:
    result = entry.result
    facts = [("program", result.program or ""), ("reason", result.reason), ("engine", result.engine or "")]
    if result.engine is not None:
        facts += [
            ("instrumentation", result.instrumentation or ""),
            ("states", f"{result.states:,}"),
            ("transitions", f"{result.transitions:,}"),
            ("pivot classes tried", f"{result.pivots:,}"),
            ("time", f"{result.time_s:.3f} s"),
        ]
    facts += [("checked by", ", ".join(result.checked_by)), ("SHA-256", entry.sha256 or "")]
    return [(name, printable(value)) for name, value in facts if value]


def _filters(report: BatchReport) -> Iterator[tuple[str, str, int]]:
    """Yield the buttons above the table: what they show, how they are called, and how many programs that are."""
    summary = report.summary
    yield "all", "All", summary.done
    numbers = (summary["robust"], summary["not_robust"], summary["unknown"], summary["error"])
    yield from ((verdict, WORDS[verdict], number) for verdict, number in zip(WORDS, numbers, strict=True) if number)
    unexpected = sum(r.as_expected is False for r in report.results)
    if unexpected:
        yield "unexpected", "Unexpected", unexpected
    violated = sum(bool(entry.violated) for entry in report.entries)
    if violated:
        yield "violated", "Violated claims", violated


def _shares(family: ProgramFamily) -> list[tuple[str, int, float]]:
    return _bars((family.robust, family.not_robust, family.unknown, family.error))


def _shares_of(results: Sequence[Result]) -> list[tuple[str, int, float]]:
    verdicts = [r.verdict for r in results]
    return _bars([verdicts.count(v) for v in ("robust", "not-robust", "unknown", "error")])


def _bars(numbers: Sequence[int]) -> list[tuple[str, int, float]]:
    """Return verdict, number and share in per cent of each verdict that occurs."""
    whole = sum(numbers)
    return [(verdict, n, round(100 * n / whole, 2)) for verdict, n in zip(WORDS, numbers, strict=True) if n]


STRENGTH = ("cycle", "fault")
"""What colours a line: `cycle` for what is on the cycle and for errors, `fault` for faults and warnings."""


def marked_source(entry: ReportEntry) -> tuple[SourceLine, ...]:
    """Return the lines of the program of `entry`, which must have a text."""
    marks: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    result = entry.result
    if result.witness is not None:
        events = {event.id: event for event in result.witness.events}
        for event in (events[edge.source] for edge in result.witness.cycle):
            if event.line is not None:
                marks[event.line].append(("cycle", event.label))
    for diagnostic in (*result.errors, *result.warnings):
        kind = "cycle" if diagnostic.severity == "error" else "fault"
        marks[diagnostic.line].append((kind, f"{diagnostic.severity}: {diagnostic.message} [{diagnostic.code}]"))
    for fault in result.faults:
        marks[fault.line].append(("fault", f"{fault.may}: {fault.kind}"))
    for wait in result.hangs:
        if wait.line is not None:
            marks[wait.line].append(("fault", f"can hang: {wait.text}"))
    lines = (entry.text or "").rstrip("\n").split("\n")
    return tuple(_line(number, text, marks.get(number, [])) for number, text in enumerate(lines, 1))


def _line(number: int, text: str, marks: list[tuple[str, str]]) -> SourceLine:
    kinds = {kind for kind, _ in marks}
    badge = "; ".join(printable(remark) for _, remark in marks)
    return SourceLine(number, printable(text.rstrip("\r"), "\t"), tuple(k for k in STRENGTH if k in kinds)[:1], badge)
