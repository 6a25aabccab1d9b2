"""Symmetry: the groups found, each automorphism by a naive check, and the verdict with one pivot class of each orbit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import factorial
from random import Random
from typing import Any

import pytest

from rdma_robust.counters.search import explore
from rdma_robust.expr import VALUE, Binary, Const, Expr, Ite, Name, Unary
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, rdma
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass
from rdma_robust.robustness.pivot import PivotInstrumentation, instrument_pivot
from rdma_robust.robustness.pivot_classes import Continuation, PivotClasses, classes_of, every_start
from rdma_robust.robustness.reductions import symmetry
from rdma_robust.robustness.reductions.symmetry import Automorphism, automorphisms, representatives
from tests.litmus.goldens import PROGRAMS, load
from tests.support.compare import by_oracle
from tests.support.symmetric import clients, random_symmetric, ring

PLAIN = CheckOptions(reductions=frozenset())
SYMMETRIC = CheckOptions(reductions=frozenset({"symmetry"}))


def frame_of(text: str) -> InstrumentationFrame:
    return InstrumentationFrame.of(load_program(text, "symmetric.rdma"), RDMA)


def group(generators: Iterable[Automorphism], threads: int) -> set[tuple[int, ...]]:
    """All permutations of the threads that the generators make."""
    steps = [g.threads for g in generators]
    found = {tuple(range(threads))}
    todo = list(found)
    while todo:
        p = todo.pop()
        new = {tuple(g[i] for i in p) for g in steps} - found
        found |= new
        todo += new
    return found


def renamed(expr: Expr, registers: Callable[[str], str]) -> Expr:
    match expr:
        case Const():
            return expr
        case Name(name):
            return expr if expr == VALUE else Name(registers(name))
        case Unary(op, arg):
            return Unary(op, renamed(arg, registers))
        case Binary(op, left, right):
            return Binary(op, renamed(left, registers), renamed(right, registers))
        case Ite(test, then, other):
            return Ite(*(renamed(part, registers) for part in (test, then, other)))


def wrong(frame: InstrumentationFrame, a: Automorphism) -> str:
    """What keeps `a` from being an automorphism, by renaming everything and comparing; empty if nothing does."""
    program, register = frame.program, lambda r: a.registers[r]
    for what, renaming in {"nodes": a.nodes, "cells": a.cells, "registers": a.registers}.items():
        if set(renaming) != set(renaming.values()):
            return f"{what} are not permuted"
    if sorted(a.threads) != list(range(len(frame.graphs))):
        return "threads are not permuted"
    if any(c.init != d.init or a.nodes[c.node] != d.node for c, d in a.cells.items()):
        return "a cell starts with another value or lies elsewhere"
    if any(program.threads[a.threads[i]].node != a.nodes[t.node] for i, t in enumerate(program.threads)):
        return "a thread runs elsewhere"

    def moved(e: EventEdge) -> tuple[Any, ...]:
        to = a.points[e.thread]
        return (
            (to[e.source], to[e.target], e.type),
            renamed(e.guard, register),
            frozenset((register(r), renamed(value, register)) for r, value in e.assigns),
            None if e.cell is None else a.cells[e.cell],
            None if e.remote is None else a.nodes[e.remote],
            None if e.written is None else renamed(e.written, register),
        )

    def bare(e: EventEdge) -> tuple[Any, ...]:
        return (e.source, e.target, e.type), e.guard, frozenset(e.assigns), e.cell, e.remote, e.written

    for ours, image, points in zip(frame.graphs, a.threads, a.points, strict=True):
        theirs = frame.graphs[image]
        if points[ours.entry] != theirs.entry or set(points.values()) != theirs.points or set(points) != ours.points:
            return "points are not mapped to those of the image"
        if {(register(r), v) for r, v in ours.registers} != set(theirs.registers):
            return "a register starts with another value"
        if Counter(map(moved, ours.edges)) != Counter(map(bare, theirs.edges)):
            return "an edge has no image"
    return ""


def check(frame: InstrumentationFrame) -> tuple[Automorphism, ...]:
    found = automorphisms(frame)
    for a in found:
        assert wrong(frame, a) == ""
        assert a.threads != tuple(range(len(frame.graphs)))
    return found


@pytest.mark.parametrize("n", range(2, 9))
def test_rings_have_their_rotations(n: int) -> None:
    frame = frame_of(ring(n))
    rotations = {tuple((i + k) % n for i in range(n)) for k in range(n)}
    assert group(check(frame), n) == rotations
    classes = classes_of(frame, every_start)
    assert len(classes) == 2 * n
    assert representatives(classes, automorphisms(frame)) == classes[:2]


@pytest.mark.parametrize("n", range(2, 6))
def test_equal_clients_have_all_permutations(n: int) -> None:
    assert len(group(check(frame_of(clients(n))), n)) == factorial(n)


def test_eight_equal_clients_are_one_orbit() -> None:
    frame = frame_of(clients(8))
    one, eight = (classes_of(frame_of(clients(2)), every_start), classes_of(frame, every_start))
    assert len(eight) == 4 * len(one)
    assert len(check(frame)) == 7
    assert 2 * len(representatives(eight, automorphisms(frame))) == len(one)


TWO = "node A { x, y }\nnode B { u }\n"


def threads(*bodies: str) -> str:
    return "".join(f"thread T{i} on {body.replace(': ', ' { ', 1)} }}\n" for i, body in enumerate(bodies))


ASYMMETRIC = {
    "another constant": ring(3, constants={1: 2}),
    "another initial value": ring(3, inits={2: 1}),
    "a server that tells clients apart": clients(3, served_in_turn=True),
    "another order": TWO + threads("A: put B.u = x; get y = B.u", "A: get y = B.u; put B.u = x"),
    "another node": TWO + "node C { u }\n" + threads("A: put B.u = 1; poll B", "A: put C.u = 1; poll C", "B: u = 2"),
    "another register": TWO + threads("A: reg r = 1; x = r", "A: reg r = 2; y = r"),
    "one variable twice": TWO + threads("A: x = 1; x = 2", "A: x = 1; y = 2"),
    "a third thread": TWO + threads("A: x = 1", "A: y = 1", "A: reg r; r = x; x = r"),
}


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_asymmetric_variants_have_none(name: str) -> None:
    assert automorphisms(frame_of(ASYMMETRIC[name])) == ()


def test_the_same_threads_in_another_order_are_symmetric() -> None:
    """One swaps x and y, the other also the threads that read both: what is shared decides, not names."""
    cross = "node A { x, y }\nnode B { p, q }\n" + "".join(
        f"thread {name} on A {{ reg r, s; {body} }}\n"
        for name, body in {"W1": "x = 1", "W2": "y = 1", "R1": "r = x; s = y", "R2": "r = y; s = x"}.items()
    )
    assert group(check(frame_of(cross)), 4) == {(0, 1, 2, 3), (1, 0, 3, 2)}


def test_unlike_threads_are_seen_before_any_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symmetry, "_Shape", None)
    assert automorphisms(frame_of(f"{TWO}thread T1 on A {{ x = 1 }}\nthread T2 on A {{ put B.u = 1 }}\n")) == ()


def test_a_search_cut_short_finds_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = frame_of(clients(5))
    classes = classes_of(frame, every_start)
    left = set()
    for most in (0, 20, 40, 60, 80, 120, 200, 300):
        monkeypatch.setattr(symmetry, "_MAX_COMPARED", most)
        left.add(len(representatives(classes, check(frame))))
    assert max(left) == len(classes)
    assert min(left) == len(classes) // 5
    assert len(left) > 2


def test_many_threads_are_left_alone() -> None:
    cells = ", ".join(f"x{i}" for i in range(80))
    assert automorphisms(frame_of(f"node A {{ {cells} }}\n" + threads(*(f"A: x{i} = 1" for i in range(80))))) == ()


LITMUS = [p for p in PROGRAMS if p.stem.startswith(("2plus2w-", "dekker-entry-", "iriw-", "lb-", "sb-", "scale-ring-"))]


@pytest.mark.ci
def test_automorphisms_and_verdicts_of_litmus_programs() -> None:
    symmetric = set()
    for path in LITMUS:
        program = load(path)
        if check(InstrumentationFrame.of(program, RDMA)):
            symmetric.add(path.stem)
            outcome = decide(program, SYMMETRIC)
            assert (outcome.verdict is Verdict.ROBUST) == program.expect_robust, path.stem
    assert {p.stem for p in LITMUS if p.stem.startswith("scale-ring")} | {"iriw-put", "sb-put-plain"} <= symmetric
    assert {"dekker-entry-asymmetric", "sb-put-flushed-one-side"}.isdisjoint(symmetric)
    assert len(symmetric) >= 20


def test_the_default_of_the_instrumentation_is_without_reductions() -> None:
    program = load_program(ring(3), "ring.rdma")
    starts = {t.label.starts for t in instrument_pivot(program).targets if t.label}
    assert starts == set(classes_of(InstrumentationFrame.of(program, RDMA), every_start))
    fewer = {t.label.starts for t in instrument_pivot(program, RDMA, frozenset({"symmetry"})).targets if t.label}
    assert len(fewer) * 3 == len(starts)


def reaches(frame: InstrumentationFrame, c: PivotClass) -> bool:
    """Whether a target of this class is reachable, if it is the only one tried."""
    classes = PivotClasses(frame, (c,))
    pivot = PivotInstrumentation.of(frame, classes, Continuation(classes))
    result = explore(pivot.build(), Limits(states=20_000)).result
    assert not result.cut
    return result.target >= 0


@pytest.mark.ci
def test_a_class_has_violating_traces_iff_its_images_have() -> None:
    """The theorem itself, each class by a search of its own."""
    reached = moved = 0
    for seed in range(18):
        frame = InstrumentationFrame.of(load_program(random_symmetric(Random(seed)), f"seed {seed}"), rdma(bool(seed % 2)))
        found = check(frame)
        verdicts = {c: reaches(frame, c) for c in classes_of(frame, every_start)}
        for a in found:
            assert all(verdicts[a.image(c)] == v for c, v in verdicts.items()), f"seed {seed}"
            moved += sum(a.image(c) != c for c in verdicts)
        reached += any(verdicts.values()) and len(set(verdicts.values())) > 1
    assert moved > 30
    assert reached >= 2


@pytest.mark.ci
def test_verdicts_of_random_symmetric_programs() -> None:
    """With one class of each orbit, with all of them, with all reductions, and by brute force where that ends soon."""
    verdicts: Counter[Verdict] = Counter()
    answered = fewer = 0
    for seed in range(1_000, 1_050):
        program, ordered = load_program(random_symmetric(Random(seed)), f"seed {seed}"), bool(seed % 2)
        outcome, plain = (decide(program, replace(o, ordered_reads=ordered, max_states=20_000)) for o in (SYMMETRIC, PLAIN))
        with_others = decide(program, CheckOptions(ordered_reads=ordered, max_states=20_000))
        assert outcome.verdict is plain.verdict is with_others.verdict, f"seed {seed}"
        verdicts[outcome.verdict] += 1
        fewer += outcome.counts.pivots < plain.counts.pivots
        if sum(len(g.edges) for g in InstrumentationFrame.of(program, rdma(ordered)).graphs) <= 10:
            truth = by_oracle(program, ordered)
            answered += not truth.startswith("(")
            assert truth.startswith("(") or truth == outcome.verdict.value, f"seed {seed}"
    assert fewer > 12
    assert verdicts[Verdict.NOT_ROBUST] > 5
    assert answered > 8


def buffering(a: str, b: str, before: str = "", registers: str = "r", init: int = 0) -> str:
    """Store buffering by puts on two nodes of its own, each side first doing what `before` says."""
    sides = "".join(
        f"thread T{own} on {own} {{\n  reg {registers}\n  {before}\n  put {other}.x = 1\n  r = x\n}}\n"
        for own, other in ((a, b), (b, a))
    )
    return "".join(f"node {node} {{ x, flag = {init} }}\n" for node in (a, b)) + sides


def without_initial_values(shape: symmetry._Shape) -> None:
    edges, held = shape.code
    shape.code = (edges, tuple((node, 0) for node, _ in held))


def without_registers(shape: symmetry._Shape) -> None:
    shape.initial = dict.fromkeys(shape.initial, 0)


def without_expressions(shape: symmetry._Shape) -> None:
    shape.expressions = lambda _: None  # type: ignore[method-assign]
    shape.registers = {r: Name(r) for r in shape.initial}


def with_sorted_places(shape: symmetry._Shape) -> None:
    shape.places = tuple(sorted(shape.places, key=str))


STUCK = "assume flag == 1"

MUTANTS: dict[str, tuple[Callable[[symmetry._Shape], None] | None, str]] = {
    "forgets initial values of cells": (
        without_initial_values,
        buffering("A", "B", STUCK) + buffering("C", "D", STUCK, init=1),
    ),
    "forgets initial values of registers": (
        without_registers,
        buffering("A", "B", "assume s == 1", "r, s") + buffering("C", "D", "assume s == 1", "r, s = 1"),
    ),
    "forgets constants": (
        without_expressions,
        buffering("A", "B", STUCK) + buffering("C", "D", "assume flag == 0"),
    ),
    "forgets which cells threads share": (
        None,
        "node E { y }\nthread R on E { reg r; r = y }\nnode C { y }\nthread W on C { y = 2 }\n"
        "thread T on C { reg r; put E.y = 1; r = y }\n" + buffering("A", "B"),
    ),
}


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def apply(name: str) -> None:
        change = MUTANTS[name][0]
        if change is None:
            monkeypatch.setattr(symmetry._Search, "_with", lambda *arguments: arguments[1])
            monkeypatch.setattr(symmetry, "_refined", lambda kinds, _places: kinds)
            return
        init = symmetry._Shape.__init__

        def changed(self: symmetry._Shape, *arguments: Any) -> None:
            init(self, *arguments)
            change(self)

        monkeypatch.setattr(symmetry._Shape, "__init__", changed)

    return apply


@pytest.mark.parametrize("name", MUTANTS)
def test_a_weaker_comparison_is_caught(name: str, mutate: Callable[[str], None]) -> None:
    """By the naive check, and by a verdict that becomes wrong: the pivot that matters is taken for one that does not."""
    program = load_program(MUTANTS[name][1], "mutant.rdma")
    frame = InstrumentationFrame.of(program, RDMA)
    check(frame)
    assert decide(program, SYMMETRIC).verdict is decide(program, PLAIN).verdict is Verdict.NOT_ROBUST
    mutate(name)
    assert any(wrong(frame, a) for a in automorphisms(frame))
    assert decide(program, SYMMETRIC).verdict is Verdict.ROBUST


PAIRS = """
node A {{ m = 1 }}
node B {{ x, y, z }}
thread T1 on A {{ send m to {first} }}
thread T2 on A {{ send m to {second} }}
thread U1 on B {{ posted x from T1; rpoll T1; z = 1 }}
thread U2 on B {{ posted {buffer} from T2; rpoll T2; z = 1 }}
"""


@pytest.mark.parametrize(
    ("first", "second", "buffer", "like"),
    [("U1", "U2", "y", True), ("U1", "U2", "x", True), ("U2", "U1", "y", True), ("U1", "U1", "y", False)],
)
def test_like_connections_are_exchanged(first: str, second: str, buffer: str, like: bool) -> None:
    """Who sends to whom, and what is posted for whom, are part of a program's shape."""
    program = load_program(PAIRS.format(first=first, second=second, buffer=buffer), "pairs.rdma")
    found = symmetry.automorphisms(InstrumentationFrame.to_instrument(program, RDMA))
    assert [a.threads for a in found] == ([(1, 0, 3, 2)] if like else [])
