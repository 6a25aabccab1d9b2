"""The engine with symbolic data and clocks against all interleavings: named programs, their mutations, random functions."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from rdma_robust.contracts.language.load_contracts import load_contracts
from tests.support.contract_mutations import FOLDER, mutants
from tests.support.contracts_agreement import compared
from tests.support.random_contracts import random_contracts
from tests.support.shares import chunks

NAMED = [path for path in sorted(FOLDER.glob("*.mp")) if not path.stem.startswith("loop_")]


def _random(seeds: range, most: int, *, use_z3: bool = True) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in seeds:
        program = load_contracts(random_contracts(seed), f"{seed}.mp")
        for contract in program.contracts:
            for procs in range(1, most + 1):
                counted += compared(program, contract.name, procs, use_z3=use_z3)
    return counted


def test_random_functions() -> None:
    counted = _random(range(5), 2)
    assert counted["VERIFIED"] > 5
    assert len(counted) > 3


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_more_random_functions(chunk: int) -> None:
    seeds = range(5000 + chunk * 10, 5010 + chunk * 10)
    assert len(_random(seeds, 3)) > 3
    _random(seeds[:3], 2, use_z3=False)


def _mutations(chunk: int, of: int, number: int) -> Counter[str]:
    rng, counted = random.Random(chunk), Counter[str]()
    for path in NAMED[chunk % of :: of]:
        for program in islice(mutants(rng, path), number):
            for contract in program.contracts:
                for procs in (1, 2, 3):
                    counted += compared(program, contract.name, procs, 800)
    return counted


@pytest.mark.parametrize("chunk", chunks(1, 50))
def test_mutations_of_named_programs(chunk: int) -> None:
    assert _mutations(chunk, 25, 2)["VERIFIED"]


@pytest.mark.long
@pytest.mark.parametrize("path", NAMED, ids=lambda path: path.stem)
def test_named_programs(path: Path) -> None:
    program = load_contracts(path.read_text(encoding="utf-8"), path.name)
    for contract in program.contracts:
        for procs in (1, 2, 3):
            compared(program, contract.name, procs, 20_000)
