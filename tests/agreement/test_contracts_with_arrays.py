"""Functions that work with arrays: both engines agree, and every counterexample of both runs again."""

from __future__ import annotations

from collections import Counter

import pytest

from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.limits import Limits
from tests.support.contracts_agreement import compared
from tests.support.contracts_oracle.interleavings import searched
from tests.support.random_array_contracts import random_array_contracts
from tests.support.shares import chunks


def _compare(seeds: range, most: int) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in seeds:
        program = load_contracts(random_array_contracts(seed), f"{seed}.mp")
        for contract in program.contracts:
            for procs in range(1, most + 1):
                counted += compared(program, contract.name, procs, 1_000)
                found = searched(program, contract.name, procs, Limits(states=300))
                for counterexample in found.counterexamples.values():
                    confirmed(program, contract.name, counterexample)
    return counted


def test_a_few() -> None:
    assert len(_compare(range(4), 2)) > 2


@pytest.mark.parametrize("chunk", chunks(1, 100))
def test_more(chunk: int) -> None:
    assert len(_compare(range(10 + chunk * 15, 25 + chunk * 15), 3)) > 3
