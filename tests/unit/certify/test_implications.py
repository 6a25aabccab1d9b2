"""The checker's logic: the closure of differences against brute force and z3, folded variables, and what it refuses."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.safety import implications
from rdma_robust.certify.safety.by_z3 import Z3
from rdma_robust.certify.safety.differences import DifferenceBound, difference_cases, every_case
from rdma_robust.certify.safety.implications import Implications, RegionOf, parsed, region_of
from rdma_robust.certify.safety.wide_updates import (
    Fold,
    Take,
    WideAssignment,
    WideAssumption,
    WideChoice,
    WideEffect,
    wide_effects,
)
from rdma_robust.expr import Binary, Const, Expr, Name, Unary, evaluate, names

NAMES = ("x", "y", "z")
VALUES = range(-3, 4)
NONE: frozenset[str] = frozenset()


def op(left: object, operator: str, right: object) -> Expr:
    def of(value: object) -> Expr:
        return Const(value) if isinstance(value, int) else Name(value) if isinstance(value, str) else value  # type: ignore[return-value]

    return Binary(operator, of(left), of(right))


def region(*conditions: Expr) -> RegionOf:
    return region_of([parsed(condition) for condition in conditions])


def difference(rng: Random) -> Expr:
    left, right = rng.sample([*NAMES, 0], 2)
    return op(op(left, "-", right), rng.choice(["<=", "<", "==", "!=", ">=", ">"]), rng.randint(-2, 2))


def box() -> list[Expr]:
    """Keeps variables where brute force looks."""
    return [op(name, sign, end) for name in NAMES for sign, end in ((">=", -3), ("<=", 3))]


def random_effect(rng: Random) -> WideEffect:
    name, other = rng.choice(NAMES), rng.choice(NAMES)
    updates = [
        [],
        [WideAssumption(difference(rng))],
        [WideAssignment(((name, op(other, "+", rng.randint(-1, 1))),))],
        [WideAssumption(difference(rng)), WideAssignment(((name, Name(other)), (other, Name(name))))]
        if name != other
        else [],
        [WideChoice(name, Name(other), op(other, "+", 2))],
    ]
    (found,) = wide_effects(rng.choice(updates), NONE)
    return found


def truly(known: RegionOf, effect: WideEffect, targets: list[RegionOf]) -> bool:
    fresh = sorted({n for e in (*effect.values.values(), *effect.assumed) for n in names(e) if n.startswith("$")})
    for values in product(VALUES, repeat=len(NAMES)):
        before = dict(zip(NAMES, values, strict=True))
        if not all(evaluate(c, before) for c in known.conditions):
            continue
        for drawn in product(range(-4, 7), repeat=len(fresh)):
            env = before | dict(zip(fresh, drawn, strict=True))
            if not all(evaluate(c, env) for c in effect.assumed):
                continue
            after = {name: evaluate(effect.values.get(name, Name(name)), env) for name in NAMES}
            if not any(all(evaluate(c, after) for c in target.conditions) for target in targets):
                return False
    return True


def test_the_closure_agrees_with_brute_force() -> None:
    rng = Random(3)
    found = {True: 0, False: 0}
    for _ in range(70):
        effect = random_effect(rng)
        known = region(*box(), *(difference(rng) for _ in range(rng.randint(0, 3))))
        targets = [region(*(difference(rng) for _ in range(rng.randint(1, 2)))) for _ in range(rng.randint(0, 4))]
        judge = Implications()
        answer = judge.holds(known, effect, NONE, targets, folded_after=NONE)
        assert answer == truly(known, effect, targets)
        assert judge.by_z3 == 0
        found[answer] += 1
    assert min(found.values()) >= 10


def test_z3_agrees_with_evaluation() -> None:
    rng = Random(5)
    solver = Z3()

    def expr(depth: int) -> Expr:
        if depth == 0:
            return Name(rng.choice(NAMES)) if rng.random() < 0.6 else Const(rng.randint(-3, 3))
        if rng.random() < 0.1:
            return Unary("-", expr(depth - 1))
        if rng.random() < 0.3:
            return op(expr(depth - 1), rng.choice(["/", "%"]), rng.choice([-3, -2, 2, 3]))
        return op(expr(depth - 1), rng.choice(["+", "-", "*", "<", "==", "&&"]), expr(depth - 1))

    for _ in range(60):
        condition = op(expr(2), rng.choice(["==", "<", "!="]), expr(1))
        env = {name: rng.choice(VALUES) for name in NAMES}
        here = [op(name, "==", value) for name, value in env.items()]
        assert solver.impossible([*here, condition]) == (not evaluate(condition, env))


def test_cases_say_the_same() -> None:
    rng = Random(9)
    for _ in range(20):
        one, two, three = difference(rng), difference(rng), difference(rng)
        condition = op(op(one, "&&", Unary("!", two)), "||", Unary("!", op(three, "||", one)))
        found = difference_cases(condition)
        without = difference_cases(condition, holds=False)
        assert found is not None
        assert without is not None
        for values in product(range(-2, 3), repeat=3):
            env = dict(zip(NAMES, values, strict=True))
            assert any(all(_true(each, env) for each in case) for case in found) == bool(evaluate(condition, env))
            assert any(all(_true(each, env) for each in case) for case in without) != bool(evaluate(condition, env))
    big = [op(difference(rng), "||", difference(rng)) for _ in range(20)]
    assert every_case(big) is None


def _true(literal: object, env: dict[str, int]) -> bool:
    assert isinstance(literal, DifferenceBound)
    value = {**env, "": 0}
    return value[literal.left] - value[literal.right] <= literal.most


def test_scaled_differences_are_rounded_down() -> None:
    judge = Implications()
    known = region(op(op(2, "*", "x"), "<=", 5), op(op(3, "*", "x"), ">=", 4))
    assert judge.holds(known, wide_effects([], NONE)[0], NONE, [region(op("x", "==", 2))], folded_after=NONE)
    assert judge.by_z3 == 0


def test_values_of_a_folded_variable_are_not_told_apart() -> None:
    """Neither region has both values, so none of them stands for the set; a region for both does."""
    folded = frozenset({"s"})
    judge = Implications()
    one = region(op("s", "==", 1))
    one_or_two = region(op(op("s", "==", 1), "||", op("s", "==", 2)))
    (joined,) = wide_effects([Fold("s", Const(2))], NONE)
    two = region(op("s", "==", 2))
    assert not judge.holds(one, joined, NONE, [one, two], folded_after=folded)
    assert judge.holds(one, joined, NONE, [region(op("s", ">=", 1), op("s", "<=", 2))], folded_after=folded)
    assert not judge.holds(one_or_two, wide_effects([], folded)[0], folded, [one, two], folded_after=folded)
    (taken,) = wide_effects([Take("x", "s")], folded)
    span = region(op("s", ">=", 1), op("s", "<=", 2))
    assert judge.holds(span, taken, folded, [region(op("x", "==", 1)), region(op("x", "==", 2))], folded_after=folded)
    assert not judge.holds(span, taken, folded, [region(op("x", "==", "s"))], folded_after=folded)
    (both,) = wide_effects([Take("x", "s"), Take("y", "s")], folded)
    assert not judge.holds(span, both, folded, [region(op("x", "==", "y"))], folded_after=folded)


def test_taking_of_what_was_just_joined_may_take_the_new_value() -> None:
    folded = frozenset({"s"})
    found = wide_effects([Fold("s", Const(7)), Take("x", "s")], folded)
    values = [effect.values["x"] for effect in found]
    assert Const(7) in values
    assert len(values) == 2
    assert len({effect.key for effect in wide_effects([Take("x", "s"), Take("x", "s")], folded)}) == 1


SUM = region(op(op("x", "+", "y"), "<=", 3), op("y", "==", 1))


def test_what_is_no_difference_is_decided_by_z3() -> None:
    judge = Implications()
    nothing = wide_effects([], NONE)[0]
    assert judge.holds(SUM, nothing, NONE, [region(op("x", "<=", 2))], folded_after=NONE)
    assert not judge.holds(SUM, nothing, NONE, [region(op("x", "<=", 1))], folded_after=NONE)
    assert judge.by_z3 == 2
    assert judge.used.startswith("checked with z3 ")


def test_without_z3_what_is_no_difference_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(implications, "z3_version", lambda: None)
    judge = Implications()
    nothing = wide_effects([], NONE)[0]
    with pytest.raises(InvalidCertificate, match=r"z3.*not installed here: pip install z3-solver"):
        judge.holds(SUM, nothing, NONE, [region(op("x", "<=", 2))], folded_after=NONE)
    assert judge.holds(SUM, nothing, NONE, [region(op("y", ">=", 0))], folded_after=NONE)
    assert judge.used == "checked with its own closure"
