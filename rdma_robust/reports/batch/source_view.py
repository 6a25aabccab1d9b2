"""The text of a program, line by line, with what is to be said about each: the cycle, faults, errors and warnings."""

from __future__ import annotations

from collections import defaultdict

from rdma_robust.reports.batch.batch_view import Entry
from rdma_robust.reports.share.html_templates import SourceLine
from rdma_robust.text import printable

STRENGTH = ("cycle", "fault")
"""What colours a line: `cycle` for what is on the cycle and for errors, `fault` for faults and warnings."""


def marked_source(entry: Entry) -> tuple[SourceLine, ...]:
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
