"""Random functions with contracts: what all interleavings show runs again in an interpreter that shares no code with it."""

from __future__ import annotations

from collections import Counter

import pytest

from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.limits import Limits
from tests.support.contracts_oracle.interleavings import searched
from tests.support.random_contracts import random_contracts
from tests.support.shares import chunks

STATES = 3_000


def _rerun(seeds: range, most: int) -> Counter[str]:
    """Run every counterexample of these functions again, with up to so many processes; return how often each class is."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        program = load_contracts(random_contracts(seed), f"{seed}.mp")
        for contract in program.contracts:
            for procs in range(1, most + 1):
                found = searched(program, contract.name, procs, Limits(states=STATES))
                counted.update(list(found.counterexamples) or ["unknown" if found.reasons else "verified"])
                for counterexample in found.counterexamples.values():
                    confirmed(program, contract.name, counterexample)
    return counted


def test_counterexamples_run_again() -> None:
    counted = _rerun(range(10, 18), 2)
    assert counted["verified"] > 5
    assert len(counted) > 4


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_counterexamples_of_more_run_again(chunk: int) -> None:
    assert len(_rerun(range(100 + chunk * 20, 120 + chunk * 20), 3)) > 4
