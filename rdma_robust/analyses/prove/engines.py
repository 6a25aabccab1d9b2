"""The engines to be tried on a system, cheapest first, and how long each before the next has its turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Literal

from rdma_robust.analyses.prove.explicit_search import CompiledEngine, explicit_search
from rdma_robust.analyses.prove.random_walks import with_walks
from rdma_robust.analyses.prove.transition_system import Engine, EngineName, EngineResult, TransitionSystem
from rdma_robust.limits import Limits, Progress
from rdma_robust.solver_library import has_solver

TURNS_S: Final = (0.5, 4.0, None)
"""Seconds for the turns of engines that often are quick or never end; the last one is as long as there is time."""

SHARE: Final = 0.5
"""Of the time that is left, for an engine or an attempt that others come after."""


def engines_for(
    system: TransitionSystem,
    wanted: EngineName | Literal["auto"],
    plain: Callable[[], TransitionSystem] | None = None,
    *,
    room: int | None = None,
) -> Iterator[tuple[EngineName, Engine]]:
    """Yield the engines for a system: searches of all states, and if something is wide those that describe its values.

    `plain` makes the system of the same program and claims under sc, whose proof predicates carry over. With `room` for so
    many stores in a buffer the compiled search of the program's own states is one of the engines, which gives no invariant.
    Without a solver what needs one is left out, unless it is asked for by name.
    """
    auto = wanted == "auto"
    numbers = None if room is None else CompiledEngine(room)
    if not system.wide and wanted in ("auto", "explicit"):
        yield "explicit", with_walks(explicit_search, numbers)
    elif wanted == "explicit" and numbers is not None:
        yield "explicit", numbers.whole
    finite = system.program.domain is not None
    if system.wide and auto and numbers is not None and finite:
        yield "explicit", numbers
    if wanted == "zones" or (system.wide and auto):
        yield "zones", with_walks(_zones, numbers if auto else None)
    if system.wide and auto and numbers is not None and not finite:
        yield "explicit", numbers
    if system.wide and auto and not has_solver():
        return
    if wanted == "predicates" or (system.wide and auto):
        yield "predicates", partial(_predicates, plain=plain, then_spacer=auto)
    if wanted == "spacer":
        yield "spacer", _spacer
    if system.wide and auto and numbers is not None:
        yield "explicit", numbers.whole


def _zones(system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
    from rdma_robust.analyses.prove.zones.zone_search import search_zones  # noqa: PLC0415 - for what is wide only

    return search_zones(system, limits, progress)


def _predicates(
    system: TransitionSystem,
    limits: Limits,
    progress: Progress,
    *,
    plain: Callable[[], TransitionSystem] | None,
    then_spacer: bool,
) -> EngineResult:
    """Search with predicates; with `then_spacer` the two take turns, a short one each first, as either may never end."""
    from rdma_robust.analyses.prove.predicates.predicate_engine import predicates_engine  # noqa: PLC0415 - for few programs

    search = partial(predicates_engine, plain=None if plain is None or system.model == "sc" else plain())
    if not then_spacer:
        return search(system, limits, progress)
    for seconds in TURNS_S:
        found = search(system, limits.share(SHARE) if seconds is None else limits.within(seconds), progress)
        if found.cut != "time":
            break
        last = _spacer(system, limits if seconds is None else limits.within(seconds), progress)
        if not last.cut:
            return last
    return found


def _spacer(system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
    from rdma_robust.analyses.prove.predicates.spacer_engine import spacer_engine  # noqa: PLC0415 - for few programs

    return spacer_engine(system, limits, progress)
