"""The decision for any number of copies: count, else bring P(n) for small n, lift, confirm.

Completions of copies that have no bound are not counted, so that their polls always succeed. If no target can be covered
then, the program is robust; if one can and all completions are counted, it is not. Else, in this order: a violation with
few copies, the cut-off of programs without values, a backward search in which each copy counts its own, and UNKNOWN.

Source: docs/theory-crowds.md, "Crowds need only counting"; docs/theory.md, "The pivot refinement" for P(n).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf
from typing import Final

from rdma_robust.beside import Beside
from rdma_robust.counting.both_engines import CountingAnswer, CountingDecision
from rdma_robust.counting.omega_search import omega_search
from rdma_robust.counting.smallest import SmallestResult, smallest
from rdma_robust.counting.well_structured import decide_vectors
from rdma_robust.errors import InternalError, UsageError
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.outcome import NO_SEARCH, Copies, Counts, Outcome, Verdict
from rdma_robust.robustness.crowds import numbers_said
from rdma_robust.robustness.crowds.explicit_run import CountedAttempt, CrowdSearchResult, Explicit
from rdma_robust.robustness.crowds.hero_at_start import HeroAtStart
from rdma_robust.robustness.crowds.instance import Local, TwoCopyInstance
from rdma_robust.robustness.crowds.own_counters import AllCounted, OwnCounters
from rdma_robust.robustness.crowds.steps import Control, CrowdLabel, CrowdMove, InstanceSteps
from rdma_robust.robustness.crowds.value_free import cut_off
from rdma_robust.robustness.lift import confirm
from rdma_robust.robustness.passes import Context
from rdma_robust.robustness.reasons import sorted_faults, waiting_among, waiting_reason
from rdma_robust.robustness.unconfirmed import UNCONFIRMED, may_differ
from rdma_robust.semantics.trace import EventType

MOST_EXPLICIT: Final = 3
"""Copies in all with which a violation is looked for explicitly, where counting has no answer."""

MOST_CUT_OFF: Final = 8
"""Copies in all up to which the cut-off of value-free programs is used."""

_COUNTING: Final = 0.6
"""The part of the time that counting may take; the rest is for P(n)."""

_SMALLEST_STATES: Final = 20_000
_SMALLEST_SECONDS: Final = 10.0
"""What the search for the smallest number may take, if there is no limit."""

_OWN_COUNTERS: Final = 3_000
_OWN_COUNTERS_SECONDS: Final = 30.0
"""The same for a search in which each copy has counters of its own."""

_FAULT_STATES: Final = 20_000

Found = CountingAnswer[Control, Local, CrowdLabel]


def count_copies(instance: TwoCopyInstance, context: Context) -> CrowdSearchResult:
    """Return what is found for any number of copies."""
    counted = _search(instance, context)
    faults, open_ = _faults(instance, counted, context)
    waiting = waiting_among(faults)
    if counted.verdict is Verdict.ROBUST and waiting is not None:
        counted = replace(counted, verdict=Verdict.UNKNOWN, reason=waiting_reason(waiting))
    if counted.verdict is Verdict.ROBUST and open_ and _can_wait(instance):
        counted = replace(counted, verdict=Verdict.UNKNOWN, reason=f"{open_} while looking for messages that wait")
    return replace(counted, faults=faults, faults_exact=not open_ and counted.verdict is Verdict.ROBUST)


def _search(instance: TwoCopyInstance, context: Context) -> CrowdSearchResult:
    names = [thread.name for thread in instance.original.crowds]
    robust = numbers_said.for_any(names)
    if not instance.classes:
        reason = f"{robust}: no pivot lies on a critical cycle of the conflict graph"
        return CrowdSearchResult(instance, Verdict.ROBUST, reason, NO_SEARCH, Counts())
    system = HeroAtStart(InstanceSteps(instance))
    counting: CountingDecision[Control, Local, CrowdLabel] = CountingDecision(system)
    part = context.limits.share(_COUNTING)
    found: Found = counting.decide(part, context.progress)
    tried = None
    if found.cut:
        reason, some = _cut_reason(found, part), context.limits.share(0.5 if found.cut == "time" else 1.0)
        tried = explicitly(
            CrowdSearchResult(instance, Verdict.UNKNOWN, reason, found.engine, _sizes(instance, found)), context, some
        )
        if tried.verdict is not Verdict.UNKNOWN or found.cut != "time":
            return tried
        found = counting.decide(context.limits, context.progress)  # what its share was too small for has the rest
        if found.cut:
            return replace(tried, reason=_cut_reason(found, context.limits), counts=_sizes(instance, found))
    counts = _sizes(instance, found)
    if found.target < 0:
        return CrowdSearchResult(instance, Verdict.ROBUST, f"{robust}: exhausted the search", found.engine, counts)
    counted = CrowdSearchResult(instance, Verdict.UNKNOWN, "", found.engine, counts)
    if instance.uncounted:
        tried = tried or explicitly(counted, context, context.limits)
        if tried.verdict is Verdict.UNKNOWN:
            reason = uncounted_reason(instance, few=not tried.unknown)
            tried = _with_own_counters(replace(tried, reason=reason), context)
        return tried
    return _with_smallest(counted, found, system, context)


def _sizes(instance: TwoCopyInstance, found: Found) -> Counts:
    return Counts(found.stored, 0, len(instance.classes), len(instance.counted))


def _with_own_counters(counted: CrowdSearchResult, context: Context) -> CrowdSearchResult:
    """Return the answer where each copy counts its completions: for small programs."""
    limits = _some_seconds(context, _OWN_COUNTERS_SECONDS)
    limits = limits.at_most(_OWN_COUNTERS)
    instance = counted.instance
    system = OwnCounters(AllCounted(instance))
    found = decide_vectors(system, limits, context.progress)
    if found.cut:
        return counted
    if found.target >= 0:
        return _with_enough(counted, None if found.run is None else system.enough(found.run), context)
    names = [thread.name for thread in instance.original.crowds]
    reason = f"{numbers_said.for_any(names)}: exhausted the search, with the completions of each copy counted"
    counts = Counts(found.stored, 0, len(instance.classes), len(instance.lowered.unbounded))
    return replace(counted, verdict=Verdict.ROBUST, reason=reason, engine=found.engine, counts=counts)


def _with_enough(counted: CrowdSearchResult, enough: tuple[int, ...] | None, context: Context) -> CrowdSearchResult:
    """Return NOT_ROBUST by some P(n) with at most as many copies as are `enough` for a violation, few first."""
    program = counted.instance.original
    names = [thread.name for thread in program.crowds]
    most = dict(zip(names, enough or [MOST_CUT_OFF] * len(names), strict=True))
    few = numbers_up_to(names, min(sum(most.values()), MOST_CUT_OFF))
    known, limits = not counted.unknown, _some_seconds(context)
    for numbers in (n for n in few if sum(n.values()) > MOST_EXPLICIT and all(n[name] <= most[name] for name in names)):
        outcome = _explicit(program, numbers, context, limits)
        if outcome.verdict is Verdict.NOT_ROBUST:
            return _answered(counted, outcome, numbers, least=known)
        known = known and outcome.verdict is Verdict.ROBUST
    if may_differ(program, context.options.model):
        return counted
    if known and enough is not None and sum(enough) <= MOST_CUT_OFF:
        raise InternalError("a target that can be covered is not reached with as many copies as its run has")
    return replace(counted, verdict=Verdict.NOT_ROBUST, reason=numbers_said.NO_SMALLEST)


def _some_seconds(context: Context, seconds: float = _SMALLEST_SECONDS) -> Limits:
    """Half of the time that is left, or so many seconds if there is no limit."""
    limits = context.limits
    return limits.within(seconds) if limits.deadline is None else limits.share(0.5)


def _with_smallest(counted: CrowdSearchResult, found: Found, system: HeroAtStart, context: Context) -> CrowdSearchResult:
    """Return NOT_ROBUST with the smallest number that can be found."""

    def search(limits: Limits) -> SmallestResult[Control, Local, CrowdLabel] | None:
        least = smallest(system, limits.at_most(_SMALLEST_STATES), context.progress, found.run)
        if least is None:
            never.append(True)
        return least

    never: list[bool] = []
    unsure = may_differ(counted.instance.original, context.options.model)
    certain = replace(counted, reason=UNCONFIRMED) if unsure else replace(counted, verdict=Verdict.NOT_ROBUST)
    aside = Beside(context.limits, 0.5, _SMALLEST_SECONDS if context.limits.deadline is None else inf)
    least = aside.note("the smallest number of copies", search, None, share=1.0)
    context.beside.left_out += aside.left_out
    if never:
        raise InternalError("a target that can be covered is not reached with any number of copies")
    if least is None or least.run is None:
        return explicitly(certain, context, context.limits) if unsure else replace(certain, reason=numbers_said.NO_SMALLEST)
    explicit = Explicit(counted.instance, least.run)
    try:
        copies_of(counted.instance.original, dict(explicit.numbers))
    except UsageError:
        many = numbers_said.with_numbers(explicit.numbers)
        return certain if unsure else replace(certain, reason=f"not robust with {many}, too many to write out")
    reason = numbers_said.not_robust(explicit.numbers, least=not least.cut)
    return replace(
        counted,
        verdict=Verdict.NOT_ROBUST,
        reason=reason,
        found=explicit,
        target=least.target,
        least=not least.cut,
    )


def explicitly(counted: CrowdSearchResult, context: Context, limits: Limits) -> CrowdSearchResult:
    """Return the answer of some P(n), where counting has none: a violation with few copies, or that of the cut-off."""
    program, options = counted.instance.original, context.options
    names = [thread.name for thread in program.crowds]
    cut = cut_off(program, options.model)
    last = [] if cut is None or cut * len(names) > MOST_CUT_OFF else [dict.fromkeys(names, cut)]
    known, outcome = True, None
    for numbers in (*numbers_up_to(names, MOST_EXPLICIT), *last):
        outcome = _explicit(program, numbers, context, limits)
        if outcome.verdict is Verdict.NOT_ROBUST:
            return _answered(counted, outcome, numbers, least=known and sum(numbers.values()) <= MOST_EXPLICIT + 1)
        known = known and outcome.verdict is Verdict.ROBUST
    if not last or outcome is None or outcome.verdict is not Verdict.ROBUST:
        return replace(counted, unknown=not known)
    reason = f"{numbers_said.for_any(names)}: without values those with {cut} copies decide"
    return replace(counted, verdict=Verdict.ROBUST, reason=reason, engine=outcome.engine, counts=outcome.counts)


def _explicit(program: Program, numbers: dict[str, int], context: Context, limits: Limits) -> Outcome:
    """Return the outcome of P(n) within half of what is left."""
    from rdma_robust.robustness.decide import decide  # noqa: PLC0415 - which decides by this module

    return decide(copies_of(program, numbers), context.options, limits=limits.share(0.5))


def _answered(counted: CrowdSearchResult, outcome: Outcome, numbers: dict[str, int], *, least: bool) -> CrowdSearchResult:
    pairs = tuple(numbers.items())
    return replace(
        counted,
        verdict=Verdict.NOT_ROBUST,
        reason=numbers_said.not_robust(pairs, least=least),
        engine=outcome.engine,
        counts=outcome.counts,
        explicit=(outcome, Copies(pairs, outcome.program, least)),
    )


def numbers_up_to(names: list[str], most: int) -> Iterator[dict[str, int]]:
    """Yield numbers for all templates, at most so many copies in all, few first."""
    for numbers in sorted(product(range(most + 1), repeat=len(names)), key=sum):
        if sum(numbers) <= most:
            yield dict(zip(names, numbers, strict=True))


def lift_any(counted: CrowdSearchResult, context: Context) -> CountedAttempt:
    """Return the trace of P(n); none where it has no run to a target, or its values are others: see :mod:`unconfirmed`."""
    if counted.found is None:
        return CountedAttempt(counted, None)
    try:
        return CountedAttempt(counted, counted.found.lifted(counted.target))
    except InternalError:
        if not may_differ(counted.instance.original, context.options.model):
            raise
        return CountedAttempt(counted, None)


def confirm_any(attempt: CountedAttempt, context: Context) -> Outcome:
    """Return the outcome, with a witness that the axioms confirm."""
    counted, options = attempt.counted, context.options
    program = counted.instance.original
    outcome = Outcome(
        program,
        counted.verdict,
        counted.reason,
        options.instrumentation,
        counted.engine,
        counted.counts,
        0.0,
        faults=counted.faults,
        faults_exact=counted.faults_exact,
    )
    if counted.explicit is not None:
        found, copies = counted.explicit
        return replace(outcome, witness=found.witness, checked_by=found.checked_by, copies=copies)
    if counted.found is None:
        return outcome
    try:
        if attempt.lifted is None:
            raise InternalError("the run has no trace with real values")
        witness = confirm(counted.found.program, attempt.lifted, options.model)
    except InternalError:
        if not may_differ(program, options.model):
            raise
        return _unconfirmed(counted, outcome, context)
    copies = counted.found.copies(least=counted.least)
    return replace(outcome, witness=witness, checked_by=("axioms",), copies=copies)


def _unconfirmed(counted: CrowdSearchResult, outcome: Outcome, context: Context) -> Outcome:
    """Return the outcome where the run to a target is no witness: that of some P(n), or UNKNOWN."""
    bare = replace(counted, verdict=Verdict.UNKNOWN, reason=UNCONFIRMED, found=None, target=-1)
    again = explicitly(bare, context, context.limits)
    if again.verdict is Verdict.NOT_ROBUST:
        return confirm_any(CountedAttempt(again, None), context)
    return replace(outcome, verdict=Verdict.UNKNOWN, reason=UNCONFIRMED, faults_exact=False)


def uncounted_reason(instance: TwoCopyInstance, *, few: bool) -> str:
    """Return why it is not known whether a program is robust: of which thread any number of completions can wait, and for
    which poll. `few` says that few copies are known to have no violation."""
    thread, remote = instance.uncounted[0]
    name = instance.original.crowds[instance.heroes.index(thread)].name
    polls = (e for e in instance.frame.graphs[thread].edges if e.type is EventType.P and e.remote == remote)
    lines = sorted({e.step.span.line for e in polls})
    reason = f"any number of completions of one copy of {name} can wait for `poll {remote}` (line {lines[0]})"
    return f"{reason}, and there is no violation with {MOST_EXPLICIT} copies in all" if few else reason


def _faults(instance: TwoCopyInstance, counted: CrowdSearchResult, context: Context) -> tuple[tuple[Fault, ...], str]:
    """The faults that can be met, and why these may not be all: as far as it is interesting where there is a violation."""
    few = _FAULT_STATES if counted.verdict is Verdict.ROBUST else min(_FAULT_STATES, 2_000)

    def search(limits: Limits) -> tuple[tuple[Fault, ...], str]:
        return reachable_faults(instance, limits.at_most(few), context.progress)

    if counted.verdict is Verdict.ROBUST and _can_wait(instance):
        return search(context.limits)
    none: tuple[tuple[Fault, ...], str] = ((), "they were left out")
    return context.beside.note("which faults are reachable", search, none)


def _can_wait(instance: TwoCopyInstance) -> bool:
    """Whether a message or a receive might have to wait: then the normal form is not known to be enough."""
    return waiting_among(e.fault for g in instance.frame.graphs for e in g.edges) is not None


def _cut_reason(found: Found, limits: Limits) -> str:
    return f"reached {limits.said(found.cut)} after {found.stored} markings"


@dataclass
class PhaseOne:
    """The counting system of the runs that start no beta, without a target; it notes the faults of moves it was asked for,
    all of which can be made."""

    steps: InstanceSteps
    faults: set[Fault] = field(default_factory=set)

    @property
    def initial(self) -> Control:
        return self.steps.initial

    @property
    def fresh(self) -> tuple[Local, ...]:
        return self.steps.fresh

    def moves(self, control: Control, present: Collection[Local]) -> Iterable[CrowdMove]:
        there = {*present}
        moves = [move for move in self.steps.of_threads(control) if there.issuperset(move.takes)]
        for local in sorted(local for local in {*self.fresh, *there} if local[0] >= 0):
            moves += self.steps.of_copy(control, local)
        for move in moves:
            if not self.steps.started(move.control):
                self.faults.update(e.edge.fault for e in move.label.events if e.edge.fault is not None)
                yield move

    def target(self, _control: Control) -> int:
        return -1

    def idle(self, _control: Control, local: Local) -> bool:
        return self.steps.at_end(local)

    def milestone(self, _control: Control) -> int:
        return 0


def reachable_faults(
    instance: TwoCopyInstance, limits: Limits, progress: Progress = ignore
) -> tuple[tuple[Fault, ...], str]:
    """Return the faults that can be met with some number of copies, and why these may not be all, '' if they are.

    Where completions of copies are not counted, so that polls succeed that should not, they are what may be met.
    """
    if all(edge.fault is None for graph in instance.frame.graphs for edge in graph.edges):
        return (), ""
    system = PhaseOne(InstanceSteps(instance))
    found = omega_search(system, limits, progress)
    cut = f"reached {limits.said(found.cut)}" if found.cut else ""
    return sorted_faults(system.faults), cut or ("not all completions were counted" if instance.uncounted else "")
