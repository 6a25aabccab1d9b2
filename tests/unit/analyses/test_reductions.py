"""The transition systems of all models against the machines, which share no code with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rdma_robust.analyses.prove.concrete_search import Box, concrete_search
from rdma_robust.analyses.prove.explicit_search import explicit_search
from rdma_robust.analyses.prove.on_machine import shows
from rdma_robust.analyses.prove.path_replay import replayed
from rdma_robust.analyses.prove.reductions import reduced
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions
from rdma_robust.language.flow.cfg import AnyModelName
from rdma_robust.limits import Limits
from tests.support.claimed_programs import claimed_program

MODELS: tuple[AnyModelName, ...] = ("sc", "tso", "pso", "rma", "rdma")


def agreement(seed: int, model: AnyModelName, loops: bool, options: ReductionOptions) -> Counter[str]:
    """Ask for each claim alone and for all, and return how often each answer came."""
    program, claims = claimed_program(seed, model, loops=loops)
    truth = concrete_search(program, model, claims, Limits(states=4000), boxes=(Box(8, 3),), every=True)
    answers: Counter[str] = Counter()
    for asked in (claims, *((replace(claim, number=0),) for claim in claims)):
        wrong = [claim for claim in claims if len(asked) > 1 or asked[0] == replace(claim, number=0)]
        violated = any(claim.number in truth.runs for claim in wrong)
        found = explicit_search(reduced(program, model, asked, options), Limits(states=30_000))
        if found.cut:
            answers["cut"] += 1
            continue
        if found.path is None:
            assert found.overflowed or not violated, f"safe, but not on the machine: {seed}"
            answers["overflow" if found.overflowed else "safe"] += 1
            continue
        run = replayed(program, model, asked, found.path)
        assert run is not None or not found.path.exact, f"an exact path that is no run: {seed}"
        if run is not None:
            assert violated or not truth.exhausted, f"a run that the machine does not have: {seed}"
            assert any(shows(program, run, claim) for claim in asked)
        answers["unsafe" if run is not None else "spurious"] += 1
    return answers


@pytest.mark.parametrize("model", MODELS)
def test_verdicts_are_those_of_the_machine(model: AnyModelName) -> None:
    answers = sum((agreement(seed, model, seed % 2 == 0, ReductionOptions()) for seed in range(40)), Counter[str]())
    assert answers["safe"] > 30 and answers["unsafe"] > 20 and not answers["cut"]


@pytest.mark.long
@pytest.mark.parametrize("bound", [0, 1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_verdicts_of_many_programs_are_those_of_the_machine(model: AnyModelName, bound: int) -> None:
    options = ReductionOptions(bound=bound)
    answers = sum((agreement(seed, model, seed % 2 == 0, options) for seed in range(1000, 2500)), Counter[str]())
    assert answers["safe"] > 1000 and answers["unsafe"] > 800 and answers["cut"] < 10
