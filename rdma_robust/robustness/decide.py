"""The decision procedure: events, filter, instrument, lower, cover, lift, confirm."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rdma_robust.counters.lower import lower
from rdma_robust.counters.program import counter_bounds
from rdma_robust.counters.search import CounterSearch, explore_lowered
from rdma_robust.counters.searches import SearchResult
from rdma_robust.errors import LimitReached
from rdma_robust.guard import out_of_memory
from rdma_robust.language.flow.cfg import Fault, Program, Recv, Section, peer_of
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import BY_FILTER, NO_SEARCH, UNFOLLOWED, Counts, Outcome, Verdict
from rdma_robust.robustness import contracts, shown
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.lift import confirm, lift
from rdma_robust.robustness.paper import instrument_frame
from rdma_robust.robustness.passes import (
    Attempt,
    Context,
    CounterArtefact,
    CoverArtefact,
    DecisionPass,
    FilterArtefact,
    Found,
    Passes,
    VassArtefact,
    run_passes,
)
from rdma_robust.robustness.pivot import instrument_pivots
from rdma_robust.robustness.reasons import sorted_faults, waiting_among, waiting_reason
from rdma_robust.robustness.reductions.like_threads import like_faults
from rdma_robust.robustness.searched_orders import ARGUED, is_open, not_searched
from rdma_robust.robustness.static_filter import pivots_to_try
from rdma_robust.robustness.unconfirmed import UnconfirmedError, search_on, watched_decision
from rdma_robust.semantics.waits import messages_wait

NOTHING: Final[Found] = CounterSearch(NO_SEARCH, False, 0, SearchResult(-1, (), 0, 0, frozenset()), [], [])
"""The search that was not made."""

_FAULT_STATES = 2_000_000
"""States spent at most on the reachable faults of a program that is robust without a search."""

_FAULTS: Final = "which faults are reachable"

_SHORTER_STATES = 2000
"""States spent at least on a shorter witness: about 20 ms in Python."""


def decide(
    program: Program,
    options: CheckOptions,
    progress: Progress = ignore,
    limits: Limits | None = None,
) -> Outcome:
    """Decide robustness of `program`.

    `limits` are instead of those of `options`, for a decision that has a share of the time of something else.

    ROBUST follows an exhausted search, or a static filter that leaves no pivot: then a search is made only to know
    which faults are reachable, and `faults_exact` says whether it was completed. NOT_ROBUST carries a witness confirmed
    by the axioms; a search cut short by a limit of `options` is UNKNOWN and says which limit and how far it got. So is
    a program in which a message can find no buffer, or a receive no room, under SC, as long as no violation is found.
    Under a model without a proven normal form brute force over the axioms decides, see
    :func:`~by_axioms.decide_by_axioms`. Raises InternalError when the witness of a reached target does not confirm (but
    see :mod:`unconfirmed`). Source: docs/theory.md, "The normal form"; Theorems 5.1 and 5.2 of the paper.
    """
    started = time.monotonic()
    return replace(
        decided_by_passes(program, Context.of(options, progress, limits=limits)), time_s=time.monotonic() - started
    )


def decided_by_passes(program: Program, context: Context) -> Outcome:
    """Return the outcome of the passes for `program`; UNKNOWN with the pass in which a limit was reached, if one was.

    What the options leave open about the hardware, the program says.
    """
    context = replace(context, options=context.options.on(program.hardware))
    model = context.options.model
    if model.order not in ARGUED and is_open(program, model):
        from rdma_robust.robustness.between_tables import decided_both_ways  # noqa: PLC0415 - few tables need it
        from rdma_robust.robustness.by_axioms import decide_by_axioms  # noqa: PLC0415 - for models that few ask for

        return decided_both_ways(program, model, _under(context), lambda why: decide_by_axioms(program, context, why))
    try:
        outcome: Outcome = run_passes(passes_for(program, model), program, context)
    except UnconfirmedError as reached:
        outcome = search_on(reached.covered, context, _under(context))
    except (LimitReached, MemoryError) as reached:
        why = out_of_memory(reached) if isinstance(reached, MemoryError) else str(reached)
        instrumentation, engine = context.options.instrumentation, NOTHING.engine
        outcome = Outcome(program, Verdict.UNKNOWN, why, instrumentation, engine, Counts(), 0.0)
    if messages_wait(program):
        from rdma_robust.robustness.by_axioms import with_waiting  # noqa: PLC0415 - few programs need it

        outcome = with_waiting(outcome, context)
    return replace(_followed(outcome), model=model, left_out=tuple(context.beside.left_out))


def _followed(outcome: Outcome) -> Outcome:
    """Return UNKNOWN for a program that is robust only as far as its values were followed, see `trencher_values`."""
    if outcome.verdict is not Verdict.ROBUST:
        return outcome
    known = outcome.faults if outcome.faults_exact else tuple(f for f in _all_faults(outcome.program) if f is not None)
    left = next((fault for fault in known if fault.kind == UNFOLLOWED), None)
    if left is None:
        return outcome
    return replace(outcome, verdict=Verdict.UNKNOWN, reason=f"{left.message}: line {left.span.where}", faults_exact=False)


def values_left(program: Program) -> str:
    """Return what is not followed of the values of a program; nothing if all are."""
    return next((f.message for f in _all_faults(program) if f is not None and f.kind == UNFOLLOWED), "")


def _all_faults(program: Program) -> list[Fault | None]:
    return [step.fault for thread in program.threads for _, _, step in thread.edges]


def _events(program: Program, context: Context) -> InstrumentationFrame:
    options = context.options
    return InstrumentationFrame.to_instrument(program, options.model, context.limits, options.recv_depth)


def _axioms(program: Program, context: Context) -> Outcome:
    from rdma_robust.robustness.by_axioms import decide_by_axioms  # noqa: PLC0415 - for models that few ask for

    model = context.options.model
    if not_searched(program, model) and _has_normal_form(program):
        from rdma_robust.robustness.between_tables import decided_between  # noqa: PLC0415 - few tables lack a fact

        found = decided_between(program, model, _under(context))
        if found is not None:
            return found
    return decide_by_axioms(program, context)


def _under(context: Context) -> Callable[[Program, Model], Outcome]:
    """Return the decision under another model, with the same limits."""

    def decided(program: Program, model: Model) -> Outcome:
        return decided_by_passes(program, replace(context, options=replace(context.options, hardware=model)))

    return decided


def _filter(frame: InstrumentationFrame, context: Context) -> FilterArtefact:
    options = context.options
    if options.instrumentation == "paper":
        return FilterArtefact(frame, None)
    pivots = pivots_to_try(frame, options.reductions, options.large)
    return FilterArtefact(pivots.frame, pivots)


def _instrument(left: FilterArtefact, _context: Context) -> CounterArtefact:
    if left.pivots is None:
        return CounterArtefact(left.frame.program, instrument_frame(left.frame))
    counters = instrument_pivots(left.pivots)
    if left.pivots.apart is not None and None in counter_bounds(counters).values():
        return CounterArtefact(left.frame.program, instrument_pivots(left.pivots.apart))
    return CounterArtefact(left.frame.program, counters, like_faults(left.pivots.alike))


def _lower(instrumented: CounterArtefact, _context: Context) -> VassArtefact:
    return VassArtefact(instrumented.program, lower(instrumented.counters), instrumented.like_faults)


def _cover(lowered: VassArtefact, context: Context) -> CoverArtefact:
    limits, options = context.limits, context.options
    if lowered.by_filter and not _can_wait(lowered):
        found = _search_of_faults(lowered, context) if _can_go_wrong(lowered) else NOTHING
        return CoverArtefact(lowered, found, found, limits)
    found = explore_lowered(
        lowered.vass,
        limits,
        context.progress,
        engine=options.engine,
        reduce="por" in options.reductions,
        compiled=options.kernel != "python",
    )
    return CoverArtefact(lowered, found, _shorter(lowered, found, context) if found.result.target >= 0 else found, limits)


def _lift(covered: CoverArtefact, context: Context) -> Attempt:
    if covered.shortest.result.target < 0:
        return Attempt(covered, None)
    with watched_decision(covered, context.options.model):
        return Attempt(covered, lift(covered.lowered.program, covered.shortest.run, covered.target, context.options.model))


def _confirm(attempt: Attempt, context: Context) -> Outcome:
    covered, options = attempt.covered, context.options
    program, found = covered.lowered.program, covered.found
    with watched_decision(covered, options.model):
        witness = None if attempt.lifted is None else confirm(program, attempt.lifted, options.model)
    verdict, reason = _verdict(covered)
    pivots = len({label.starts for label in found.fired} - {None})
    return Outcome(
        program,
        verdict,
        reason,
        options.instrumentation,
        found.engine,
        Counts(found.result.states, found.result.transitions, pivots, found.dimension, found.threads, found.processes),
        0.0,
        witness,
        faults=_faults(covered),
        faults_exact=verdict is Verdict.ROBUST and not found.result.cut,
        checked_by=("axioms",) if witness else (),
    )


DECISION: Final[Passes] = (
    DecisionPass("events", _events, contracts.PROGRAM, contracts.EVENTS, shown.events),
    DecisionPass("filter", _filter, contracts.EVENTS, contracts.FILTERED, shown.filtered),
    DecisionPass("instrument", _instrument, contracts.FILTERED, contracts.INSTRUMENTED, shown.instrumented),
    DecisionPass("lower", _lower, contracts.INSTRUMENTED, contracts.LOWERED, shown.lowered),
    DecisionPass("cover", _cover, contracts.LOWERED, contracts.COVERED, shown.covered),
    DecisionPass("lift", _lift, contracts.COVERED, contracts.LIFTED, shown.shown_trace),
    DecisionPass("confirm", _confirm, contracts.LIFTED, contracts.DECIDED, shown.shown_outcome),
)
"""The passes from a program to its outcome."""

BY_AXIOMS: Final[Passes] = (DecisionPass("axioms", _axioms, contracts.PROGRAM, contracts.DECIDED, shown.shown_outcome),)
"""The same under a model for which no search is proven to decide."""


def _has_normal_form(program: Program) -> bool:
    """Whether locked sections of several locations, if there are any, have CPUs beside them only."""
    ops = [step.op for thread in program.threads for _, _, step in thread.edges]
    return not any(isinstance(op, Section) for op in ops) or not any(peer_of(op) or isinstance(op, Recv) for op in ops)


def passes_for(program: Program, model: Model) -> Passes:
    """Return the passes that decide robustness of `program`: for any number of copies, if it has templates."""
    if not_searched(program, model) or not _has_normal_form(program):
        return BY_AXIOMS
    if not program.crowds:
        return DECISION
    from rdma_robust.robustness.crowds.passes_any import FOR_ANY  # noqa: PLC0415 - few programs need it

    return FOR_ANY


def _verdict(covered: CoverArtefact) -> tuple[Verdict, str]:
    result = covered.found.result
    if result.target >= 0:
        return Verdict.NOT_ROBUST, "a violating trace was found and confirmed by the axioms"
    if (fault := waiting_among(_faults(covered))) is not None:
        return Verdict.UNKNOWN, waiting_reason(fault)
    if covered.lowered.by_filter and not (result.cut and _can_wait(covered.lowered)):
        return Verdict.ROBUST, BY_FILTER
    if result.cut:
        return Verdict.UNKNOWN, _cut_reason(result, covered.limits)
    return Verdict.ROBUST, "exhausted the search: no violating trace exists"


def _can_wait(lowered: VassArtefact) -> bool:
    """Whether a message or a receive might have to wait: then the normal form is not known to be enough."""
    commands = (c for p in lowered.vass.program.processes for c in p.commands)
    return waiting_among(label.edge.step.fault for c in commands for label in c.body.all_labels()) is not None


def _can_go_wrong(lowered: VassArtefact) -> bool:
    commands = (c for p in lowered.vass.program.processes for c in p.commands)
    return any(label.edge.fault for c in commands for label in c.body.all_labels())


def _search_of_faults(lowered: VassArtefact, context: Context) -> Found:
    """Return a search for nothing but the faults of a program that is known to be robust, as far as it goes."""
    options = context.options

    def search(limits: Limits) -> Found:
        few = limits.at_most(_FAULT_STATES)
        found = explore_lowered(
            lowered.vass,
            few,
            context.progress,
            engine=options.engine,
            reduce="por" in options.reductions,
            compiled=options.kernel != "python",
        )
        if found.result.cut:
            context.beside.leave_out(_FAULTS, _cut_reason(found.result, few))
        return found

    return context.beside.note(_FAULTS, search, replace(NOTHING, result=replace(NOTHING.result, cut="time")))


def _shorter(lowered: VassArtefact, found: Found, context: Context) -> Found:
    """Return a search with a shortest run, if a breadth-first one of a similar size finds it, else `found`."""
    if found.engine == "bfs":
        return found

    def search(limits: Limits) -> Found:
        # Alone: threads would find one, and have it found again.
        few = limits.at_most(2 * found.result.states + _SHORTER_STATES).alone()
        short = explore_lowered(lowered.vass, few, engine="bfs", reduce=False, compiled=found.compiled)
        return found if short.result.target < 0 else short

    return context.beside.note("a shorter counterexample", search, found)


def _cut_reason(result: SearchResult, limits: Limits) -> str:
    """Return one line naming the limit that was reached and how far the search got."""
    return f"reached {limits.said(result.cut)} after {result.states} states, {result.frontier} of them not yet expanded"


def _faults(covered: CoverArtefact) -> tuple[Fault, ...]:
    fired = {label.edge.fault for label in covered.found.fired}
    return sorted_faults({other for f in fired if f is not None for other in covered.lowered.like_faults.get(f, (f,))})
