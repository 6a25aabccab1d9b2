"""What is to be looked at in the answer for one program: its errors and warnings, its verdict, what goes wrong in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rdma_robust.reports.check.result import DiagnosticView, Result
from rdma_robust.reports.check.summary import mismatch
from rdma_robust.reports.check.witness_view import EventView, WitnessView
from rdma_robust.reports.share.finding_lines import FindingLine

DOES: Final = {
    "nlR": "the NIC may read `{cell}`",
    "nrR": "the NIC may read `{owner}.{cell}`",
    "nlW": "the NIC may write `{cell}`",
    "nrW": "the NIC may write `{owner}.{cell}`",
    "nF": "the fence may take effect",
}
"""What an event of a card does late, by its type; the cell of a remote event is named with its node."""

KINDS: Final = {"unreadable": "RR001", "invalid": "RR002", "internal": "RR004"}


def findings_of(result: Result, expect: bool) -> Iterator[FindingLine]:
    """Yield the findings; a verdict is one where it counts against the exit code, see `--expect`."""
    file = result.file
    yield from from_diagnostics(file, result.errors)
    yield from from_diagnostics(file, result.warnings)
    if result.error_kind is not None and not result.errors:
        code = KINDS[result.error_kind]
        yield FindingLine(file, None, None, "error", code, result.reason)
    match result.verdict:
        case "not-robust" if result.witness is not None and (mismatch(result) or not expect):
            yield _violation(result, result.witness)
        case "robust" if result.as_expected is False:
            yield FindingLine(file, result.expected_line or 1, 1, "warning", "RR012", "robust, but `expect not robust`")
        case "robust" if expect and result.expected is None:
            yield FindingLine(file, 1, 1, "warning", "RR013", "robust, without an `expect` line")
        case "unknown":
            yield FindingLine(file, 1, 1, "warning", "RR011", f"undecided: {result.reason}")
    may = "reachable" if result.faults_exact else "may be reachable"
    for fault in result.faults:
        yield FindingLine(file, fault.line, fault.column, "warning", "RR014", f"{may}: {fault.kind}: {fault.message}")
    for wait in result.hangs:
        yield FindingLine(file, wait.line, wait.column, "warning", "RR015", f"the program can hang: {wait.text}")


def from_diagnostics(file: str, found: Iterable[DiagnosticView]) -> Iterator[FindingLine]:
    """Yield diagnostics of a file as findings, with their hints."""
    for each in found:
        more = "".join(f"; {word}: {text}" for word, text in (("expected", each.expected), ("hint", each.hint)) if text)
        yield FindingLine(file, each.line, each.column, each.severity, each.code, each.message + more)


def _violation(result: Result, witness: WitnessView) -> FindingLine:
    """The statement whose operation takes effect late, what it may do, and after which line."""
    events = {event.id: event for event in witness.events}
    late = [(events[pair.earlier], events[pair.later]) for pair in witness.relaxed]
    shown = next(((e, after) for e, after in late if e.type in DOES and e.line and after.line), None)
    text = "not robust: "
    if shown is not None:
        at: EventView | None = shown[0]
        text += f"{_does(shown[0])} after line {shown[1].line}"
    else:
        on_cycle = (events[edge.source] for edge in witness.cycle)
        at = next((event for event in on_cycle if event.line is not None), None)
        text += "RDMA allows a run that sequential consistency forbids"
    if result.spin_only:
        text += ", only through failed spin reads"
    line, column = (1, 1) if at is None else (at.line, at.column)
    return FindingLine(result.file, line, column, "error", "RR010", text)


def _does(event: EventView) -> str:
    owner, _, cell = (event.cell or "").partition(".")
    return DOES[event.type].format(cell=cell, owner=owner)
