"""From reductions of the grammar to syntax tree nodes: the rules of `grammars/common.lark`, one method each.

The parser calls a method with everything the rule matched, in order: tokens (also keywords and brackets), the nodes of
inner rules, and None where an optional part is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from lark import Token, Transformer

from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.expressions import chained

Part = Any
"""A token, a node with a span, or None: lark does not type what it hands to callbacks."""

T = TypeVar("T")


def token_span(token: Token) -> Span:
    """Return the span of a token that came from the lexer."""
    return span_from(token, token)


def span_from(first: Part, last: Part) -> Span:
    """Return the span from the start of `first` to the end of `last`, each a token or a node."""
    if isinstance(first, Token):
        line, column, start = first.line, first.column, first.start_pos
    else:
        line, column, start = first.span.line, first.span.column, first.span.start
    if isinstance(last, Token):
        end_line, end_column, end = last.end_line, last.end_column, last.end_pos
    else:
        end_line, end_column, end = last.span.end_line, last.span.end_column, last.span.end
    return Span(line or 1, column or 1, end_line or 1, end_column or 1, start or 0, end or 0)


def ident_of(token: Token) -> ast.Ident:
    """Return the name that a token is."""
    return ast.Ident(str(token), span_from(token, token))


def parts_of_kind(parts: Iterable[Part], kind: type[T]) -> tuple[T, ...]:
    """Return the parts of one kind."""
    return tuple(p for p in parts if isinstance(p, kind))


def nodes_of(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts that are nodes."""
    return tuple(p for p in parts if p is not None and not isinstance(p, Token))


def last_of(parts: list[Part]) -> Part:
    """Return the last part that is there."""
    return next(part for part in reversed(parts) if part is not None)


class CommonBuilder(Transformer[Token, ast.ProgramTree]):
    """Stateless, so that one parser serves every file."""

    def program(self, parts: list[Part]) -> ast.ProgramTree:
        items = nodes_of(parts)
        span = span_from(items[0], items[-1]) if items else Span(1, 1, 1, 1, 0, 0)
        return ast.ProgramTree(items, span)

    def name(self, parts: list[Part]) -> ast.ProgramName:
        return ast.ProgramName(ident_of(parts[1]), span_from(parts[0], parts[1]))

    def const(self, parts: list[Part]) -> ast.Constants:
        return ast.Constants(parts_of_kind(parts, ast.Binding), span_from(parts[0], parts[-1]))

    def binding(self, parts: list[Part]) -> ast.Binding:
        name, _, value = parts
        return ast.Binding(ident_of(name), value, span_from(name, value))

    def broken(self, parts: list[Part]) -> ast.BrokenStatement:
        return ast.BrokenStatement((), span_from(parts[0], parts[0]))

    def broken_blocks(self, parts: list[Part]) -> ast.BrokenStatement:
        return ast.BrokenStatement(parts_of_kind(parts, ast.Block), span_from(parts[0], parts[-1]))

    def block(self, parts: list[Part]) -> ast.Block:
        return ast.Block(nodes_of(parts), span_from(parts[0], parts[-1]))

    def assign(self, parts: list[Part]) -> ast.Assign:
        target, sign, value = parts
        return ast.Assign(target, value, str(sign)[:-1], span_from(target, value))

    def assume(self, parts: list[Part]) -> ast.Assume:
        keyword, condition = parts
        return ast.Assume(condition, "await" if keyword.type == "AWAIT" else "assume", span_from(keyword, condition))

    def assert_(self, parts: list[Part]) -> ast.Assert:
        return ast.Assert(parts[1], span_from(parts[0], parts[1]))

    def halt(self, parts: list[Part]) -> ast.Halt:
        return ast.Halt(span_from(parts[0], parts[0]))

    def skip(self, parts: list[Part]) -> ast.Skip:
        return ast.Skip(span_from(parts[0], parts[0]))

    def if_(self, parts: list[Part]) -> ast.If:
        keyword, condition, block, *rest = parts
        otherwise = rest[-1]
        arms = (ast.Arm(condition, block, span_from(keyword, condition)), *parts_of_kind(rest, ast.Arm))
        return ast.If(arms, otherwise, span_from(keyword, otherwise or arms[-1].block))

    def elif_(self, parts: list[Part]) -> ast.Arm:
        _, keyword, condition, block = parts
        return ast.Arm(condition, block, span_from(keyword, condition))

    def while_(self, parts: list[Part]) -> ast.While:
        keyword, condition, body = parts
        return ast.While(condition, body, span_from(keyword, body))

    def loop(self, parts: list[Part]) -> ast.Loop:
        keyword, body = parts
        return ast.Loop(body, span_from(keyword, body))

    def for_(self, parts: list[Part]) -> ast.For:
        keyword, counter, _, low, _, high, body = parts
        return ast.For(ident_of(counter), low, high, body, span_from(keyword, body))

    def choose(self, parts: list[Part]) -> ast.Choose:
        return ast.Choose(parts_of_kind(parts, ast.Block), span_from(parts[0], parts[-1]))

    def binary(self, parts: list[Part]) -> ast.Binary:
        left, op, right = parts
        return ast.Binary(str(op), left, right, span_from(left, right))

    def chain(self, parts: list[Part]) -> ast.Binary:
        return chained(parts[::2], [str(op) for op in parts[1::2]])

    def unary(self, parts: list[Part]) -> ast.Unary:
        op, arg = parts
        return ast.Unary(str(op), arg, span_from(op, arg))

    def number(self, parts: list[Part]) -> ast.NumberLiteral:
        return ast.NumberLiteral(int(parts[0]), span_from(parts[0], parts[0]))

    def parentheses(self, parts: list[Part]) -> Part:
        opening, inner, closing = parts
        return replace(inner, span=span_from(opening, closing))
