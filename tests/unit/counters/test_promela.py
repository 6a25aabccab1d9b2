"""Transitions as Promela: what is rewritten on the way keeps its meaning; what cannot be said is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.counters.intervals import Interval
from rdma_robust.counters.program import Add, Assign, Body, Choose, Require, Zero, leaf
from rdma_robust.counters.promela.body_paths import BodyPath, fold_constants, paths_of_body, reset_dead
from rdma_robust.counters.promela.words import BITS, Narrow, word_variable
from rdma_robust.counters.promela.write import RESERVED, identifiers, line_comment, spell
from rdma_robust.errors import UsageError
from rdma_robust.exports import promela_of
from rdma_robust.expr import TRUE, Binary, Const, Expr, Ite, Name, Unary, evaluate
from rdma_robust.language.load import load_program

WIDE = 70
RANGES: dict[str, Interval] = {"set": (0, (1 << WIDE) - 1), "small": (0, 3), "index": (0, 80), "constant": (5, 5)}
STATES = st.fixed_dictionaries(
    {"set": st.integers(0, (1 << WIDE) - 1), "small": st.integers(0, 3), "index": st.integers(0, 80), "constant": st.just(5)}
)
MASKS = st.integers(0, (1 << WIDE) - 1).map(Const)
SETS = st.recursive(
    st.one_of(MASKS, st.just(Name("set")), st.just(Name("small"))),
    lambda inner: st.one_of(
        st.builds(Binary, st.sampled_from(["&", "|", "&~"]), inner, inner),
        st.builds(Ite, st.builds(Binary, st.just("&"), inner, MASKS), inner, inner),
    ),
    max_leaves=6,
)
MEMBERS = st.builds(lambda mask: Binary("&", Binary(">>", mask, Name("index")), Const(1)), MASKS)
TESTS = st.recursive(
    st.one_of(MEMBERS, SETS, st.just(Binary("==", Name("small"), Name("constant")))),
    lambda inner: st.one_of(
        st.builds(Unary, st.just("!"), inner), st.builds(Binary, st.sampled_from(["&&", "||"]), inner, inner)
    ),
    max_leaves=4,
)


def words(state: dict[str, int]) -> dict[str, int]:
    """The state as the rewritten program has it."""
    values = {name: first for name, value in state.items() for name, first in Narrow(RANGES).variables(name, value)}
    assert all(0 <= value < 1 << BITS for value in values.values())
    return values


@given(TESTS, STATES)
def test_tests_over_words_mean_the_same(test: Expr, state: dict[str, int]) -> None:
    assert bool(evaluate(Narrow(RANGES).test(test), words(state))) == bool(evaluate(test, state))


@given(SETS, STATES)
def test_assignments_to_sets_mean_the_same(value: Expr, state: dict[str, int]) -> None:
    path = Narrow(RANGES).path(BodyPath(TRUE, ((("set", value), ("small", Name("small"))),), None)).sequential()
    after = words(state)
    for ((name, new),) in path.steps:
        after[name] = evaluate(new, after)
    expected = evaluate(value, state)
    assert [after[word_variable("set", k)] for k in range(3)] == [expected >> BITS * k & (1 << BITS) - 1 for k in range(3)]


@given(st.permutations(["a", "b", "c"]), st.permutations(["a", "b", "c"]), st.tuples(*[st.integers(0, 9)] * 3))
def test_simultaneous_assignments_one_after_the_other(names: list[str], values: list[str], start: tuple[int, ...]) -> None:
    step = tuple((name, Name(value)) for name, value in zip(names, values, strict=True))
    now = dict(zip("abc", start, strict=True))
    expected = {name: now[value] for name, value in zip(names, values, strict=True)}
    for ((name, value),) in BodyPath(TRUE, (step,), None).sequential().steps:
        now[name] = evaluate(value, now)
    assert {name: now[name] for name in "abc"} == expected


@given(TESTS, STATES)
def test_folding_keeps_truth(test: Expr, state: dict[str, int]) -> None:
    assert bool(evaluate(fold_constants(test), state)) == bool(evaluate(test, state))


def test_paths_have_guards_over_the_state_before() -> None:
    one, two = Name("x"), Binary("+", Name("x"), Const(1))
    body = Body(
        (Assign((("t", two),)), Assign((("x", Name("t")),)), Require(Binary("<", one, Const(3)))),
        (
            leaf("add", Add("c", 2)),
            leaf("take", Zero("d"), Add("c", -1)),
            Body((Choose("k", ((7, TRUE), (8, one))),), (), ("7", "8")),
        ),
    )
    found = {path.label: path for path in paths_of_body(body, {"c": 3})}
    assert list(found) == ["add", "take", "7", "8"]
    assert all(evaluate(found["add"].guard, {"x": x}) == (x < 2) for x in range(4))
    assert evaluate(found["take"].guard, {"x": 0, "c": 1, "d": 0}) == 1
    assert evaluate(found["take"].guard, {"x": 0, "c": 1, "d": 1}) == 0
    assert evaluate(found["take"].guard, {"x": 0, "c": 0, "d": 0}) == 0
    assert found["7"].steps[-1] == (("k", Const(7)),)
    assert [evaluate(found["add"].steps[-1][0][1], {"c": c}) for c in range(4)] == [2, 3, 3, 3]


def test_identifiers_are_different_and_legal() -> None:
    wishes = ["A.x", "A_x", "A[x]", "linux", "do", "end", "HAS_CODE", "T1", "7", "taint'", "x@1", "_"]
    found = identifiers(wishes)
    assert len(set(found)) == len(wishes)
    assert not set(found) & RESERVED
    assert all(name.isidentifier() and name.isascii() and not name.startswith(("_", "end")) for name in found)
    assert found[0] == "A_x"
    assert "HAS_CODE" not in found


def test_comments_end_where_they_should() -> None:
    assert line_comment("a */ b /* c \\") == "/* a * / b / * c  */"
    assert line_comment("é\n") == "/* ?? */"


def test_operators_bind_as_in_the_expression() -> None:
    a, b, c = Name("a"), Name("b"), Name("c")
    names = {n: n for n in "abc"}
    assert spell(Binary("-", a, Binary("-", b, c)), names) == "a - (b - c)"
    assert spell(Binary("-", Binary("-", a, b), c), names) == "a - b - c"
    assert (
        spell(Binary("&&", Binary("||", a, b), Unary("!", Binary("==", a, Const(-1)))), names) == "(a || b) && !(a == (-1))"
    )
    assert spell(Ite(a, b, Binary("&~", b, c)), names) == "(a -> b : (b & ~c))"


def test_numbers_beyond_a_word_are_refused() -> None:
    text = "domain 0..3000000000\nnode A { x }\nthread T on A { reg r; r = x; x = r + 1 }\nthread S on A { x = 2 }"
    with pytest.raises(UsageError, match="may exceed 2147483647"):
        promela_of(load_program(text, "big.rdma"), "none")


def test_dead_variables_become_zero() -> None:
    """x is read in location 1 only, y in 2 by a target; what is assigned to z is never read."""
    first = BodyPath(TRUE, ((("x", Const(3)),), (("y", Const(4)),), (("z", Const(5)),)), "first")
    second = BodyPath(Name("x"), (), "second")
    other = BodyPath(TRUE, (), "other")
    found = reset_dead([(0, 1, first), (1, 2, second), (0, 3, other)], [(2, "y")], ["x", "y", "z"])
    assert found[0].steps == ((("x", Const(3)),), (("y", Const(4)),), (("z", Const(0)),))
    assert found[1].steps == ((("x", Const(0)),),)
    assert found[2].steps == ()


def test_variables_of_a_loop_stay_alive() -> None:
    turn = BodyPath(TRUE, ((("x", Binary("-", Const(1), Name("x"))),),), "turn")
    assert reset_dead([(0, 1, turn), (1, 0, turn)], [], ["x"]) == [turn, turn]
