"""What `repair`, `explain` and certificates say of memory behind a card."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT

OPERANDS = """node A { old, one = 1 }
node H { }
node G via H { count }
thread T on A { get old = faa(G.count, A.one) }
"""


def text_of(name: str) -> str:
    return (ROOT / f"litmus/memories/{name}.rdma").read_text(encoding="utf-8")


def decided(name: str) -> Outcome:
    return decide(load_program(text_of(name), name), CheckOptions())


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("data-behind-flag-beside", ["get scrap = G.probe", "rfence H"]),
        ("ring-for-the-kernel-not-flushed", ["get scrap = G.probe", "rfence H"]),
        ("get-into-the-accelerator", ["flush A"]),
        ("flushed-too-early-on-another-lane", ["poll bulk"]),
    ],
)
def test_repair_flushes(name: str, lines: list[str]) -> None:
    """By a read of the memory where there is a queue pair for it, which needs no poll where a fence will do."""
    found = repair(text_of(name), name)
    assert found.status == "repaired" and "memory behind a NIC" in found.reason
    assert [line for each in found.insertions for line in each.lines] == lines


@pytest.mark.parametrize(("name", "memory"), [("immediate-for-the-host", "G"), ("two-cards-one-flushed", "E")])
def test_repair_reads_through_the_own_card_where_it_may(name: str, memory: str) -> None:
    text = text_of(name)
    found = repair(text if "allow loopback" in text else f"allow loopback\n{text}", name)
    (read,) = found.insertions
    assert read.thread == "Proxy" and read.lines[0] == f"get scrap = {memory}.probe" and len(read.lines) == 2


@pytest.mark.ci
def test_repair_names_the_memory_of_each_member_of_a_family() -> None:
    text = """node A { one = 1 }
node H[i in 0..1] { flag }
node G[i in 0..1] via H[i] { data }
thread T[i in 0..1] on A { put G[i].data = one; put H[i].flag = one }
thread Kernel[i in 0..1] on G[i] { reg r; await H[i].flag == 1; r = data }
"""
    found = repair(text, "p")
    assert [line for each in found.insertions for line in each.lines] == ["get scrap = G[i].probe", "rfence H[i]"]


def test_an_impossible_repair_is_not_known() -> None:
    found = repair(text_of("immediate-for-the-host"), "p")
    assert found.status == "unknown" and "memory behind a NIC" in found.reason
    assert "with `allow loopback` Proxy on H could flush G by a read" in found.reason


def test_explain_names_the_other_path() -> None:
    outcome = decided("data-behind-flag-beside")
    told = "\n".join(explanation(outcome, CheckOptions()).paragraphs)
    assert "they go over different paths: one is in the memory of G, behind the NIC" in told
    assert "Left out" not in told


def test_explain_tells_what_is_kept() -> None:
    """Of the words of one memory, none of two."""
    told = "\n".join(explanation(decided("data-and-flag-behind"), CheckOptions()).paragraphs)
    assert "Every other pair of accesses of one thread takes effect in program order" in told


@pytest.mark.parametrize("name", ["data-and-flag-behind", "immediate-then-flush"])
def test_robust_has_a_certificate(name: str) -> None:
    found = robustness_certificate(decided(name), CheckOptions(), Limits(), None)
    assert found is not None and found.claim["kind"] == "robust"


def test_so_has_an_atomic_with_its_operand_in_memory() -> None:
    outcome = decide(load_program(OPERANDS, "p"), CheckOptions())
    found = robustness_certificate(outcome, CheckOptions(), Limits(), None)
    assert found is not None and found.claim["kind"] == "robust"


def test_not_robust_has_one() -> None:
    found = robustness_certificate(decided("message-into-the-accelerator"), CheckOptions(), Limits(), None)
    assert found is not None and found.claim["kind"] == "not-robust"
