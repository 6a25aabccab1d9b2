"""The decision procedure, on one screen: instrument, lower, cover, lift, confirm."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from rdma_robust.counters.program import CounterProgram
from rdma_robust.counters.search import Exploration, explore
from rdma_robust.counters.searches import SearchResult
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Counts, Outcome, Verdict
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.lift import lift
from rdma_robust.robustness.paper import instrument_paper
from rdma_robust.robustness.pivot import instrument_pivot

INSTRUMENTATIONS: Final[Mapping[str, Callable[[Program, CheckOptions], CounterProgram[EventLabel]]]] = {
    "pivot": lambda program, options: instrument_pivot(program, options.model, options.reductions, large=options.large),
    "paper": lambda program, options: instrument_paper(program, options.model),
}
Found = Exploration[EventLabel]

NOTHING: Final[Found] = Exploration("none", False, 0, SearchResult(-1, (), 0, 0, frozenset()), [], [])
"""The search that was not made."""

_FAULT_STATES = 2_000_000
"""States spent at most on the reachable faults of a program that is robust without a search."""

_SHORTER_STATES = 2000
"""States spent at least on a shorter witness: about 20 ms in Python."""


def search(program: CounterProgram[EventLabel], options: CheckOptions, limits: Limits, progress: Progress) -> Found:
    """Search an instrumented program for a target."""
    compiled = options.kernel != "python"
    return explore(program, limits, progress, engine=options.engine, reduce="por" in options.reductions, compiled=compiled)


def decide(program: Program, options: CheckOptions, progress: Progress = ignore) -> Outcome:
    """Decide robustness of `program`, see :func:`decide_instrumented`."""
    started = time.monotonic()
    return decide_instrumented(
        program, INSTRUMENTATIONS[options.instrumentation](program, options), options, progress, started
    )


def decide_instrumented(
    program: Program,
    instrumented: CounterProgram[EventLabel],
    options: CheckOptions,
    progress: Progress = ignore,
    started: float | None = None,
) -> Outcome:
    """Decide robustness of `program` by its instrumented form; the time limit counts from `started`, by default now.

    ROBUST follows an exhausted search, or a static filter that leaves no pivot: then a search is made only to know which
    faults are reachable, and `faults_exact` says whether it was completed. NOT_ROBUST carries a witness confirmed by the
    axioms; a search cut short by a limit of `options` is UNKNOWN and says which limit and how far it got. Raises
    InternalError when the witness of a reached target does not confirm. Source: normal-form.md; Theorems 5.1 and 5.2.
    """
    started = time.monotonic() if started is None else started
    deadline = None if options.timeout is None else started + options.timeout
    limits = Limits(deadline, options.max_states, options.memory)
    by_filter = not instrumented.targets
    if by_filter:
        limits = replace(limits, states=min(limits.states or _FAULT_STATES, _FAULT_STATES))
    found = NOTHING if by_filter and not _can_go_wrong(instrumented) else search(instrumented, options, limits, progress)
    result = found.result
    witness = None
    if result.target >= 0:
        short = shorter(instrumented, found, limits)
        verdict, reason = Verdict.NOT_ROBUST, "a violating trace was found and confirmed by the axioms"
        target = instrumented.targets[short.result.target].label
        witness = lift(program, short.run, target, options.model)
    elif by_filter:
        verdict, reason = Verdict.ROBUST, "no pivot lies on a critical cycle of the conflict graph: robust without a search"
    elif result.cut:
        verdict, reason = Verdict.UNKNOWN, cut_reason(result, options)
    else:
        verdict, reason = Verdict.ROBUST, "exhausted the search: no violating trace exists"
    fired = found.fired
    pivots = len({label.starts for label in fired} - {None})
    return Outcome(
        program,
        verdict,
        reason,
        options.instrumentation,
        found.engine,
        Counts(result.states, result.transitions, pivots, found.dimension),
        time.monotonic() - started,
        witness,
        faults=_faults(fired),
        faults_exact=verdict is Verdict.ROBUST and not result.cut,
        checked_by=("axioms",) if witness else (),
    )


def _can_go_wrong(program: CounterProgram[EventLabel]) -> bool:
    return any(label.edge.step.fault for p in program.processes for c in p.commands for label in c.body.all_labels())


def shorter(program: CounterProgram[EventLabel], found: Found, limits: Limits) -> Found:
    """Return a search with a shortest run, if a breadth-first one of a similar size finds it, else `found`."""
    if found.engine == "bfs":
        return found
    few = replace(limits, states=min(limits.states or sys.maxsize, 2 * found.result.states + _SHORTER_STATES))
    short = explore(program, few, engine="bfs", reduce=False, compiled=found.compiled)
    return found if short.result.target < 0 else short


def cut_reason(result: SearchResult, options: CheckOptions) -> str:
    """Return one line naming the limit that was reached and how far the search got."""
    limit = {
        "time": f"the time limit of {options.timeout} s",
        "states": f"the limit of {options.max_states} states",
        "memory": f"the memory limit of {options.memory} MiB",
    }.get(result.cut)
    if limit is None:
        raise InternalError(f"a search was cut by an unknown limit {result.cut!r}")
    return f"reached {limit} after {result.states} states, {result.frontier} of them not yet expanded"


def _faults(fired: list[EventLabel]) -> tuple[Fault, ...]:
    found = {label.edge.step.fault for label in fired} - {None}
    return tuple(sorted((f for f in found if f is not None), key=lambda f: (f.span.start, f.kind, f.message)))
