"""Substitution of names inside of an expansion, in expressions and places.

Everything gets the span at which it is written in the macro or the `for`, with the place of the expansion as its origin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, assert_never, cast

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import Role, roles_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a name: a number, or a name that means the same where the expansion is."""

    kind: Literal["parameter", "counter", "register", "number"]
    value: ast.Expr

    @property
    def is_number(self) -> bool:
        return not isinstance(self.value, ast.Ref)

    @property
    def word(self) -> str | None:
        """The one name that it is, None if it is a number or more than a name."""
        value = self.value
        return value.name.text if isinstance(value, ast.Ref) and value.owner is None and value.index is None else None

    def place(self, span: Span) -> ast.Ident | None:
        """Return it as the name of a node or thread, which may be one of a family; None if it cannot be one."""
        value = self.value
        return ast.Ident(value.name.text, span, value.index) if isinstance(value, ast.Ref) and value.owner is None else None


@dataclass(frozen=True, slots=True)
class ExpansionScope:
    """`meanings` are those of the names that are not what they are outside; `origin` is from where it was expanded.

    `calls` counts the macros around, and `again` says whether there is a loop around.
    """

    meanings: Mapping[str, Meaning] = field(default_factory=dict)
    origin: Span | None = None
    calls: int = 0
    again: bool = False

    @property
    def plain(self) -> bool:
        """Whether everything stays as it is written."""
        return self.origin is None and not self.meanings

    def at(self, span: Span) -> Span:
        return span if self.origin is None else replace(span, origin=self.origin)


def number_expr(value: int, span: Span) -> ast.Expr:
    """Return a number as it is written."""
    return ast.NumberLiteral(value, span) if value >= 0 else ast.Unary("-", ast.NumberLiteral(-value, span), span)


PlaceKind = Literal["node", "thread"]
OneOf = Callable[[ast.Ident, PlaceKind], ast.Ident]
"""Returns the node or thread itself of a family that a name with an index means."""


def _itself(name: ast.Ident, _: PlaceKind) -> ast.Ident:
    return name


