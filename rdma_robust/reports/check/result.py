"""What every report is written from: one plain record per program, made from an outcome or a failure.

The records hold only strings, numbers and tuples, so they cross process boundaries and map one to one to JSON; their
field names are the JSON's (`schema/check.schema.json`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rdma_robust.frame.answer import DiagnosticView, ErrorKind, Failure, diagnostics
from rdma_robust.language.flow.cfg import Fault
from rdma_robust.language.flow.send_queues import NeededSlots, needed_slots
from rdma_robust.model import Model
from rdma_robust.outcome import Matters, Outcome, Verdict
from rdma_robust.reports.check.witness_view import WitnessView, view
from rdma_robust.semantics.hang import Wait

VerdictWord = Literal["robust", "not-robust", "unknown", "error"]

_WORDS: dict[Verdict, VerdictWord] = {
    Verdict.ROBUST: "robust",
    Verdict.NOT_ROBUST: "not-robust",
    Verdict.UNKNOWN: "unknown",
}


@dataclass(frozen=True, slots=True)
class FaultView:
    """Something that goes wrong in some execution, if it is `met`; else it may, as far as the search came."""

    kind: str
    message: str
    line: int
    column: int
    expanded_from: tuple[int, ...] = ()
    met: bool = False
    places: tuple[str, ...] = ()

    @property
    def may(self) -> str:
        """How sure it is that this happens, in a word."""
        return "reachable" if self.met else "possible"

    @property
    def where(self) -> str:
        """The line, with those that it was expanded from, as :attr:`Span.where`."""
        return " from ".join(self.places)


@dataclass(frozen=True, slots=True)
class BrokenClaimView:
    """A claim of the program that is seen to fail although no `expect` line says so: what kind it is, and where."""

    kind: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class CopiesView:
    """The templates of a program. Of which P(n) the witness is: how many copies of each; None without a witness. `least` if
    there is no violation with fewer in all."""

    templates: tuple[str, ...]
    numbers: dict[str, int] | None
    least: bool


@dataclass(frozen=True, slots=True)
class Result:
    """The answer for one file. `error_kind` is set exactly when `verdict` is `error`.

    `expected` is what the `expect` line at `expected_line` says of the verdict; `as_expected` is None without one or without
    a decided verdict, and False where a program with `expect` lines has `broken` claims. `hangs` are the threads that wait
    in a hang that was come by; none says nothing about hangs. `model` is the memory model that was asked about, None for
    the paper's. `copies` are about a program with templates. `left_out` says what was not found out beside the verdict, and
    by which limit. `send_slots` are of the queue pairs whose threads bound them. `matters` is None where it was not asked
    whether it matters that the program is not robust.
    """

    file: str
    verdict: VerdictWord
    reason: str
    error_kind: ErrorKind | None = None
    program: str | None = None
    expected: Literal["robust", "not-robust"] | None = None
    expected_line: int | None = None
    as_expected: bool | None = None
    instrumentation: str | None = None
    engine: str | None = None
    states: int = 0
    transitions: int = 0
    pivots: int = 0
    counters: int = 0
    threads: int = 1
    processes: int = 0
    time_s: float = 0.0
    spin_only: bool = False
    checked_by: tuple[str, ...] = ()
    faults: tuple[FaultView, ...] = ()
    faults_exact: bool = True
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    hangs: tuple[Wait, ...] = ()
    broken: tuple[BrokenClaimView, ...] = ()
    witness: WitnessView | None = None
    model: Model | None = None
    copies: CopiesView | None = None
    left_out: tuple[str, ...] = ()
    matters: Matters | None = None
    send_slots: tuple[NeededSlots, ...] = ()

    def counts(self, fault: FaultView) -> bool:
        """Whether a fault is of a claim that is broken, and so against what the program is expected to do."""
        return any((each.kind, each.line) == (fault.kind, fault.line) for each in self.broken)


def result_of(outcome: Outcome, file: str) -> Result:
    """Return the record of `outcome` for the program that the user calls `file`."""
    program = outcome.program
    expected: Literal["robust", "not-robust"] | None = None
    if program.expect_robust is not None:
        expected = "robust" if program.expect_robust else "not-robust"
    return Result(
        file=file,
        verdict=_WORDS[outcome.verdict],
        reason=outcome.reason,
        program=program.name,
        expected=expected,
        expected_line=next((each.span.line for each in program.expectations if each.kind == "robust"), None),
        as_expected=outcome.as_expected,
        instrumentation=outcome.instrumentation,
        engine=outcome.engine,
        states=outcome.counts.states,
        transitions=outcome.counts.transitions,
        pivots=outcome.counts.pivots,
        counters=outcome.counts.counters,
        threads=outcome.counts.threads,
        processes=outcome.counts.processes,
        time_s=round(outcome.time_s, 6),
        spin_only=outcome.spin_only,
        checked_by=outcome.checked_by,
        faults=tuple(_fault(f, outcome.meets(f)) for f in outcome.faults),
        faults_exact=outcome.faults_exact,
        warnings=diagnostics(outcome.warnings),
        hangs=outcome.hang.waits if outcome.hang else (),
        broken=tuple(BrokenClaimView(each.kind, each.line, each.column, each.text) for each in outcome.broken),
        witness=view(outcome.shown, outcome.witness, outcome.model.order) if outcome.witness else None,
        model=outcome.model if outcome.model.words else None,
        copies=_copies(outcome),
        left_out=outcome.left_out,
        matters=outcome.matters,
        send_slots=needed_slots(program.threads),
    )


def _copies(outcome: Outcome) -> CopiesView | None:
    found, templates = outcome.copies, tuple(thread.name for thread in outcome.program.crowds)
    if not templates:
        return None
    return CopiesView(templates, dict(found.numbers) if found else None, found.least if found else False)


def unanswered_result(failure: Failure) -> Result:
    """Return the record of a program without a verdict."""
    return Result(
        failure.file,
        failure.verdict,
        failure.reason,
        failure.error_kind,
        errors=failure.errors,
        warnings=failure.warnings,
        time_s=failure.time_s if failure.error_kind is None else 0.0,
    )


def _fault(fault: Fault, met: bool) -> FaultView:
    span = fault.span
    expanded = span.expanded_from
    return FaultView(fault.kind, fault.message, span.line, span.column, expanded, met, span.places)
