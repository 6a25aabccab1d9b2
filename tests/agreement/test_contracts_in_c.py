"""Random functions with contracts, in C and in `.mp`: the same answers."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.limits import NO_LIMITS
from tests.support.contracts_in_c import in_c
from tests.support.random_contracts import random_contracts

SEEDS = [seed for seed in range(12) if in_c(random_contracts(seed)) is not None]


def answers(program: ContractProgram, procs: tuple[int, ...]) -> list[tuple[str, int, str, str]]:
    """Return what is found of each function and number of processes."""
    return [
        (each.name, one.procs, one.verdict, "" if one.counterexample is None else one.counterexample.error)
        for each in checked(program, Checking(procs), NO_LIMITS)
        for one in each.answers
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_c_is_answered_as_mp(seed: int) -> None:
    text, procs = random_contracts(seed), (1, 2)
    as_c = in_c(text, arrays=seed % 2 == 1)
    assert as_c is not None
    assert answers(load_contracts(as_c, "random.c"), procs) == answers(load_contracts(text, "random.mp"), procs), as_c
