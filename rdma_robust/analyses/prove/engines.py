"""Which engines are tried on a system, cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from rdma_robust.analyses.prove.explicit_search import explicit_search
from rdma_robust.analyses.prove.predicates.predicate_engine import predicates_engine
from rdma_robust.analyses.prove.predicates.spacer_engine import spacer_engine
from rdma_robust.analyses.prove.proof_engine import Engine, EngineName
from rdma_robust.analyses.prove.random_walks import with_walks
from rdma_robust.analyses.prove.transition_system import TransitionSystem
from rdma_robust.analyses.prove.zones.zone_engine import search_zones
from rdma_robust.solver_library import has_solver


def engines_for(
    system: TransitionSystem, wanted: EngineName | Literal["auto"], plain: Callable[[], TransitionSystem] | None = None
) -> Iterator[tuple[EngineName, Engine]]:
    """Yield the engines for a system: the explicit search if nothing is wide, else those that describe wide values.

    `plain` makes the system of the same program and claims under sc, whose proof predicates carry over. Predicates end
    with spacer; without a solver they are left out, unless they are asked for by name.
    """
    if not system.wide and wanted in ("auto", "explicit"):
        yield "explicit", with_walks(explicit_search)
    if wanted == "zones" or (system.wide and wanted == "auto"):
        yield "zones", with_walks(search_zones)
    if wanted == "predicates" or (system.wide and wanted == "auto" and has_solver()):
        carried = None if plain is None or system.model == "sc" else plain()
        yield "predicates", partial(predicates_engine, plain=carried)
    if wanted == "spacer":
        yield "spacer", spacer_engine
