"""Several accesses next at one program point, on one node: pivots of one class that the order table treats differently."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.language.load import load_program
from rdma_robust.options import ALL_REDUCTIONS
from tests.support.compare import by, by_oracle

WORDS = ("x", "y", "z")


def step(random: Random) -> str:
    here, there = random.choice(WORDS), random.choice(WORDS)
    return random.choice(
        (f"put A.{there} = {here}", f"get {here} = A.{there}", f"{here} = 1", f"r = {here}", "poll A", "rfence A")
    )


def alternatives(random: Random) -> str:
    """Return a program of a thread or two, all on one node, that choose between single accesses."""
    threads = []
    for number in range(random.choice((1, 1, 2))):
        parts = [step(random)]
        for _ in range(random.randint(1, 2)):
            arms = " or ".join(f"{{ {step(random)} }}" for _ in range(random.randint(2, 3)))
            parts.append(random.choice((f"choose {arms}", step(random))))
        threads.append(f"thread T{number} on A {{ reg r\n" + "\n".join(parts) + "\n}")
    return "allow loopback\nnode A { x = 0, y = 0, z = 0 }\n" + "\n".join(threads) + "\n"


def agree(seeds: range) -> None:
    decided = violating = 0
    for seed in seeds:
        program = load_program(alternatives(Random(f"alternatives {seed}")), f"seed {seed}")
        truth = by_oracle(program, bool(seed % 2))
        if truth.startswith("("):
            continue
        decided += 1
        violating += truth == "not-robust"
        for reductions in (frozenset[str](), ALL_REDUCTIONS):
            assert by("pivot", reductions=reductions)(program, bool(seed % 2)) == truth, f"seed {seed}"
    assert violating > len(seeds) // 20
    assert decided > len(seeds) // 2


@pytest.mark.ci
def test_every_pivot_at_a_point_counts() -> None:
    agree(range(600))


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_every_pivot_at_a_point_counts(chunk: int) -> None:
    agree(range(1_000 * (chunk + 1), 1_000 * (chunk + 1) + 500))
