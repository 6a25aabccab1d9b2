"""RACE certificates: a sequentially consistent trace with two accesses of one word that conflict and that nothing orders.

Source: docs/races.md, "What races". Which accesses synchronise and which may write is read from the program anew. Where one
line has accesses of a word of which only some do, or only some may, a certificate that depends on it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.certify.consistency import order_for_races, sc_cycle
from rdma_robust.certify.document import json_members, natural, reject
from rdma_robust.certify.hardware import CPU, READS, WRITES, EventKind, Platform
from rdma_robust.certify.thread_events import EventRecord
from rdma_robust.certify.violations import claimed_trace
from rdma_robust.expr import FALSE
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Get,
    ImmPut,
    InlinePut,
    Program,
    Put,
    Read,
    RemoteRmw,
    Rmw,
    Section,
    Send,
    Step,
    Write,
    steps,
)
from rdma_robust.language.flow.looking import waits_for_value, with_looks

KIND: Final = "racing-trace"

_EVERY: Final = "any"
"""What an access is that synchronises with all that do."""
_AT_HAND: Final = frozenset({EventKind.PUT_READS, EventKind.GET_WRITES})
"""What a card does with words at hand: these never synchronise by what a step says."""


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
    access = _Accesses(looking)
    access.check_conflict(claimed[one], claimed[other])
    base = len(program.cells)
    kinds = [_EVERY if access.may_tell(cell) else "" for cell in program.cells]
    kinds += [access.synchronises(each) for each in claimed]
    told = {read: write for read, write in trace.reads_from.items() if _alike(kinds[read], kinds[write])}
    if _alike(kinds[base + one], kinds[base + other]):
        reject("the two accesses synchronise with each other")
    ordered = order_for_races(trace, platform, told)
    if ordered[base + one] >> base + other & 1 or ordered[base + other] >> base + one & 1:
        reject("one of the two accesses happens before the other")
    return f"a run of {len(claimed)} events with accesses of lines {claimed[one].line} and {claimed[other].line} that race"


def _alike(one: str, other: str) -> bool:
    return bool(one and other) and (one == other or _EVERY in (one, other))


@dataclass(frozen=True)
class _Accesses:
    """The accesses of a program, as its statements have them."""

    program: Program

    def synchronises(self, claim: EventRecord) -> str:
        """Return among which accesses one synchronises, nothing if it does not. Raises InvalidCertificate where one line has
        several kinds."""
        cell = claim.event.cell
        if cell is None or claim.event.kind not in READS | WRITES:
            return ""
        if cell in self._words:
            return _EVERY
        if claim.event.kind in _AT_HAND or not self._said:
            return ""
        if not self.may_tell(cell):
            return ""
        kinds = {step.synchronises for step in self._steps(claim) if _may_access(step, cell)}
        if len(kinds) > 1:
            reject(f"line {claim.line} has accesses of {cell} of several kinds")
        return "".join(kinds)

    def may_tell(self, cell: Cell) -> bool:
        """Return whether accesses of a word may synchronise; its initial value does so with all of them."""
        return cell in self._words or any(cell in _named(step) for step in self._said)

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
        mine = [step for step in self._steps(claim) if claim.event.cell in _named(step)]
        return bool(mine) and all(map(_is_atomic, mine))

    def _steps(self, claim: EventRecord) -> Iterator[Step]:
        thread = self.program.threads[claim.event.thread]
        return (step for _, _, step in steps(thread) if step.span.line == claim.line)

    def _all(self) -> Iterator[Step]:
        return (step for thread in self.program.threads for _, _, step in steps(thread))

    @cached_property
    def _said(self) -> list[Step]:
        return [step for step in self._all() if step.synchronises]

    @cached_property
    def _words(self) -> frozenset[Cell]:
        declared = {cell for cell in self.program.cells if cell.sync}
        used = set[Cell]() if declared or self._said else {cell for step in self._all() for cell in _waited_or_atomic(step)}
        return frozenset({*(cell for cell in self.program.cells if cell.moment), *declared, *used})


def _named(step: Step) -> tuple[Cell, ...]:
    """The word that a step is about, not those at hand of its request."""
    match step.op:
        case Put(target=cell) | InlinePut(target=cell) | RemoteRmw(source=cell):
            return (cell,)
        case Read(cell=cell) | Write(cell=cell) | Cas(cell=cell) | Rmw(cell=cell):
            return (cell,)
    return ()


def _may_access(step: Step, cell: Cell) -> bool:
    """Whether a step may access a word that is not at hand: by its name, or as the buffer of a message."""
    match step.op:
        case Get(source=source):
            return source == cell
        case Send() | ImmPut():
            return True
    return cell in _named(step)


def _waited_or_atomic(step: Step) -> tuple[Cell, ...]:
    match step.op:
        case Cas(cell=cell) | Rmw(cell=cell) | RemoteRmw(source=cell):
            return (cell,)
        case Section(cells=cells):
            return cells
        case Read(cell=cell) if waits_for_value(step) and not step.aside:
            return (cell,)
    return ()


def _is_atomic(step: Step) -> bool:
    match step.op:
        case Cas():
            return True
        case Rmw(when=when) | RemoteRmw(when=when):
            return when != FALSE
    return False
