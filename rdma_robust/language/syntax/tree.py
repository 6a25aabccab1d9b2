"""From reductions of the grammar to syntax tree nodes: the rules of `grammars/rdma.lark`, one method each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from lark import Token

from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.common_tree import (
    CommonBuilder,
    Part,
    ident_of,
    last_of,
    nodes_of,
    parts_of_kind,
    span_from,
)

_MODELS: Final[Mapping[str, ast.AnyModelName]] = {"SC": "sc", "TSO": "tso", "PSO": "pso", "RMA": "rma", "RDMA": "rdma"}
_FLAGS: Final[Mapping[str, ast.FlagWord]] = {"UNSIGNALED": "unsignaled", "INLINE": "inline", "FENCED": "fenced"}


def _model(token: Token) -> ast.AnyModelName:
    """Return the model that a word names."""
    return _MODELS[token.type]


NOBODY: Final = ast.Ident("")
"""Stands for the thread of a `count(...)` that names none."""


@dataclass(frozen=True, slots=True)
class _OwnPlace:
    """`NODE[*]`, behind `on`."""

    name: ast.Ident


class TreeBuilder(CommonBuilder):
    """The rules of programs."""

    def allow(self, parts: list[Part]) -> ast.AllowLoopback:
        return ast.AllowLoopback(span_from(parts[0], parts[-1]))

    def hardware(self, parts: list[Part]) -> ast.HardwareDeclaration:
        return ast.HardwareDeclaration(parts_of_kind(parts, ast.HardwareSetting), span_from(parts[0], parts[-1]))

    def setting(self, parts: list[Part]) -> ast.HardwareSetting:
        words, value = parts[:-1], parts[-1]
        word = ast.Ident(" ".join(map(str, words)), span_from(words[0], words[-1]))
        found = value if isinstance(value, ast.Ident) else ident_of(value)
        return ast.HardwareSetting(word, found, span_from(words[0], value))

    def hyphenated(self, parts: list[Part]) -> ast.Ident:
        return ast.Ident("".join(map(str, parts)), span_from(parts[0], parts[-1]))

    def flags(self, parts: list[Part]) -> ast.Ident:
        return ast.Ident("".join(map(str, parts)).replace(",", ", "), span_from(parts[0], parts[-1]))

    def domain(self, parts: list[Part]) -> ast.Domain:
        keyword, low, _, high = parts
        return ast.Domain(low, high, span_from(keyword, high))

    def node(self, parts: list[Part]) -> ast.NodeDeclaration:
        return ast.NodeDeclaration(
            ident_of(parts[1]), parts_of_kind(parts, ast.CellDeclaration), span_from(parts[0], parts[-1]), *parts[2:4]
        )

    def via(self, parts: list[Part]) -> ast.Ident:
        name: ast.Ident = parts[1]
        return name

    def family(self, parts: list[Part]) -> ast.FamilyRange:
        counter, *rest = parts[1:-1]
        low, high = (rest[1], rest[3]) if rest else (None, None)
        name = ident_of(counter) if counter.type == "NAME" else None
        return ast.FamilyRange(name, low, high, span_from(counter, high or counter))

    def cell(self, parts: list[Part]) -> ast.CellDeclaration:
        said, name, _, size, bracket, _, init = parts
        words = {token.type for token in said or ()}
        span = span_from(said[0] if said else name, init or bracket or name)
        return ast.CellDeclaration(ident_of(name), size, init, span, relaxed="RELAXED" in words, sync="SYNC" in words)

    def said(self, parts: list[Part]) -> list[Part]:
        return parts

    def thread(self, parts: list[Part]) -> ast.ThreadDeclaration:
        keyword, name, family, _, node, block = parts
        own = isinstance(node, _OwnPlace)
        return ast.ThreadDeclaration(
            ident_of(name), node.name if own else node, block, span_from(keyword, block), family, own
        )

    def own_place(self, parts: list[Part]) -> _OwnPlace:
        name = ident_of(parts[0])
        return _OwnPlace(replace(name, span=span_from(parts[0], parts[-1])))

    def macro(self, parts: list[Part]) -> ast.Macro:
        keyword, name, _, *inner, block = parts
        parameters = tuple(ident_of(p) for p in inner if p is not None and p.type == "NAME")
        return ast.Macro(ident_of(name), parameters, block, span_from(keyword, block))

    def outcome(self, parts: list[Part]) -> ast.OutcomeDeclaration:
        return ast.OutcomeDeclaration(
            parts[1], parts_of_kind(parts, ast.ClaimClause), span_from(parts[0], last_of(parts)), parts[-1]
        )

    def claim(self, parts: list[Part]) -> ast.ClaimClause:
        verb, _, model = parts
        return ast.ClaimClause(verb.type == "ALLOWED", _model(model), span_from(verb, model))

    def invariant(self, parts: list[Part]) -> ast.InvariantDeclaration:
        return ast.InvariantDeclaration(parts[1], span_from(parts[0], last_of(parts)), parts[-1])

    def expect(self, parts: list[Part]) -> ast.Expect:
        return ast.Expect(parts_of_kind(parts, ast.ExpectationClause), span_from(parts[0], last_of(parts)), parts[-1])

    def needs(self, parts: list[Part]) -> ast.NeedsDeclaration:
        return ast.NeedsDeclaration(parts_of_kind(parts, ast.Ident), span_from(parts[0], last_of(parts)))

    def guarantee(self, parts: list[Part]) -> ast.Ident:
        return ast.Ident(" ".join(map(str, parts)), span_from(parts[0], parts[-1]))

    def expectation(self, parts: list[Part]) -> ast.ExpectationClause:
        words = [part for part in parts if part is not None]
        negated, span = words[0].type in ("NOT", "NO"), span_from(words[0], words[-1])
        if words[-1].type == "ROBUST":
            return ast.ExpectationClause("robust", negated, None, span)
        if words[0].type == "RACE":
            return ast.ExpectationClause("race", words[-1].type == "FREE", None, span)
        if words[0].type in ("SAFE", "UNSAFE"):
            return ast.ExpectationClause("safe", words[0].type == "UNSAFE", _model(words[-1]), span)
        kind: Literal["hang", "violated"] = "violated" if words[0].type == "VIOLATED" else "hang"
        return ast.ExpectationClause(kind, negated, _model(words[-1]), span)

    def registers(self, parts: list[Part]) -> ast.Registers:
        return ast.Registers(parts_of_kind(parts, ast.Binding), span_from(parts[0], parts[-1]))

    def register(self, parts: list[Part]) -> ast.Binding:
        name, _, value = parts
        return ast.Binding(ident_of(name), value, span_from(name, value or name))

    def call(self, parts: list[Part]) -> ast.Call:
        call, *flags = parts
        return ast.Call(call, span_from(call, parts[-1]), tuple(flags))

    def macro_call(self, parts: list[Part]) -> ast.MacroCall:
        return ast.MacroCall(ident_of(parts[0]), nodes_of(parts), span_from(parts[0], parts[-1]))

    def put(self, parts: list[Part]) -> ast.PutStatement:
        keyword, target, _, source, *_ = parts
        imm = next(iter(parts_of_kind(parts, ast.Immediate)), None)
        return ast.PutStatement(target, source, span_from(keyword, last_of(parts)), parts_of_kind(parts, ast.Flag), imm)

    def imm(self, parts: list[Part]) -> ast.Immediate:
        keyword, value, _, to = parts
        return ast.Immediate(value, to, span_from(keyword, to))

    def get(self, parts: list[Part]) -> ast.GetStatement:
        keyword, target, _, source, *flags = parts
        return ast.GetStatement(target, source, span_from(keyword, parts[-1]), tuple(flags))

    def flag(self, parts: list[Part]) -> ast.Flag:
        return ast.Flag(_FLAGS[parts[0].type], span_from(parts[0], parts[0]))

    def on_lane(self, parts: list[Part]) -> ast.Flag:
        return ast.Flag("on", span_from(parts[0], parts[1]), parts[1])

    def lane(self, parts: list[Part]) -> ast.LaneDeclaration:
        name, family, _, node, _, depth = parts
        return ast.LaneDeclaration(ident_of(name), node, span_from(name, depth or node), family, depth)

    def lanes(self, parts: list[Part]) -> ast.Lanes:
        return ast.Lanes(parts_of_kind(parts, ast.LaneDeclaration), span_from(parts[0], parts[-1]))

    def send(self, parts: list[Part]) -> ast.SendStatement:
        keyword, source, _, to, *flags = parts
        span = span_from(keyword, parts[-1])
        if isinstance(source, ast.WordRange):
            return ast.SendStatement(source.first, to, span, tuple(flags), source.last)
        return ast.SendStatement(source, to, span, tuple(flags))

    def words(self, parts: list[Part]) -> ast.WordRange:
        name, _, first, _, last, bracket = parts
        span = span_from(name, bracket)
        return ast.WordRange(ast.Ref(None, ident_of(name), first, span), last, span)

    def buffer(self, parts: list[Part]) -> ast.WordRange:
        (part,) = parts
        return part if isinstance(part, ast.WordRange) else ast.WordRange(part, None, part.span)

    def poll(self, parts: list[Part]) -> ast.PollStatement:
        keyword, node, count = parts
        return ast.PollStatement(node, span_from(keyword, count or node), count)

    def poll_any(self, parts: list[Part]) -> ast.PollAny:
        target = parts[0]
        span = span_from(target or parts[2], parts[-1])
        return ast.PollAny(parts_of_kind(parts, ast.Ident), target, span)

    def trypoll(self, parts: list[Part]) -> ast.TryPoll:
        return ast.TryPoll(parts[0], parts[-1], span_from(parts[0], parts[-1]))

    def posted(self, parts: list[Part]) -> ast.PostedStatement:
        *_, sender, on = parts
        return ast.PostedStatement(parts_of_kind(parts, ast.WordRange), sender, span_from(parts[0], on or sender), on)

    def recv(self, parts: list[Part]) -> ast.RecvStatement:
        keyword, buffer, _, sender, on = parts
        return ast.RecvStatement(buffer, sender, span_from(keyword, on or sender), on)

    def rpoll(self, parts: list[Part]) -> ast.RecvPollStatement:
        target, _, keyword, sender, on = parts
        return ast.RecvPollStatement(sender, target, span_from(target or keyword, on or sender), on)

    def barrier(self, parts: list[Part]) -> ast.BarrierStatement:
        return ast.BarrierStatement(parts_of_kind(parts, ast.Ident), span_from(parts[0], last_of(parts)))

    def rfence(self, parts: list[Part]) -> ast.RFenceStatement:
        return ast.RFenceStatement(parts[1], span_from(parts[0], parts[1]))

    def flush(self, parts: list[Part]) -> ast.FlushStatement:
        return ast.FlushStatement(parts[1], span_from(parts[0], parts[1]))

    def order(self, parts: list[Part]) -> ast.OrderStatement:
        return ast.OrderStatement(parts[1], span_from(parts[0], parts[1]))

    def start(self, parts: list[Part]) -> ast.StartStatement:
        return ast.StartStatement(parts[1], span_from(parts[0], parts[1]))

    def join(self, parts: list[Part]) -> ast.JoinStatement:
        return ast.JoinStatement(parts[1], span_from(parts[0], parts[1]))

    def mfence(self, parts: list[Part]) -> ast.MFenceStatement:
        return ast.MFenceStatement(span_from(parts[0], parts[0]))

    def label(self, parts: list[Part]) -> ast.LabelStatement:
        return ast.LabelStatement(ident_of(parts[0]), span_from(parts[0], parts[1]))

    def cas(self, parts: list[Part]) -> ast.CasCall:
        keyword, _, target, _, expected, _, new, closing = parts
        return ast.CasCall(target, expected, new, span_from(keyword, closing))

    def rmw(self, parts: list[Part]) -> ast.RmwCall:
        keyword, _, target, _, value, closing = parts
        return ast.RmwCall("faa" if keyword.type == "FAA" else "swap", target, value, span_from(keyword, closing))

    def fetch(self, parts: list[Part]) -> ast.FetchCall:
        keyword, _, target, closing = parts
        return ast.FetchCall(target, span_from(keyword, closing))

    def nondet(self, parts: list[Part]) -> ast.NondetCall:
        keyword, _, low, _, high, closing = parts
        return ast.NondetCall(low, high, span_from(keyword, closing))

    def ended(self, parts: list[Part]) -> ast.ThreadEnded:
        return ast.ThreadEnded(parts[0], span_from(parts[0], parts[-1]))

    def at_label(self, parts: list[Part]) -> ast.ThreadAt:
        return ast.ThreadAt(parts[0], ident_of(parts[-1]), span_from(parts[0], parts[-1]))

    def count(self, parts: list[Part]) -> ast.CopiesWhere:
        keyword, _, condition, closing = parts
        thread = getattr(condition, "thread", None)
        span = span_from(keyword, closing)
        return ast.CopiesWhere("count", thread if isinstance(thread, ast.Ident) else NOBODY, condition, span)

    def count_where(self, parts: list[Part]) -> ast.CopiesWhere:
        keyword, _, thread, _, condition, closing = parts
        return ast.CopiesWhere("count", ident_of(thread), condition, span_from(keyword, closing))

    def some_or_all(self, parts: list[Part]) -> ast.CopiesWhere:
        keyword, thread, _, condition = parts
        kind: Literal["some", "all"] = "some" if keyword.type == "SOME" else "all"
        return ast.CopiesWhere(kind, ident_of(thread), condition, span_from(keyword, condition))

    def ref(self, parts: list[Part]) -> ast.Ref:
        owner, _, name, _, index, bracket = parts
        return ast.Ref(owner, ident_of(name), index, span_from(owner or name, bracket or name))

    def place(self, parts: list[Part]) -> ast.Ident:
        name, _, index, bracket = parts
        return ast.Ident(str(name), span_from(name, bracket or name), index)
