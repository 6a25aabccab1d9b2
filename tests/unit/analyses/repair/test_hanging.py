"""What is said of the hangs of a repaired program."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.repair import keeping
from rdma_robust.analyses.repair.counting import BalanceBound
from rdma_robust.analyses.repair.edits import one_edit
from rdma_robust.analyses.repair.keeping import Deviation, HangComparison, where_of
from rdma_robust.analyses.repair.patch import Patcher
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.refused_runs import refused_by
from rdma_robust.analyses.repair.repairs import Barrier, InsertionChoice, RepairOptions
from rdma_robust.analyses.repair.sites import Sites
from rdma_robust.language.load import load_program
from rdma_robust.model import RDMA
from tests.conftest import ROOT

PLAIN = """node A { x = 1 }
node B { y = 0 }
thread T on A {
  reg r
  choose { put B.y = x } or { skip }
  x = 2
}
"""


def said(before: str, after: str) -> str:
    found = HangComparison(load_program(before, "p"), RDMA).hangs(after, where_of([one_edit(before, after)]), None)
    return found.how if isinstance(found, Deviation) else found


def test_a_hang_is_new_where_the_program_does_not_wait() -> None:
    polled = PLAIN.replace("  x = 2", "  poll B\n  x = 2")
    assert said(PLAIN, PLAIN) == "none"
    assert said(PLAIN, polled) == "inserted"
    assert said(polled, polled) == "kept"
    other = "thread W on B { await y == 7 }\n"
    assert said(PLAIN + other, PLAIN + other) == "kept"
    assert said(PLAIN + other, polled + other) == "inserted"


CHOICE = """node A { f = 0, g = 0, h = 0 }
node B { d = 0 }
thread S on A { choose { await f == 1 } or { await g == 1 } }
thread U on A { choose { f = 1 } or { g = 1 } }
thread W on A { await h == 1 }
"""


def test_who_waits_is_compared_and_where() -> None:
    """A choice that is made before its await is true; W waits in any case."""
    early = CHOICE.replace("{ await f", "{ rfence B; await f")
    assert said(CHOICE, early) == "waits"
    assert said(CHOICE, CHOICE.replace("f == 1 }", "f == 1; rfence B }")) == "kept"
    assert said(CHOICE.replace("g = 1 }", "f = 1 }"), early.replace("g = 1 }", "f = 1 }")) == "kept"


def test_a_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "HANG_STATES", 2)
    monkeypatch.setattr(keeping, "STATES", 2)
    text = (ROOT / "litmus/ring-two-slots-plain.rdma").read_text(encoding="utf-8")
    assert said(text, text) == "unknown"
    assert repair(text, "p").solutions[0].hangs == "unknown"


@pytest.mark.parametrize(
    ("body", "hangs"),
    [
        ("choose { put B.y = x } or { skip }; x = 2", "none"),
        ("put B.y = x; choose { poll B; x = 2 } or { x = 3 }", "none"),
        ("put B.y = x; put B.y = x; x = 2; poll B", "none"),
        ("put B.y = x; x = 2; poll B; poll B; x = 3", "kept"),
        ("loop { put B.y = x; x = 2 }", "none"),
    ],
)
def test_repairs_introduce_none(body: str, hangs: str) -> None:
    """Polls in branches, and queue pairs on which something is outstanding or runs out."""
    answer = repair(PLAIN.replace("choose { put B.y = x } or { skip }\n  x = 2", body), "p")
    assert answer.optimal
    assert answer.solutions[0].hangs == hangs


def rnr(name: str) -> str:
    return (ROOT / f"litmus/rnr/{name}.rdma").read_text(encoding="utf-8")


def test_a_poll_of_what_waits_for_ever_says_what_other_sets_have_to_keep() -> None:
    """A message that finds no buffer in some run: gets behind it give its polls nothing to take, those before it do."""
    text = rnr("words-taken-along")
    answer = repair(text, "p", RepairOptions(timeout=60))
    assert answer.optimal and answer.checked <= 3 and [each.kind for each in answer.insertions] == ["inline"]
    sites = Sites.of(text, "p", await_loops=False)
    polled = frozenset({InsertionChoice(1, Barrier.POLL, "B")})
    patch = Patcher(sites).patch(polled)
    broken = HangComparison(sites.program, RDMA).kept(patch.text, where_of(patch.edits), None)
    assert isinstance(broken, Deviation) and broken.how == "waits" and broken.alone
    refusal = refused_by(sites, polled, broken)
    assert isinstance(refusal, BalanceBound) and (refusal.sign, refusal.most) == (1, 0)
    behind, before = InsertionChoice(1, Barrier.GET, "B"), InsertionChoice(0, Barrier.GET, "B")
    assert [sum(map(refusal.row.weight, polled | {get})) for get in (behind, before)] == [1, 0]


def test_what_was_left_undecided_is_said() -> None:
    answer = repair(rnr("words-taken-along"), "p", RepairOptions(all_minimal=True, timeout=60))
    assert answer.status == "unknown" and "it is not known whether they will do" in answer.reason
