"""HiGHS of npm, as the page has it in place of highspy: repairs cost what they cost elsewhere. It runs in Node here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Repair, RepairOptions
from sitegen.playground import bundle, highspy_in_page
from tests.conftest import ROOT
from tests.support.playground_page import answering, install

pytestmark = pytest.mark.skipif(
    bool(bundle.missing()), reason="node and npm are not installed: HiGHS of the page was not tried"
)

SUITE = sorted((ROOT / "litmus").glob("*.rdma"))
SAMPLE = ("publish-plain", "sb-put-plain", "versioned-read-plain", "lock-local-remote-data", "mailbox-loop-poll-behind")
LIMIT_S = 60.0

SOLVE = """
import { createInterface } from "node:readline";
import loadHighs from "highs";
const highs = await loadHighs();
for await (const line of createInterface({ input: process.stdin })) {
  const { problem, options } = JSON.parse(line);
  const { Status, ObjectiveValue, Columns } = highs.solve(problem, options);
  const values = Object.fromEntries(Object.entries(Columns).map(([name, column]) => [name, column.Primal]));
  console.log(JSON.stringify({ status: Status, objective: ObjectiveValue, values }));
}
"""
"""What worker.js does in the page."""


@pytest.fixture(scope="module")
def solver() -> Iterator[Callable[[str, str], str]]:
    try:
        install()
    except bundle.NotMadeError as error:
        pytest.skip(f"HiGHS of the page was not tried: {error}")
    with answering(["node", "--input-type=module", "-e", SOLVE], bundle.INSTALLED) as lines:
        yield lambda problem, options: json.dumps(lines.ask({"problem": problem, "options": json.loads(options)}))


def in_the_page(path: Path, solver: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch) -> tuple[Repair, int]:
    """Return the repair with HiGHS of the page, and how often that was asked."""
    asked = []

    def solve(problem: str, options: str) -> str:
        asked.append(problem)
        return solver(problem, options)

    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "js", SimpleNamespace(solveLinear=solve))
        patch.setitem(sys.modules, "highspy", highspy_in_page)
        return repaired(path), len(asked)


def repaired(path: Path) -> Repair:
    return repair(path.read_text(encoding="utf-8"), path.name, RepairOptions(timeout=LIMIT_S))


def compared(path: Path, solver: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Compare both; return how often HiGHS of the page was asked."""
    here, (there, asked) = repaired(path), in_the_page(path, solver, monkeypatch)
    if "unknown" not in (here.status, there.status):
        assert (there.status, there.optimal) == (here.status, here.optimal), path.name
        assert [each.cost for each in there.solutions] == [each.cost for each in here.solutions], path.name
        assert [each.patched for each in there.solutions] == [each.patched for each in here.solutions], path.name
    return asked


@pytest.mark.ci
def test_some_repairs_are_as_cheap(solver: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [compared(ROOT / f"litmus/{name}.rdma", solver, monkeypatch) for name in SAMPLE]
    assert all(asked)


@pytest.mark.long
def test_all_repairs_of_the_suite_are_as_cheap(solver: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [compared(path, solver, monkeypatch) for path in SUITE]
    assert sum(map(bool, asked)) > 100
