"""A batch as a table of comma-separated values (RFC 4180), safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from io import StringIO

from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry
from rdma_robust.reports.batch.contract_rows import contract_cells
from rdma_robust.reports.batch.message_rows import message_cells
from rdma_robust.reports.share.claim_findings import ClaimAnswer
from rdma_robust.text import printable

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
    """Return a header, a row for each program, for each program that passes messages and buffer semantics, for each function
    with a contract, and for each answer to a question of another tool.

    A cell that a spreadsheet would compute begins with an apostrophe.
    """
    out = StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    rows = [_row(entry) for entry in report.entries]
    rows += [row for record in report.messages for row in message_cells(record)]
    rows += [row for record in report.contracts for row in contract_cells(record)]
    rows += [each for section in report.sections for record in section.records for each in section.view.objects(record)]
    for row in rows:
        writer.writerow([csv_cell(row.get(name)) for name in COLUMNS])
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
