"""Expressions as Promela, read as C reads them, are the trees that they came from. This needs no SPIN."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.counters.promela.write import spell
from rdma_robust.expr import Binary, Const, Expr, Name, Unary
from tests.support.c_expressions import in_c, parse
from tests.support.nested_expressions import BINARY, ITE, NAMES, UNARY, build, nested

EXPRESSIONS = st.recursive(
    st.one_of(st.sampled_from(NAMES).map(Name), st.integers(-3, 3).map(Const)),
    lambda inner: st.one_of(
        st.builds(Unary, st.sampled_from(UNARY), inner),
        st.builds(Binary, st.sampled_from(BINARY), inner, inner),
        st.builds(lambda *parts: build(ITE, parts), inner, inner, inner),
    ),
    max_leaves=12,
)


def promela(expr: Expr) -> str:
    return spell(expr, {name: name for name in NAMES})


def test_every_operator_under_every_operator_on_every_side() -> None:
    found = nested()
    assert len(found) == len(set(found)) > 800
    for expr in found:
        assert parse(promela(expr)) == in_c(expr), promela(expr)


@given(EXPRESSIONS)
def test_deeper_expressions(expr: Expr) -> None:
    assert parse(promela(expr)) == in_c(expr), promela(expr)


@pytest.mark.parametrize(("inner", "outer"), tuple(product(("==", "!="), ("<", "<=", ">", ">="))))
def test_equality_binds_less_than_order(inner: str, outer: str) -> None:
    a, b, c = map(Name, NAMES)
    assert promela(Binary(outer, Binary(inner, a, b), c)) == f"(a {inner} b) {outer} c"
    assert promela(Binary(outer, a, Binary(inner, b, c))) == f"a {outer} (b {inner} c)"
    assert promela(Binary(inner, Binary(outer, a, b), c)) == f"a {outer} b {inner} c"
