"""Updates of wide variables as code over zones, against the same updates of numbers."""

from __future__ import annotations

import random
from itertools import product

import pytest

from rdma_robust.analyses.prove.transition_system import Assignment, Draw, Drop, Join, Selection, Suppose, Update
from rdma_robust.analyses.prove.zones import zone_matrix
from rdma_robust.analyses.prove.zones.linear_ways import MOST_WAYS
from rdma_robust.analyses.prove.zones.zone_updates import zone_transition
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary, conj, disj
from tests.support.woven_systems import op
from tests.support.zone_checks import NO_CLIP, has_point, updated

NAMES = ("x", "y", "z")


def random_value(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.3:
        return Name(rng.choice(NAMES)) if rng.random() < 0.7 else Const(rng.randint(-3, 3))
    operator = rng.choice(["+", "+", "-", "-", "*", "/", "%", "u-", "ite", "<", "||"])
    first, second = random_value(rng, depth - 1), random_value(rng, depth - 1)
    match operator:
        case "u-":
            return Unary("-", first)
        case "ite":
            return Ite(random_condition(rng, depth - 1), first, second)
    return Binary(operator, first, second)


def random_condition(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.4:
        comparison = rng.choice(["==", "!=", "<", "<=", ">", ">="])
        return Binary(comparison, random_value(rng, max(0, depth - 1)), random_value(rng, max(0, depth - 1)))
    if rng.random() < 0.3:
        return Unary("!", random_condition(rng, depth - 1))
    return Binary(rng.choice(["&&", "||"]), random_condition(rng, depth - 1), random_condition(rng, depth - 1))


def random_update(rng: random.Random, depth: int) -> Update:
    name = rng.choice(NAMES)
    match rng.randrange(6):
        case 0 | 1:
            return Suppose(random_condition(rng, depth))
        case 2 | 3:
            return Assignment(name, random_value(rng, depth))
        case 4:
            return Draw(name, *(random_value(rng, 1) if rng.random() < 0.6 else None for _ in range(2)))
        case _:
            return rng.choice([Join(name, random_value(rng, 1)), Selection(name, rng.choice(NAMES)), Drop(name)])


def simple_value(rng: random.Random) -> Expr:
    return op(rng.choice("+-"), rng.choice(NAMES), rng.randint(-2, 2)) if rng.random() < 0.7 else Const(rng.randint(-2, 2))


def simple_update(rng: random.Random) -> Update:
    """One that zones know exactly."""
    comparison = rng.choice(["==", "!=", "<", "<=", ">", ">="])
    condition = Binary(comparison, simple_value(rng), simple_value(rng))
    other = Binary(rng.choice(["==", "!=", "<"]), simple_value(rng), simple_value(rng))
    both = rng.choice([condition, conj(condition, other), disj(condition, Unary("!", other))])
    ends = [simple_value(rng) if rng.random() < 0.6 else None for _ in range(2)]
    return rng.choice([Suppose(both), Assignment(rng.choice(NAMES), simple_value(rng)), Draw(rng.choice(NAMES), *ends)])


def reached(updates: list[Update], values: tuple[int, ...]) -> tuple[list[list[int | None]], bool]:
    made = zone_transition(updates, NAMES, NAMES, NO_CLIP)
    start = zone_matrix.of_values(values, NO_CLIP)
    after = [zone_matrix.run_zone_code(code, start) for code in made.codes]
    return [zone_matrix.entries(zone) for zone in after if zone is not None], made.exact


@pytest.mark.parametrize("seeds", [range(400), pytest.param(range(400, 8000), marks=pytest.mark.long)], ids=["few", "many"])
def test_no_value_is_missed(seeds: range) -> None:
    """Of any updates: each result is a point of one of the zones."""
    inexact = 0
    for seed in seeds:
        rng = random.Random(seed)
        updates = [random_update(rng, rng.randint(0, 3)) for _ in range(rng.randint(1, 3))]
        for _ in range(4):
            values = tuple(rng.randint(-5, 5) for _ in NAMES)
            zones, exact = reached(updates, values)
            inexact += not exact
            for after in updated(dict(zip(NAMES, values, strict=True)), updates):
                point = [after[name] for name in NAMES]
                dropped = {u.name for u in updates if isinstance(u, Drop)}
                assert dropped or any(has_point(zone, point) for zone in zones), (updates, values, after)
    assert inexact > len(seeds) // 4


@pytest.mark.parametrize("seeds", [range(300), pytest.param(range(300, 3000), marks=pytest.mark.long)], ids=["few", "many"])
def test_differences_are_exact(seeds: range) -> None:
    """Of updates by w + c and comparisons of those: the zones have the results and nothing else."""
    for seed in seeds:
        rng = random.Random(seed)
        updates = [simple_update(rng) for _ in range(rng.randint(1, 3))]
        values = tuple(rng.randint(-2, 2) for _ in NAMES)
        zones, exact = reached(updates, values)
        assert exact
        expected = {
            tuple(a[n] for n in NAMES) for a in updated(dict(zip(NAMES, values, strict=True)), updates, range(-8, 9))
        }
        near = {p for p in product(range(-2, 3), repeat=3) if any(has_point(zone, p) for zone in zones)}
        assert near <= expected, (updates, values)
        assert all(any(has_point(zone, p) for zone in zones) for p in expected)


def bounds(value: Expr, *suppositions: Expr) -> tuple[int | None, int | None]:
    """What a zone knows of a value after suppositions about variables of which nothing is known."""
    made = zone_transition([*map(Suppose, suppositions), Assignment("v", value)], NAMES, ("v",), NO_CLIP)
    start = zone_matrix.run_zone_code(zone_transition([], (), NAMES, NO_CLIP).codes[0], (0,))
    assert start is not None
    zones = [
        zone_matrix.entries(zone) for code in made.codes if (zone := zone_matrix.run_zone_code(code, start)) is not None
    ]
    lows = [-low if (low := zone[1]) is not None else None for zone in zones]
    highs = [zone[2] for zone in zones]
    return (
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )


def test_what_is_no_difference_has_the_bounds_of_intervals() -> None:
    small = conj(op("<=", 0, "x"), op("<=", "x", 10), op("<=", 3, "y"), op("<=", "y", 4))
    assert bounds(op("+", "x", "y"), small) == (3, 14)
    assert bounds(op("-", op("*", "x", 2), op("*", "y", 3)), small) == (-12, 11)
    assert bounds(op("/", "x", 3), small) == (0, 3)
    assert bounds(op("/", "x", -3), small) == (-3, 0)
    assert bounds(op("%", "x", 4), small) == (0, 3)
    assert bounds(op("%", "x", 4)) == (-3, 3)
    assert bounds(op("*", "x", "y"), small) == (None, None)
    assert bounds(op("<", "x", "y"), small) == (0, 1)
    assert bounds(op("-", "x", "y"), op("==", "x", op("+", "y", 7))) == (7, 7)
    assert bounds(Name("x"), op(">=", "y", 4), op("<=", op("+", "x", "y"), 10)) == (None, 6)
    assert bounds(Name("x"), op("<=", op("*", "x", 3), 10), op(">=", op("*", "x", 3), -10)) == (-3, 3)


def test_a_condition_of_too_many_ways_restricts_nothing() -> None:
    many = conj(*(op("!=", "x", i) for i in range(2 * MOST_WAYS)))
    for values in ((1, 5, 1), (-1, 5, 1)):
        zones, exact = reached([Suppose(many), Assignment("y", Const(3))], values)
        assert not exact
        assert any(has_point(zone, (values[0], 3, 1)) for zone in zones)


def test_updates_of_too_many_ways_forget_what_they_change() -> None:
    updates: list[Update] = [Suppose(op("!=", "x", i)) for i in range(40)]
    zones, exact = reached([*updates, Assignment("y", Name("x"))], (50, 1, 1))
    assert not exact
    assert all(has_point(zone, (50, 50, 1)) for zone in zones)
    assert not any(has_point(zone, (51, 50, 1)) for zone in zones)
