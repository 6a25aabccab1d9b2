"""Bounds on variables: every state that a search reaches lies within them, and interval arithmetic contains evaluation."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.counters.intervals import Interval
from rdma_robust.counters.lower import LoweredProgram, lower
from rdma_robust.counters.program import Assign, Body, Command, CounterProgram, ProcessGraph, Require
from rdma_robust.counters.promela.ranges import RangeFacts, assume, interval_of, variable_ranges
from rdma_robust.expr import OPERATORS, Binary, Const, Expr, Ite, Name, Unary, evaluate
from rdma_robust.language.load import load_program
from rdma_robust.options import Instrumentation
from tests.litmus.goldens import PROGRAMS, load
from tests.support.instrumented import instrumented
from tests.support.random_programs import Size, random_program

STATES = 60


def reached(lowered: LoweredProgram[Any], most: int) -> set[tuple[int, ...]]:
    """Some reachable states, counters ignored: a superset of what exact markings reach."""
    seen = {lowered.initial}
    todo = [lowered.initial]
    while todo and len(seen) < most:
        new = {state for _, state, _ in lowered.successors(todo.pop())} - seen
        seen |= new
        todo += sorted(new)
    return seen


def check_ranges(program: CounterProgram[Any]) -> None:
    ranges = variable_ranges(program)
    lowered = lower(program)
    for state in reached(lowered, STATES):
        for name, value in zip(lowered.fields, state, strict=True):
            low, high = ranges[name]
            assert low is not None and high is not None, name
            assert low <= value <= high, name


@pytest.mark.parametrize("instrumentation", ["pivot", "paper"])
def test_states_of_litmus_programs_lie_in_the_ranges(instrumentation: Instrumentation) -> None:
    for path in PROGRAMS[::50]:
        check_ranges(instrumented(load(path), instrumentation))


@pytest.mark.parametrize("loops", [False, True])
def test_states_of_random_programs_lie_in_the_ranges(loops: bool) -> None:
    for seed in range(12):
        program = load_program(random_program(Random(seed), Size(), loops=loops), f"seed {seed}")
        check_ranges(instrumented(program))


LEAVES = st.one_of(st.builds(Const, st.integers(-4, 9)), st.sampled_from([Name("a"), Name("b"), Name("c")]))
EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Unary, st.sampled_from(["-", "!"]), inner),
        st.builds(Binary, st.sampled_from(sorted({*OPERATORS, "&&", "||"})), inner, inner),
        st.builds(Ite, inner, inner, inner),
    ),
    max_leaves=7,
)
ENDS = st.tuples(st.integers(-5, 5), st.integers(0, 9)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(EXPRESSIONS, EXPRESSIONS, st.tuples(ENDS, ENDS, ENDS), st.data())
def test_intervals_contain_every_value(
    condition: Expr, expr: Expr, ends: tuple[Interval, Interval, Interval], data: st.DataObject
) -> None:
    """Also where a condition is known to hold."""
    base = dict(zip("abc", ends, strict=True))
    env = {name: data.draw(st.integers(low or 0, high or 0)) for name, (low, high) in base.items()}
    known = RangeFacts(base)
    try:
        possible = assume(condition, True, known)
        holds, value = evaluate(condition, env), evaluate(expr, env)
    except (ZeroDivisionError, ValueError):
        return
    if holds:
        assert possible
        for name, number in env.items():
            low, high = known.of(name)
            assert (low is None or low <= number) and (high is None or number <= high)
        low, high = interval_of(expr, known)
        assert (low is None or low <= value) and (high is None or value <= high)


def counting(*statements: Assign | Require, ranges: tuple[tuple[str, int, int], ...] = ()) -> CounterProgram[str]:
    body = Body(tuple(statements), (), ("step",))
    return CounterProgram("count", (("n", 0),), (), (ProcessGraph("P", 0, (Command(0, 0, body),)),), (), ranges=ranges)


def test_a_guarded_count_stays_below_its_guard() -> None:
    more = Binary("+", Name("n"), Const(1))
    assert variable_ranges(counting(Require(Binary("<=", more, Const(5))), Assign((("n", more),))))["n"] == (0, 5)


def test_an_unguarded_count_has_the_declared_bound_or_none() -> None:
    add = Assign((("n", Binary("+", Name("n"), Const(1))),))
    assert variable_ranges(counting(add))["n"] == (None, None)
    assert variable_ranges(counting(add, ranges=(("n", 0, 99),)))["n"] == (0, 99)
