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


def test_guarantees_that_come_with_others_are_told_once() -> None:
    assert compared(SEVERAL) == 2


@pytest.mark.ci
def test_needs_are_those_of_brute_force() -> None:
    assert sum(compared(random_needs_program(Random(seed))) for seed in range(30)) > 8


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_needs_are_those_of_brute_force_on_many(part: int) -> None:
    assert sum(compared(random_needs_program(Random(seed))) for seed in range(100 + 250 * part, 350 + 250 * part)) > 50
