"""Reachability: against all states of machines that merge and leave out nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

from rdma_robust.language.load import load_program, load_program_and_target
from rdma_robust.safety.goals import StateGoal
from rdma_robust.safety.reach import Answer, Asked, Bounds, Model, Reached, reach
from rdma_robust.semantics.machine_rdma import RdmaMachine
from rdma_robust.semantics.machine_sc import ScMachine
from tests.support.random_programs import SMALL, TINY, random_program
from tests.support.targets import everything, random_target, reachable

BOUNDS = Bounds(max_states=20_000)


def asked(text: str, target: str, model: Model, bounds: Bounds = BOUNDS) -> Asked:
    program, meant = load_program_and_target(text, "test.rdma", target, await_loops=True)
    return reach(program, [StateGoal(meant)], model, bounds)


def answered(text: str, target: str, model: Model = "rdma", bounds: Bounds = BOUNDS) -> Reached:
    return asked(text, target, model, bounds).answers[0]


def compare(seed: int, *, loops: bool) -> list[str]:
    """Compare both models' answers for a random question; return what was answered and why."""
    rng = Random(seed)
    text = random_program(rng, rng.choice([TINY, TINY, SMALL]), loops=loops)
    target = random_target(rng, load_program(text, "x"))
    ordered = rng.random() < 0.3
    program, meant = load_program_and_target(text, "x", target)
    look = everything(program)
    found = []
    for model in ("sc", "rdma"):
        machine = ScMachine(program, look) if model == "sc" else RdmaMachine(program, ordered, look)
        truth = reachable(machine, meant, 1500 if loops else 4000)
        said = answered(text, target, model, Bounds(ordered, max_states=1000 if loops else 20_000))
        found.append(f"{model} {said.answer.value}: {said.argument.value}")
        if truth is not None:
            wanted = Answer.REACHABLE if truth else Answer.UNREACHABLE
            assert said.answer in (wanted, Answer.UNKNOWN), (seed, model, target, text, said)
            if not loops:
                assert said.answer is wanted, (seed, model, target, text, said)
    return found


def compare_many(seeds: Iterable[int], *, loops: bool) -> None:
    counts = Counter(what for seed in seeds for what in compare(seed, loops=loops))
    for model, arguments in (
        ("sc", ("sc run", "sc exhausted")),
        ("rdma", ("sc run", "rdma run", "robust", "rdma exhausted")),
    ):
        for argument in arguments:
            assert counts[f"{model} reachable: {argument}"] + counts[f"{model} unreachable: {argument}"], (argument, counts)


ONLY_RDMA = (83, 84, 117, 143, 351, 500, 565, 628, 725)
"""Seeds of questions, rare among random ones, whose answer is a run that SC does not have."""


@pytest.mark.parametrize(("loops", "number"), [(False, 80), (True, 30)])
def test_answers_are_those_of_all_states(loops: bool, number: int) -> None:
    compare_many((*range(number), *ONLY_RDMA), loops=loops)


@pytest.mark.long
@pytest.mark.parametrize("loops", [False, True])
def test_answers_are_those_of_all_states_of_many(loops: bool) -> None:
    compare_many(range(1000, 1300 if loops else 2500), loops=loops)
