"""RACE certificates: a sequentially consistent trace with two accesses of one word that conflict and that nothing orders.

Source: docs/races.md, "What races". Which accesses synchronise and which may write is read from the program anew. Where one
line has accesses of a word of which only some do, or only some may, a certificate that depends on it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.consistency import order_for_races, sc_cycle
from rdma_robust.certify.document import json_members, natural, reject
from rdma_robust.certify.hardware import CPU, READS, WRITES, Platform
from rdma_robust.certify.race_accesses import EVERY, RaceAccesses, alike, counts_as_write, named_words
from rdma_robust.certify.thread_events import EventRecord
from rdma_robust.certify.violations import claimed_trace
from rdma_robust.language.flow.cfg import Cell, Get, ImmPut, Program, Send, Step, steps
from rdma_robust.language.flow.looking import with_looks

KIND: Final = "racing-trace"


def check_race(program: Program, platform: Platform, evidence: object) -> str:
    """Check that the trace has the race that it claims and return what it is, in a few words. Raises InvalidCertificate."""
    found = json_members(evidence, "`evidence`", ("kind", "events", "mo", "first", "second"))
    looking = with_looks(program)
    trace, claimed = claimed_trace(looking, platform, found["events"], found["mo"])
    one, other = (natural(found[name], f"`evidence.{name}`") for name in ("first", "second"))
    if max(one, other) >= len(claimed) or one == other:
        reject("`evidence.first` and `evidence.second` are not two events of the trace")
    if sc_cycle(trace) is not None:
        reject("no sequentially consistent execution is the trace")
    access = _ClaimedAccesses(looking, RaceAccesses(looking))
    access.check_conflict(claimed[one], claimed[other])
    base = len(program.cells)
    kinds = [EVERY if access.of_steps.may_tell(cell) else "" for cell in program.cells]
    kinds += [access.synchronises(each) for each in claimed]
    told = {read: write for read, write in trace.reads_from.items() if alike(kinds[read], kinds[write])}
    if alike(kinds[base + one], kinds[base + other]):
        reject("the two accesses synchronise with each other")
    ordered = order_for_races(trace, platform, told)
    if ordered[base + one] >> base + other & 1 or ordered[base + other] >> base + one & 1:
        reject("one of the two accesses happens before the other")
    return f"a run of {len(claimed)} events with accesses of lines {claimed[one].line} and {claimed[other].line} that race"


@dataclass(frozen=True)
class _ClaimedAccesses:
    """The accesses of a trace, of whose statements only the lines are known."""

    program: Program
    of_steps: RaceAccesses

    def synchronises(self, claim: EventRecord) -> str:
        """Return among which accesses one synchronises, nothing if it does not. Raises InvalidCertificate where one line has
        several kinds."""
        cell = claim.event.cell
        if cell is None or claim.event.kind not in READS | WRITES:
            return ""
        if cell in self.of_steps.words:
            return EVERY
        mine = (step for step in self._steps(claim) if _may_access(step, cell))
        kinds = {self.of_steps.kind(claim.event.kind, cell, step) for step in mine}
        if len(kinds) > 1:
            reject(f"line {claim.line} has accesses of {cell} of several kinds")
        return "".join(kinds)

    def check_conflict(self, one: EventRecord, other: EventRecord) -> None:
        """Check that two accesses are of one word, not of one CPU, and that one may write. Raises InvalidCertificate."""
        if one.event.cell is None or one.event.cell != other.event.cell:
            reject("the two events are not accesses of one location")
        if any(each.event.kind not in READS | WRITES for each in (one, other)):
            reject("the two events are not accesses of one location")
        if one.event.thread == other.event.thread and {one.event.kind, other.event.kind} <= CPU:
            reject("both accesses are of one CPU")
        if not (self._may_write(one) or self._may_write(other)):
            reject("neither of the two accesses writes")

    def _may_write(self, claim: EventRecord) -> bool:
        if claim.event.kind in WRITES:
            return True
        mine = [step for step in self._steps(claim) if claim.event.cell in named_words(step)]
        return bool(mine) and all(counts_as_write(claim.event, step) for step in mine)

    def _steps(self, claim: EventRecord) -> Iterator[Step]:
        thread = self.program.threads[claim.event.thread]
        return (step for _, _, step in steps(thread) if step.span.line == claim.line)


def _may_access(step: Step, cell: Cell) -> bool:
    """Whether a step may access a word that is not at hand: by its name, or as the buffer of a message."""
    match step.op:
        case Get(source=source):
            return source == cell
        case Send() | ImmPut():
            return True
    return cell in named_words(step)
