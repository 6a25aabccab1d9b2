"""From reductions of the grammar to syntax tree nodes: one method per rule of `grammars/rdma.lark`, of the same name.

The parser calls a method with everything the rule matched, in order: tokens (also keywords and brackets), the nodes of
inner rules, and None where an optional part is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeVar

from lark import Token, Transformer

from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast

Part = Any
"""A token, a node with a span, or None: lark does not type what it hands to callbacks."""

T = TypeVar("T")


_MODELS: Final[Mapping[str, ast.AnyModelName]] = {"SC": "sc", "TSO": "tso", "PSO": "pso", "RMA": "rma", "RDMA": "rdma"}
_FLAGS: Final[Mapping[str, ast.FlagWord]] = {"UNSIGNALED": "unsignaled", "INLINE": "inline", "FENCED": "fenced"}


def token_span(token: Token) -> Span:
    """Return the span of a token that came from the lexer."""
    return between(token, token)


def between(first: Part, last: Part) -> Span:
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


def _ident(token: Token) -> ast.Ident:
    return ast.Ident(str(token), between(token, token))


def _only(parts: Iterable[Part], kind: type[T]) -> tuple[T, ...]:
    return tuple(p for p in parts if isinstance(p, kind))


def _nodes(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(p for p in parts if p is not None and not isinstance(p, Token))


def _last(parts: list[Part]) -> Part:
    """Return the last part that is there."""
    return next(part for part in reversed(parts) if part is not None)


def _model(token: Token) -> ast.AnyModelName:
    """Return the model that a word names."""
    return _MODELS[token.type]


NOBODY: Final = ast.Ident("")
"""Stands for the thread of a `count(...)` that names none."""


@dataclass(frozen=True, slots=True)
class _OwnPlace:
    """`NODE[*]`, behind `on`."""

    name: ast.Ident


class TreeBuilder(Transformer[Token, ast.Program]):
    """Stateless, so that one parser serves every file."""

    def program(self, parts: list[Part]) -> ast.Program:
        items = _nodes(parts)
        span = between(items[0], items[-1]) if items else Span(1, 1, 1, 1, 0, 0)
        return ast.Program(items, span)

    def name(self, parts: list[Part]) -> ast.ProgramName:
        return ast.ProgramName(_ident(parts[1]), between(parts[0], parts[1]))

    def allow(self, parts: list[Part]) -> ast.AllowLoopback:
        return ast.AllowLoopback(between(parts[0], parts[-1]))

    def hardware(self, parts: list[Part]) -> ast.Hardware:
        return ast.Hardware(_only(parts, ast.Setting), between(parts[0], parts[-1]))

    def setting(self, parts: list[Part]) -> ast.Setting:
        return ast.Setting(_ident(parts[0]), _ident(parts[1]), between(parts[0], parts[1]))

    def const(self, parts: list[Part]) -> ast.Constants:
        return ast.Constants(_only(parts, ast.Binding), between(parts[0], parts[-1]))

    def binding(self, parts: list[Part]) -> ast.Binding:
        name, _, value = parts
        return ast.Binding(_ident(name), value, between(name, value))

    def domain(self, parts: list[Part]) -> ast.Domain:
        keyword, low, _, high = parts
        return ast.Domain(low, high, between(keyword, high))

    def node(self, parts: list[Part]) -> ast.Node:
        return ast.Node(_ident(parts[1]), _only(parts, ast.Cell), between(parts[0], parts[-1]), parts[2])

    def family(self, parts: list[Part]) -> ast.Family:
        counter, *rest = parts[1:-1]
        low, high = (rest[1], rest[3]) if rest else (None, None)
        name = _ident(counter) if counter.type == "NAME" else None
        return ast.Family(name, low, high, between(counter, high or counter))

    def cell(self, parts: list[Part]) -> ast.Cell:
        name, _, size, bracket, _, init = parts
        return ast.Cell(_ident(name), size, init, between(name, init or bracket or name))

    def thread(self, parts: list[Part]) -> ast.Thread:
        keyword, name, family, _, node, block = parts
        own = isinstance(node, _OwnPlace)
        return ast.Thread(_ident(name), node.name if own else node, block, between(keyword, block), family, own)

    def own_place(self, parts: list[Part]) -> _OwnPlace:
        name = _ident(parts[0])
        return _OwnPlace(replace(name, span=between(parts[0], parts[-1])))

    def macro(self, parts: list[Part]) -> ast.Macro:
        keyword, name, _, *inner, block = parts
        parameters = tuple(_ident(p) for p in inner if p is not None and p.type == "NAME")
        return ast.Macro(_ident(name), parameters, block, between(keyword, block))

    def outcome(self, parts: list[Part]) -> ast.Outcome:
        return ast.Outcome(parts[1], _only(parts, ast.Claim), between(parts[0], _last(parts)), parts[-1])

    def claim(self, parts: list[Part]) -> ast.Claim:
        verb, _, model = parts
        return ast.Claim(verb.type == "ALLOWED", _model(model), between(verb, model))

    def invariant(self, parts: list[Part]) -> ast.Invariant:
        return ast.Invariant(parts[1], between(parts[0], _last(parts)), parts[-1])

    def expect(self, parts: list[Part]) -> ast.Expect:
        return ast.Expect(_only(parts, ast.Expectation), between(parts[0], _last(parts)), parts[-1])

    def expectation(self, parts: list[Part]) -> ast.Expectation:
        words = [part for part in parts if part is not None]
        negated, span = words[0].type in ("NOT", "NO"), between(words[0], words[-1])
        if words[-1].type == "ROBUST":
            return ast.Expectation("robust", negated, None, span)
        if words[0].type in ("SAFE", "UNSAFE"):
            return ast.Expectation("safe", words[0].type == "UNSAFE", _model(words[-1]), span)
        return ast.Expectation("hang", negated, _model(words[-1]), span)

    def broken(self, parts: list[Part]) -> ast.Broken:
        return ast.Broken((), between(parts[0], parts[0]))

    def broken_blocks(self, parts: list[Part]) -> ast.Broken:
        return ast.Broken(_only(parts, ast.Block), between(parts[0], parts[-1]))

    def block(self, parts: list[Part]) -> ast.Block:
        return ast.Block(_nodes(parts), between(parts[0], parts[-1]))

    def registers(self, parts: list[Part]) -> ast.Registers:
        return ast.Registers(_only(parts, ast.Binding), between(parts[0], parts[-1]))

    def register(self, parts: list[Part]) -> ast.Binding:
        name, _, value = parts
        return ast.Binding(_ident(name), value, between(name, value or name))

    def assign(self, parts: list[Part]) -> ast.Assign:
        target, sign, value = parts
        return ast.Assign(target, value, str(sign)[:-1], between(target, value))

    def call(self, parts: list[Part]) -> ast.Call:
        return ast.Call(parts[0], parts[0].span)

    def macro_call(self, parts: list[Part]) -> ast.MacroCall:
        return ast.MacroCall(_ident(parts[0]), _nodes(parts), between(parts[0], parts[-1]))

    def put(self, parts: list[Part]) -> ast.Put:
        keyword, target, _, source, *_ = parts
        imm = next(iter(_only(parts, ast.Immediate)), None)
        return ast.Put(target, source, between(keyword, _last(parts)), _only(parts, ast.Flag), imm)

    def imm(self, parts: list[Part]) -> ast.Immediate:
        keyword, value, _, to = parts
        return ast.Immediate(value, to, between(keyword, to))

    def get(self, parts: list[Part]) -> ast.Get:
        keyword, target, _, source, *flags = parts
        return ast.Get(target, source, between(keyword, parts[-1]), tuple(flags))

    def flag(self, parts: list[Part]) -> ast.Flag:
        return ast.Flag(_FLAGS[parts[0].type], between(parts[0], parts[0]))

    def send(self, parts: list[Part]) -> ast.Send:
        keyword, source, _, to, *flags = parts
        return ast.Send(source, to, between(keyword, parts[-1]), tuple(flags))

    def poll(self, parts: list[Part]) -> ast.Poll:
        keyword, node, count = parts
        return ast.Poll(node, between(keyword, count or node), count)

    def poll_any(self, parts: list[Part]) -> ast.PollAny:
        target = parts[0]
        span = between(target or parts[2], parts[-1])
        return ast.PollAny(_only(parts, ast.Ident), target, span)

    def trypoll(self, parts: list[Part]) -> ast.TryPoll:
        return ast.TryPoll(parts[0], parts[-1], between(parts[0], parts[-1]))

    def posted(self, parts: list[Part]) -> ast.Posted:
        return ast.Posted(_only(parts, ast.Ref), parts[-1], between(parts[0], parts[-1]))

    def recv(self, parts: list[Part]) -> ast.Recv:
        return ast.Recv(parts[1], parts[-1], between(parts[0], parts[-1]))

    def rpoll(self, parts: list[Part]) -> ast.RecvPoll:
        return ast.RecvPoll(parts[-1], parts[0], between(parts[0] or parts[2], parts[-1]))

    def rfence(self, parts: list[Part]) -> ast.RFence:
        return ast.RFence(parts[1], between(parts[0], parts[1]))

    def flush(self, parts: list[Part]) -> ast.Flush:
        return ast.Flush(parts[1], between(parts[0], parts[1]))

    def mfence(self, parts: list[Part]) -> ast.MFence:
        return ast.MFence(between(parts[0], parts[0]))

    def label(self, parts: list[Part]) -> ast.Label:
        return ast.Label(_ident(parts[0]), between(parts[0], parts[1]))

    def assume(self, parts: list[Part]) -> ast.Assume:
        keyword, condition = parts
        return ast.Assume(condition, "await" if keyword.type == "AWAIT" else "assume", between(keyword, condition))

    def assert_(self, parts: list[Part]) -> ast.Assert:
        return ast.Assert(parts[1], between(parts[0], parts[1]))

    def halt(self, parts: list[Part]) -> ast.Halt:
        return ast.Halt(between(parts[0], parts[0]))

    def skip(self, parts: list[Part]) -> ast.Skip:
        return ast.Skip(between(parts[0], parts[0]))

    def if_(self, parts: list[Part]) -> ast.If:
        keyword, condition, block, *rest = parts
        otherwise = rest[-1]
        arms = (ast.Arm(condition, block, between(keyword, condition)), *_only(rest, ast.Arm))
        return ast.If(arms, otherwise, between(keyword, otherwise or arms[-1].block))

    def elif_(self, parts: list[Part]) -> ast.Arm:
        _, keyword, condition, block = parts
        return ast.Arm(condition, block, between(keyword, condition))

    def while_(self, parts: list[Part]) -> ast.While:
        keyword, condition, body = parts
        return ast.While(condition, body, between(keyword, body))

    def loop(self, parts: list[Part]) -> ast.Loop:
        keyword, body = parts
        return ast.Loop(body, between(keyword, body))

    def for_(self, parts: list[Part]) -> ast.For:
        keyword, counter, _, low, _, high, body = parts
        return ast.For(_ident(counter), low, high, body, between(keyword, body))

    def choose(self, parts: list[Part]) -> ast.Choose:
        return ast.Choose(_only(parts, ast.Block), between(parts[0], parts[-1]))

    def binary(self, parts: list[Part]) -> ast.Binary:
        left, op, right = parts
        return ast.Binary(str(op), left, right, between(left, right))

    def unary(self, parts: list[Part]) -> ast.Unary:
        op, arg = parts
        return ast.Unary(str(op), arg, between(op, arg))

    def number(self, parts: list[Part]) -> ast.Number:
        return ast.Number(int(parts[0]), between(parts[0], parts[0]))

    def parentheses(self, parts: list[Part]) -> Part:
        opening, inner, closing = parts
        return replace(inner, span=between(opening, closing))

    def cas(self, parts: list[Part]) -> ast.CasCall:
        keyword, _, target, _, expected, _, new, closing = parts
        return ast.CasCall(target, expected, new, between(keyword, closing))

    def rmw(self, parts: list[Part]) -> ast.RmwCall:
        keyword, _, target, _, value, closing = parts
        return ast.RmwCall("faa" if keyword.type == "FAA" else "swap", target, value, between(keyword, closing))

    def nondet(self, parts: list[Part]) -> ast.NondetCall:
        keyword, _, low, _, high, closing = parts
        return ast.NondetCall(low, high, between(keyword, closing))

    def ended(self, parts: list[Part]) -> ast.ThreadEnded:
        return ast.ThreadEnded(parts[0], between(parts[0], parts[-1]))

    def at_label(self, parts: list[Part]) -> ast.ThreadAt:
        return ast.ThreadAt(parts[0], _ident(parts[-1]), between(parts[0], parts[-1]))

    def count(self, parts: list[Part]) -> ast.CopiesWhere:
        keyword, _, condition, closing = parts
        thread = getattr(condition, "thread", None)
        span = between(keyword, closing)
        return ast.CopiesWhere("count", thread if isinstance(thread, ast.Ident) else NOBODY, condition, span)

    def count_where(self, parts: list[Part]) -> ast.CopiesWhere:
        keyword, _, thread, _, condition, closing = parts
        return ast.CopiesWhere("count", _ident(thread), condition, between(keyword, closing))

    def some_or_all(self, parts: list[Part]) -> ast.CopiesWhere:
        keyword, thread, _, condition = parts
        kind: Literal["some", "all"] = "some" if keyword.type == "SOME" else "all"
        return ast.CopiesWhere(kind, _ident(thread), condition, between(keyword, condition))

    def ref(self, parts: list[Part]) -> ast.Ref:
        owner, _, name, _, index, bracket = parts
        return ast.Ref(owner, _ident(name), index, between(owner or name, bracket or name))

    def place(self, parts: list[Part]) -> ast.Ident:
        name, _, index, bracket = parts
        return ast.Ident(str(name), between(name, bracket or name), index)
