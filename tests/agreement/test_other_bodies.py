"""A function that is proved from the contracts of its callees stays right with any other bodies that meet them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rdma_robust.contracts.language.contract_program import CONTRACT_BUFFERS, ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.modular.barrier_check import BarrierCheck
from rdma_robust.contracts.modular.widened_checks import WidenedChecks
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.limits import Limits
from tests.support.other_bodies import with_few_clauses, with_other_bodies
from tests.support.shares import chunks

FEW = Limits(states=400)


def _proved(program: ContractProgram, procs: int) -> tuple[bool, WidenedChecks]:
    widened = WidenedChecks(program, FEW)
    return BarrierCheck(program, "f", procs, FEW, widened=widened).proved(), widened


def compared(seed: int, procs: int, number: int) -> Counter[str]:
    """Swap bodies of the callees of a random function; return how often that was compared, and what came of it.

    What is compared: bodies that meet the contract for the same inputs. With them the proof is the same, and what is proved
    is right with each of them.
    """
    counted: Counter[str] = Counter()
    text = with_few_clauses(seed)
    contract = load_contracts(text, "a.mp").contract("f")
    assert contract is not None
    proofs: dict[object, bool] = {}
    swapped = {"near", "far"}.intersection(contract.calls)
    for other in with_other_bodies(text, seed, number) if swapped else ():
        program = replace(load_contracts(other, f"{seed}.mp"), buffer=CONTRACT_BUFFERS[seed % 5 == 0])
        proved, widened = _proved(program, procs)
        trusts = [widened.trust(each, procs) for each in contract.calls]
        if None in trusts:
            counted["another body that does not do"] += 1
            continue
        known = tuple((each.wide, each.unread) for each in trusts if each is not None)
        assert proofs.setdefault(known, proved) == proved, (seed, procs, other)
        if proved:
            assert runs(program, "f", procs, FEW).verdict != "VIOLATED", (seed, procs, other)
        counted["proved" if proved else "not proved"] += 1
    return counted


def test_a_few() -> None:
    counted = sum((compared(seed, 2, 4) for seed in (32, 37, 55)), Counter[str]())
    assert counted["proved"]
    assert counted["not proved"]


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_more(chunk: int) -> None:
    counted = sum((compared(seed, 2 + seed % 2, 8) for seed in range(chunk * 40, chunk * 40 + 40)), Counter[str]())
    assert counted["proved"] + counted["not proved"]
