"""E2: predicate abstraction without any given predicate, and what it hands over to spacer."""

from __future__ import annotations

import time
from dataclasses import replace

from rdma_robust.analyses.prove.predicates.extrapolating import Extrapolation
from rdma_robust.analyses.prove.predicates.refinement import Refined, Refinement
from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.predicates.spacer_engine import spacer_engine
from rdma_robust.analyses.prove.proof_engine import Searched
from rdma_robust.analyses.prove.transition_system import TransitionSystem
from rdma_robust.errors import LimitReached
from rdma_robust.limits import Limits, Progress
from rdma_robust.solver_library import solver_library


def predicates_engine(
    system: TransitionSystem, limits: Limits, progress: Progress, *, plain: TransitionSystem | None = None
) -> Searched:
    """Search with predicates, then with spacer. Raises UsageError if z3 is missing.

    With `plain`, the same program under sc, that is proven first, and its proof carried over to `system`.
    """
    started = time.monotonic()
    formulas = Formulas(solver_library("predicates"))
    work: Refinement | Extrapolation
    if plain is None:
        work = Refinement(system, formulas, limits, progress)
    else:
        work = Extrapolation(system, plain, formulas, limits, progress)
    try:
        refined = work.run()
    except LimitReached as reached:
        return _searched(work, None, reached.limit, started)
    if not refined.stuck:
        return _searched(work, refined, "", started)
    last = spacer_engine(system, limits, progress)
    counts = {**_counted(work, started), "spacer_seconds": last.counts["seconds"]}
    if last.invariant is None and last.path is None and not last.overflowed:
        return replace(last, engine="predicates", path=refined.checked.path, counts=counts)
    return replace(last, counts=counts)


def _counted(work: Refinement | Extrapolation, started: float) -> dict[str, int | float]:
    """Return what the tables of the papers tell."""
    loop = work if isinstance(work, Refinement) else work.loop
    cubes = loop.transformers.cubes_used()
    counts = {
        "predicates": len(loop.vocabulary),
        "cubes_used": len(cubes),
        "cube_size": max((each.size for each in cubes), default=min(1, len(loop.vocabulary))),
        "candidates": loop.counts.asked,
        "solver_calls": loop.counts.called,
        "rounds": loop.rounds,
        "build_seconds": round(time.monotonic() - started - loop.check_seconds + loop.transformers.seconds, 3),
        "check_seconds": round(loop.check_seconds - loop.transformers.seconds, 3),
    }
    return counts if isinstance(work, Refinement) else counts | work.counts


def _searched(work: Refinement | Extrapolation, refined: Refined | None, cut: str, started: float) -> Searched:
    """Return the end of the work as an engine's answer."""
    loop = work if isinstance(work, Refinement) else work.loop
    counts = _counted(work, started)
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
