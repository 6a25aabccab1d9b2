"""The operational machines and the axioms give the same final states on random loop-free programs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import rdma
from rdma_robust.semantics.machines.machine import valuation
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from tests.support.random_programs import SMALL, Size, random_program
from tests.support.shares import share

CHUNK = 100
BRIEF = Size(threads=(2, 3), instructions=(2, 4), total=7)


def check(seed: int, size: Size) -> None:
    """Odd seeds have ordered reads; every fifth program has atomic operations and choices of values."""
    text = random_program(Random(seed), replace(size, atomics=seed % 5 == 4))
    program = load_program(text, f"random-{seed}.rdma")
    ordered_reads = bool(seed % 2)
    axioms = axiomatic_outcomes(program, rdma(ordered_reads))
    machines = [
        explore(ScMachine(program), Limits()).finals,
        explore(RdmaMachine(program, rdma(ordered_reads)), Limits()).finals,
    ]
    for model, found, wanted in zip(("sc", "rdma"), machines, (axioms.sc, axioms.rdma), strict=True):
        extra, missing = ([valuation(program, s) for s in sorted(states)] for states in (found - wanted, wanted - found))
        note = f"seed {seed}, ordered_reads={ordered_reads}, {model}: only machine {extra}, only axioms {missing}"
        assert found == wanted, f"{note}\n{text}"


@pytest.mark.parametrize("chunk", share(range(9)))
@pytest.mark.ci
def test_machines_and_axioms_agree(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check(seed, BRIEF)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(9, 220))
def test_machines_and_axioms_agree_on_more(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check(seed, BRIEF if seed % 4 else SMALL)
