"""Records that every report is written from: one for each program, made from an outcome or a failure.

The records hold only strings, numbers and tuples, so they cross process boundaries and map one to one to JSON; their
field names are the JSON's (`schema/check.schema.json`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rdma_robust.errors import Diagnostic
from rdma_robust.frame.answer import Counts, DiagnosticView, ErrorKind, Failure, diagnostics
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.language.flow.send_queues import NeededSlots, needed_slots
from rdma_robust.model import Model
from rdma_robust.outcome import Matters, Outcome, Verdict, Witness
from rdma_robust.reports.share.totals import Verdicts
from rdma_robust.semantics.hang import Wait
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType, Trace
from rdma_robust.semantics.wording import Words

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class EventView:
    """One event. `id` is its index in the trace, `part` is `init`, `alpha`, `pivot` or `beta`.

    `agent` is `init`, `cpu` or `nic`; `thread` and `node` are None for initial writes, `remote` is the other node of the
    queue pair. `label` is short and leaves out who acts, `text` is a clause that stands alone.
    """

    id: int
    type: str
    part: str
    agent: str
    thread: str | None
    node: str | None
    remote: str | None
    cell: str | None
    read: int | None
    written: int | None
    line: int | None
    column: int | None
    expanded_from: tuple[int, ...]
    places: tuple[str, ...]
    statement: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class RelationsView:
    """The relations of the trace as pairs of event ids; the last three are None where it has nothing that they order."""

    po: Pairs
    pf: Pairs
    rf: Pairs
    mo: Pairs
    nfo: Pairs
    rao: Pairs | None = None
    sm: Pairs | None = None
    rpf: Pairs | None = None


@dataclass(frozen=True, slots=True)
class EdgeView:
    source: int
    relation: str
    target: int
    text: str


@dataclass(frozen=True, slots=True)
class RelaxedView:
    """Two events of one thread that take effect in the opposite of the program order."""

    earlier: int
    later: int
    text: str


@dataclass(frozen=True, slots=True)
class WitnessView:
    """`order` is alpha, then the pivot (if any), then beta: the order in which the events take effect.

    `matter` are the events of the cycle and of the reorderings, and those on which they depend (:mod:`what_matters`).
    """

    events: tuple[EventView, ...]
    order: tuple[int, ...]
    alpha: tuple[int, ...]
    pivot: int | None
    beta: tuple[int, ...]
    run: tuple[int, ...]
    relations: RelationsView
    cycle: tuple[EdgeView, ...]
    relaxed: tuple[RelaxedView, ...]
    matter: tuple[int, ...]


def view(program: Program, witness: Witness, order: str) -> WitnessView:
    """Return `witness`, a witness for `program` under an order of that name, as plain data."""
    from rdma_robust.semantics.what_matters import of_counterexample  # noqa: PLC0415 - slow; few read verdicts have one

    words = Words(program, order)
    alpha = tuple(e.index for e in witness.order[: witness.before])
    pivot = None if witness.pivot is None else witness.pivot.index
    beta = tuple(e.index for e in witness.order[witness.before :] if e.index != pivot)
    part = dict.fromkeys(alpha, "alpha") | dict.fromkeys(beta, "beta") | ({} if pivot is None else {pivot: "pivot"})
    trace = witness.trace
    return WitnessView(
        events=tuple(_event(program, words, e, part.get(e.index, "init")) for e in trace.events),
        order=tuple(e.index for e in witness.order),
        alpha=alpha,
        pivot=pivot,
        beta=beta,
        run=tuple(e.index for e in witness.run),
        relations=_relations(trace),
        cycle=tuple(
            EdgeView(c.source.index, c.relation, c.target.index, words.edge(c.source, c.relation, c.target))
            for c in witness.cycle.edges
        ),
        relaxed=tuple(RelaxedView(a.index, b.index, words.reordering(a, b)) for a, b in witness.relaxed),
        matter=tuple(sorted(of_counterexample(program, trace, witness.cycle, witness.relaxed, witness.pivot))),
    )


def _event(program: Program, words: Words, event: Event, part: str) -> EventView:
    thread = program.threads[event.thread] if event.thread >= 0 else None
    agent = "init" if event.type is EventType.INIT else "cpu" if event.type in CPU_TYPES else "nic"
    return EventView(
        id=event.index,
        type=event.type.value,
        part=part,
        agent=agent,
        thread=thread.name if thread else None,
        node=thread.node if thread else None,
        remote=event.remote,
        cell=None if event.cell is None else str(event.cell),
        read=event.read,
        written=event.written,
        line=event.step.span.line if event.step else None,
        column=event.step.span.column if event.step else None,
        expanded_from=event.step.span.expanded_from if event.step else (),
        places=event.step.span.places if event.step else (),
        statement=words.statement(event),
        label=words.label(event),
        text=words.clause(event),
    )


def _relations(trace: Trace) -> RelationsView:
    return RelationsView(
        *(tuple(each) for each in (trace.po, trace.pf, trace.rf, trace.mo, trace.nfo)),
        *(None if each is None else tuple(each) for each in (trace.rao, trace.sm, trace.rpf)),
    )


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


SILENT: Final = "RR845"
"""The warning about a process of C that does nothing."""


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
        as_expected=as_expected(outcome.as_expected, outcome.warnings),
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


def as_expected(found: bool | None, warnings: Iterable[Diagnostic]) -> bool | None:
    """Return whether an answer is the expected one: about a C program with a process that does nothing (RR845), which is
    likely not the program that was meant, none is."""
    return False if found and any(each.code == SILENT for each in warnings) else found


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


ROBUSTNESS: Final = Verdicts("robust", "not-robust")


def why_not_expected(result: Result) -> list[str]:
    """Return why `--expect` counts a program, in a few words each; nothing if it does not."""
    said = [f"line {each.line}: {_failing(each)}" for each in result.broken]
    if result.verdict in (ROBUSTNESS.good, ROBUSTNESS.bad):
        if result.expected is None:
            said.append("no `expect` line about the verdict")
        elif result.expected != result.verdict:
            said.append(f"line {result.expected_line}: expected {result.expected.replace('-', ' ')}")
        said += ["a process does nothing"] if any(each.code == SILENT for each in result.warnings) else []
    return said


def _failing(claim: BrokenClaimView) -> str:
    if claim.kind == "hang":
        return "a hang that is not expected"
    if claim.kind == "violated":
        return claim.text
    return f"{'failing ' * (claim.kind == 'assertion')}{claim.kind} that is not expected"


def summarise(
    results: Sequence[Result],
    *,
    requested: int,
    expect: bool,
    time_s: float,
    stopped: Exit | None = None,
    passed_over: int = 0,
) -> Counts:
    """Return the numbers of `results`; `stopped` is the exit code of a run that was stopped before its end."""
    return Counts(
        noun="program",
        requested=requested,
        done=len(results),
        numbers=ROBUSTNESS.numbers(results, expect=expect),
        interrupted=stopped is not None,
        exit_code=worst([exit_of(each, expect) for each in results]) if stopped is None else stopped,
        time_s=round(time_s, 6),
        passed_over=passed_over,
    )


def mismatch(result: Result) -> bool:
    """Return whether a program fails `--expect`: its verdict is not the expected one, a claim is seen to fail, or there is
    no `expect` line about the verdict, so that nobody foresaw it."""
    return ROBUSTNESS.mismatch(result)


def exit_of(result: Result, expect: bool) -> Exit:
    """Return the exit code that `result` alone would give."""
    return ROBUSTNESS.exit_of(result, expect)


def with_codes(summary: Counts, codes: Iterable[int], stopped: Exit | None) -> Counts:
    """Return a summary to whose exit code those of other answers are added; `stopped` is that of a run that was stopped."""
    code = int(worst([Exit(summary.exit_code), *map(Exit, codes)]) if stopped is None else stopped)
    return replace(summary, exit_code=code, interrupted=summary.interrupted or stopped is not None)
