"""A batch as JUnit XML, in the dialect that Jenkins, GitLab and GitHub's actions read (`junit-10.xsd`).

A family is a suite and a program a test: a failure if it is not robust (with `--expect`: not as expected), an error if there
is no verdict.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from rdma_robust.reports.batch.batch_view import BatchReport, Entry
from rdma_robust.reports.check.paragraphs import explain
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.summary import exit_of
from rdma_robust.reports.check.text_report import VERDICTS
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

WIDTH = 100


def write_junit(report: BatchReport) -> str:
    """Return the document; tests are in order of the families, then as given."""
    root = ET.Element("testsuites", {"name": "rdma-robust", **_counts(report.entries, report.expect)})
    for family in report.families:
        members = [e for e in report.entries if e.family == family.family]
        counts = _counts(members, report.expect)
        suite = ET.SubElement(root, "testsuite", {"name": _text(family.family), **counts, "skipped": "0"})
        for entry in members:
            _case(suite, entry, report.expect)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(entries: Sequence[Entry], expect: bool) -> dict[str, str]:
    kinds = [_kind(e.result, expect) for e in entries]
    return {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "time": f"{sum(e.result.time_s for e in entries):.3f}",
    }


def _kind(result: Result, expect: bool) -> str:
    exit_code = exit_of(result, expect)
    return "" if exit_code is Exit.OK else "failure" if exit_code is Exit.NOT_ROBUST else "error"


def _case(suite: ET.Element, entry: Entry, expect: bool) -> None:
    result = entry.result
    attributes = {
        "name": _text(result.file),
        "classname": _text(f"rdma-robust.{entry.family}"),
        "time": f"{result.time_s:.3f}",
    }
    case = ET.SubElement(suite, "testcase", attributes)
    kind = _kind(result, expect)
    if kind:
        what = ET.SubElement(case, kind, {"type": result.error_kind or result.verdict, "message": _text(_message(result))})
        what.text = _text(_details(result))
    elif result.faults or result.warnings or result.hangs:
        ET.SubElement(case, "system-out").text = _text(_remarks(result))


def _message(result: Result) -> str:
    expected = f", expected {result.expected}" if result.as_expected is False else ""
    return f"{VERDICTS[result.verdict]}{expected}: {result.reason}"


def _details(result: Result) -> str:
    lines = explain(result, WIDTH)
    lines += [f"{result.file}:{d.line}:{d.column}: {d.message}" for d in result.errors]
    return "\n".join([*lines, _remarks(result)]).strip()


def _remarks(result: Result) -> str:
    lines = [f"{result.file}:{d.line}:{d.column}: warning: {d.message}" for d in result.warnings]
    may = "reachable" if result.faults_exact else "possible"
    lines += [f"{result.file}:{f.line}:{f.column}: {may}: {f.kind}: {f.message}" for f in result.faults]
    lines += [f"{result.file}:{w.line or 1}:{w.column or 1}: hangs: {w.text}" for w in result.hangs]
    return "\n".join(lines)


def _text(text: str) -> str:
    """Return text that XML can hold: characters that are not printable, but line ends and tabs, are escaped as in Python."""
    return printable(text, "\n\t")
