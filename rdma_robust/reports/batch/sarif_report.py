"""A batch as SARIF 2.1.0: a result for everything that somebody should look at, at the lines it is about."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.reports.analyses.safety_sarif import claim_results
from rdma_robust.reports.batch.batch_view import BatchReport, Entry
from rdma_robust.reports.batch.sarif_log import Invocation, Json, ScannedFile, digest, message, sarif_log
from rdma_robust.reports.check.check_findings import not_robust_because
from rdma_robust.reports.check.witness_view import EventView, WitnessView
from rdma_robust.reports.messages.messages_sarif import (
    Reported,
    messages_problems,
    messages_results,
    scanned_messages,
)


def write_sarif(report: BatchReport) -> str:
    """Return the log."""
    found = [result for entry in report.entries for result in _results(entry, report.expect)]
    reported: list[Reported] = [*report.messages, *report.contracts]
    found += [result for record in reported for result in messages_results(record)]
    problems = [f"{r.file}: {r.reason}" for r in report.results if r.error_kind in ("internal", "unreadable")]
    problems += messages_problems(reported)
    invocation = Invocation(report.summary.exit_code, report.summary.interrupted, problems)
    files = [*map(scanned, report.entries), *map(scanned_messages, {each.file: each for each in reported}.values())]
    return sarif_log(files, found, invocation, report.tool)


def scanned(entry: Entry) -> ScannedFile:
    """Return the program of an entry as results are about it."""
    return ScannedFile(entry.result.file, entry.text, entry.sha256)


def _results(entry: Entry, expect: bool) -> Iterator[Json]:
    result, file = entry.result, scanned(entry)
    match result.verdict:
        case "not-robust" if result.witness is not None and not (expect and result.expected == "not-robust"):
            yield _violation(entry, result.witness)
        case "robust" if result.expected == "not-robust":
            yield file.at("RR012", "The program is robust; its `expect` line says it is not.", _expect_line(entry))
        case "robust" if expect and result.expected is None:
            yield file.at("RR013", "The program is robust and has no `expect` line.", 1)
        case "unknown":
            yield file.at("RR011", f"Undecided: {result.reason}.", 1)
    if result.error_kind == "invalid" and not result.errors:
        yield file.at("RR002", result.reason, 1)
    yield from (file.diagnostic(d) for d in (*result.errors, *result.warnings))
    answered = [each for each in (entry.claims.findings if entry.claims else ()) if each.status != "unknown"]
    yield from claim_results(file, answered)
    places = {(each.kind, each.line) for each in answered}
    for fault in result.faults:
        counts = expect and result.counts(fault)
        if (fault.kind, fault.line) not in places and (counts or not (expect and fault.met)):
            found = file.at("RR014", f"{fault.may}: {fault.kind}: {fault.message}", fault.line, fault.column)
            yield found | ({"level": "error"} if counts else {})
    for wait in () if any(each.kind == "hang" for each in answered) else result.hangs:
        found = file.at("RR015", f"The program can hang: {wait.text}.", wait.line or 1, wait.column or 1)
        yield found | ({"level": "error"} if expect else {})
    for claim in result.broken:
        if claim.kind == "violated":
            yield file.at("RR012", f"{claim.text}.", claim.line, claim.column)


def _violation(entry: Entry, witness: WitnessView) -> Json:
    """The cycle at the operation that was overtaken, or at its first event; the run as a code flow."""
    file = scanned(entry)
    events = {event.id: event for event in witness.events}
    on_cycle = [events[edge.source] for edge in witness.cycle]
    main, because = not_robust_because(witness)
    why = "; ".join(dict.fromkeys(pair.text for pair in witness.relaxed))
    text = f"Not robust: {because}." + (f" {why[:1].upper()}{why[1:]}." if why else "")
    if entry.result.spin_only:
        text += " Only through failed spin reads: robust if loops that only wait are blocking reads."
    result = file.result("RR010", text, _location(file, main))
    others = [e for e in dict.fromkeys(on_cycle) if e.line is not None]
    result["relatedLocations"] = [_location(file, e, e.text) | {"id": number} for number, e in enumerate(others, 1)]
    result["codeFlows"] = [
        _flow(file, "The run, each step where it takes effect", [(events[e], events[e].text) for e in witness.order]),
        _flow(
            file,
            "The cycle: why no sequentially consistent execution does this",
            [(events[c.source], c.text) for c in witness.cycle],
        ),
    ]
    shape = "\n".join(f"{events[c.source].statement} {events[c.source].type} {c.relation}" for c in witness.cycle)
    result["partialFingerprints"] = {"rdmaRobustCycle/v1": digest(f"{entry.result.program}\n{shape}")}
    return result


def _flow(file: ScannedFile, title: str, steps: list[tuple[EventView, str]]) -> Json:
    locations = [
        {
            "location": _location(file, event, text),
            "executionOrder": number,
            "importance": "essential" if event.part == "pivot" else "important",
            "kinds": [event.agent, event.type],
        }
        for number, (event, text) in enumerate(((e, t) for e, t in steps if e.line is not None), 1)
    ]
    return {
        "message": message(title),
        "threadFlows": [{"id": title.split(maxsplit=2)[1].strip(",:"), "locations": locations}],
    }


def _location(file: ScannedFile, event: EventView | None, text: str = "") -> Json:
    place = file.place(1) if event is None or event.line is None else file.place(event.line, event.column, event.statement)
    return place | ({"message": message(text)} if text else {})


def _expect_line(entry: Entry) -> int:
    lines = (entry.text or "").split("\n")
    return next((number for number, line in enumerate(lines, 1) if line.split()[:1] == ["expect"]), 1)
