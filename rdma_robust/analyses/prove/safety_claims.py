"""What a program claims under a model: faults that must not happen, invariants, and outcomes."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.analyses.prove.transition_system import SafetyClaim
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
