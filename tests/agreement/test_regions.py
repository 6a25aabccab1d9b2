"""Relaxed regions: the pivot search, the machine, brute force over the axioms; `order relaxed` is as if all words were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from tests.agreement.test_checker_deployed import compared
from tests.agreement.test_deployed import agreeing, truth
from tests.support.random_deployed import FAMILIES, mutants, named, random_deployed
from tests.support.region_programs import all_relaxed, strict_text, with_regions
from tests.support.shares import chunks

Case = tuple[Program, Model]


def same_outcomes(cases: Iterable[Case], limits: Limits) -> int:
    """Compare the machine with the axioms; return for how many programs it was not cut short."""
    compared = 0
    for program, model in cases:
        found = explore(DeployedMachine(program, model), limits)
        if found.cut is None:
            assert found.finals == axiomatic_outcomes(program, model).rdma, f"{program.file}, {model}\n{program.source}"
            compared += 1
    return compared


def changed(cases: Iterable[Case]) -> int:
    """Return of how many programs the verdict changes where no word is relaxed."""
    return sum(truth(p, m) is not truth(load_program(strict_text(p.source), "strict"), m) for p, m in cases)


def test_random_programs() -> None:
    cases = list(with_regions(range(20)))
    assert agreeing(cases, 1) >= 10
    assert same_outcomes(cases, Limits(states=5_000)) >= 10


@pytest.mark.parametrize("chunk", chunks(1, 120))
def test_many_random_programs(chunk: int) -> None:
    """200 programs a chunk: one chunk in .ci/run, 24,000 programs in `make test-long`."""
    cases = list(with_regions(range(1_000 * (chunk + 1), 1_000 * (chunk + 1) + 200)))
    assert agreeing(cases, 1) >= 120
    assert same_outcomes(cases, Limits(states=5_000)) >= 160
    assert changed(cases) >= 2


# ---- order relaxed is as if all words were relaxed


def both_ways(cases: Iterable[Case]) -> Iterator[tuple[Case, Case]]:
    """Yield each program under `order relaxed`, and with all words relaxed under the default."""
    for program, model in cases:
        relaxed = replace(model, order="relaxed")
        yield (program, relaxed), (load_program(all_relaxed(program.source), program.file), replace(model, order="default"))


def same_either_way(cases: Iterable[Case]) -> int:
    compared = 0
    for one, other in both_ways(cases):
        assert truth(*one) is truth(*other), f"{one[0].file}, {one[1]}\n{one[0].source}"
        outcomes = [axiomatic_outcomes(*case).rdma for case in (one, other)]
        assert outcomes[0] == outcomes[1], f"{one[0].file}, {one[1]}\n{one[0].source}"
        compared += truth(*one) is Verdict.NOT_ROBUST
    return compared


@pytest.mark.ci
def test_order_relaxed_is_as_if_all_words_were() -> None:
    assert same_either_way(named()) > 20


@pytest.mark.ci
def test_order_relaxed_is_as_if_all_words_were_in_random_programs() -> None:
    assert same_either_way(mutants(range(100))) > 20
    for family in FAMILIES:
        assert same_either_way(random_deployed(family, range(40))) > 5


# ---- certificates


def test_certificates_of_random_programs_are_valid() -> None:
    found = compared(with_regions(range(12)), 12, certified=True)
    assert found["robust"] and found["not-robust"]


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_certificates_of_many_random_programs_are_valid(chunk: int) -> None:
    """50 programs a chunk."""
    found = compared(with_regions(range(50_000 + 1_000 * chunk, 51_000 + 1_000 * chunk)), 50, certified=True)
    assert min(found["robust"], found["not-robust"]) >= 8
