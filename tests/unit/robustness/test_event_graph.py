"""Event graphs: one event an edge, register steps folded, dead registers reset."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.safety.verify import Status, check_claims
from rdma_robust.expr import VALUE, names, size
from rdma_robust.language.load import load_program
from rdma_robust.limits import NO_LIMITS
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.event_graph import EventGraph, event_graph
from rdma_robust.semantics.trace import EventType

NODES = "node A { x, y, ring[3] = 0 }\nnode B { u }\ndomain 0..9\n"


def graph(body: str, registers: str = "r, s") -> EventGraph:
    return event_graph(load_program(f"{NODES}thread T on A {{ reg {registers}\n{body}\n}}", "test.rdma"), 0)


def kinds(g: EventGraph) -> list[str]:
    return sorted(str(e) for e in g.edges)


def test_a_put_and_a_get_are_two_events_each() -> None:
    assert kinds(graph("put B.u = x\nget y = B.u")) == ["nlR(A.x)", "nlW(A.y)", "nrR(B.u)", "nrW(B.u)"]


def test_compare_and_swap_has_one_edge_an_outcome() -> None:
    edges = graph("r = cas(x, 0, 1)\ny = r").edges
    outcomes = {e.type: e for e in edges if e.cell is not None and e.cell.name == "x"}
    assert set(outcomes) == {EventType.CAS, EventType.LR}
    assert outcomes[EventType.LR].written is None


def test_register_steps_leave_no_edge() -> None:
    g = graph("r = 1\ns = r + 1\nif s == 2 { x = s } else { y = s }")
    assert kinds(g) == ["lW(A.x)", "lW(A.y)"] or kinds(g).count("silent") == sum(e.step.fault is not None for e in g.edges)
    assert all(e.type is not None or e.step.fault is not None for e in g.edges)


def test_a_loop_over_registers_keeps_its_silent_edges() -> None:
    g = graph("while r < 3 { r = r + 1 }\nx = r")
    assert any(e.type is None and e.step.fault is None for e in g.edges)
    assert any(e.type is EventType.LW for e in g.edges)


def test_an_idle_loop_leaves_nothing() -> None:
    assert kinds(graph("loop { skip }\nx = 1")) == ["lW(A.x)"]


def test_many_branches_without_events_do_not_explode() -> None:
    body = "\n".join(f"choose {{ r = {i % 3} }} or {{ s = {i % 3} }}" for i in range(40))
    g = graph(f"{body}\nx = r\ny = s")
    assert len(g.edges) < 2000
    assert any(e.type is EventType.LW for e in g.edges)


def test_dead_registers_are_reset() -> None:
    g = graph("r = x\ny = r\nx = 1\nx = 2")
    write = next(e for e in g.edges if e.type is EventType.LW and e.cell is not None and e.cell.name == "y")
    assert [(name, str(value)) for name, value in write.assigns] == [("T.r", "Const(value=0)")]


def test_a_register_that_is_never_read_disappears() -> None:
    g = graph("r = x\nx = 1")
    assert g.registers == ()
    assert all(not e.assigns for e in g.edges)


def test_an_index_is_one_edge_a_cell_and_a_fault() -> None:
    g = graph("r = x\nring[r] = 1")
    assert {str(e.cell) for e in g.edges if e.type is EventType.LW} == {"A.ring[0]", "A.ring[1]", "A.ring[2]"}
    assert any(e.step.fault is not None and e.step.fault.kind == "index out of range" for e in g.edges)


@pytest.mark.parametrize(
    "body",
    ["\n".join(["r = r && r"] * 60), "\n".join(["r = r == 1"] * 400), "\n".join(["r = r + 1"] * 300)],
    ids=["doubling", "nesting", "with faults"],
)
def test_long_register_code_is_not_folded_into_huge_expressions(body: str) -> None:
    program = load_program(f"{NODES}thread T on A {{ reg r\n{body}\nx = r\n}}", "long.rdma")
    for edge in event_graph(program, 0).edges:
        assert size(edge.guard) + sum(size(e) for _, e in edge.assigns) < 500
    assert decide(program, CheckOptions()).verdict is Verdict.ROBUST


def test_deeply_nested_conditions_are_compiled() -> None:
    deep = "r"
    for _ in range(45):
        deep = f"!({deep} == 1)"
    program = load_program(f"{NODES}thread T on A {{ reg r\nr = x\nif {deep} {{ y = 1 }}\n}}", "deep.rdma")
    assert decide(program, CheckOptions()).verdict is Verdict.ROBUST


@pytest.mark.parametrize("thread", ["T", "A"])
def test_a_register_is_not_the_variable_of_its_name(thread: str) -> None:
    # Thread A on node B: its register `A.x` and the word `A.x` of node A are two things.
    text = f"""\
node A {{ x }}
node B {{ y }}
thread {thread} on B {{
  reg x = 5
  y = 1
  assert x == 5
  x = y
  y = x
}}
thread U on A {{ x = 7; put B.y = 2 }}
"""
    program = load_program(text, "clash.rdma")
    outcome = decide(program, CheckOptions())
    assert (outcome.verdict, outcome.faults) == (decide(program, CheckOptions(instrumentation="paper")).verdict, ())
    assert check_claims(program, NO_LIMITS).status is Status.HOLDS


def test_a_compare_and_swap_that_fails_drains_the_store_buffer_first() -> None:
    text = f"{NODES}thread T on A {{ reg r, s\ns = y\nring[s] = 1\nr = cas(ring[s], 0, 1)\nx = r\n}}"
    program = load_program(text, "test.rdma")
    assert all(e.type is not EventType.F for e in event_graph(program, 0).edges)
    edges = event_graph(program, 0, model=Model(cpu="tso")).edges
    fences = [e for e in edges if e.type is EventType.F]
    assert len(fences) == 3
    for fence in fences:
        assert set(names(fence.guard)) == {"T.s"}, "which element it is, is known before; the rest when it is read"
        reads = [e for e in edges if e.source == fence.target]
        assert reads and all(e.type is EventType.LR and VALUE.name in names(e.guard) for e in reads)


def test_an_inline_put_is_read_by_the_cpu_or_not_at_all() -> None:
    assert kinds(graph("put B.u = x inline")) == ["lR(A.x)", "nrW(B.u)"]
    (write,) = (e for e in graph("r = y\nput B.u = r + 1 inline").edges if e.type is EventType.NRW)
    assert write.written is not None and not write.carries


def test_an_unsignaled_operation_completes_for_nobody() -> None:
    write = next(e for e in graph("put B.u = x unsignaled").edges if e.type is EventType.NRW)
    assert write.completing and not write.completes


UNHEARD = """node A { a0, a1 = 1 }
node B { b0 = 1 }
node C { c0 }
thread T1 on A { get a0 = cas(C.c0, 1, 0) }
thread T2 on B {
  send 1 to T3
  poll C
}
thread T3 on C { reg s
  s = c0
  put B.b0 = 2
}
"""


def test_a_message_for_which_nothing_is_ever_posted_is_searched_as_any() -> None:
    """What it takes has no mark at all, which its poll asks for."""
    outcome = decide(load_program(UNHEARD, "unheard.rdma"), CheckOptions())
    assert outcome.verdict is Verdict.UNKNOWN and "(line 6)" in outcome.reason
