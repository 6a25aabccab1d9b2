"""Graphs do exactly what the syntax tree says, on random programs and on the awkward ones."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from rdma_robust.language.load import load_program, parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from tests.unit.language.language_support import BODIES, errors_of, program
from tests.unit.language.reference_interpreter import traces_of_graph, traces_of_tree

LENGTH = 3
START = (("r", 0), ("q", 1))


@given(BODIES)
@settings(max_examples=120, deadline=None)
def test_graphs_have_the_traces_of_the_tree(body: tuple[ast.Statement, ...]) -> None:
    source = format_tree(program(body))
    assume(errors_of(source) is None)  # constant indices outside the array and constant divisions by zero
    assert traces_of_graph(load_program(source, "f"), LENGTH) == traces_of_tree(body, START, LENGTH)


@pytest.mark.parametrize(
    "statements",
    [
        "r = 3; if r < 2 && ring[r] == 1 { x = 1 } else { x = 2 }",
        "r = x; if r >= 2 || ring[r] == 1 { x = 1 } else { x = 2 }",
        "r = x; r = r < 2 && ring[r]; x = r",
        "r = x; if -r && ring[r] == 1 { x = 1 } else { x = 2 }",
        "r = x; if !r || ring[r] == 1 { x = 1 } else { x = 2 }",
        "assert -r && x == 1; x = 2",
        "r = x; if (r < 2 && ring[r] == 1) || (q == 1 && ring[r] == 2) { x = 1 } else { x = 2 }",
        "r = x; q = (1 / r == 0 && ring[r]) || r == 2",
        "r = x; if ring[q] == 0 || 1 / r { x = 1 }",
        "loop { loop { x = 1 }; loop { y = 1 } }",
        "choose { loop { x = 1 } } or { loop { y = 1 } }",
        "choose { choose { while x { } } or { loop { x = 1 } } } or { choose { y = 1 } or { halt } }",
        "while x { loop { y = 1 } }; x = 2",
        "while 1 { choose { x = 1 } or { loop { y = 1 } } or { halt } }",
        "loop { if x { halt } }; y = 1",
        "loop { while x { } }; loop { x = 1 }; while y { }",
        "if x { } else if r { halt } else { loop { y = 1 } }; x = 2",
    ],
)
def test_awkward_programs(statements: str) -> None:
    source = format_tree(program(())).replace("q = 1", f"q = 1\n{statements}\n")
    thread = parse_program(source, "f").items[-1]
    assert isinstance(thread, ast.ThreadDeclaration)
    body = thread.body.statements[1:]
    assert traces_of_graph(load_program(source, "f"), LENGTH) == traces_of_tree(body, START, LENGTH)
