"""What walks over statements reads from the declarations of their fields: none is of a kind that is not known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import pytest

from rdma_robust.diagnose import Reporter
from rdma_robust.editing.hovers import MEANING
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.check.substitution import ExpansionScope, Meaning, Substitution, number_expr
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.ast import Expr, NodeName, Ref, ThreadName
from rdma_robust.language.syntax.tree_limits import expressions_in, field_parts, places_named, roles_of

STATEMENTS = get_args(ast.Statement)


@pytest.mark.parametrize("kind", STATEMENTS, ids=lambda kind: kind.__name__)
def test_what_stands_in_each_field_is_known(kind: type) -> None:
    roles = dict(roles_of(object.__new__(kind)))
    assert roles["span"] == "span" and all(roles.values())


def test_statements_mean_something_to_editors() -> None:
    assert set(STATEMENTS) - {ast.Assume, ast.BrokenStatement} <= set(MEANING)


@dataclass(frozen=True)
class Exchange:
    """A statement that the language does not have."""

    mine: Ref
    amounts: tuple[Expr, ...]
    partner: ThreadName
    over: NodeName | None
    span: Span = NO_SPAN


def test_a_new_statement_is_read_by_what_its_fields_are_declared_as() -> None:
    k, x = (ast.Ref(None, ast.Ident(name), None) for name in "kx")
    made = Exchange(x, (k, ast.NumberLiteral(3)), ast.Ident("P", index=k), None)
    assert expressions_in(made) == (x, k, ast.NumberLiteral(3)) and places_named(made) == (made.partner,)  # type: ignore[arg-type]
    scope = ExpansionScope({"k": Meaning("counter", number_expr(2, NO_SPAN))}, None, 0, False)
    put_in = Substitution(scope, Reporter("", "")).statement(made)
    two = ast.NumberLiteral(2)
    assert put_in == replace(made, amounts=(two, ast.NumberLiteral(3)), partner=ast.Ident("P", index=two))
    assert [role for role, _ in field_parts(put_in)] == ["changed", "expression", "expression", "thread", "span"]


def test_a_field_of_an_unknown_kind_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        queue: QueueName  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(KeyError, match="QueueName"):
        roles_of(object.__new__(Odd))
