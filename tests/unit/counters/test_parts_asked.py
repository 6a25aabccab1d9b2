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


_THREAD = """thread T{0} on A {{
  reg r
  loop {{
    r = {1}
    if r < 4 {{
      {1} = r + 1
    }} else {{
      {1} = 0
    }}
    r = {2}
    assert r <= 4
  }}
}}
"""
COUNTING = "program counting\ndomain 0..4\nnode A { a = 0, b = 0, c = 0 }\n" + "".join(
    _THREAD.format(number, *names) for number, names in enumerate(("ab", "bc", "ca"))
)
"""Three threads that count, of which `prove` searches more than 1,000 states."""


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
        (COUNTING, "prove --model sc --engine explicit"),
        (COUNTING.replace("r <= 4", "r <= 3"), "prove --model sc --engine explicit"),
    ],
)
def test_a_question_in_parts_has_the_same_answer(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, asked: str
) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    begin = LocalHosts.begin

    def noted(self: LocalHosts, plan: SearchPlan, parts: int) -> None:
        (tmp_path / "shared").touch()
        begin(self, plan, parts)

    monkeypatch.setattr(LocalHosts, "begin", noted)
    (tmp_path / "it.rdma").write_text(text)
    one = cli(*asked.split(), "it.rdma", "--format", "json", "--threads", "1")
    many = cli(*asked.split(), "it.rdma", "--format", "json", "--executor", "local:2")
    assert one.returncode == many.returncode < 2
    assert (tmp_path / "shared").exists()
    assert timeless(json.loads(one.stdout)) == timeless(json.loads(many.stdout))


@pytest.mark.parametrize("asked", ["verify", "reach -t Stage1.got==1", "prove --model sc --engine explicit"])
def test_all_that_is_told_has_who_has_searched(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    (tmp_path / "it.rdma").write_text(COUNTING if asked.startswith("prove") else pipeline(3, 2))
    assert "Searched in one thread: only" in cli(*asked.split(), "it.rdma", "-v").stdout
    monkeypatch.setattr(driver, "MANY", 0)
    assert "states and more were made in 2 threads." in cli(*asked.split(), "it.rdma", "-v", "--threads", "2").stdout
    assert "Search" not in cli(*asked.split(), "it.rdma").stdout


@pytest.mark.ci
def test_processes_are_told_of(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    (tmp_path / "it.rdma").write_text(COUNTING)
    found = cli("prove", "--model", "sc", "--engine", "explicit", "it.rdma", "-v", "--executor", "local:2").stdout
    assert "were made in 2 processes, each with a part of the states." in found
