"""Findings in the answer for one program: its errors and warnings, its verdict, what goes wrong in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rdma_robust.frame.finding import Finding, Flow, Level, Step, digest, file_at, in_a_line, problem_findings
from rdma_robust.reports.check.result import EventView, Result, WitnessView
from rdma_robust.reports.share.claim_findings import ClaimAnswer, claim_findings

DOES: Final = {
    "nlR": "the NIC may read `{cell}`",
    "nrR": "the NIC may read `{owner}.{cell}`",
    "nlW": "the NIC may write `{cell}`",
    "nrW": "the NIC may write `{owner}.{cell}`",
    "nF": "the fence may take effect",
    "nO": "the fence may take effect",
}
"""What an event of a card does late, by its type; the cell of a remote event is named with its node."""


def findings_of(result: Result, expect: bool, claims: Sequence[ClaimAnswer] = ()) -> Iterator[Finding]:
    """Yield the findings; a verdict is one where it counts against the exit code, see `--expect`.

    What the answers for its `claims` say of a fault or a hang is not said again.
    """
    file = result.file
    yield from problem_findings(file, (*result.errors, *result.warnings), result.error_kind, result.reason)
    match result.verdict:
        case "not-robust" if result.witness is not None and not (expect and result.expected == "not-robust"):
            yield _violation(result, result.witness)
        case "robust" if result.expected == "not-robust":
            says = "The program is robust; its `expect` line says it is not."
            yield _verdict(file, result.expected_line or 1, "RR012", says, "robust, but `expect not robust`")
        case "robust" if expect and result.expected is None:
            says = "The program is robust and has no `expect` line."
            yield _verdict(file, 1, "RR013", says, "robust, without an `expect` line")
        case "unknown":
            yield _verdict(file, 1, "RR011", f"Undecided: {result.reason}.")
    answered = [each for each in claims if each.status != "unknown"]
    yield from claim_findings(file, answered)
    places = {(each.kind, each.line) for each in answered}
    for fault in result.faults:
        counts = expect and result.counts(fault)
        if (fault.kind, fault.line) not in places and (counts or not (expect and fault.met)):
            text = f"{fault.may}: {fault.kind}: {fault.message}"
            yield Finding(
                file_at(fault.places) or file, fault.line, fault.column, "error" if counts else "warning", "RR014", text
            )
    for wait in () if any(each.kind == "hang" for each in answered) else result.hangs:
        level: Level = "error" if expect else "warning"
        says = f"The program can hang: {wait.text}."
        yield Finding(file, wait.line, wait.column, level, "RR015", in_a_line(says), sentence=says)
    for claim in result.broken:
        if claim.kind == "violated":
            yield Finding(file, claim.line, claim.column, "warning", "RR012", claim.text, sentence=f"{claim.text}.")


def _verdict(file: str, line: int, code: str, sentence: str, message: str = "") -> Finding:
    return Finding(file, line, None, "warning", code, message or in_a_line(sentence), "verdict", sentence)


def _violation(result: Result, witness: WitnessView) -> Finding:
    """The cycle at the operation that was overtaken, or at its first event; the run and the cycle as flows."""
    events = {event.id: event for event in witness.events}
    on_cycle = [events[edge.source] for edge in witness.cycle]
    main, because = not_robust_because(witness)
    why = "; ".join(dict.fromkeys(pair.text for pair in witness.relaxed))
    sentence = f"Not robust: {because}." + (f" {why[:1].upper()}{why[1:]}." if why else "")
    if result.spin_only:
        sentence += " Only through failed spin reads: robust if loops that only wait are blocking reads."
    run = tuple(_step(events[each], events[each].text) for each in witness.order)
    cycle = tuple(_step(events[edge.source], edge.text) for edge in witness.cycle)
    shape = "\n".join(f"{events[e.source].statement} {events[e.source].type} {e.relation}" for e in witness.cycle)
    return Finding(
        (file_at(main.places) if main else "") or result.file,
        1 if main is None or main.line is None else main.line,
        None if main is None else main.column,
        "error",
        "RR010",
        f"not robust: {because}{', only through failed spin reads' if result.spin_only else ''}",
        "verdict",
        sentence,
        "" if main is None else main.statement,
        related=tuple(_step(event, event.text) for event in dict.fromkeys(on_cycle) if event.line is not None),
        flows=(
            Flow("run", "The run, each step where it takes effect", run),
            Flow("cycle", "The cycle: why no sequentially consistent execution does this", cycle),
        ),
        fingerprint=("rdmaRobustCycle/v1", digest(f"{result.program}\n{shape}")),
    )


def _step(event: EventView, text: str) -> Step:
    kinds, essential = (event.agent, event.type), event.part == "pivot"
    return Step(event.line, event.column, text, event.statement, kinds, essential, file_at(event.places))


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
        return event, f"{_does(event)} after line {after.places[0]}"
    if late:
        event, after = late[0]
        return event, f"`{event.statement}` may take effect after line {after.places[0]}"
    if torn and torn[0].line:
        return torn[0], f"another access may come between the read and the write of `{torn[0].statement}`"
    at = next((event for event in on_cycle if event.line is not None), None)
    return at, "RDMA allows a run that sequential consistency forbids"


def _does(event: EventView) -> str:
    owner, _, cell = (event.cell or "").partition(".")
    return DOES[event.type].format(cell=cell, owner=owner)
