"""Lemma 1: a closed run shows ITF exactly if one who has left could really send a message that a receive from any takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rdma_robust.contracts.language.contract_program import CONTRACT_BUFFERS, ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from tests.support.class_programs import class_programs
from tests.support.open_runs import TooManyStates, interferes
from tests.support.random_contracts import random_contracts
from tests.support.random_posts import random_posts
from tests.support.shares import chunks


def _compare(program: ContractProgram, procs: tuple[int, ...], most: int, name: str = "") -> Counter[bool]:
    """Compare for every collective function, or one by its name; return how often there is interference, or none."""
    counted: Counter[bool] = Counter()
    for contract in program.contracts:
        if contract.kind == "local" or name not in {"", contract.name}:
            continue
        for number in procs:
            try:
                shown, taken = interferes(program, contract.name, number, most)
            except TooManyStates:
                continue
            assert shown == taken, (contract.name, number)
            counted[shown] += 1
    return counted


def test_of_small_functions() -> None:
    counted: Counter[bool] = Counter()
    for program in class_programs().values():
        procs = tuple(each for each in program.shows if each < 3 or "from any" in program.text)
        counted += _compare(program.loaded(), procs, 300, "f")
    assert counted[True] > 5
    assert counted[False] > 50


@pytest.mark.parametrize("chunk", chunks(1, 200))
def test_of_random_functions(chunk: int) -> None:
    counted: Counter[bool] = Counter()
    for seed in range(chunk * 8, chunk * 8 + 8):
        procs, buffer = 2 + seed % 2, CONTRACT_BUFFERS[seed // 2 % 2]
        plain, posting = (load_contracts(text, f"{seed}.mp") for text in (random_contracts(seed), random_posts(seed, procs)))
        counted += _compare(replace(plain, buffer=buffer), (2, 3), 600)
        counted += _compare(replace(posting, buffer=buffer), (procs,), 600)
    assert counted[True] > 0
    assert counted[False] > 10
