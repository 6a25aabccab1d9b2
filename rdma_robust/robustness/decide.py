"""The decision procedure, on one screen: instrument, lower, cover, lift, confirm."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.errors import InternalError
from rdma_robust.language.cfg import Fault, Program
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Counts, Outcome, Verdict
from rdma_robust.program.model import CounterProgram
from rdma_robust.robustness.instrument import EventLabel
from rdma_robust.robustness.instrument_paper import instrument_paper
from rdma_robust.robustness.instrument_pivot import instrument_pivot
from rdma_robust.robustness.lift import lift
from rdma_robust.vass.lower import LoweredProgram, lower
from rdma_robust.vass.search import Limits, Progress, SearchResult, breadth_first, depth_first, karp_miller

INSTRUMENTATIONS: Final[Mapping[str, Callable[[Program, bool], CounterProgram[EventLabel]]]] = {
    "pivot": instrument_pivot,
    "paper": instrument_paper,
}
ENGINES: Final[Mapping[str, Callable[..., SearchResult]]] = {
    "bfs": breadth_first,
    "dfs": depth_first,
    "karp-miller": karp_miller,
}


_SHORTER_STATES = 2000
"""States spent at least on a shorter witness: about 20 ms."""


@dataclass(frozen=True)
class Decision:
    """The lowered program and what the search found in it."""

    engine: str
    lowered: LoweredProgram[EventLabel]
    result: SearchResult


def search(program: Program, options: CheckOptions, limits: Limits, progress: Progress | None = None) -> Decision:
    """Instrument `program`, lower it and search for a target."""
    instrumented = INSTRUMENTATIONS[options.instrumentation](program, options.ordered_reads)
    lowered = lower(instrumented)
    engine = options.engine if options.engine != "auto" else "karp-miller" if lowered.dimension else "dfs"
    result = ENGINES[engine](lowered, limits) if progress is None else ENGINES[engine](lowered, limits, progress)
    return Decision(engine, lowered, result)


def decide(program: Program, options: CheckOptions, progress: Progress | None = None) -> Outcome:
    """Decide robustness of `program`.

    ROBUST follows an exhausted search only; NOT_ROBUST carries a witness confirmed by the axioms; a search cut short by
    a limit of `options` is UNKNOWN and says which limit and how far it got. Raises InternalError when the witness of a
    reached target does not confirm. Source: normal-form.md; Theorems 5.1 and 5.2.
    """
    started = time.monotonic()
    deadline = None if options.timeout is None else started + options.timeout
    limits = Limits(deadline, options.max_states, options.memory)
    decision = search(program, options, limits, progress)
    result, labels = decision.result, decision.lowered.labels
    witness = None
    if result.target >= 0:
        result = shorter(decision, limits)
        verdict, reason = Verdict.NOT_ROBUST, "a violating trace was found and confirmed by the axioms"
        target = decision.lowered.targets[result.target]
        witness = lift(program, [labels[i] for i in result.run], target, options.ordered_reads)
    elif result.cut:
        verdict, reason = Verdict.UNKNOWN, cut_reason(result, options)
    else:
        verdict, reason = Verdict.ROBUST, "exhausted the search: no violating trace exists"
    fired = [labels[i] for i in sorted(result.fired)]
    pivots = len({label.starts for label in fired} - {None})
    return Outcome(
        program,
        verdict,
        reason,
        options.instrumentation,
        decision.engine,
        Counts(result.states, result.transitions, pivots, decision.lowered.dimension),
        time.monotonic() - started,
        witness,
        faults=_faults(fired),
        faults_exact=verdict is Verdict.ROBUST,
        checked_by=("axioms",) if witness else (),
    )


def shorter(decision: Decision, limits: Limits) -> SearchResult:
    """Return the search result with a shortest run, if a breadth-first search of a similar size finds one.

    Counts stay those of the deciding search.
    """
    found = decision.result
    if decision.engine == "bfs":
        return found
    few = replace(limits, states=min(limits.states or sys.maxsize, 2 * found.states + _SHORTER_STATES))
    short = breadth_first(decision.lowered, few)
    return found if short.target < 0 else replace(found, target=short.target, run=short.run)


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
