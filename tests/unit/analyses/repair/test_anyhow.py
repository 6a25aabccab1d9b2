"""Some repair, where there was no time for the cheapest."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.repair.cheapest import RepairSearch
from rdma_robust.analyses.repair.plan import repair
from tests.conftest import ROOT
from tests.support.naive_repair import robust


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("litmus/mailbox-plain", 2),
        ("litmus/publish-plain", 7),
        ("litmus/sb-put-plain", 18),
        ("litmus/ring-two-slots-plain", 2),
        ("litmus/polls-puzzle-exchange", 9),
        pytest.param("tests/data/ticket-kv", 120, marks=pytest.mark.ci),
    ],
)
def test_some_repair_is_found(monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    """Robust, not much dearer than the cheapest, and not said to be that."""

    def out_of_time(search: RepairSearch, *_: object) -> None:
        search.exact = False

    monkeypatch.setattr(RepairSearch, "run", out_of_time)
    answer = repair((ROOT / f"{name}.rdma").read_text(encoding="utf-8"), "some.rdma")
    assert (answer.status, answer.optimal) == ("repaired", False)
    assert answer.reason == f"the cheapest found: sets cheaper than {answer.cost} were not all tried"
    assert answer.cost <= most
    assert robust(answer.patched)
    assert answer.solutions[0].hangs in ("none", "kept")
