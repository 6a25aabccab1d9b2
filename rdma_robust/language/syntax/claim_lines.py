"""Lines in which a program says something of itself: outcomes, invariants, and what is expected of it; `ast` has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.syntax.expressions import Expr, Ident


@dataclass(frozen=True, slots=True)
class ClaimClause:
    allowed: bool
    model: AnyModelName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class OutcomeDeclaration:
    """With `when` it is claimed only of programs with such numbers."""

    condition: Expr
    claims: tuple[ClaimClause, ...]
    span: Span = field(default=NO_SPAN, compare=False)
    when: Expr | None = None


@dataclass(frozen=True, slots=True)
class ExpectationClause:
    """`[not] robust`, of no model, `[no] hang under MODEL`, `[un]safe under MODEL`, `violated under MODEL`, or
    `race [free]`, of no model."""

    kind: Literal["robust", "hang", "safe", "violated", "race"]
    negated: bool
    model: AnyModelName | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Expect:
    """With `when` it is expected only of programs with such numbers."""

    expectations: tuple[ExpectationClause, ...]
    span: Span = field(default=NO_SPAN, compare=False)
    when: Expr | None = None


@dataclass(frozen=True, slots=True)
class NeedsDeclaration:
    """Guarantees of a network that are enough for the program to be robust."""

    guarantees: tuple[Ident, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class InvariantDeclaration:
    """A condition that is true in every reachable state, with `when` of programs with such numbers."""

    condition: Expr
    span: Span = field(default=NO_SPAN, compare=False)
    when: Expr | None = None
