"""The static filter: what may overtake what, on small threads, and which programs need no search."""

from __future__ import annotations

import pytest

from rdma_robust.language.load import load_program
from rdma_robust.model import RDMA, rdma
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.event_graph import event_graph
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.reductions.relaxation import ThreadRelaxation
from rdma_robust.robustness.static_filter import pivots_to_try
from tests.litmus.goldens import LITMUS, PROGRAMS, load

NODES = "node A { x, y, s }\nnode B { u, v }\nnode C { w }\n"


def overtaken(code: str, first: str, ordered_reads: bool = False) -> set[str]:
    """Which events of a thread on A may be in alpha while the first of its events called `first` is in beta."""
    program = load_program(f"{NODES}thread T on A {{ reg r; {code} }}", "t.rdma")
    graph = event_graph(program, 0)
    start = next(e for e in graph.edges if str(e) == first)
    return {str(e) for e in ThreadRelaxation(graph, rdma(ordered_reads)).overtaking(start) if e.type is not None}


@pytest.mark.parametrize(
    ("code", "first", "expected"),
    [
        ("put B.u = x; r = y", "nlR(A.x)", {"lR(A.y)"}),
        ("put B.u = x; poll B; r = y", "nlR(A.x)", set()),
        ("put B.u = x; poll B; r = y", "nrW(B.u)", {"lR(A.y)"}),
        ("put B.u = x; get s = B.u; poll B; poll B; r = y", "nrW(B.u)", set()),
        ("put B.u = x; get s = B.u; poll B; r = y", "nrW(B.u)", {"lR(A.y)"}),
        ("get s = B.u; poll B; r = s", "nrR(B.u)", set()),
        ("get s = B.u; get x = B.v; poll B; r = y", "nrR(B.u)", {"nrR(B.v)"}),
        ("get s = B.u; get x = B.v; poll B; r = y", "nlW(A.x)", {"lR(A.y)"}),
        ("put B.u = x; put C.w = x; poll B", "nrW(B.u)", {"nlR(A.x)", "nrW(C.w)"}),
        ("put B.u = x; rfence B; get s = B.v", "nrW(B.u)", {"nF(B)"}),
        ("get s = B.u; rfence B; put B.v = x", "nlW(A.s)", {"nF(B)"}),
        ("loop { get s = B.u; poll B; r = y }", "nlW(A.s)", set()),
        ("loop { get s = B.u; r = y }", "nlW(A.s)", {"nrR(B.u)", "lR(A.y)"}),
    ],
)
def test_what_may_overtake(code: str, first: str, expected: set[str]) -> None:
    """Polls are events of the processor that no cycle needs, so that they are left out here."""
    assert overtaken(code, first) - {"P(B)"} == expected


def test_ordered_reads_are_not_overtaken() -> None:
    code = "get s = B.u; get x = B.v"
    assert "nrR(B.v)" in overtaken(code, "nrR(B.u)")
    assert "nrR(B.v)" not in overtaken(code, "nrR(B.u)", ordered_reads=True)


@pytest.mark.parametrize("name", ["scale-ring-n4-flushed", "iriw-get-polled", "sb-put-flushed", "mailbox-polled"])
def test_no_search_is_needed(name: str) -> None:
    outcome = decide(load(LITMUS / f"{name}.rdma"), CheckOptions())
    assert outcome.verdict is Verdict.ROBUST
    assert (outcome.engine, outcome.counts.states) == ("none", 0)
    assert "without a search" in outcome.reason
    searched = decide(load(LITMUS / f"{name}.rdma"), CheckOptions(reductions=ALL_REDUCTIONS - {"filter"}))
    assert searched.verdict is Verdict.ROBUST
    assert searched.counts.states > 0


def test_a_filtered_program_is_searched_for_what_goes_wrong() -> None:
    text = "node A { x }\nthread T on A { reg r; r = x; assert r == 1 }\n"
    outcome = decide(load_program(text, "f.rdma"), CheckOptions())
    assert outcome.verdict is Verdict.ROBUST
    assert [f.kind for f in outcome.faults] == ["assertion"]
    assert outcome.faults_exact and outcome.engine == "dfs"
    cut = decide(load_program(text, "f.rdma"), CheckOptions(max_states=1))
    assert cut.verdict is Verdict.ROBUST
    assert not cut.faults_exact


@pytest.mark.ci
def test_every_program_that_is_not_robust_keeps_a_class() -> None:
    """And the filter decides three quarters of the robust ones alone."""
    alone = robust = 0
    for program in map(load, PROGRAMS):
        classes = pivots_to_try(InstrumentationFrame.of(program, RDMA), frozenset({"filter"})).classes.tried
        if program.expect_robust:
            robust += 1
            alone += not classes
        else:
            assert classes, program.name
    assert alone >= 0.75 * robust
