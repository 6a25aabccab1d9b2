"""What is to be looked at in the answer for one program: its errors and warnings, its verdict, what goes wrong in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rdma_robust.frame.answer import DiagnosticView
from rdma_robust.frame.finding import FindingLine
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.witness_view import EventView, WitnessView

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
        case "not-robust" if result.witness is not None and not (expect and result.expected == "not-robust"):
            yield _violation(result, result.witness)
        case "robust" if result.expected == "not-robust":
            yield FindingLine(file, result.expected_line or 1, 1, "warning", "RR012", "robust, but `expect not robust`")
        case "robust" if expect and result.expected is None:
            yield FindingLine(file, 1, 1, "warning", "RR013", "robust, without an `expect` line")
        case "unknown":
            yield FindingLine(file, 1, 1, "warning", "RR011", f"undecided: {result.reason}")
    for fault in result.faults:
        counts = expect and result.counts(fault)
        if counts or not (expect and fault.met):
            text = f"{fault.may}: {fault.kind}: {fault.message}"
            yield FindingLine(file, fault.line, fault.column, "error" if counts else "warning", "RR014", text)
    for wait in result.hangs:
        text = f"the program can hang: {wait.text}"
        yield FindingLine(file, wait.line, wait.column, "error" if expect else "warning", "RR015", text)
    for claim in result.broken:
        if claim.kind == "violated":
            yield FindingLine(file, claim.line, claim.column, "warning", "RR012", claim.text)


def from_diagnostics(file: str, found: Iterable[DiagnosticView]) -> Iterator[FindingLine]:
    """Yield diagnostics of a file as findings, with their hints."""
    for each in found:
        more = "".join(f"; {word}: {text}" for word, text in (("expected", each.expected), ("hint", each.hint)) if text)
        yield FindingLine(file, each.line, each.column, each.severity, each.code, each.message + more)


def _violation(result: Result, witness: WitnessView) -> FindingLine:
    at, text = not_robust_because(witness)
    if result.spin_only:
        text += ", only through failed spin reads"
    line, column = (1, 1) if at is None else (at.line, at.column)
    return FindingLine(result.file, line, column, "error", "RR010", f"not robust: {text}")


def not_robust_because(witness: WitnessView) -> tuple[EventView | None, str]:
    """Return the event to point at and what is wrong, in a few words: what takes effect late, and after which line; or
    which atomic operation is torn."""
    events = {event.id: event for event in witness.events}
    late = [(events[pair.earlier], events[pair.later]) for pair in witness.relaxed]
    late = [(e, after) for e, after in late if e.line and after.line]
    of_card = [(e, after) for e, after in late if e.type in DOES]
    on_cycle = [events[edge.source] for edge in witness.cycle]
    torn = [events[edge.source] for edge in witness.cycle if edge.relation == "rmw"]
    if of_card:
        event, after = of_card[0]
        return event, f"{_does(event)} after line {after.line}"
    if late:
        event, after = late[0]
        return event, f"`{event.statement}` may take effect after line {after.line}"
    if torn and torn[0].line:
        return torn[0], f"another access may come between the read and the write of `{torn[0].statement}`"
    at = next((event for event in on_cycle if event.line is not None), None)
    return at, "RDMA allows a run that sequential consistency forbids"


def _does(event: EventView) -> str:
    owner, _, cell = (event.cell or "").partition(".")
    return DOES[event.type].format(cell=cell, owner=owner)
