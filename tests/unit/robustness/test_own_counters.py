"""Copies whose completions have no bound: each counts its own, so that a poll of one takes no completion of another."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.counting.well_structured import decide_vectors
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.crowds.instance import Instance
from rdma_robust.robustness.crowds.own_counters import AllCounted, OwnCounters
from rdma_robust.robustness.decide import decide
from tests.support.crowd_agreement import first_bad
from tests.support.shares import chunks, share

BRANCHES = {"poll A;": -1, "put A.z = one; poll A; poll A;": -1, "put A.z = one; poll A;": 0}
"""What a copy does before a branch in which it reads against the order of D, and whether a target can be covered then."""


def crowd_with(before: str) -> Program:
    text = f"""node A {{ x = 0, z = 0 }}
node B {{ y = 0 }}
node CN[*] {{ one = 1, p = 0 }}
node DN {{ e = 1, f = 0 }}
thread C[*] on CN[*] {{
  reg r
  r = one
  assume r == 1
  choose {{ loop {{ put A.z = one }} poll A }} or {{ {before} put A.x = one; poll A; get p = B.y; poll B }}
}}
thread D on DN {{ put B.y = e; get f = A.x }}
"""
    return load_decidable(text, "crowd.rdma", crowds=True)


@pytest.mark.parametrize("before", share(BRANCHES, 3))
def test_a_copy_polls_what_it_has_posted_itself(before: str) -> None:
    program = crowd_with(before)
    instance = Instance.of(program, CheckOptions().model, ALL_REDUCTIONS)
    assert instance.uncounted
    found = decide_vectors(OwnCounters(AllCounted(instance)), Limits(states=3_000))
    assert (min(found.target, 0), found.cut) == (BRANCHES[before], "")


@pytest.mark.ci
def test_the_verdict_rests_on_it_where_nothing_else_decides() -> None:
    outcome = decide(crowd_with("put A.z = one; poll A; poll A;"), CheckOptions())
    assert outcome.verdict is Verdict.ROBUST
    assert "completions of each copy counted" in outcome.reason


PIECES = ("put A.z = one;", "poll A;", "poll A;", "put A.x = one;", "get p = B.y;", "poll B;", "loop { put A.z = one }")
OTHERS = (
    "put B.y = e; get f = A.x",
    "put B.y = e; poll B; get f = A.x",
    "get f = A.x; put B.y = e",
    "put A.x = e; put B.y = e",
)


def random_branches(seed: int) -> Program:
    rng = Random(seed)
    branches = [" ".join(rng.choices(PIECES, k=rng.randint(2, 5))) for _ in range(2)]
    text = f"""node A {{ x = 0, z = 0 }}
node B {{ y = 0 }}
node CN[*] {{ one = 1, p = 0 }}
node DN {{ e = 1, f = 0 }}
thread C[*] on CN[*] {{ choose {{ loop {{ put A.z = one }} {branches[0]} }} or {{ {branches[1]} }} }}
thread D on DN {{ {rng.choice(OTHERS)} }}
"""
    return load_decidable(text, "crowd.rdma", crowds=True)


@pytest.mark.parametrize("chunk", chunks(1, 6))
def test_random_programs_agree_with_few_copies(chunk: int) -> None:
    decided = 0
    for seed in range(30 * chunk, 30 * (chunk + 1)):
        program = random_branches(seed)
        instance = Instance.of(program, CheckOptions().model, ALL_REDUCTIONS)
        if not instance.classes or not instance.uncounted:
            continue
        found = decide_vectors(OwnCounters(AllCounted(instance)), Limits.of(3, 600))
        fewest = first_bad(program, 2)
        if found.cut or fewest is None:
            continue
        decided += 1
        assert fewest > 2 or found.target >= 0, f"seed {seed}\n{program.source}"
    assert decided >= 3
