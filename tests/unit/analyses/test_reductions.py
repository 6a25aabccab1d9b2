"""The transition systems of all models against the machines, which share no code with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rdma_robust.analyses.prove.explicit_search import Box, concrete_search, explicit_search
from rdma_robust.analyses.prove.path_replay import replay_path, shows
from rdma_robust.analyses.prove.reductions import reduce_program
from rdma_robust.analyses.prove.safety_outcome import ReductionName, ReductionOptions
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.analyses.prove.zones.zone_search import search_zones
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.limits import Limits, ignore
from tests.support.claimed_programs import claimed_program, landing_program
from tests.support.shares import share

MODELS: tuple[AnyModelName, ...] = ("sc", "tso", "pso", "rma", "rdma")


def agreement(seed: int, model: AnyModelName, loops: bool, options: ReductionOptions) -> Counter[str]:
    """Ask for each claim alone and for all, and return how often each answer came."""
    return agreement_on(claimed_program(seed, model, loops=loops), model, options)


def agreement_on(
    claimed: tuple[Program, tuple[SafetyClaim, ...]], model: AnyModelName, options: ReductionOptions
) -> Counter[str]:
    program, claims = claimed
    truth = concrete_search(program, model, claims, Limits(states=4000), boxes=(Box(8, 3),), every=True)
    answers: Counter[str] = Counter()
    for asked in (claims, *((replace(claim, number=0),) for claim in claims)):
        wrong = [claim for claim in claims if len(asked) > 1 or asked[0] == replace(claim, number=0)]
        violated = any(claim.number in truth.runs for claim in wrong)
        try:
            system = reduce_program(program, model, asked, options)
        except UsageError:
            answers["refused"] += 1
            continue
        engine = search_zones if system.wide else explicit_search
        found = engine(system, Limits(states=30_000), ignore)
        if found.cut:
            answers["cut"] += 1
            continue
        if found.path is None:
            assert found.overflowed or not violated, f"safe, but not on the machine: {program.name}"
            answers["overflow" if found.overflowed else "safe"] += 1
            continue
        run = replay_path(program, model, asked, found.path)
        assert run is not None or not found.path.exact, f"an exact path that is no run: {program.name}"
        if run is not None:
            assert violated or not truth.exhausted, f"a run that the machine does not have: {program.name}"
            assert any(shows(program, run, claim) for claim in asked)
        answers["unsafe" if run is not None else "spurious"] += 1
    return answers


@pytest.mark.parametrize("lazy", share([True, False], 2))
@pytest.mark.parametrize("model", MODELS)
def test_verdicts_are_those_of_the_machine(model: AnyModelName, lazy: bool) -> None:
    """Lazily, and with a move at a time: the verdicts are the same."""
    options = ReductionOptions(lazy=lazy, many=lazy)
    answers = sum((agreement(seed, model, seed % 2 == 0, options) for seed in range(16)), Counter[str]())
    assert answers["safe"] > 15 and answers["unsafe"] > 10 and not answers["cut"]


@pytest.mark.parametrize("model", share(MODELS))
def test_verdicts_with_wide_values_are_those_of_the_machine(model: AnyModelName) -> None:
    """Whatever has more than one value is wide, and described by zones."""
    options = ReductionOptions(narrow=1)
    answers = sum((agreement(seed, model, seed % 2 == 0, options) for seed in range(100, 108)), Counter[str]())
    assert answers["safe"] > 5 and answers["unsafe"] > 2


def test_what_sets_call_safe_has_no_run_on_the_machine() -> None:
    answers = sum((agreement(seed, "rma", seed % 2 == 0, ReductionOptions("sets")) for seed in range(16)), Counter[str]())
    assert answers["safe"] > 10 and answers["unsafe"] > 5 and answers["refused"]


def test_words_of_one_thread_are_forgotten_only_where_nobody_asks() -> None:
    """What gets write to is read after a flush, after none, or after one of another node, or is what a put reads."""
    for seed in range(8):
        for model in ("sc", "rma"):
            agreement_on(landing_program(seed), model, ReductionOptions(many=False))


@pytest.mark.long
def test_words_of_one_thread_are_forgotten_only_where_nobody_asks_in_many_programs() -> None:
    answers: Counter[str] = Counter()
    for seed in range(1000, 1600):
        for model in ("sc", "rma"):
            answers += agreement_on(landing_program(seed), model, ReductionOptions(many=False))
    assert answers["safe"] > 2000 and answers["unsafe"] > 400


KINDS: tuple[ReductionName, ...] = ("slots", "sets")
EVERY = [
    *(ReductionOptions(bound=bound, lazy=lazy) for bound in (0, 1, 2) for lazy in (True, False)),
    ReductionOptions(many=False),
    *(ReductionOptions(kind, narrow=narrow) for kind in KINDS for narrow in (1, 2)),
    ReductionOptions("sets"),
    ReductionOptions("sets", lazy=False),
]


@pytest.mark.long
@pytest.mark.parametrize("options", EVERY, ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_verdicts_of_many_programs_are_those_of_the_machine(model: AnyModelName, options: ReductionOptions) -> None:
    answers = sum((agreement(seed, model, seed % 2 == 0, options) for seed in range(1000, 1400)), Counter[str]())
    assert answers["safe"] > 200 and answers["unsafe"] > 100 and answers["cut"] < 20
