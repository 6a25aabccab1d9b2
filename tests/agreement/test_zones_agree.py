"""Zones with every variable wide against the explicit search, on random programs; and that their proofs are inductive."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from rdma_robust.analyses.prove.explicit_search import explicit_search
from rdma_robust.analyses.prove.path_values import path_values
from rdma_robust.analyses.prove.reductions import reduce_program
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions
from rdma_robust.analyses.prove.transition_system import EngineResult, TransitionSystem, safety_claims
from rdma_robust.analyses.prove.zones.zone_search import search_zones
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits, ignore
from tests.support.random_safety import MODELS_OF, SafetySize, random_safety_program
from tests.support.zone_checks import uncovered

SMALL = SafetySize(threads=(1, 2), statements=(1, 4), total=6)
KINDS = tuple(MODELS_OF)


def systems(program: Program, model: AnyModelName) -> tuple[TransitionSystem, TransitionSystem]:
    """The program with every value apart, and with every variable wide; registers and words of any program are."""
    claims = safety_claims(program, model)
    small, wide = (reduce_program(program, model, claims, ReductionOptions(narrow=n)) for n in (8, 0))
    return small, wide


def compared(small: TransitionSystem, wide: TransitionSystem, limits: Limits) -> str:
    """Compare the answers of both engines; return them."""
    if small.wide:
        return f"wide {_word(inductive(small, limits))}"
    apart, zones = explicit_search(small, limits, ignore), inductive(wide, limits)
    if apart.cut or zones.cut:
        return "too large"
    if zones.invariant is not None:
        assert apart.path is None or not apart.path.exact
    if zones.path is not None and zones.path.exact and path_values(wide, zones.path).feasible:
        assert apart.path is not None
    return f"{_word(apart)} {_word(zones)}"


def inductive(system: TransitionSystem, limits: Limits) -> EngineResult:
    """Search, and check what is said to be inductive."""
    found = search_zones(system, limits, ignore)
    assert (found.invariant is None) == bool(found.path is not None or found.cut or found.overflowed)
    assert found.invariant is None or uncovered(system, found.invariant) == []
    return found


def _word(searched: EngineResult) -> str:
    return (
        searched.cut
        if searched.cut
        else "path"
        if searched.path is not None
        else "overflow"
        if searched.overflowed
        else "safe"
    )


def agreement(kind: str, seeds: range) -> Counter[str]:
    answers: Counter[str] = Counter()
    for seed in seeds:
        text = random_safety_program(Random(seed), kind, SMALL, loops=seed % 2 == 0, growth=seed % 3 == 0)  # type: ignore[arg-type]
        program = load_program(text, f"{kind} {seed}.rdma")
        for model in MODELS_OF[kind]:  # type: ignore[index]
            answers[compared(*systems(program, model), Limits.of(5, 2000))] += 1
    return answers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 800), marks=pytest.mark.long)], ids=["few", "many"])
def test_zones_agree_with_values(kind: str, seeds: range) -> None:
    answers = agreement(kind, seeds)
    assert len(seeds) < 100 or answers["wide safe"] + answers["wide path"] > 0
    assert answers["safe safe"] > len(seeds) // 6
    assert answers["path path"] > len(seeds) // 6
    assert answers["safe path"] <= answers["safe safe"] // 5
