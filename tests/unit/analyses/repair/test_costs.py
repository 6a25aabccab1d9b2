"""What the cheapest repair of small programs costs, each the smallest of its kind on which one was missed."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.repair.plan import repair
from tests.conftest import ROOT
from tests.support.naive_repair import robust

COSTS = {
    "message-of-two-queue-pairs": 9,
    "unsignaled-get": 1,
    "unsignaled-put": 1,
    "unsignaled-nine": 7,
    "unsignaled-circle": 21,
    "unsignaled-in-loop": 1,
    "unsignaled-behind-fenced": 1,
    "shared-queue": 2,
    "counted-loop": 4,
    "exclusive-branches": 2,
    "behind-await-in-choose": 2,
    "choice-made-early": 2,
    "two-places": 2,
}

HANGING = ("unsignaled-behind-fenced", "choice-made-early")
"""Programs in which threads wait for ever in any case."""


@pytest.mark.parametrize("name", COSTS)
def test_the_cheapest_repair(name: str) -> None:
    text = (ROOT / "tests" / "data" / "repair" / f"{name}.rdma").read_text(encoding="utf-8")
    answer = repair(text, f"{name}.rdma")
    assert (answer.status, answer.cost, answer.optimal) == ("repaired", COSTS[name], True)
    assert answer.solutions[0].hangs == ("kept" if name in HANGING else "none")
    assert robust(answer.patched)
