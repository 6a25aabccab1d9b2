"""Where sends wait for their receives: both engines agree, what is proved by contracts holds, and old classes stay."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.modular.barrier_check import BarrierCheck
from rdma_robust.contracts.modular.widened_checks import WidenedChecks
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.limits import NO_LIMITS
from tests.support.contract_mutations import FOLDER, mutants
from tests.support.contracts_agreement import compared
from tests.support.random_array_contracts import random_array_contracts
from tests.support.random_contracts import random_contracts
from tests.support.random_posts import random_posts, with_requests
from tests.support.shares import chunks


def under_zero(program: ContractProgram) -> ContractProgram:
    return replace(program, buffer="zero")


def _agreed(program: ContractProgram, most: int) -> Counter[str]:
    """Compare both engines, and every proof by contracts with what holds with real bodies."""
    counted: Counter[str] = Counter()
    program = under_zero(program)
    widened = WidenedChecks(program, NO_LIMITS)
    for contract in program.contracts:
        for procs in range(1, most + 1):
            counted += compared(program, contract.name, procs, 2_000)
            if contract.calls and BarrierCheck(program, contract.name, procs, widened=widened).proved():
                real = runs(program, contract.name, procs)
                assert real.verdict == "VERIFIED", (contract.name, procs, real.counterexample)
                counted["proved"] += 1
    return counted


def _random(seeds: range, most: int) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in seeds:
        text = random_array_contracts(seed) if seed % 3 == 0 else random_contracts(seed)
        counted += _agreed(load_contracts(with_requests(text) if seed % 4 == 0 else text, f"{seed}.mp"), most)
        procs = 2 + seed % (most - 1)
        posting = under_zero(load_contracts(random_posts(seed, procs), f"{seed}.mp"))
        counted += compared(posting, "f", procs, 4_000)
    return counted


def test_a_few() -> None:
    counted = _random(range(400, 406), 2)
    assert counted["DL"]
    assert counted["VERIFIED"]
    assert len(counted) > 4


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_more(chunk: int) -> None:
    counted = _random(range(500 + chunk * 10, 510 + chunk * 10), 3)
    assert counted["VERIFIED"]


NAMED = [path for path in sorted(FOLDER.glob("*.mp")) if not path.stem.startswith("loop_")]


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_mutations_of_named_programs(chunk: int) -> None:
    rng, counted = random.Random(chunk), Counter[str]()
    for path in NAMED[chunk % 15 :: 15]:
        for program in islice(mutants(rng, path), 1):
            counted += _agreed(program, 3)
    assert counted["VERIFIED"]


def test_what_only_waits_for_receives_is_as_before() -> None:
    """Of a function in which every send finds its receive posted, the classes are the same under both buffers."""
    path = FOLDER / "requests-gather-in-any-order.mp"
    program = load_contracts(path.read_text(encoding="utf-8"), path.name)
    (contract,) = program.contracts
    for procs in (1, 2, 3, 4):
        both = [runs(each, contract.name, procs) for each in (program, under_zero(program))]
        assert {each.verdict for each in both} == {"VERIFIED" if procs < 3 else "VIOLATED"}
