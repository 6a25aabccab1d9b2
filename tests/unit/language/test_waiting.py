"""Loops that only wait become blocking reads: on graphs, against the syntax tree, and what must not be touched."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import networkx as nx
import pytest

from rdma_robust.expr import VALUE, Binary, Const, Expr, Name, Unary, conj, disj, evaluate, negate
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.exclusive import exclusive
from rdma_robust.language.flow.spinning import blocking, waiting_points, waits
from rdma_robust.language.load import load_program, parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from tests.support.random_programs import LARGER, random_program
from tests.unit.language.language_support import Generator, edges, errors_of, load, program
from tests.unit.language.reference_interpreter import comes_to_a_cell, traces_of_graph, traces_of_tree

LENGTH = 3
START = (("r", 0), ("q", 1))


def test_loops_that_wait_become_blocking_reads() -> None:
    assert edges("while x != 1 { }; y = 1", await_loops=True) == ["0>1: R A.x [!(V != 1)]", "1>X: W A.y 1"]
    assert edges("while 1 / x { skip }", await_loops=True) == [
        "0>X: R A.x [((V != 0) && !(1 / V))]",
        "0>D: R A.x [!(V != 0)] !division by zero",
    ]


@pytest.mark.parametrize(
    "statements",
    [
        "while r { }",
        "while x { y = 1 }",
        "loop { assume x == 1 }",
        "loop { assert x == 1 }",
        "while 1 { assume x == 1 }",
        "loop { r = x }",
        "while 1 { choose { assume x == 1 } or { assume y != 1; halt } }",
        "while 1 { choose { assume x <= 1 } or { assume x >= 1; halt } }",
        "while 1 { choose { r = x } or { assume x != 1; halt } }",
    ],
)
def test_other_loops_stay(statements: str) -> None:
    assert edges(statements, await_loops=True) == edges(statements)
    assert not waits(load(statements))


@pytest.mark.parametrize(
    ("statements", "same"),
    [
        ("while 1 { if x { } else { halt } }", "while x { }"),
        ("while 1 { choose { assume x == 1 } or { assume x != 1; halt } }", "assume x != 1"),
        ("while 1 { choose { assume x < 2 } or { assume x > 1; halt } }", "assume x > 1"),
        ("while 1 { choose { assume r == 1 && x } or { assume r != 1 && y == 1; halt } }", "assume r != 1 && y == 1"),
    ],
)
def test_it_does_not_matter_how_a_waiting_loop_is_written(statements: str, same: str) -> None:
    assert edges(statements, await_loops=True) == edges(same, await_loops=True)


def test_waiting_points_are_found() -> None:
    found = load("while x { }\nwhile x { skip }\nwhile r { }\nwhile x { y = 1 }\nloop { while x != 1 { loop { } } }")
    thread = found.threads[0]
    assert {step.text for at, _, step in cfg.steps(thread) if at in waiting_points(thread)} == {"while x", "while x != 1"}
    assert len(waiting_points(thread)) == 3
    assert waits(found) and not waits(blocking(found))
    without = load("x = 1")
    assert blocking(found, False) is found and blocking(without) is without


def test_the_reads_of_an_array_by_index() -> None:
    # The word of another index is not read, and where none needs to be read the loop ends or goes on by the index alone.
    for condition in ("ring[r]", "r && ring[r]", "r || ring[r]", "ring[r] == q || !ring[r]", "ring[r / q] == 1"):
        assert waits(load(f"while {condition} {{ }}")), condition
    large = "domain 0..2000\nnode A { ring[2000] }\nthread T on A { reg r\nwhile ring[r] { } }"
    waiting = load_program(large, "large")
    assert cfg.steps(blocking(waiting).threads[0])[0][2] == next(s for u, v, s in cfg.steps(waiting.threads[0]) if u != v)


def _as_assumed(block: ast.Block) -> ast.Block:
    """Return a block with `assume !(c)` for every `while c` without effect that reads a variable."""

    def idle(part: ast.Statement) -> bool:
        return isinstance(part, ast.Skip) or (
            isinstance(part, ast.Loop | ast.Choose)
            and all(idle(s) for b in (part.branches if isinstance(part, ast.Choose) else (part.body,)) for s in b.statements)
        )

    def changed(part: ast.Statement) -> ast.Statement:
        match part:
            case ast.While(condition, body) if comes_to_a_cell(condition) and all(idle(s) for s in body.statements):
                return ast.Assume(ast.Unary("!", condition), "assume")
            case ast.While(condition, body):
                return ast.While(condition, _as_assumed(body))
            case ast.Loop(body):
                return ast.Loop(_as_assumed(body))
            case ast.Choose(branches):
                return ast.Choose(tuple(map(_as_assumed, branches)))
            case ast.If(arms, otherwise):
                other = None if otherwise is None else _as_assumed(otherwise)
                return ast.If(tuple(ast.Arm(a.condition, _as_assumed(a.block)) for a in arms), other)
            case _:
                return part

    return ast.Block(tuple(map(changed, block.statements)))


def test_blocking_reads_do_what_the_tree_says() -> None:
    compared = 0
    for seed in range(60):
        draw = Generator(Random(seed))
        wait = ast.While(draw._reading(), ast.Block(()))
        inside = Random(seed).choice(((wait,), (ast.Loop(ast.Block((wait,))),), (ast.Choose((ast.Block((wait,)),) * 2),)))
        body = (*draw.body()[:2], *inside, *draw.body()[:2])
        source = format_tree(program(body))
        if errors_of(source) is not None:
            continue
        tree = _as_assumed(ast.Block(body)).statements
        loaded = load_program(source, "f")
        assert traces_of_graph(blocking(loaded), LENGTH) == traces_of_tree(tree, START, LENGTH), source
        compared += canonical_text(loaded) != canonical_text(blocking(loaded))
    assert compared > 25


@pytest.mark.ci
def test_on_random_programs_only_failed_reads_go() -> None:
    changed = 0
    for seed in range(150):
        whole = load_program(random_program(Random(seed), LARGER, loops=True), "random")
        waiting = blocking(whole)
        changed += waiting is not whole
        for before, after in zip(whole.threads, waiting.threads, strict=True):
            points = waiting_points(before)
            assert list(before.graph.nodes) == list(after.graph.nodes)
            kept = [(u, v, s) for u, v, s in cfg.steps(before) if u != v or u not in points]
            assert kept == cfg.steps(after)
            assert nx.descendants(before.graph, before.entry) == nx.descendants(after.graph, after.entry)
    assert changed > 20
    assert parse_program("", "nothing").items == ()


def _guard(rng: Random, depth: int, others: tuple[Expr, ...]) -> Expr:
    """Return a random guard; without `others` it compares names with constants only."""
    if depth == 0 or rng.random() < 0.25:
        term = rng.choice([Name("r"), Name("q"), VALUE, *others])
        op = rng.choice(["==", "!=", "<", "<=", ">", ">=", ""])
        other: Expr = rng.choice([Const(rng.randint(-1, 1)), *others])
        return Binary(op, *rng.choice([(term, other), (other, term)])) if op else term
    if rng.random() < 0.3:
        return negate(_guard(rng, depth - 1, others))
    return rng.choice([conj, disj])(_guard(rng, depth - 1, others), _guard(rng, depth - 1, others))


def test_exclusive_guards_never_hold_together() -> None:
    values = range(-2, 3)
    rng = Random(7)
    proved = 0
    for k in range(400):
        others = (Name("q"), Binary("+", Name("r"), Const(1))) if k % 2 else ()
        first, second, same_read = _guard(rng, 2, others), _guard(rng, 2, others), rng.random() < 0.5
        together = any(
            evaluate(first, {"r": r, "q": q, "$value": v}) and evaluate(second, {"r": r, "q": q, "$value": w})
            for r in values
            for q in values
            for v in values
            for w in ((v,) if same_read else values)
        )
        if exclusive(first, second, same_read=same_read):
            assert not together, (first, second, same_read)
            proved += 1
        else:
            assert together or others, (first, second, same_read)
    assert proved > 30


def test_guards_beyond_the_limit_are_not_claimed_exclusive() -> None:
    many = conj(*(Binary("<", Name(f"r{k}"), Const(k)) for k in range(12)))
    assert not exclusive(many, Binary(">", Name("r3"), Const(5)), same_read=True)
    assert exclusive(many, conj(Binary("==", Name("x"), Const(1)), Unary("!", many)), same_read=True)


def test_a_program_without_text_waits_as_well() -> None:
    cell = cfg.Cell("A", "x")
    again = (0, 0, cfg.Step(cfg.Read(cell), Binary("==", VALUE, Const(0))))
    onward = (0, 1, cfg.Step(cfg.Read(cell), Binary(">", VALUE, Const(0)), (("r", VALUE),)))
    thread = cfg.Thread("T", "A", (("r", 0),), (0, 1), (again, onward), 0, 1)
    built = cfg.Program("built", "built", "", ("A",), (cell,), (thread,))
    assert waits(built)
    assert [(u, v) for u, v, _ in cfg.steps(blocking(built).threads[0])] == [(0, 1)]
    nowhere = ((0, 0, cfg.Step(cfg.Read(cell))),)
    assert not waits(replace(built, threads=(replace(thread, edges=nowhere),)))
