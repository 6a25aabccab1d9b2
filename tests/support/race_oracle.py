"""Races of loop-free programs by brute force: all sequentially consistent traces of the axioms, each as it is defined."""

from __future__ import annotations

from rdma_robust.language.flow.cfg import Cell, Program, Step
from rdma_robust.language.flow.looking import with_looks
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.happens_before import RacingPair, Synchronising, races_of, synchronising_accesses
from rdma_robust.semantics.oracle.brute_force import DEFAULT_LIMITS, Budget, ChoiceSearch, OracleLimits, candidates
from rdma_robust.semantics.oracle.partial import Partial
from rdma_robust.semantics.oracle.thread_paths import Extent
from rdma_robust.semantics.trace import Event, EventType

AccessPlace = tuple[int, Step, EventType, Cell | None]
"""The thread of an access by number, its step, its type and its word: what accesses of several executions have in common."""

PairPlace = frozenset[AccessPlace]


def racing_place(event: Event) -> AccessPlace:
    """Return the place of an access. A look that finds another value than is waited for is one of its statement."""
    assert event.step is not None
    return event.thread, Step(event.step.op, span=event.step.span, text=event.step.text), event.type, event.cell


def pair_of(pair: RacingPair) -> PairPlace:
    """Return the places of two accesses."""
    return frozenset(map(racing_place, pair))


def oracle_races(
    program: Program,
    model: Model = RDMA,
    synchronising: Synchronising | None = None,
    limits: OracleLimits = DEFAULT_LIMITS,
) -> frozenset[PairPlace]:
    """Return the places of every two accesses that race in some sequentially consistent execution.

    Executions are taken as far as they go: order between two events does not depend on later ones. Raises SizeLimitError
    for a program with loops or beyond `limits`.
    """
    words = synchronising_accesses(program) if synchronising is None else synchronising
    budget = Budget(limits.decisions, limits.timeout)
    found: set[PairPlace] = set()
    for base in candidates(with_looks(program), model, limits, Extent.MAXIMAL, budget):
        search: ChoiceSearch

        def leaf(partial: Partial) -> bool:
            finished = search.flush(partial) if partial.is_sc() else None  # noqa: B023
            if finished is not None:
                found.update(map(pair_of, races_of(finished.trace(), model, words)))
            return False

        search = ChoiceSearch(base, budget, leaf)
        search.run()
    return frozenset(found)
