"""The control-flow graph of every kind of statement, edge by edge (notation: `language_support.show_edge`)."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from rdma_robust.expr import evaluate
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.going_wrong import only_reads
from rdma_robust.language.load import load_program
from tests.unit.language.language_support import edges, load


def read_graphs() -> list[tuple[str, list[str]]]:
    """Return what `graphs.txt` lists: statements, each followed by the edges they make, indented."""
    text = (Path(__file__).parent / "graphs.txt").read_text(encoding="utf-8")
    cases = [("", [])] + [(block.split("\n")[0], block.split("\n")[1:]) for block in text.strip().split("\n\n")]
    return [(statements, [edge.strip() for edge in edges_]) for statements, edges_ in cases]


GRAPHS = read_graphs()


@pytest.mark.parametrize(("statements", "expected"), GRAPHS, ids=[statements or "nothing" for statements, _ in GRAPHS])
def test_graph(statements: str, expected: list[str]) -> None:
    assert edges(statements) == expected


@pytest.mark.parametrize("statements", [statements for statements, _ in GRAPHS])
def test_graph_shape(statements: str) -> None:
    thread = load(statements).threads[0]
    points = list(thread.graph.nodes)
    assert points == list(range(len(points)))
    assert thread.graph.out_degree(thread.exit) == 0
    reachable = {thread.entry} | nx.descendants(thread.graph, thread.entry)
    assert reachable | {thread.exit} == set(points)
    dead = [p for p in points if p not in {thread.entry, thread.exit} and thread.graph.out_degree(p) == 0]
    for source, target, step in cfg.steps(thread):
        assert (target in dead) == (step.fault is not None and step.fault.kind != "assertion"), (source, target)


@pytest.mark.parametrize("statements", [statements for statements, _ in GRAPHS])
def test_what_goes_wrong_keeps_the_order_of_its_operation(statements: str) -> None:
    made = [step for _, _, step in cfg.steps(load(statements).threads[0])]
    for step in made:
        if step.fault is not None and step.op != cfg.Silent():
            assert only_reads(step.op)
            others = {type(other.op) for other in made if other.fault is None and other.text == step.text}
            assert not others or type(step.op) in others, step


@pytest.mark.parametrize("stored", ["r = q == 1", "r = q < 1 && q", "r = !q", "x = q == 1", "r = swap(x, q == 1)"])
@pytest.mark.parametrize(("domain", "kept"), [("2..3", ()), ("1..3", (1,)), ("-3..0", (0,)), ("0..1", (0, 1))])
def test_truth_values_that_are_stored_must_be_in_the_domain(stored: str, domain: str, kept: tuple[int, ...]) -> None:
    text = f"domain {domain}\nnode A {{ x = 2 }}\nthread T on A {{\nreg r = 2, q = 2\n{stored}\n}}"
    (thread,) = load_program(text, "f").threads
    for q in (-1, 0, 1, 2):
        for _, _, step in thread.edges:
            if evaluate(step.guard, {"r": 2, "q": q, "$value": 2}):
                truth = {"r = q < 1 && q": int(q < 0), "r = !q": int(not q)}.get(stored, int(q == 1))
                assert (step.fault is None) == (truth in kept), (q, step)
                assert step.fault is None or step.fault.kind == "overflow"


@pytest.mark.parametrize(
    ("statement", "text", "source"),
    [
        ("put B.z   = x", "put B.z = x", "put B.z   = x"),
        ("while x != 1 { y = 1 }", "while x != 1", "while x != 1"),
        ("if ( r\n == 0 ) { y = 1 }", "if r == 0", "if ( r\n == 0 )"),
        ("await   x", "await x", "await   x"),
        ("r=cas( x , 0,1 )", "r = cas(x, 0, 1)", "r=cas( x , 0,1 )"),
        ("loop { y = 1 }", "loop", "loop"),
        ("choose { } or { y = 1 }", "choose", "choose"),
    ],
)
def test_text_and_span_of_steps(statement: str, text: str, source: str) -> None:
    program = load(statement)
    found = [step for _, _, step in cfg.steps(program.threads[0]) if step.text == text]
    assert found
    for step in found:
        assert program.source[step.span.start : step.span.end] == source


def test_else_if_is_a_chain() -> None:
    nested = "if r == 0 { x = 1 } else { if r == 1 { x = 2 } else { x = 3 } }"
    chain = "if r == 0 { x = 1 } else if r == 1 { x = 2 } else { x = 3 }"
    assert edges(chain) == edges(nested)


def test_faults_say_what_and_where() -> None:
    program = load("r = q + x")
    fault = next(s.fault for _, _, s in cfg.steps(program.threads[0]) if s.fault is not None)
    assert fault.message == "the value of `q + x` leaves the domain 0..3"
    assert program.source[fault.span.start : fault.span.end] == "q + x"


def test_guards_never_divide_by_zero() -> None:
    program = load("if r != 0 && 1 / r == x { y = 1 / (r - q) }\nassert x / r == 1 || r % q == 0\nring[1 / r] = q / (r - 1)")
    for _, _, step in cfg.steps(program.threads[0]):
        for r in range(4):
            for q in range(4):
                for value in range(4):
                    evaluate(step.guard, {"r": r, "q": q, "$value": value})


def test_hidden_cells_are_shared_and_last() -> None:
    program = load("put B.z = 1; put B.z = 2 - 1; put B.z = N\nput B.buf[0] = -1")
    hidden = [c for c in program.cells if c.hidden]
    assert program.cells[-3:] == tuple(hidden)
    assert [(c.node, c.name, c.init) for c in hidden] == [("A", "const 1", 1), ("A", "const 2", 2), ("A", "const -1", -1)]


def test_loading_twice_gives_the_same_graphs() -> None:
    source = load("choose { ring[r] = q } or { while x { } }\nr = x + 1").source
    first, second = (load_program(source, "f") for _ in range(2))
    assert cfg.steps(first.threads[0]) == cfg.steps(second.threads[0])
    assert list(first.threads[0].graph.edges(data=True)) == list(second.threads[0].graph.edges(data=True))
