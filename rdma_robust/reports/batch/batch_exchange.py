"""A batch in the forms that other tools read: JSON, JSON lines, CSV, JUnit XML, SARIF."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import StringIO

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import dump, layout, valid_unicode
from rdma_robust.frame.formats.junit import Case, junit_document
from rdma_robust.frame.formats.report_section import CsvRow
from rdma_robust.frame.formats.sarif import ScannedFile, sarif_log
from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry
from rdma_robust.reports.check.check_findings import findings_of
from rdma_robust.reports.check.paragraphs import explain
from rdma_robust.reports.check.result import Result, exit_of, why_not_expected
from rdma_robust.reports.check.robustness_view import VERDICTS, result_object
from rdma_robust.reports.share.claim_findings import ClaimAnswer, claim_cases
from rdma_robust.text import printable

WIDTH = 100


def write_junit(report: BatchReport) -> str:
    """Return the JUnit document: a family is a suite and a program a test, in order of the families, then as given.

    A test is a failure if the program is not robust (with `--expect`: not as expected), an error without a verdict.
    """
    return junit_document(check_cases(report) | {section.name: section.cases for section in report.sections})


def check_cases(report: BatchReport) -> dict[str, Sequence[Case]]:
    """Return the tests of programs by their families."""
    return {
        family.family: [case for e in report.entries if e.family == family.family for case in _cases(e, report.expect)]
        for family in report.families
    }


def _cases(entry: ReportEntry, expect: bool) -> Iterator[Case]:
    """Yield the test of a program, and one for each of its claims: undecided ones are skipped, `verify` has more time."""
    yield _case(entry, expect)
    findings = entry.claims.findings if entry.claims else ()
    for case in claim_cases(findings, f"rdma-robust.{entry.family}", f"{entry.result.file}: "):
        yield replace(case, kind="skipped", text="") if case.kind == "error" else case


def _case(entry: ReportEntry, expect: bool) -> Case:
    result = entry.result
    classname = f"rdma-robust.{entry.family}"
    exit_code = exit_of(result, expect)
    if exit_code is Exit.OK:
        return Case(result.file, classname, result.time_s, text=_remarks(result))
    return Case(
        result.file,
        classname,
        result.time_s,
        "failure" if exit_code is Exit.NOT_ROBUST else "error",
        result.error_kind or result.verdict,
        _message(result, expect),
        _details(result),
    )


def _message(result: Result, expect: bool) -> str:
    said = "; ".join([*(why_not_expected(result) if expect else ()), result.reason])
    return f"{VERDICTS[result.verdict]}: {said}"


def _details(result: Result) -> str:
    lines = explain(result, WIDTH)
    lines += [f"{result.file}:{d.line}:{d.column}: {d.message}" for d in result.errors]
    return "\n".join([*lines, _remarks(result)]).strip()


def _remarks(result: Result) -> str:
    lines = [f"{result.file}:{d.line}:{d.column}: warning: {d.message}" for d in result.warnings]
    lines += [f"{result.file}:{f.line}:{f.column}: {f.may}: {f.kind}: {f.message}" for f in result.faults]
    lines += [f"{result.file}:{w.line or 1}:{w.column or 1}: hangs: {w.text}" for w in result.hangs]
    return "\n".join(lines)


def write_sarif(report: BatchReport) -> str:
    """Return the SARIF log: everything that somebody should look at, at the lines it is about."""
    files = [
        ScannedFile(
            entry.result.file,
            entry.text,
            list(findings_of(entry.result, report.expect, entry.claims.findings if entry.claims else ())),
        )
        for entry in report.entries
    ]
    files += [each for section in report.sections for each in section.files]
    return sarif_log(files, report.summary.exit_code, report.tool, interrupted=report.summary.interrupted)


FORMAT = "rdma-robust/report"
VERSION = 1


def batch_document(report: BatchReport) -> JsonObject:
    """Return the report as one versioned object. `sources` runs parallel to `results`, which are those of `check`."""
    totals = report.summary.members()
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(report.tool),
        "options": dict(report.options),
        "interrupted": report.summary.interrupted,
        "results": [result_object(r) for r in report.results],
        "sources": [
            {"file": valid_unicode(e.result.file), "family": valid_unicode(e.family), "sha256": e.sha256}
            for e in report.entries
        ],
        "claims": [None if e.claims is None else dataclasses.asdict(e.claims) for e in report.entries],
        "families": [dataclasses.asdict(f) | {"family": valid_unicode(f.family)} for f in report.families],
        "summary": totals,
        **{section.name: list(section.objects) for section in report.sections},
    }


def write_json(report: BatchReport) -> str:
    return layout(batch_document(report)) + "\n"


def write_jsonl(report: BatchReport) -> str:
    results = [*map(result_object, report.results), *(each for section in report.sections for each in section.objects)]
    return "".join(f"{dump(each)}\n" for each in results)


COLUMNS = (
    "file",
    "family",
    "program",
    "verdict",
    "expected",
    "as_expected",
    "reason",
    "instrumentation",
    "engine",
    "states",
    "transitions",
    "pivots",
    "counters",
    "time_s",
    "spin_only",
    "faults",
    "hangs",
    "warnings",
    "violated",
    "sha256",
    "buffer",
    "asserts",
    "deadlock",
    "races",
    "leak",
    "matchings",
    "function",
    "class",
    "n",
    "mode",
    "bounds",
    "runs",
)
"""The columns of every table, whatever is in it: those behind `sha256` are of programs that pass messages only, those behind
`matchings` of functions with contracts."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for the beginning of a formula."""


def write_csv(report: BatchReport) -> str:
    """Return a header, a row for each program, for each program that passes messages and buffer semantics, and for each
    function with a contract.

    A cell that a spreadsheet would compute begins with an apostrophe.
    """
    rows: list[CsvRow] = [_row(entry) for entry in report.entries]
    rows += [row for section in report.sections for row in section.numbers]
    return csv_table(COLUMNS, ([row.get(name) for name in COLUMNS] for row in rows))


def csv_table(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a header and rows of cells as CSV, each cell as :func:`csv_cell` writes it."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _row(entry: ReportEntry) -> dict[str, object]:
    result = entry.result
    plain = {name: getattr(result, name) for name in COLUMNS if hasattr(result, name)}
    return plain | {
        "family": entry.family,
        "sha256": entry.sha256,
        "faults": "; ".join(f"{f.kind} (line {f.line})" for f in result.faults),
        "hangs": "; ".join(f"line {w.line}" for w in result.hangs if w.line is not None),
        "warnings": len(result.warnings),
        "violated": "; ".join(_violated(each) for each in entry.violated),
    }


def _violated(finding: ClaimAnswer) -> str:
    place = "" if finding.line is None else f" (line {finding.line})"
    return f"{finding.text}{place}"


def csv_cell(value: object) -> object:
    """Return the cell: booleans as in JSON, nothing for None, text on one line and never a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(FORMULA) else text
