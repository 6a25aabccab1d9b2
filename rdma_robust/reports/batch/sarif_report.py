"""A batch as SARIF 2.1.0 (OASIS standard), the form that GitHub code scanning and editors show at the lines it is about."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from rdma_robust.reports.batch.batch_view import BatchReport, Entry
from rdma_robust.reports.batch.sarif_rules import level_of, rule
from rdma_robust.reports.check.json_report import valid_unicode
from rdma_robust.reports.check.result import DiagnosticView
from rdma_robust.reports.check.summary import mismatch
from rdma_robust.reports.check.witness_view import EventView, WitnessView

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
INFORMATION: Final = "https://github.com/rdma-robust/rdma-robust"
ROOT: Final = "%SRCROOT%"
LINK: Final = re.compile(r"\[(?=[^\]]*\]\()")

Json = dict[str, Any]


def write_sarif(report: BatchReport) -> str:
    """Return the log: one run, with a result for everything that somebody should look at."""
    results = [result for entry in report.entries for result in _results(entry, report.expect)]
    found = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = found.index(result["ruleId"])
    run = {
        "tool": {"driver": _driver(report, found)},
        "automationDetails": {"id": "rdma-robust/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder in which rdma-robust was started."}}},
        "invocations": [_invocation(report)],
        "artifacts": [_artifact(entry) for entry in report.entries if entry.sha256],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _driver(report: BatchReport, codes: list[str]) -> Json:
    version = str(report.tool["version"])
    rules = [rule(code) for code in codes]
    return {"name": "rdma-robust", "version": version, "semanticVersion": version, "rules": rules}


def _invocation(report: BatchReport) -> Json:
    notes = [
        {"level": "error", "message": _message(f"{r.file}: {r.reason}")}
        for r in report.results
        if r.error_kind in ("internal", "unreadable")
    ]
    whole = not report.summary.interrupted and not notes
    return {
        "executionSuccessful": whole,
        "exitCode": report.summary.exit_code,
        "toolExecutionNotifications": notes,
    }


def _artifact(entry: Entry) -> Json:
    return {"location": artifact(entry.result.file), "hashes": {"sha-256": entry.sha256}}


def artifact(file: str) -> Json:
    """Return where a file is: relative to the folder of the run if it is in it, so that other machines find it too."""
    path = os.path.relpath(file) if os.path.isabs(file) else os.path.normpath(file)
    if file == "<stdin>":
        return {"uri": quote(file)}
    if path.split(os.sep)[0] == os.pardir:
        return {"uri": "file://" + quote(os.fsencode(os.path.abspath(file)))}
    return {"uri": quote(os.fsencode(path)), "uriBaseId": ROOT}


def _results(entry: Entry, expect: bool) -> Iterator[Json]:
    result = entry.result
    match result.verdict:
        case "not-robust" if result.witness is not None and (mismatch(result) or not expect):
            yield _violation(entry, result.witness)
        case "robust" if result.as_expected is False:
            yield _plain(entry, "RR012", "The program is robust; its `expect` line says it is not.", _expect_line(entry))
        case "robust" if expect and result.expected is None:
            yield _plain(entry, "RR013", "The program is robust and has no `expect` line.", 1)
        case "unknown":
            yield _plain(entry, "RR011", f"Undecided: {result.reason}.", 1)
    if result.error_kind == "invalid" and not result.errors:
        yield _plain(entry, "RR002", result.reason, 1)
    yield from (_diagnostic(entry, d) for d in (*result.errors, *result.warnings))
    may = "reachable" if result.faults_exact else "possible"
    for fault in result.faults:
        yield _plain(entry, "RR014", f"{may}: {fault.kind}: {fault.message}", fault.line, fault.column)
    for wait in result.hangs:
        yield _plain(entry, "RR015", f"The program can hang: {wait.text}.", wait.line or 1, wait.column or 1)


def _violation(entry: Entry, witness: WitnessView) -> Json:
    """The cycle at the operation that was overtaken, or at its first event; the run as a code flow."""
    events = {event.id: event for event in witness.events}
    on_cycle = [events[edge.source] for edge in witness.cycle]
    overtaken = [events[pair.earlier] for pair in witness.relaxed] + on_cycle
    main = next((e for e in overtaken if e.line is not None), None)
    why = list(dict.fromkeys(pair.text for pair in witness.relaxed))
    text = "Not robust: " + ("; ".join(why) or "RDMA allows a trace that sequential consistency forbids") + "."
    if entry.result.spin_only:
        text += " Only through failed spin reads: robust if loops that only wait are blocking reads."
    result = _result(entry, "RR010", text, _location(entry, main))
    others = [e for e in dict.fromkeys(on_cycle) if e.line is not None]
    result["relatedLocations"] = [_location(entry, e, e.text) | {"id": number} for number, e in enumerate(others, 1)]
    result["codeFlows"] = [
        _flow(entry, "The run, each step where it takes effect", [(events[e], events[e].text) for e in witness.order]),
        _flow(
            entry,
            "The cycle: why no sequentially consistent execution does this",
            [(events[c.source], c.text) for c in witness.cycle],
        ),
    ]
    shape = "\n".join(f"{events[c.source].statement} {events[c.source].type} {c.relation}" for c in witness.cycle)
    result["partialFingerprints"] = {"rdmaRobustCycle/v1": _digest(f"{entry.result.program}\n{shape}")}
    return result


def _flow(entry: Entry, title: str, steps: list[tuple[EventView, str]]) -> Json:
    locations = [
        {
            "location": _location(entry, event, text),
            "executionOrder": number,
            "importance": "essential" if event.part == "pivot" else "important",
            "kinds": [event.agent, event.type],
        }
        for number, (event, text) in enumerate(((e, t) for e, t in steps if e.line is not None), 1)
    ]
    return {
        "message": _message(title),
        "threadFlows": [{"id": title.split(maxsplit=2)[1].strip(",:"), "locations": locations}],
    }


def _plain(entry: Entry, code: str, text: str, line: int, column: int | None = None) -> Json:
    return _result(entry, code, text, _place(entry, line, column))


def _diagnostic(entry: Entry, found: DiagnosticView) -> Json:
    more = [f"expected: {found.expected}"] * bool(found.expected) + [f"hint: {found.hint}"] * bool(found.hint)
    text = "; ".join([found.message, *more])
    return _result(entry, found.code, text, _place(entry, found.line, found.column))


def _result(entry: Entry, code: str, text: str, location: Json) -> Json:
    region = location["physicalLocation"].get("region", {"startLine": 1})
    print_ = f"{code}\n{_line_of(entry, region['startLine']).strip()}\n{text}"
    return {
        "ruleId": code,
        "level": level_of(code),
        "message": _message(text),
        "locations": [location],
        "partialFingerprints": {"rdmaRobust/v1": _digest(print_)},
    }


def _location(entry: Entry, event: EventView | None, text: str = "") -> Json:
    place = (
        _place(entry, 1, None)
        if event is None or event.line is None
        else _place(entry, event.line, event.column, event.statement)
    )
    return place | ({"message": _message(text)} if text else {})


def _place(entry: Entry, line: int, column: int | None, statement: str = "") -> Json:
    """Return a place of the program: of the statement as far as it can be found there, else to the end of the line."""
    region: Json = {"startLine": line}
    if column is not None:
        region["startColumn"] = column
        if statement and _line_of(entry, line)[column - 1 :].startswith(statement):
            region["endColumn"] = column + len(statement)
    return {"physicalLocation": {"artifactLocation": artifact(entry.result.file), "region": region}}


def _message(text: str) -> Json:
    """Return a message that shows just `text`: what would be a link in it (SARIF 3.11.6) is escaped."""
    return {"text": LINK.sub(r"\\[", valid_unicode(text))}


def _expect_line(entry: Entry) -> int:
    lines = (entry.text or "").split("\n")
    return next((number for number, line in enumerate(lines, 1) if line.split()[:1] == ["expect"]), 1)


def _line_of(entry: Entry, line: int) -> str:
    lines = (entry.text or "").split("\n")
    return lines[line - 1] if line <= len(lines) else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
