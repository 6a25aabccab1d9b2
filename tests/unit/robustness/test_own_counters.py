"""Copies whose completions have no bound: each counts its own, so that a poll of one takes no completion of another."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from rdma_robust.counting.well_structured import VectorResult, decide_vectors
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.crowds import decide_any
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.own_counters import AllCounted, OwnCounters
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT
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
    instance = TwoCopyInstance.of(program, CheckOptions().model, ALL_REDUCTIONS)
    assert instance.uncounted
    found = decide_vectors(OwnCounters(AllCounted(instance)), Limits(states=3_000))
    assert (min(found.target, 0), found.cut) == (BRANCHES[before], "")


@pytest.mark.ci
def test_the_verdict_rests_on_it_where_nothing_else_decides() -> None:
    outcome = decide(crowd_with("put A.z = one; poll A; poll A;"), CheckOptions())
    assert outcome.verdict is Verdict.ROBUST
    assert "completions of each copy counted" in outcome.reason


PIECES = (
    "put A.z = one;",
    "poll A;",
    "poll A;",
    "put A.x = one;",
    "get p = B.y;",
    "poll B;",
    "loop { put A.z = one }",
    "get p = cas(A.x, 0, 1);",
    "assume p == 0;",
)
OTHERS = (
    "put B.y = e; get f = A.x",
    "put B.y = e; poll B; get f = A.x",
    "get f = A.x; put B.y = e",
    "put A.x = e; put B.y = e",
)
MOST = 5
"""Copies in all up to which a run is looked for in P(n)."""


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


def agrees(program: Program) -> int | None:
    """Compare what is found with P(n), in both directions; return -1 or 0 as the target, None where limits are reached."""
    instance = TwoCopyInstance.of(program, CheckOptions().model, ALL_REDUCTIONS)
    if not instance.classes or not instance.uncounted:
        return None
    system = OwnCounters(AllCounted(instance))
    found = decide_vectors(system, Limits.of(3, 600))
    if found.cut:
        return None
    if found.target < 0:
        fewest = first_bad(program, 2)
        assert fewest in (None, 3), program.source
        return None if fewest is None else -1
    assert found.run is not None
    (enough,) = system.enough(found.run)
    if enough > MOST:
        return None
    outcome = decide(copies_of(program, {"C": enough}), CheckOptions(timeout=3))
    assert outcome.verdict is not Verdict.ROBUST, program.source
    return None if outcome.verdict is Verdict.UNKNOWN else 0


@pytest.mark.parametrize("chunk", chunks(1, 12))
def test_random_programs_agree_with_explicit_ones(chunk: int) -> None:
    answers = Counter(agrees(random_branches(seed)) for seed in range(30 * chunk, 30 * (chunk + 1)))
    assert answers[0] >= 1
    assert answers[-1] >= 1


@pytest.mark.parametrize("seed", [170, 218])
def test_a_random_program_agrees_with_explicit_ones(seed: int) -> None:
    assert agrees(random_branches(seed)) is not None


CUT: VectorResult[Any, Any, Any] = VectorResult(-1, None, "backward", 1, "states")
BACKLOG = (ROOT / "litmus/crowds/needs-four-backlog.rdma").read_text(encoding="utf-8")


def test_a_poll_without_an_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide_any, "decide_vectors", lambda *_: CUT)
    outcome = decide(load_decidable(BACKLOG, "crowd.rdma", crowds=True), CheckOptions())
    assert outcome.verdict is Verdict.UNKNOWN
    assert "`poll N` (line 11), and there is no violation with 3 copies in all" in outcome.reason


def test_small_numbers_that_are_not_decided_are_not_said_to_be_robust(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide_any, "decide_vectors", lambda *_: CUT)
    program = load_decidable(BACKLOG, "crowd.rdma", crowds=True)
    unknown = replace(decide(copies_of(program, {"W": 0}), CheckOptions()), verdict=Verdict.UNKNOWN)
    monkeypatch.setattr(decide_any, "_explicit", lambda *_: unknown)
    outcome = decide(program, CheckOptions())
    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason.endswith("`poll N` (line 11)")
