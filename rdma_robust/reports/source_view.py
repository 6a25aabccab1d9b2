"""The text of a program, line by line, with what is to be said about each: the cycle, faults, errors and warnings."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rdma_robust.reports.batch_view import Entry
from rdma_robust.reports.escape import printable


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `kind` is `pivot`, `cycle`, `run`, `error`, `warning`, `fault` or empty, the strongest that applies."""

    number: int
    text: str
    kind: str
    remarks: tuple[str, ...]


STRENGTH = ("error", "pivot", "cycle", "fault", "warning", "run", "")


def marked_source(entry: Entry) -> tuple[Line, ...]:
    """Return the lines of the program of `entry`, which must have a text."""
    marks: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    result = entry.result
    if result.witness is not None:
        witness = result.witness
        on_cycle = {edge.source for edge in witness.cycle}
        step = {event: number for number, event in enumerate(witness.order, 1)}
        for event in sorted(witness.events, key=lambda e: step.get(e.id, 0)):
            if event.line is not None and event.id in step:
                kind = "pivot" if event.part == "pivot" else "cycle" if event.id in on_cycle else "run"
                agent = "NIC" if event.agent == "nic" else "CPU"
                marks[event.line].append((kind, f"step {step[event.id]}: {agent} {event.label}"))
    for diagnostic in (*result.errors, *result.warnings):
        marks[diagnostic.line].append((diagnostic.severity, f"{diagnostic.severity}: {diagnostic.message}"))
    for fault in result.faults:
        may = "reachable" if result.faults_exact else "possible"
        marks[fault.line].append(("fault", f"{may}: {fault.kind}"))
    lines = (entry.text or "").rstrip("\n").split("\n")
    return tuple(_line(number, text, marks.get(number, [])) for number, text in enumerate(lines, 1))


def _line(number: int, text: str, marks: list[tuple[str, str]]) -> Line:
    kind = min((kind for kind, _ in marks), key=STRENGTH.index, default="")
    return Line(number, printable(text.rstrip("\r"), "\t"), kind, tuple(printable(remark) for _, remark in marks))
