"""Integers along paths: by running them, by shortest paths, by z3; and that those found are those asked for."""

from __future__ import annotations

import random
from itertools import product

import pytest

from rdma_robust.analyses.prove import path_values as solved_conditions
from rdma_robust.analyses.prove.path_values import MOST_CHOICES, PathValues, path_values, solved
from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Assignment,
    Bad,
    Cause,
    Draw,
    Drop,
    Join,
    Selection,
    Suppose,
    Transition,
    Update,
)
from rdma_robust.expr import TRUE, Binary, Const, Expr, Name, Unary, conj, disj, evaluate
from rdma_robust.language.flow.cfg import Nondet, Silent, Step
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.solver_library import has_solver
from tests.support.woven_systems import WovenSystem, op

DRAWS = Cause(0, Verb.ACCESS, Step(Nondet()))
MOVES = Cause(0, Verb.ACCESS, Step(Silent()))

needs_solver = pytest.mark.skipif(not has_solver(), reason="needs the extra smt")


def along(*steps: tuple[Update, ...], causes: tuple[Cause, ...] = (), bad: Expr = TRUE) -> PathValues:
    """Ask about a path of the variables x, y and z, all 0."""
    system = WovenSystem((("x", 0), ("y", 0), ("z", 0)), [])
    transitions = tuple(Transition(causes, updates, ()) for updates in steps)
    return path_values(system, AbstractPath(transitions, Bad(0, bad)))


def test_without_draws_the_path_is_run() -> None:
    increment = Assignment("x", op("+", "x", 1))
    assert along((increment,), (increment,), bad=op("==", "x", 2)) == PathValues(True)
    assert along((increment,), (increment,), bad=op("==", "x", 3)) == PathValues(False)
    assert along((Suppose(op("<", "x", 0)),)) == PathValues(False)
    assert along((Assignment("x", op("*", op("/", -7, 2), op("%", -7, 2))),), bad=op("==", "x", 3)) == PathValues(True)


def test_a_division_by_zero_is_no_violation() -> None:
    assert along(bad=op("==", op("/", 1, "x"), op("/", 1, "x"))) == PathValues(False)
    assert along(bad=conj(op("!=", "x", 0), op("==", op("/", 1, "x"), 1))) == PathValues(False)


def test_what_divides_by_zero_is_not_done() -> None:
    """A fault ends the run there; so a path that goes on has no zero."""
    draw = Draw("y", Const(-1), Const(1))
    assert along((draw, Assignment("x", op("%", 5, "y"))), bad=op("==", "y", 0)) != PathValues(True)
    assert along((Assignment("x", op("/", 5, "y")),)) == PathValues(False)
    assert along((Assignment("x", op("/", "y", 5)),)) == PathValues(True)
    assert along((Join("x", op("+", 1, op("/", 1, "y"))),)) == PathValues(False)


def test_differences_need_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solved_conditions, "has_solver", lambda: False)
    draws = (Draw("x"), Draw("y", Name("x"), op("+", "x", 5)))
    found = along(draws, (Suppose(op("!=", "x", "y")), Suppose(op(">", "x", 100))), bad=op("==", "y", op("+", "x", 4)))
    assert found.feasible
    assert along(draws, bad=op("==", "y", op("+", "x", 6))) == PathValues(False)
    assert along((Draw("x", Const(2), Const(1)),)) == PathValues(False)
    assert along((Draw("x"), Draw("y")), bad=op("==", op("*", "x", "y"), 35)).feasible is None


def test_the_numbers_belong_to_the_causes_that_draw() -> None:
    """A small nondet is none that a transition draws; a bare draw is none that a machine is asked for."""
    system = WovenSystem((("x", 0), ("y", 0)), [])
    steps = (
        Transition((DRAWS,), (), ()),
        Transition((DRAWS,), (Draw("x", Const(7), Const(7)),), ()),
        Transition((MOVES,), (), ()),
        Transition((MOVES, DRAWS), (Draw("y", Name("x"), Name("x")),), ()),
    )
    assert path_values(system, AbstractPath(steps, Bad(0, TRUE))) == PathValues(True, (None, 7, 7))


def test_a_folded_variable_is_any_of_its_values() -> None:
    joined = (Assignment("y", Const(1)), Join("y", Const(3)), Join("y", Const(5)))
    assert along(joined, (Selection("x", "y"),), bad=op("==", "x", 3)) == PathValues(True)
    assert along(joined, (Selection("x", "y"),), bad=op("==", "x", 4)) == PathValues(False)
    assert along(joined, (Selection("x", "y"), Selection("z", "y")), bad=op("==", op("+", "x", "z"), 8)) == PathValues(True)
    assert along(joined, (Assignment("y", Const(3)), Selection("x", "y")), bad=op("==", "x", 5)) == PathValues(False)
    many = (Assignment("y", Const(0)), *(Join("y", Const(i)) for i in range(30)))
    assert along(many, (Selection("x", "y"), Selection("z", "y")), bad=op("==", op("+", "x", "z"), 99)) == PathValues(None)
    assert MOST_CHOICES < 30 * 30


def test_a_dropped_variable_may_be_set_again() -> None:
    assert along((Drop("x"),), (Assignment("x", Const(2)),), bad=op("==", "x", 2)) == PathValues(True)


@needs_solver
def test_what_is_no_difference_is_solved() -> None:
    draws = (Draw("x", Const(2)), Draw("y", Const(2)))
    found = along(draws, causes=(DRAWS, DRAWS), bad=op("==", op("*", "x", "y"), 35))
    assert sorted(found.draws, key=str) == [5, 7]
    assert along(draws, bad=op("==", op("*", "x", "y"), 37)) == PathValues(False)
    seven = op("==", op("%", "x", 7), -3)
    assert along((Draw("x", None, Const(0)), Suppose(seven)), bad=op("==", op("/", "x", 7), -2)).feasible


def test_solutions_against_all_small_numbers() -> None:
    answers = {"found": 0, "none": 0, "unknown": 0}
    for seed in range(100):
        rng = random.Random(seed)
        names = ["a", "b"]
        conditions: list[Expr] = [op("<=", name, 4) for name in names] + [op(">=", name, -4) for name in names]
        for _ in range(rng.randint(1, 3)):
            left, right = (
                op(rng.choice("+-"), rng.choice(names), rng.randint(-3, 3))
                if rng.random() < 0.8
                else op(rng.choice("*/%+"), *names)
                for _ in range(2)
            )
            one = Binary(rng.choice(["==", "!=", "<", "<="]), left, right)
            conditions.append(rng.choice([one, Unary("!", one), disj(one, op("==", "a", 3))]))
        expected = [v for v in product(range(-4, 5), repeat=2) if holds(conditions, dict(zip(names, v, strict=True)))]
        found = solved(conditions, names)
        answers["unknown" if found is None else "found" if found else "none"] += 1
        assert found is None or bool(found) == bool(expected), conditions
        assert not found or (found[0]["a"], found[0]["b"]) in expected
    assert answers["found"] > 30
    assert answers["none"] > 5
    assert not has_solver() or answers["unknown"] < 25


def holds(conditions: list[Expr], values: dict[str, int]) -> bool:
    try:
        return all(evaluate(condition, values) for condition in conditions)
    except ZeroDivisionError:
        return False
