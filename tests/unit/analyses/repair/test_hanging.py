"""What is said of the hangs of a repaired program."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.repair import hanging
from rdma_robust.analyses.repair.hanging import Hanging
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
    return Hanging(load_program(before, "p"), RDMA).after(load_program(after, "p"), None)


def test_a_hang_is_new_only_if_the_program_has_none() -> None:
    polled = PLAIN.replace("  x = 2", "  poll B\n  x = 2")
    assert said(PLAIN, PLAIN) == "none"
    assert said(PLAIN, polled) == "new"
    assert said(polled, polled) == "kept"
    assert said(polled, PLAIN) == "none"


def test_a_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hanging, "STATES", 2)
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
