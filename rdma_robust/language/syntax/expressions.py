"""Expressions as they are written; `ast` has them too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.flow.claims import AnyModelName


@dataclass(frozen=True, slots=True)
class Ident:
    """A name where it occurs; that of a node or thread of a family has an `index`, until it is known which one it is."""

    text: str
    span: Span = field(default=NO_SPAN, compare=False)
    index: Expr | None = None


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A literal; not negative, since `-` is an operator."""

    value: int
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Ref:
    """`name`, `name[index]`, `owner.name` or `owner.name[index]`."""

    owner: Ident | None
    name: Ident
    index: Expr | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`op` is `-` or `!`."""

    op: str
    arg: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`op` is one of `+ - * / % == != < <= > >= && ||`.

    `inner`: it is a part of a chain around it, made by :mod:`chains`, and has no parentheses of its own.
    """

    op: str
    left: Expr
    right: Expr
    span: Span = field(default=NO_SPAN, compare=False)
    inner: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class CasCall:
    """`cas(target, expected, new)`; the grammar allows it as any operand, the checks do not."""

    target: Ref
    expected: Expr
    new: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class RmwCall:
    """`faa(target, value)`, fetch and add, or `swap(target, value)`; the grammar allows it as any operand."""

    kind: Literal["faa", "swap"]
    target: Ref
    value: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class FetchCall:
    """`fetch(target)`, which reads as atomics do and writes nothing; the grammar allows it as any operand."""

    target: Ref
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class NondetCall:
    """`nondet(low, high)`, or `nondet()` without either; the grammar allows it as any operand."""

    low: Expr | None
    high: Expr | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ThreadAt:
    """`thread at label`, in `invariant` lines and targets."""

    thread: Ident
    label: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ThreadEnded:
    """`thread ended`, in `invariant` lines and targets."""

    thread: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CopiesWhere:
    """`count(thread: condition)`, `some thread: condition` or `all thread: condition`, in claims and targets.

    `count(thread at label)` and `count(thread ended)` are the first with that condition. In the condition names alone are
    those of one copy. (In a target it may be `thread at line`, which only the resolver of targets knows.)
    """

    kind: Literal["count", "some", "all"]
    thread: Ident
    condition: Expr
    span: Span = field(default=NO_SPAN, compare=False)


AtomicCall = CasCall | RmwCall | FetchCall
Expr = NumberLiteral | Ref | Unary | Binary | AtomicCall | NondetCall | ThreadAt | ThreadEnded | CopiesWhere


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