class Substitution:
    """Puts what names stand for into expressions. Errors go to the report; after one of them the result means nothing."""

    def __init__(self, scope: ExpansionScope, report: Reporter, one_of: OneOf = _itself) -> None:
        self.scope = scope
        self.report = report
        self.failed = False
        self._one_of = one_of

    def expression(self, expr: ast.Expr) -> ast.Expr:
        span = self.scope.at(expr.span)
        match expr:
            case ast.NumberLiteral():
                return replace(expr, span=span)
            case ast.Ref():
                return self._reference(expr)
            case ast.Unary(op, arg):
                return ast.Unary(op, self.expression(arg), span)
            case ast.Binary(op, left, right):
                return ast.Binary(op, self.expression(left), self.expression(right), span, expr.inner)
            case ast.CasCall(target, expected, new):
                return ast.CasCall(self.target(target), self.expression(expected), self.expression(new), span)
            case ast.FetchCall(target):
                return ast.FetchCall(self.target(target), span)
            case ast.RmwCall(kind, target, value):
                return ast.RmwCall(kind, self.target(target), self.expression(value), span)
            case ast.NondetCall(low, high):
                low, high = (None if bound is None else self.expression(bound) for bound in (low, high))
                return ast.NondetCall(low, high, span)
            case ast.ThreadAt() | ast.ThreadEnded() | ast.CopiesWhere():
                raise AssertionError("no statement says where a thread is")

    def statement(self, part: T) -> T:
        """Return a statement with what its names stand for, or a part of one; its blocks are as they were.

        What is to be done with a field, what it is declared as says: a statement that is new needs nothing here.
        """
        made = {name: self._field(role, getattr(part, name)) for name, role in roles_of(part)}
        return cast(T, replace(cast(Any, part), **made))

    def _field(self, role: Role, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._field(role, each) for each in value)
        if value is None:
            return None
        match role:
            case "expression":
                return self.expression(value)
            case "changed":
                return self.target(value)
            case "node" | "thread":
                return self.place(value, role)
            case "label":
                return self.label(value)
            case "inner":
                return self.statement(value)
            case "span":
                return self.scope.at(value)
            case "block" | "kept":
                return value
            case _:
                assert_never(role)

    def cell(self, cell: ast.CellDeclaration) -> ast.CellDeclaration:
        """Return a variable of a node of a family, without its number."""
        size, init = (None if value is None else self.expression(value) for value in (cell.size, cell.init))
        return replace(cell, size=size, init=init)

    def target(self, ref: ast.Ref) -> ast.Ref:
        """Return what a statement changes."""
        found = self._reference(ref)
        if isinstance(found, ast.Ref):
            return found
        meaning = self.scope.meanings[ref.name.text]
        name = quote(ref.name.text)
        if meaning.kind in ("counter", "number"):
            what = "counter of a `for`" if meaning.kind == "counter" else "number of a copy"
            self._error("RR223", ref, f"{name} is the {what}: it is a constant in each copy and cannot be changed")
        else:
            value = printer.expression(meaning.value)
            self._error("RR222", ref, f"the argument for {name} is {value} here, and a number cannot be changed")
        return self._kept(ref)

    def place(self, name: ast.Ident, kind: PlaceKind = "node") -> ast.Ident:
        """Return the name of a node or a thread."""
        span = self.scope.at(name.span)
        meaning = self.scope.meanings.get(name.text)
        index = None if name.index is None else self.expression(name.index)
        found = ast.Ident(name.text, span)
        if meaning is not None:
            place = meaning.place(span) if meaning.kind == "parameter" else None
            if place is None or (index is not None and place.index is not None):
                self._not_a_name(name, meaning, f"the name of a {kind}")
                return found
            found = place
        return self._one_of(found if index is None else replace(found, index=index), kind)

    def label(self, name: ast.Ident) -> ast.Ident:
        """Return the name of a label: only parameters stand for one, counters and registers are no labels."""
        meaning = self.scope.meanings.get(name.text)
        if meaning is None or meaning.kind != "parameter":
            return replace(name, span=self.scope.at(name.span))
        if meaning.word is None:
            self._not_a_name(name, meaning, "the name of a label")
            return name
        return ast.Ident(meaning.word, self.scope.at(name.span))

    def _reference(self, ref: ast.Ref) -> ast.Expr:
        if ref.owner is not None:
            return self._member(ref, ref.owner)
        meaning = self.scope.meanings.get(ref.name.text)
        span = self.scope.at(ref.span)
        if meaning is None:
            return self._kept(ref)
        if ref.index is None:
            value = meaning.value
            return number_expr(_value(value), span) if meaning.is_number else replace(value, span=span)
        value = meaning.value
        if not isinstance(value, ast.Ref) or value.index is not None:
            self._not_a_name(ref.name, meaning, "the name of an array")
            return self._kept(ref)
        return ast.Ref(value.owner, value.name, self.expression(ref.index), span)

    def _member(self, ref: ast.Ref, owner: ast.Ident) -> ast.Expr:
        meaning = self.scope.meanings.get(ref.name.text)
        name = replace(ref.name, span=self.scope.at(ref.name.span))
        if meaning is not None and meaning.kind == "parameter":
            if meaning.word is None:
                self._not_a_name(ref.name, meaning, "the name of a variable")
            else:
                name = replace(name, text=meaning.word)
        index = self.expression(ref.index) if ref.index is not None else None
        return ast.Ref(self.place(owner), name, index, self.scope.at(ref.span))

    def _kept(self, ref: ast.Ref) -> ast.Ref:
        index = self.expression(ref.index) if ref.index is not None else None
        return replace(
            ref, index=index, span=self.scope.at(ref.span), name=replace(ref.name, span=self.scope.at(ref.name.span))
        )

    def _not_a_name(self, name: ast.Ident, meaning: Meaning, wanted: str) -> None:
        shown = quote(printer.expression(meaning.value))
        if meaning.kind == "parameter":
            self._error("RR222", name, f"the argument for {quote(name.text)} is {shown} here, where it must be {wanted}")
        else:
            self._error("RR222", name, f"{quote(name.text)} is a {meaning.kind} here, where {wanted} must stand")

    def _error(self, code: str, part: ast.Ident | ast.Ref, message: str) -> None:
        self.failed = True
        self.report.error(code, self.scope.at(part.span), message)


def _value(expr: ast.Expr) -> int:
    match expr:
        case ast.NumberLiteral(value):
            return value
        case ast.Unary("-", ast.NumberLiteral(value)):
            return -value
        case _:
            raise AssertionError(f"{expr!r} is no number")
