"""Rays of cones in exact numbers, against linear programming in floating point."""

from __future__ import annotations

from random import Random

import highspy
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.petri.state_equation import ray

Rows = list[dict[int, int]]


def value(numbers: dict[int, int], y: dict[int, int]) -> int:
    return sum(n * y.get(j, 0) for j, n in numbers.items())


def solvable(rows: Rows, gains: dict[int, int], size: int) -> bool:
    """Whether there is a y with entries from 0 to 1, in floating point; the numbers are small."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for j in range(size):
        solver.addVar(0.0, 1.0)
        solver.changeColCost(j, -float(gains.get(j, 0)))
    for row in rows:
        entries = np.array(list(row), dtype=np.int32), np.array(list(row.values()), dtype=float)
        solver.addRow(-highspy.kHighsInf, 0.0, len(row), *entries)
    solver.run()
    return bool(solver.getInfo().objective_function_value < -1e-7)


def check(rows: Rows, gains: dict[int, int], size: int) -> None:
    y = ray(rows, gains, lambda _: True)
    assert (y is not None) == solvable(rows, gains, size)
    if y is not None:
        assert all(v > 0 for v in y.values())
        assert all(value(row, y) <= 0 for row in rows)
        assert value(gains, y) > 0


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_ray_is_found_exactly_if_there_is_one(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 5))
    entry = st.dictionaries(st.integers(0, size - 1), st.integers(-3, 3), max_size=size)
    check(data.draw(st.lists(entry, max_size=7)), data.draw(entry), size)


def test_larger_cones() -> None:
    rng = Random(4)
    for _ in range(40):
        size = rng.randint(5, 14)
        rows = [
            {j: rng.choice((-2, -1, -1, 1, 1, 3)) for j in rng.sample(range(size), 3)} for _ in range(rng.randint(3, 20))
        ]
        check(rows, {j: rng.randint(-5, 2) for j in range(size)}, size)


def test_numbers_that_floating_point_cannot_tell_apart() -> None:
    rows = [{0: -1, 1: 1}, {0: 1, 1: -1}]
    assert ray(rows, {0: 1 - 10**30, 1: 10**30}, lambda _: True) == {0: 1, 1: 1}
    assert ray(rows, {0: -(10**30), 1: 10**30}, lambda _: True) is None


def test_patience_ends_the_search() -> None:
    assert ray([{0: 1, 1: -1}], {0: 1}, lambda _: False) is None
    assert ray([{0: 1, 1: -1}], {0: 1}, lambda _: True) == {0: 1, 1: 1}
