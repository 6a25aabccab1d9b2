"""The compiled search of a program's states against the machine of the model, which shares no code with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rdma_robust.analyses.prove.explicit_search import compiled_search, concrete_search
from rdma_robust.analyses.prove.path_replay import replay_path, shows
from rdma_robust.analyses.prove.path_values import path_values
from rdma_robust.analyses.prove.prove import FIRST
from rdma_robust.analyses.prove.reductions import reduce_program
from rdma_robust.analyses.prove.transition_system import AbstractPath, SafetyClaim, safety_claims
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName, OutcomeClaim
from rdma_robust.limits import Limits
from tests.agreement.test_safety_agrees import FEW, loaded
from tests.support.random_safety import LARGE_SAFETY, SafetySize

MODELS: tuple[AnyModelName, ...] = ("sc", "tso", "pso", "rma")


def violated(claims: tuple[SafetyClaim, ...], path: AbstractPath) -> SafetyClaim:
    if path.bad is not None:
        return claims[path.bad.claim]
    return next(claim for claim in claims if claim.fault is not None and claim.fault == path.transitions[-1].fault)


def judged(program: Program, model: AnyModelName, asked: tuple[SafetyClaim, ...], states: int) -> str:
    """Search with more and more room in buffers, hold the answer against the machine, and say what it is."""
    claims = tuple(replace(claim, allowed=False, number=number) for number, claim in enumerate(asked))
    truth = concrete_search(program, model, claims, Limits.of(20, states))
    for room in (1, 2, 4, 8):
        found = compiled_search(program, model, claims, Limits.of(20, 2 * states), room=room)
        if found is None:
            return "not known"
        if found.path is not None:
            draws = path_values(reduce_program(program, model, claims, FIRST), found.path).draws
            run = replay_path(program, model, claims, found.path, draws=draws)
            assert run is not None and shows(program, run, violated(claims, found.path)), "a path that is no run"
            assert truth.runs or not truth.exhausted
            return "unsafe"
        if found.cut or not found.overflowed:
            break
    if found.cut or found.overflowed:
        return "open"
    assert not truth.runs, "a run that the compiled search has not seen"
    return "safe"


def agreement(seeds: range, size: SafetySize, states: int) -> Counter[str]:
    """Ask about all claims of each program at once, and about each by itself, whose steps differ in what claims see."""
    answers: Counter[str] = Counter()
    for seed in seeds:
        program = loaded(seed, "shared", size)
        everywhere = tuple(OutcomeClaim(False, model) for model in MODELS)
        program = replace(program, outcomes=tuple(replace(line, claims=everywhere) for line in program.outcomes))
        for model in MODELS:
            claims = safety_claims(program, model)
            for asked in (claims, *((claim,) for claim in claims if len(claims) > 1)):
                answers[judged(program, model, asked, states)] += 1
    return answers


def test_the_compiled_states_agree_with_the_machine() -> None:
    answers = agreement(range(9000, 9020), FEW, 1500)
    assert answers["safe"] > 20 and answers["unsafe"] > 20


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(10))
def test_the_compiled_states_of_many_programs_agree_with_the_machine(hundred: int) -> None:
    seeds = range(10_000 + 100 * hundred, 10_100 + 100 * hundred)
    answers = agreement(seeds, LARGE_SAFETY if hundred % 2 else FEW, 6000)
    assert answers["safe"] > 50 and answers["unsafe"] > 50
