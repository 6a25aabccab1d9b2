"""`needs` finds the minimal sets that brute force over the axioms finds."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.needs.minimal_sets import minimal_sets
from rdma_robust.errors import SizeLimitError
from rdma_robust.language.load import load_program
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.orders.guarantees import with_implied
from rdma_robust.robustness.decide import decide
from tests.support.random_needs import BruteForceNeeds, random_needs_program

SEVERAL = """\
domain 0..7
node A { a, b }
node B { x, y }
thread T on A { get a = cas(B.y, 0, 1); faa(B.x, 1); put B.y = 1; get b = B.x }
thread U on B { reg r; r = y; r = x }
"""


def compared(text: str) -> int:
    """Compare, and return how many minimal sets there are; 0 for a program that is too large for brute force."""
    program = load_program(text, "random.rdma")
    found = minimal_sets(program, RDMA, lambda model: decide(program, CheckOptions(hardware=model)), 200)
    assert not found.open, text
    try:
        wanted = BruteForceNeeds(program).sets()
    except SizeLimitError:
        return 0
    assert (None if not found.sets else set(map(with_implied, found.sets))) == wanted, text
    return len(found.sets)


def long_text(rng: Random, operations: int) -> str:
    """Return a program with so many operations of one thread (puts, gets, swaps and polls), and seven reads of another."""
    words, ops, unpolled = [f"x{i}" for i in range(6)], list[str](), 0
    while len(ops) < operations - 1:
        word, kind = rng.choice(words), rng.random()
        if kind < 0.6:
            ops.append(
                f"put B.{word} = one" if kind < 0.35 else f"get a = B.{word}" if kind < 0.5 else f"get c = swap(B.{word}, 2)"
            )
            unpolled += 1
        elif unpolled:
            ops.append("poll B")
            unpolled -= 1
    body = "\n  ".join([*ops, "put B.f = one"])
    reads = "\n  ".join(["r6 = f", *(f"r{i} = {word}" for i, word in enumerate(words))])
    nodes = f"node A {{ a, c, one = 1 }}\nnode B {{ {', '.join(words)}, f }}\n"
    return f"{nodes}thread T on A {{\n  {body}\n}}\nthread U on B {{\n  reg r0, r1, r2, r3, r4, r5, r6\n  {reads}\n}}\n"


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(3))
def test_programs_of_thirty_operations_take_few_checks(seed: int) -> None:
    """All sets are found: also where those that are asked about lack a fact of the proofs."""
    program = load_program(long_text(Random(seed), 23), "long.rdma")
    found = minimal_sets(program, RDMA, lambda model: decide(program, CheckOptions(hardware=model)), 50)
    assert found.sets and not found.open and found.checks <= 50


def test_guarantees_that_come_with_others_are_told_once() -> None:
    assert compared(SEVERAL) == 2


@pytest.mark.ci
def test_needs_are_those_of_brute_force() -> None:
    assert sum(compared(random_needs_program(Random(seed))) for seed in range(30)) > 8


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_needs_are_those_of_brute_force_on_many(part: int) -> None:
    assert sum(compared(random_needs_program(Random(seed))) for seed in range(100 + 250 * part, 350 + 250 * part)) > 50
