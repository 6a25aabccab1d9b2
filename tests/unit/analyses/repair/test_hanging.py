"""What is said of the hangs of a repaired program."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.repair import keeping
from rdma_robust.analyses.repair.edits import one_edit
from rdma_robust.analyses.repair.keeping import Deviation, HangComparison, where_of
from rdma_robust.analyses.repair.plan import repair
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
