"""The decision whether a program is safe under a model.

Source: docs/theory-safety.md, "What safe rests on": the claims, a reduction, an engine, and what to do with a path that
it cannot rule out. SAFE comes from an exhausted search of a reduction, UNSAFE from a run that the model's machine has
made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal

from rdma_robust.analyses.prove.engines import SHARE, engines_for
from rdma_robust.analyses.prove.explicit_search import UNKNOWN_HERE, concrete_search
from rdma_robust.analyses.prove.path_replay import replay_path
from rdma_robust.analyses.prove.path_values import path_values
from rdma_robust.analyses.prove.reductions import reduce_program
from rdma_robust.analyses.prove.safety_outcome import AllowedClaim, ReductionOptions, Safety, SafetyOutcome, SafetyRun
from rdma_robust.analyses.prove.store_bounds import most_stores
from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Engine,
    EngineName,
    EngineResult,
    SafetyClaim,
    TransitionSystem,
    claims_about_nothing,
    safety_claims,
)
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.limits import NO_LIMITS, Limits, Progress, ignore
from rdma_robust.solver_library import NEEDED, has_solver

FIRST: Final = ReductionOptions()

MOST_STORES: Final = 8
"""Stores, or operations of one kind under way, that there is room for at most, if the text gives no bound."""

MOST_TOLD: Final = 256
"""Stores for which a buffer has room at most because the text says that it never has more."""

MOST_ALIKE: Final = 3
"""Like operations under way that are counted at most."""

MOST_APART: Final = 64
"""Values of a domain that are kept apart at most."""

CONCRETE_S: Final = 10.0
"""For looking for a run on the machine itself."""

LOOK_SHARE: Final = 0.1
"""Of the time that is left, for that where nothing else is to come."""


def most_room(program: Program, model: AnyModelName) -> int:
    """Return how many stores, or operations under way, a buffer or queue pair may come to have room for."""
    if model not in ("tso", "pso"):
        return MOST_STORES
    told = most_stores(program, per_word=model == "pso")
    return MOST_STORES if told is None else max(MOST_STORES, min(told, MOST_TOLD))


def decide_safety(
    program: Program,
    model: AnyModelName,
    limits: Limits = NO_LIMITS,
    *,
    engine: EngineName | Literal["auto"] = "auto",
    reduction: ReductionOptions = FIRST,
    progress: Progress = ignore,
) -> SafetyOutcome:
    """Return whether anything that `program` forbids under `model` can happen, and for what it allows whether it can.

    The model must have all operations of the program (`refusals` says which it has not). `reduction` is the first that is
    tried; buffers and counts grow from there. Limits of states are those of one search. Raises UsageError if `engine` needs
    a solver that is not installed.
    """
    started = time.monotonic()
    claims = safety_claims(program, model)
    if model != "rma":
        reduction = replace(reduction, kind="slots")  # sets are about what rma leaves without an order
    work = _Work(program, model, limits, engine, reduction, progress)
    outcome = work.decided(claims)
    allowed = tuple(work.possible(claim) for claim in claims if claim.allowed)
    return replace(outcome, allowed=allowed, time_s=time.monotonic() - started)


def each_possible(
    program: Program,
    model: AnyModelName,
    claims: Sequence[SafetyClaim],
    limits: Limits = NO_LIMITS,
    progress: Progress = ignore,
) -> tuple[AllowedClaim, ...]:
    """Return for each of `claims`, forbidden or allowed, whether what it is about can happen under `model`.

    All are asked at once first: one proof is enough if nothing can.
    """
    together = tuple(replace(claim, allowed=False, number=number) for number, claim in enumerate(claims))
    if len(together) > 1:
        outcome = _Work(program, model, limits.share(SHARE), "auto", FIRST, progress).decided(together)
        if outcome.safety is Safety.SAFE:
            return tuple(AllowedClaim(claim, False) for claim in claims)
    found = []
    for number, claim in enumerate(claims):
        part = limits.share(1 / (len(claims) - number))
        found.append(_Work(program, model, part, "auto", FIRST, progress).possible(claim))
    return tuple(found)


@dataclass
class _Work:
    """One question. `searched` is the last search, `suspect` the last path that was neither made nor ruled out."""

    program: Program
    model: AnyModelName
    limits: Limits
    engine: EngineName | Literal["auto"]
    reduction: ReductionOptions
    progress: Progress
    searched: EngineResult | None = None
    suspect: AbstractPath | None = None
    reasons: list[str] = field(default_factory=list)
    wide: bool = False

    def __post_init__(self) -> None:
        self.room = max(self.reduction.bound, most_room(self.program, self.model))

    def decided(self, claims: tuple[SafetyClaim, ...]) -> SafetyOutcome:
        """Return the answer about the claims that are not `allowed`, all at once."""
        if all(claim.allowed for claim in claims):
            return self._outcome(claims, Safety.SAFE, "the program forbids nothing")
        looked = False
        for options, limits in self._attempts():
            system = reduce_program(self.program, self.model, claims, options)
            plain = partial(reduce_program, self.program, "sc", claims, options)
            engines = list(engines_for(system, self.engine, plain, room=options.bound if options.lazy else None))
            for number, (name, engine) in enumerate(engines, 1):
                found = self._search(engine, system, limits if number == len(engines) else limits.share(SHARE))
                name = found.engine if found.engine == "explicit" else name
                if found.path is not None:
                    run = self._run(system, claims, found.path, limits)
                    if run is not None:
                        return self._unsafe(claims, found.path, run, name, options)
                    self.suspect = found.path
                    self.reasons.append(_spurious(found.path))
                elif not found.cut and not found.overflowed:
                    safe = self._outcome(claims, Safety.SAFE, "", name, options)
                    nothing = claims_about_nothing(self.program, claims, found)
                    return replace(safe, system=system, invariant=found.invariant, about_nothing=nothing)
                if self._asks_for_more(found, options):
                    break
            self.wide = bool(system.wide)
            if self.suspect is not None and not looked:
                looked = True
                if outcome := self._looked(claims):
                    return outcome
        if not looked and (outcome := self._looked(claims)):
            return outcome
        return replace(self._outcome(claims, Safety.UNKNOWN, self._why()), suspect=self.suspect)

    def _attempts(self) -> Iterator[tuple[ReductionOptions, Limits]]:
        """Yield reductions, each with the limits of the attempt; which come after depends on what was found with it.

        Where a domain is not too large, all its values are kept apart if nothing else helps.
        """
        apart = self._apart
        yield from self._counting(SHARE if apart > 0 else 1 - LOOK_SHARE)
        if apart > 0 and self.wide:
            self.reduction = replace(self.reduction, narrow=apart)
            yield from self._counting(1 - LOOK_SHARE)

    @property
    def _apart(self) -> int:
        """How many values a domain has that may be kept apart; 0 if it has too many, or there is none."""
        domain = self.program.domain
        if domain is None or self.engine != "auto" or domain[1] - domain[0] >= MOST_APART:
            return 0
        return domain[1] - domain[0] + 1

    def _counting(self, share: float) -> Iterator[tuple[ReductionOptions, Limits]]:
        """Yield reductions that differ in how far they count, each with this `share` of the time.

        Buffers that overflowed get twice the room. Like operations under rma have room for `bound` first, which is exact,
        and then there may be many; a path that takes one of many calls for counting further, and a search that was too large
        for counting less.
        """
        bound = self.reduction.bound
        if self.reduction.kind == "sets":
            yield self.reduction, self.limits.share(share)
            return
        if self.model == "rma" and self.reduction.many and bound:
            yield replace(self.reduction, many=False), self.limits.share(SHARE)
            if self.searched is None or not (self.searched.overflowed or self.searched.cut):
                return
        while True:
            yield replace(self.reduction, bound=bound), self.limits.share(SHARE if self.model == "rma" else share)
            found = self.searched
            if found is None:
                return
            if self.model == "rma" and found.cut and bound == 1:
                yield replace(self.reduction, bound=0), self.limits
                return
            if self.model == "rma" and found.path is not None and not found.path.exact and bound < MOST_ALIKE:
                bound += 1
            elif found.overflowed and bound < self.room:
                bound = min(2 * bound, self.room)
            else:
                return

    def _search(self, engine: Engine, system: TransitionSystem, limits: Limits) -> EngineResult:
        found = engine(system, limits, self.progress)
        self.searched = found
        if found.cut == UNKNOWN_HERE:
            self.reasons.insert(0, found.cut)  # what other engines say comes before
        elif found.cut:
            self.reasons.append(limits.said(found.cut) if limits.knows(found.cut) else found.cut)
        elif found.overflowed and self.model != "rma":
            self.reasons.append(_overflow(self.model, self.room))
        return found

    def _asks_for_more(self, found: EngineResult, options: ReductionOptions) -> bool:
        """Return whether larger buffers or counts come before other engines."""
        if found.overflowed:
            return options.bound < self.room or not options.many
        return found.path is not None and not found.path.exact and options.bound < MOST_ALIKE

    def _run(
        self, system: TransitionSystem, claims: tuple[SafetyClaim, ...], path: AbstractPath, limits: Limits
    ) -> SafetyRun | None:
        """Return a run along a path, with values of `nondet` with which it can be taken, if they are known."""
        for draws in dict.fromkeys((path_values(system, path).draws, ())):
            run = replay_path(self.program, self.model, claims, path, draws=draws, limits=limits)
            if run is not None:
                return run
        return None

    def _looked(self, claims: tuple[SafetyClaim, ...]) -> SafetyOutcome | None:
        """Return the answer if a bounded search on the machine finds a run."""
        wanted = [claim for claim in claims if not claim.allowed]
        limits = self._concrete_limits()
        found = concrete_search(self.program, self.model, wanted, limits, self.progress)
        for number, run in found.runs.items():
            outcome = self._outcome(claims, Safety.UNSAFE, "")
            return replace(outcome, engine=None, claim=claims[number], run=run)
        return None

    def _concrete_limits(self) -> Limits:
        return self.limits.within(CONCRETE_S)

    def possible(self, claim: SafetyClaim) -> AllowedClaim:
        """Return whether what an outcome says can be: shown by a run, or by a search that has seen everything."""
        asked = replace(claim, allowed=False, number=0)
        work = _Work(self.program, self.model, self.limits, self.engine, self.reduction, self.progress)
        outcome = work.decided((asked,))
        possible = {Safety.SAFE: False, Safety.UNSAFE: True, Safety.UNKNOWN: None}[outcome.safety]
        return AllowedClaim(claim, possible, outcome.run, outcome.reason)

    def _unsafe(
        self,
        claims: tuple[SafetyClaim, ...],
        path: AbstractPath,
        run: SafetyRun,
        engine: EngineName,
        options: ReductionOptions,
    ) -> SafetyOutcome:
        return replace(self._outcome(claims, Safety.UNSAFE, "", engine, options), claim=path.violated(claims), run=run)

    def _why(self) -> str:
        why = self.reasons[-1] if self.reasons else "values without bound, of which this engine says nothing"
        left_out = self.wide and self.engine == "auto" and not has_solver()
        return f"{why}; predicates were not tried, which need the solver z3: {NEEDED}" if left_out else why

    def _outcome(
        self,
        claims: tuple[SafetyClaim, ...],
        safety: Safety,
        reason: str,
        engine: EngineName | None = None,
        options: ReductionOptions | None = None,
    ) -> SafetyOutcome:
        found = self.searched
        return SafetyOutcome(
            self.program,
            self.model,
            safety,
            reason,
            claims,
            engine,
            options or self.reduction,
            states=0 if found is None else found.states,
            taken=0 if found is None else found.taken,
            counts={} if found is None else found.counts,
        )


def _overflow(model: AnyModelName, room: int) -> str:
    if model == "rdma":
        return f"a queue pair may have more than {room} operations in flight"
    return f"a buffer may hold more than {room} stores"


def _spurious(path: AbstractPath) -> str:
    if path.exact:
        return "a path that no run was found for was not ruled out"
    return "a path on which several like operations are in flight was neither made a run nor ruled out"
