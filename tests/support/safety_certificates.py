"""Certificates of safety in tests: made from answers of `prove`, changed as JSON, checked, and compared with brute force."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.certify.checker import SAFETY_CHECKS
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.safety.reduced_program import PlacedState, ReducedProgram
from rdma_robust.certify.safety.safety_states import doubts_of
from rdma_robust.evidence.of_safety import safe_evidence
from rdma_robust.expr import negate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName, InvariantLine, OutcomeClaim, OutcomeLine
from rdma_robust.limits import Limits
from tests.support.claimed_programs import claimed_program

Evidence = dict[str, Any]

MODELS: tuple[AnyModelName, ...] = ("sc", "tso", "pso", "rma", "rdma")


def random_claimed(seed: int, model: AnyModelName) -> Program:
    """Return a random program for a model that says its random claims itself."""
    program, claims = claimed_program(seed, model, loops=seed % 3 == 0)
    states = [claim for claim in claims if claim.fault is None]
    invariants = (InvariantLine(negate(c.bad), c.atoms, c.span, f"{c.number}") for c in states if not c.final)
    outcomes = (OutcomeLine(c.bad, (OutcomeClaim(False, model),), c.span, f"{c.number}") for c in states if c.final)
    return replace(program, invariants=tuple(invariants), outcomes=tuple(outcomes))


def evidence_for(program: Program, model: AnyModelName, *, lazy: bool = True) -> Evidence | None:
    """Return the evidence that a program is safe, None if `prove` does not say so."""
    outcome = decide_safety(program, model, Limits.of(20.0, states=20_000))
    if outcome.safety is not Safety.SAFE:
        return None
    found: Evidence = json.loads(json.dumps(safe_evidence(outcome, Limits.of(20.0, states=60_000), lazy=lazy)))
    return found


def refusal(program: Program, model: AnyModelName, evidence: Evidence, claim: str = "safe") -> str:
    """Return why the checker refuses evidence, '' if it accepts it."""
    try:
        SAFETY_CHECKS[claim][evidence["kind"]](program, model, evidence)
    except InvalidCertificate as error:
        return str(error)
    return ""


def all_but_bad(system: ReducedProgram) -> dict[PlacedState, tuple[tuple[()], ...]]:
    """Every state that is reached without going on from one that violates a claim, but for these themselves."""
    found: dict[PlacedState, tuple[tuple[()], ...]] = {}
    agenda = [system.initial()]
    while agenda:
        state = agenda.pop()
        if state in found or any(True for _ in doubts_of(system, state)):
            continue
        found[state] = ((),)
        agenda += [taken.to for taken in system.successors(state) if taken.to is not None and taken.fault is None]
    return found


def weakened(evidence: Evidence, rng: Random, each: int) -> Iterator[tuple[str, Evidence]]:
    """Yield evidence with one thing changed in it: `each` of every sort, at random."""
    for name, change in CHANGES.items():
        for _ in range(each):
            changed = copy.deepcopy(evidence)
            if change(changed, rng):
                yield name, changed


def _state_left_out(evidence: Evidence, rng: Random) -> bool:
    del evidence["states"][rng.randrange(len(evidence["states"]))]
    return True


def _point_changed(evidence: Evidence, rng: Random) -> bool:
    thread = rng.choice(evidence["threads"])
    state = rng.choice(thread["states"])
    state[0] += rng.choice([-1, 1])
    return True


def _value_changed(evidence: Evidence, rng: Random) -> bool:
    rows = [row for row in evidence["memory"] if row]
    rows += [row for thread in evidence["threads"] for row in thread["states"] if len(row) > 1]
    if not rows:
        return False
    row = rng.choice(rows)
    first = 0 if row in evidence["memory"] else 1
    row[rng.randrange(first, len(row))] += rng.choice([-1, 1])
    return True


def _under_way_changed(evidence: Evidence, rng: Random) -> bool:
    tables = [thread["under_way"] for thread in evidence["threads"] if len(thread["under_way"]) > 1]
    if not tables:
        return False
    table = rng.choice(tables)
    i, j = rng.sample(range(len(table)), 2)
    table[i] = table[j]
    return True


def _region_left_out(evidence: Evidence, rng: Random) -> bool:
    rows = [row for row in evidence["states"] if row[3]]
    del rows[(i := rng.randrange(len(rows)))][3][rng.randrange(len(rows[i][3]))]
    return True


def _condition_tightened(evidence: Evidence, rng: Random) -> bool:
    conditions = [c for c in evidence["conditions"] if c[0] == "<=" and isinstance(c[2], int)]
    if not conditions:
        return False
    rng.choice(conditions)[2] -= 1
    return True


def _condition_added(evidence: Evidence, rng: Random) -> bool:
    regions = [region for region in evidence["regions"] if len(region) < len(evidence["conditions"])]
    if not regions:
        return False
    region = rng.choice(regions)
    region.append(rng.choice([i for i in range(len(evidence["conditions"])) if i not in region]))
    return True


def _bound_changed(evidence: Evidence, rng: Random) -> bool:
    evidence["bound"] += rng.choice([-1, 1])
    return evidence["bound"] >= 0


CHANGES = {
    "a state left out": _state_left_out,
    "a program point changed": _point_changed,
    "a value changed": _value_changed,
    "what is in flight changed": _under_way_changed,
    "a region left out": _region_left_out,
    "a condition tightened": _condition_tightened,
    "a condition added": _condition_added,
    "the bound changed": _bound_changed,
}
