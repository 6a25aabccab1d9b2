"""`prove` against a bounded search on the models' machines, and the models against each other, on random programs.

The machines share no code with the reductions and engines: a proof must have no run there, and a run must be one there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Literal

import pytest

from rdma_robust.analyses.prove.explicit_search import concrete_search
from rdma_robust.analyses.prove.path_replay import shows
from rdma_robust.analyses.prove.prove import FIRST, decide_safety
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions, Safety, SafetyOutcome
from rdma_robust.analyses.prove.transition_system import EngineName
from rdma_robust.language.flow.cfg import Program, RemoteRmw, named_lane, steps
from rdma_robust.language.flow.claims import AnyModelName, OutcomeClaim
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from tests.support.inserted import fenced, flushed
from tests.support.random_lanes import with_lanes
from tests.support.random_safety import LARGE_SAFETY, MODELS_OF, Kind, SafetySize, random_safety_program

KINDS: tuple[Kind, ...] = ("shared", "network", "queue pairs")
FEW = SafetySize(threads=(1, 2), statements=(1, 4), total=6)


def judged(
    program: Program,
    model: AnyModelName,
    states: int,
    *,
    reduction: ReductionOptions = FIRST,
    engine: EngineName | Literal["auto"] = "auto",
) -> tuple[SafetyOutcome, str]:
    """Ask `prove`, hold every part of its answer against the machine, and say what came of it."""
    outcome = decide_safety(program, model, Limits.of(20, states), reduction=reduction, engine=engine)
    truth = concrete_search(program, model, outcome.claims, Limits.of(20, states), every=True)
    happens = [number for number in truth.runs if not outcome.claims[number].allowed]
    if outcome.safety is Safety.SAFE:
        assert not happens, "a proof of what is false"
    if outcome.safety is Safety.UNSAFE:
        assert outcome.run is not None and outcome.claim is not None and shows(program, outcome.run, outcome.claim)
        assert happens or not truth.exhausted
    for each in outcome.allowed:
        if each.possible:
            assert each.run is not None and shows(program, each.run, each.claim)
        assert each.possible is not False or each.claim.number not in truth.runs
    known = "" if outcome.safety is not Safety.UNKNOWN else "seen" if happens or truth.exhausted else "open"
    return outcome, f"{outcome.safety.value}{', wide' if outcome.system is not None and outcome.system.wide else ''}{known}"


def loaded(seed: int, kind: Kind, size: SafetySize = FEW, *, growth: bool | None = None) -> Program:
    grown = seed % 3 > 0 if growth is None else growth
    text = random_safety_program(Random(seed), kind, size, loops=seed % 2 == 0, growth=grown)
    return load_program(text, f"{kind} {seed}.rdma")


def agreement(kind: Kind, seeds: range, size: SafetySize, states: int) -> Counter[str]:
    answers: Counter[str] = Counter()
    for seed in seeds:
        program = loaded(seed, kind, size)
        for model in MODELS_OF[kind]:
            answers[judged(program, model, states)[1]] += 1
    return answers


@pytest.mark.ci
@pytest.mark.parametrize("kind", KINDS)
def test_answers_agree_with_the_machine(kind: Kind) -> None:
    answers = agreement(kind, range(25), FEW, 2000)
    assert answers["safe"] > 5 and answers["unsafe"] > 5


def on_lanes(kind: Kind, seeds: range, states: int) -> Counter[str]:
    """The answers for programs whose requests, polls, fences and flushes are spread over several queue pairs."""
    answers: Counter[str] = Counter()
    for seed in seeds:
        plain = loaded(seed, kind)
        program = load_program(with_lanes(plain.source, Random(seed)), f"{plain.file}, on lanes")
        if any(named_lane(step.op) for thread in program.threads for _, _, step in steps(thread)):
            answers.update(judged(program, model, states)[1] for model in MODELS_OF[kind])
    return answers


@pytest.mark.parametrize("kind", ["network", "queue pairs"])
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(500, 512), marks=pytest.mark.ci),
        *(pytest.param(range(n, n + 200), marks=pytest.mark.long) for n in range(600, 1600, 200)),
    ],
    ids=lambda seeds: str(seeds.start),
)
def test_answers_on_lanes_agree_with_the_machine(kind: Kind, seeds: range) -> None:
    answers = on_lanes(kind, seeds, 2000)
    assert answers["safe"] >= 2 and answers["unsafe"] >= 2


def by_sets(seeds: range, states: int) -> Counter[str]:
    """The answers by the encoding with a set per remote statement, which has no remote atomics."""
    answers: Counter[str] = Counter()
    for seed in seeds:
        program = loaded(seed, "network")
        if not any(isinstance(step.op, RemoteRmw) for thread in program.threads for _, _, step in steps(thread)):
            answers[judged(program, "rma", states, reduction=ReductionOptions("sets"))[1]] += 1
    return answers


def test_answers_by_sets_agree_with_the_machine() -> None:
    answers = by_sets(range(400, 430), 2000)
    assert answers["safe"] > 3 and answers["unsafe"] > 3


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(3))
def test_answers_by_sets_of_many_programs_agree_with_the_machine(hundred: int) -> None:
    answers = by_sets(range(7000 + 200 * hundred, 7200 + 200 * hundred), 6000)
    assert answers["safe"] > 20 and answers["unsafe"] > 20


@pytest.mark.long
@pytest.mark.parametrize("engine", ["zones", "predicates"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_engine_agrees_with_the_machine(kind: Kind, engine: EngineName) -> None:
    answers: Counter[str] = Counter()
    for seed in range(8000, 8030):
        program = loaded(seed, kind, growth=True)
        for model in MODELS_OF[kind]:
            answers[judged(program, model, 1500, engine=engine)[1]] += 1
    assert answers["safe"] + answers["safe, wide"] > 5 and answers["unsafe"] > 5


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_many_programs_agree_with_the_machine(kind: Kind, hundred: int) -> None:
    seeds = range(1000 + 100 * hundred, 1100 + 100 * hundred)
    answers = agreement(kind, seeds, LARGE_SAFETY if hundred % 2 else FEW, 6000)
    assert answers["safe"] > 20 and answers["unsafe"] > 20 and answers["safe, wide"] > 2


def everywhere(program: Program) -> Program:
    """The program with its claims under every model, and none about program points, at which models may differ."""
    claims = tuple(OutcomeClaim(False, model) for model in ("sc", "tso", "pso", "rma", "rdma"))
    outcomes = tuple(replace(line, claims=claims) for line in program.outcomes)
    return replace(program, outcomes=outcomes, invariants=tuple(i for i in program.invariants if not i.atoms))


def answers_of(program: Program, models: tuple[AnyModelName, ...], states: int) -> list[Safety]:
    return [decide_safety(program, model, Limits.of(20, states)).safety for model in models]


def stronger_and_weaker(kind: Kind, seed: int, states: int) -> None:
    """What can happen under sc can happen under every model, and under tso what can under pso."""
    program = everywhere(loaded(seed, kind))
    strong, *weak = answers_of(program, MODELS_OF[kind], states)
    for weaker in weak:
        assert (strong, weaker) != (Safety.UNSAFE, Safety.SAFE)
        strong = weaker if len(weak) > 1 else strong


def the_same_as_sc(kind: Kind, seed: int, states: int) -> None:
    """With a fence behind every store tso and pso are sc, with a flush behind every operation rma and rdma are."""
    program = everywhere(loaded(seed, kind))
    sc = answers_of(program, ("sc",), states)[0]
    for model in MODELS_OF[kind][1:]:
        strict = fenced(program) if kind == "shared" else flushed(program)
        (answer,) = answers_of(strict, (model,), states)
        assert {sc, answer} != {Safety.SAFE, Safety.UNSAFE}


@pytest.mark.parametrize("kind", KINDS)
def test_a_weaker_model_has_more_runs(kind: Kind) -> None:
    for seed in range(100, 108):
        stronger_and_weaker(kind, seed, 2000)


@pytest.mark.parametrize("kind", ["shared", "network"])
def test_waiting_everywhere_gives_sc(kind: Kind) -> None:
    for seed in range(200, 208):
        the_same_as_sc(kind, seed, 2000)


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_many_weaker_and_stricter_programs(kind: Kind, hundred: int) -> None:
    for seed in range(5000 + 100 * hundred, 5100 + 100 * hundred):
        stronger_and_weaker(kind, seed, 6000)
        if kind != "queue pairs":
            the_same_as_sc(kind, seed, 6000)


def reduced_or_not(kind: Kind, seeds: range, states: int) -> int:
    """Ask with all moves as transitions too: no verdict may change. Returns how many were given by both."""
    both = 0
    for seed in seeds:
        program = loaded(seed, kind)
        for model in MODELS_OF[kind]:
            lazy, eager = (
                decide_safety(program, model, Limits.of(20, states), reduction=replace(FIRST, lazy=lazy))
                for lazy in (True, False)
            )
            assert {lazy.safety, eager.safety} != {Safety.SAFE, Safety.UNSAFE}, (kind, seed, model)
            possible = [(a.possible, b.possible) for a, b in zip(lazy.allowed, eager.allowed, strict=True)]
            assert not {(True, False), (False, True)} & set(possible), (kind, seed, model)
            both += Safety.UNKNOWN not in (lazy.safety, eager.safety)
    return both


@pytest.mark.parametrize("kind", ["shared", "network"])
def test_fewer_states_change_no_verdict(kind: Kind) -> None:
    assert reduced_or_not(kind, range(500, 510), 3000) > 10


@pytest.mark.long
@pytest.mark.parametrize("kind", ["shared", "network"])
def test_fewer_states_change_no_verdict_of_many_programs(kind: Kind) -> None:
    assert reduced_or_not(kind, range(9000, 9300), 10_000) > 400


@pytest.mark.parametrize("seed", range(6))
def test_without_a_network_rma_and_rdma_are_sc(seed: int) -> None:
    program = everywhere(loaded(300 + seed, "shared", growth=False))
    sc, rma, rdma = answers_of(program, ("sc", "rma", "rdma"), 3000)
    assert sc is rma is rdma is not Safety.UNKNOWN
