"""The claims of a program under a model (faults, invariants, outcomes), and which of them are about nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rdma_robust.analyses.prove.transition_system import EngineResult, SafetyClaim
from rdma_robust.expr import conj, negate
from rdma_robust.language.check.meaning import divides_by_no_zero
from rdma_robust.language.flow.cfg import Fault, Program, steps
from rdma_robust.language.flow.claims import AnyModelName


def safety_claims(program: Program, model: AnyModelName) -> tuple[SafetyClaim, ...]:
    """Return every claim of a program that is about `model`, numbered: faults first, each once, in the order of the text.

    A condition that is undefined (division by zero) does not hold: as an invariant it is violated, as an outcome it is
    not there.
    """
    return tuple(_claims(program, model))


def _claims(program: Program, model: AnyModelName) -> Iterator[SafetyClaim]:
    number = 0
    for fault in _faults(program):
        yield SafetyClaim(fault.kind, fault.text or fault.message, fault.span, number, fault=fault)
        number += 1
    for line in program.invariants:
        bad = negate(conj(divides_by_no_zero(line.condition), line.condition))
        yield SafetyClaim("invariant", line.text, line.span, number, bad=bad, atoms=line.atoms)
        number += 1
    for outcome in program.outcomes:
        for claim in outcome.claims:
            if claim.model == model:
                seen = conj(divides_by_no_zero(outcome.condition), outcome.condition)
                yield SafetyClaim("outcome", outcome.text, outcome.span, number, bad=seen, final=True, allowed=claim.allowed)
                number += 1


def _faults(program: Program) -> list[Fault]:
    found = (step.fault for thread in program.threads for _, _, step in steps(thread) if step.fault is not None)
    return sorted(dict.fromkeys(found), key=lambda fault: (fault.span.start, fault.kind))


def claims_about_nothing(program: Program, claims: Sequence[SafetyClaim], found: EngineResult) -> tuple[SafetyClaim, ...]:
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


def _met(program: Program, found: EngineResult) -> tuple[set[tuple[int, int]], bool]:
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
