"""Repairs by flags of requests: signaled after all, or inline."""

from __future__ import annotations

from itertools import combinations

import pytest

from rdma_robust.analyses.repair.edits import apply_edits
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.request_flags import MOST_CHANGES, NOT_TRIED, flag_changes
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT

NAMES = [
    "unsignaled-source-reused",
    "send-source-reused",
    "signaled-each-of-batch",
    "unsignaled-get-unpolled",
    "two-buffers-signal-first",
]
POLLED = """\
node A { a, b }
node B { x, y }
thread T on A {
  put B.x = a
  get b = B.y unsignaled
  reg q
  q = b
}
thread U on B {
  reg r
  r = x
  y = 1
}
"""


def text_of(name: str) -> str:
    return (ROOT / f"litmus/deployed/{name}.rdma").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_flags_alone_are_found_if_they_will_do(name: str) -> None:
    """Against all sets of flags, decided one by one."""
    text = text_of(name)
    found = repair(text, f"{name}.rdma")
    alone = [
        size
        for size in (1, 2)
        for chosen in combinations(flag_changes(text, "p"), size)
        if decide(load_program(apply_edits(text, [c.edit for c in chosen])[0], "p"), CheckOptions()).verdict
        is Verdict.ROBUST
    ]
    assert found.status == "repaired"
    assert not alone or found.cost <= min(alone)
    assert decide(load_program(found.patched, "p"), CheckOptions()).verdict is Verdict.ROBUST


def test_a_request_is_signaled_where_its_completion_is_needed() -> None:
    found = repair(POLLED, "p.rdma")
    assert (found.status, found.optimal) == ("repaired", True)
    assert [i.kind for i in found.insertions] == ["signaled", "poll", "poll"]
    assert found.insertions[0].line == 5
    assert "get b = B.y\n" in found.patched
    assert decide(load_program(found.patched, "p"), CheckOptions()).verdict is Verdict.ROBUST


def test_programs_without_flags_are_repaired_in_their_own_words() -> None:
    text = (ROOT / "litmus/mailbox-plain.rdma").read_text(encoding="utf-8")
    assert flag_changes(text, "p") == ()
    assert {i.kind for i in repair(text, "p").insertions} <= {"poll", "rfence", "flush", "get"}


def test_too_many_requests_are_said() -> None:
    puts = "\n".join(f"  put B.x = a{k} unsignaled" for k in range(MOST_CHANGES + 1))
    words = ", ".join(f"a{k}" for k in range(MOST_CHANGES + 1))
    text = (
        f"node A {{ {words} }}\nnode B {{ x }}\nthread T on A {{\n{puts}\n  a0 = 1\n}}\nthread U on B {{ reg r; r = x }}\n"
    )
    assert NOT_TRIED in repair(text, "p").reason


def test_what_glob_would_mend_is_said() -> None:
    found = repair(text_of("atomics-nic-and-cpu"), "p")
    assert found.status == "impossible"
    assert "under `atomics glob` it is robust" in found.reason


@pytest.mark.parametrize("name", ["deepep-flag-relaxed", "multipath-get-order"])
def test_under_weaker_orders_nothing_is_said_of_sets_that_were_left_out(name: str) -> None:
    found = repair(text_of(name), "p")
    assert found.status in ("unknown", "repaired")
    assert not found.optimal
    assert "sets that were left out" in found.reason
