"""E2: predicate abstraction without any given predicate, by the road of both papers where there is a proof under sc.

The proof under sc is carried over to the other model; what is left is handed over to spacer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.analyses.prove.predicates.cube_oracle import Vocabulary
from rdma_robust.analyses.prove.predicates.cube_search import EMPTY, Cube
from rdma_robust.analyses.prove.predicates.extrapolated_program import ExtrapolatedProgram
from rdma_robust.analyses.prove.predicates.extrapolation import (
    active_flags,
    buffer_length_names,
    buffer_predicates,
    buffer_slots,
    extrapolated,
    extrapolated_cubes,
    pipe_slots,
    set_predicates,
    set_sources,
)
from rdma_robust.analyses.prove.predicates.paths import PathFeasibility
from rdma_robust.analyses.prove.predicates.refinement import Refinement, RefinementResult
from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.predicates.spacer_engine import spacer_engine
from rdma_robust.analyses.prove.predicates.transformers import Transformers, known_literals
from rdma_robust.analyses.prove.transition_system import EngineResult, TransitionSystem
from rdma_robust.errors import LimitReached
from rdma_robust.expr import Expr, Unary
from rdma_robust.limits import Limits, Progress
from rdma_robust.solver_library import solver_library

SHARE: Final = 0.5
"""Of the time, for the proof under sc."""

Literals = tuple[Expr, ...]


@dataclass
class Extrapolation:
    """A proof of `plain`, the program under sc, carried over to `system`, the same under another model.

    `loop` has what is told of the work at the end; `counts` what was carried over: `predicates` of the proof under sc,
    `predicates_extrapolated` from them, besides `predicates_of_control`, which the papers have for what control states say
    here (how full buffers are, what is active), `cubes_input`, and what the solver was asked for the proof under sc.
    """

    system: TransitionSystem
    plain: TransitionSystem
    formulas: Formulas
    limits: Limits
    progress: Progress
    counts: dict[str, int | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        single = self.system.model == "rma"
        self.loop = Refinement(self.plain, self.formulas, self.limits.share(SHARE), self.progress, single=single)

    def run(self) -> RefinementResult:
        """Return how it ended: where the proof carried over does not do, its predicates are refined for `system` itself.

        Raises LimitReached while transformers are built.
        """
        under_sc = self.loop
        try:
            refined = under_sc.run()
        except LimitReached:  # of the share of the time that this has
            return self._refined(())
        given = tuple(under_sc.vocabulary.predicates)
        self.counts["sc_solver_calls"] = under_sc.counts.called
        self.counts["predicates"] = len(given)
        if refined.stuck or refined.checked.path is not None or refined.checked.cut or refined.overflowed:
            return self._refined(given)
        if self.system.model == "rma":
            return self._through_sets(given, under_sc.transformers)
        return self._through_buffers(given, under_sc.transformers)

    def _refined(self, given: Iterable[Expr], cubes: Iterable[Literals] = ()) -> RefinementResult:
        self.loop = Refinement(self.system, self.formulas, self.limits, self.progress, given, counts=self.loop.counts)
        self.loop.transformers.given = tuple(
            made for each in cubes if (made := as_cube(self.loop.vocabulary, each)) is not None
        )
        return self.loop.run()

    def _through_buffers(self, given: Literals, program: Transformers) -> RefinementResult:
        """Predicate and cube extrapolation: with the cubes it is enough, at first, to search for single literals."""
        wide = [name for name, _ in self.system.wide]
        if self.system.model == "rdma":
            slots = pipe_slots(self.system.program, wide)
        else:
            per_word = self.system.model == "pso"
            slots = buffer_slots(self.system.program, per_word, wide)
            bound = max((int(slot.rpartition("#")[2]) for held in slots.of.values() for slot in held), default=1)
            lengths = buffer_predicates(buffer_length_names(self.system.program, per_word), bound)
            self.counts["predicates_of_control"] = len(lengths)
        predicates = extrapolated(given, slots)
        used = sorted(program.cubes_used())
        cubes = extrapolated_cubes((known_literals(program.vocabulary, each) for each in used), slots)
        self.counts |= {"predicates_extrapolated": len(predicates), "cubes_input": len(cubes)}
        return self._refined(predicates, cubes)

    def _through_sets(self, given: Literals, program: Transformers) -> RefinementResult:
        """Predicate and boolean program extrapolation."""
        sources = set_sources(self.system.program, (name for name, _ in self.system.wide))
        predicates = set_predicates(given, sources)
        self.counts["predicates_extrapolated"] = len(predicates)
        self.counts["predicates_of_control"] = len(active_flags(self.system.program))
        called = program.counts.called
        self.loop = Refinement(self.system, self.formulas, self.limits, self.progress, counts=program.counts)
        carried = ExtrapolatedProgram(program, predicates, sources)
        checked = self.loop.checked(carried)
        self.counts["extrapolation_solver_calls"] = program.counts.called - called
        if checked.path is None or (not checked.overflow and self.loop.is_real(checked.path) is not PathFeasibility.NO):
            return RefinementResult(checked, False, False)
        return self._refined(predicates)


def as_cube(vocabulary: Vocabulary, literals: Literals) -> Cube | None:
    """Return literals as a cube; None if one of them is not of the vocabulary, or they contradict each other."""
    found = EMPTY
    for each in literals:
        match each:
            case Unary("!", predicate) if predicate in vocabulary.numbers:
                found = found.joined(Cube(0, 1 << vocabulary.numbers[predicate]))
            case _ if each in vocabulary.numbers:
                found = found.joined(Cube(1 << vocabulary.numbers[each], 0))
            case _:
                return None
    return None if found.contradicts_itself else found


def predicates_engine(
    system: TransitionSystem, limits: Limits, progress: Progress, *, plain: TransitionSystem | None = None
) -> EngineResult:
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


def _searched(work: Refinement | Extrapolation, refined: RefinementResult | None, cut: str, started: float) -> EngineResult:
    """Return the end of the work as an engine's answer."""
    loop = work if isinstance(work, Refinement) else work.loop
    counts = _counted(work, started)
    if refined is None:
        return EngineResult("predicates", None, None, bool(loop.overflows), cut, loop.states, loop.taken, counts)
    checked = refined.checked
    return EngineResult(
        "predicates",
        checked.path,
        None if refined.overflowed else checked.regions,
        refined.overflowed,
        checked.cut,
        checked.states,
        checked.taken,
        counts,
    )
