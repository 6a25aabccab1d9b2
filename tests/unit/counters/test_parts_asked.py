"""Questions whose searches are shared among processes have the answers of one thread."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.families import pipeline
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.parts.local import LocalHosts
from tests.conftest import NOT_ROBUST, Cli

pytestmark = pytest.mark.skipif(not driver.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")


def timeless(found: Any) -> Any:
    """Leave out times, and how many processes there were."""
    if isinstance(found, dict):
        return {key: timeless(value) for key, value in found.items() if "time" not in key and key != "processes"}
    return [timeless(each) for each in found] if isinstance(found, list) else found


@pytest.mark.ci
@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (pipeline(3, 2), "verify"),
        (pipeline(3, 2), "reach -t Stage1.got==2"),
        (pipeline(3, 2), "reach -t Stage1.got==1"),
        (NOT_ROBUST, "verify"),
    ],
)
def test_a_question_in_parts_has_the_same_answer(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, asked: str
) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    begin = LocalHosts.begin

    def noted(self: LocalHosts, plan: SearchPlan) -> None:
        (tmp_path / "shared").touch()
        begin(self, plan)

    monkeypatch.setattr(LocalHosts, "begin", noted)
    (tmp_path / "it.rdma").write_text(text)
    one = cli(*asked.split(), "it.rdma", "--format", "json", "--threads", "1")
    many = cli(*asked.split(), "it.rdma", "--format", "json", "--executor", "local:2")
    assert one.returncode == many.returncode < 2
    assert (tmp_path / "shared").exists()
    assert timeless(json.loads(one.stdout)) == timeless(json.loads(many.stdout))
