"""Claims of a safe program that are about nothing: assertions that are never reached, outcomes without a final state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdma_robust.analyses.prove.proof_engine import Searched
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.language.flow.cfg import Program, steps


def about_nothing(program: Program, claims: Sequence[SafetyClaim], found: Searched) -> tuple[SafetyClaim, ...]:
    """Return the claims that hold only because their statement is never next in its thread, or no state is final.

    Proven by what a search that was exhausted has met; it may meet more than can happen, and then less is said.
    """
    met, ends = _met(program, found)
    if not met:
        return ()
    return tuple(claim for claim in claims if not claim.allowed and _is_about_nothing(program, claim, met, ends))


def _is_about_nothing(program: Program, claim: SafetyClaim, met: set[tuple[int, int]], ends: bool) -> bool:
    if claim.fault is None:
        return claim.final and not ends
    if claim.fault.kind != "assertion":
        return False
    places = {
        (t, source) for t, thread in enumerate(program.threads) for source, _, s in steps(thread) if s.fault == claim.fault
    }
    return met.isdisjoint(places)


def _met(program: Program, found: Searched) -> tuple[set[tuple[int, int]], bool]:
    """Return where threads have been, each as its number and a program point, and whether all may have ended at once."""
    threads = list(enumerate(program.threads))
    exits = tuple(thread.exit for thread in program.threads)
    if found.taken_steps is not None:
        edges = [(t, edge) for t, thread in threads for edge in steps(thread) if (t, edge[2]) in found.taken_steps]
        met = {(t, thread.entry) for t, thread in threads} | {(t, at) for t, (source, to, _) in edges for at in (source, to)}
        return met, met.issuperset(enumerate(exits))
    controls: Iterable[tuple[int, ...]] = found.invariant or ()  # type: ignore[assignment]
    places = {control[: len(exits)] for control in controls}
    return {(t, point) for at in places for t, point in enumerate(at)}, exits in places
