"""E2: predicate abstraction without any given predicate, and what it hands over to spacer."""

from __future__ import annotations

import time
from dataclasses import replace

from rdma_robust.analyses.prove.predicates.refinement import Refined, Refinement
from rdma_robust.analyses.prove.predicates.solving import Formulas, solver_library
from rdma_robust.analyses.prove.predicates.spacer_engine import spacer_engine
from rdma_robust.analyses.prove.proof_engine import Searched
from rdma_robust.analyses.prove.transition_system import TransitionSystem
from rdma_robust.errors import LimitReached
from rdma_robust.limits import Limits, Progress


def predicates_engine(system: TransitionSystem, limits: Limits, progress: Progress) -> Searched:
    """Search with predicates, then with spacer. Raises UsageError if z3 is missing."""
    started = time.monotonic()
    loop = Refinement(system, Formulas(solver_library("predicates")), limits, progress)
    try:
        refined = loop.run()
    except LimitReached as reached:
        return searched(loop, None, reached.limit, started)
    if not refined.stuck:
        return searched(loop, refined, "", started)
    last = spacer_engine(system, limits, progress)
    counts = {**counted(loop, started), "spacer_seconds": last.counts["seconds"]}
    if last.invariant is None and last.path is None and not last.overflowed:
        return replace(last, engine="predicates", path=refined.checked.path, counts=counts)
    return replace(last, counts=counts)


def counted(loop: Refinement, started: float) -> dict[str, int | float]:
    """Return what the tables of the papers tell."""
    cubes = loop.transformers.cubes_used()
    return {
        "predicates": len(loop.vocabulary),
        "cubes_used": len(cubes),
        "cube_size": max((each.size for each in cubes), default=min(1, len(loop.vocabulary))),
        "candidates": loop.counts.asked,
        "solver_calls": loop.counts.called,
        "rounds": loop.rounds,
        "build_seconds": round(time.monotonic() - started, 3),
        "check_seconds": round(loop.check_seconds, 3),
    }


def searched(loop: Refinement, refined: Refined | None, cut: str, started: float) -> Searched:
    """Return the end of a loop as an engine's answer."""
    counts = counted(loop, started)
    if refined is None:
        return Searched("predicates", None, None, bool(loop.overflows), cut, loop.states, loop.taken, counts)
    checked = refined.checked
    return Searched(
        "predicates",
        checked.path,
        None if refined.overflowed else checked.regions,
        refined.overflowed,
        checked.cut,
        checked.states,
        checked.taken,
        counts,
    )
