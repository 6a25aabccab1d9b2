"""Expressions as text again: every operator under every operator, on every side, reads as the tree that it came from."""

from __future__ import annotations

from rdma_robust.counters.printing import show_expr
from rdma_robust.expr import Binary, Const, Expr, Name, Unary
from rdma_robust.language.load import parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.printer import expression
from tests.support.c_expressions import in_c, parse
from tests.support.nested_expressions import IN_SOURCES, nested


def tree(expr: Expr) -> ast.Expr:
    """`expr` as a syntax tree."""
    match expr:
        case Const(value):
            return ast.NumberLiteral(value) if value >= 0 else ast.Unary("-", ast.NumberLiteral(-value))
        case Name(name):
            return ast.Ref(None, ast.Ident(name), None)
        case Unary(op, arg):
            return ast.Unary(op, tree(arg))
        case Binary(op, left, right):
            return ast.Binary(op, tree(left), tree(right))
        case _:
            raise AssertionError(expr)


def test_sources_read_as_they_were_and_as_in_c() -> None:
    found = nested(IN_SOURCES)
    texts = [expression(tree(expr)) for expr in found]
    (item,) = parse_program("const " + ", ".join(f"N = {text}" for text in texts), "f").items
    assert isinstance(item, ast.Constants)
    assert [binding.value for binding in item.bindings] == [tree(expr) for expr in found]
    for expr, text in zip(found, texts, strict=True):
        assert parse(text.replace("--", "- -").replace("!!", "! !")) == in_c(expr), text


def test_listings_of_programs_read_as_in_c() -> None:
    for expr in nested():
        assert parse(show_expr(expr).replace(" ? ", " -> ").replace("&~", "& ~")) == in_c(expr), show_expr(expr)
