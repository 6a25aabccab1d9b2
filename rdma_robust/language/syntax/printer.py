"""Syntax trees as text, each in its one canonical form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, assert_never

from rdma_robust.expr import COMPARISONS
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.expressions import chain_text

_LEVELS: Final = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_BINDING: Final = {op: level for level, ops in enumerate(_LEVELS) for op in ops}


def expression(expr: ast.Expr) -> str:
    """Return `expr` with the parentheses it needs, and those around `&&` in `||` that readers need."""
    match expr:
        case ast.NumberLiteral(value):
            return str(value)
        case ast.Ref():
            return reference(expr)
        case ast.CasCall(target, expected, new):
            return f"cas({reference(target)}, {expression(expected)}, {expression(new)})"
        case ast.RmwCall(kind, target, value):
            return f"{kind}({reference(target)}, {expression(value)})"
        case ast.FetchCall(target):
            return f"fetch({reference(target)})"
        case ast.NondetCall(low, high):
            return "nondet()" if low is None or high is None else f"nondet({expression(low)}, {expression(high)})"
        case ast.ThreadAt(thread, label):
            return f"{place_text(thread)} at {label.text}"
        case ast.ThreadEnded(thread):
            return f"{place_text(thread)} ended"
        case ast.CopiesWhere("count", thread, (ast.ThreadAt() | ast.ThreadEnded()) as where) if where.thread == thread:
            return f"count({expression(where)})"
        case ast.CopiesWhere("count", thread, condition):
            return f"count({thread.text}: {expression(condition)})"
        case ast.CopiesWhere(kind, thread, condition):
            return f"{kind} {thread.text}: {expression(condition)}"
        case ast.Unary(op, arg):
            whole = isinstance(arg, ast.Binary | ast.ThreadAt | ast.ThreadEnded | ast.CopiesWhere)
            return f"{op}({expression(arg)})" if whole else op + expression(arg)
        case ast.Binary():
            return chain_text(expr, _operand)
        case _:
            assert_never(expr)


def _operand(part: ast.Expr, op: str, right: int, _last: bool) -> str:
    text = expression(part)
    if isinstance(part, ast.CopiesWhere) and part.kind != "count":
        return f"({text})"
    return f"({text})" if isinstance(part, ast.Binary) and needs_brackets(part.op, op, right) else text


def needs_brackets(inner: str, op: str, right: int) -> bool:
    """Return whether an operand of `op`, the left (0) or the right one (1), stands in brackets if it is one of `inner`."""
    clearer = (inner == "&&" and op == "||") or (inner in COMPARISONS and op in COMPARISONS)
    return clearer or _BINDING[inner] < _BINDING[op] + right


def reference(ref: ast.Ref) -> str:
    """Return `name`, `name[index]`, `owner.name` or `owner.name[index]`."""
    owner = f"{place_text(ref.owner)}." if ref.owner is not None else ""
    index = f"[{expression(ref.index)}]" if ref.index is not None else ""
    return f"{owner}{ref.name.text}{index}"


def word_range(part: ast.WordRange) -> str:
    """Return `name`, or the words of an array, `name[first..last]`."""
    first = reference(part.first)
    return first if part.last is None else f"{first[:-1]}..{expression(part.last)}]"


def place_text(name: ast.Ident) -> str:
    """Return the name of a node or a thread, with its number if it is one of a family."""
    return name.text if name.index is None else f"{name.text}[{expression(name.index)}]"


def family(part: ast.FamilyRange | None) -> str:
    """Return what stands behind the name of a node or thread that is declared; nothing if it is one."""
    if part is None:
        return ""
    name = "*" if part.counter is None else part.counter.text
    bounds = "" if part.low is None or part.high is None else f" in {expression(part.low)}..{expression(part.high)}"
    return f"[{name}{bounds}]"


def binding(part: ast.Binding) -> str:
    return part.name.text if part.value is None else f"{part.name.text} = {expression(part.value)}"


def cell_text(part: ast.CellDeclaration) -> str:
    size = "" if part.size is None else f"[{expression(part.size)}]"
    init = "" if part.init is None else f" = {expression(part.init)}"
    return f"{'sync ' * part.sync}{'relaxed ' * part.relaxed}{part.name.text}{size}{init}"


def statement(part: ast.Statement) -> str:
    """Return the one line of a statement; for one with blocks, what stands before its first brace."""
    if isinstance(part, ast.Request):
        return _request(part)
    match part:
        case ast.Registers(registers):
            return "reg " + ", ".join(binding(r) for r in registers)
        case ast.Assign(target, value, op):
            return f"{reference(target)} {op}= {expression(value)}"
        case ast.Call(call, flags=flags):
            return expression(call) + _flags(flags)
        case ast.MacroCall(name, arguments):
            return f"{name.text}({', '.join(map(expression, arguments))})"
        case ast.BarrierStatement(threads):
            return f"barrier {', '.join(map(place_text, threads))}".rstrip()
        case ast.MFenceStatement():
            return "mfence"
        case ast.LabelStatement(name):
            return f"{name.text}:"
        case _:
            return common_statement(part, expression)


Common = (
    ast.Assume
    | ast.Assert
    | ast.Halt
    | ast.Skip
    | ast.If
    | ast.While
    | ast.Loop
    | ast.For
    | ast.Choose
    | ast.BrokenStatement
)
"""The statements that `.rdma` and `.mp` have alike."""


def common_statement(part: Common, expression: Callable[[Any], str]) -> str:
    """Return the line of a statement of both languages, whose expressions are printed by `expression`."""
    match part:
        case ast.Assume(condition, keyword):
            return f"{keyword} {expression(condition)}"
        case ast.Assert(condition):
            return f"assert {expression(condition)}"
        case ast.Halt():
            return "halt"
        case ast.Skip():
            return "skip"
        case ast.If(arms):
            return f"if {expression(arms[0].condition)}"
        case ast.While(condition):
            return f"while {expression(condition)}"
        case ast.Loop():
            return "loop"
        case ast.For(counter, low, high):
            return f"for {counter.text} in {expression(low)}..{expression(high)}"
        case ast.Choose():
            return "choose"
        case ast.BrokenStatement():
            return ""
        case _:
            assert_never(part)


def _request(part: ast.Request) -> str:
    match part:
        case ast.PutStatement(target, source, _, flags, imm):
            message = "" if imm is None else f" imm {expression(imm.value)} to {place_text(imm.to)}"
            return f"put {reference(target)} = {expression(source)}{_flags(flags)}{message}"
        case ast.GetStatement(target, source, _, flags):
            return f"get {reference(target)} = {expression(source)}{_flags(flags)}"
        case ast.SendStatement(source, to, _, flags, last):
            sent = word_range(ast.WordRange(source, last)) if isinstance(source, ast.Ref) else expression(source)
            return f"send {sent} to {place_text(to)}{_flags(flags)}"
        case ast.PollStatement(node, _, count):
            return f"poll {place_text(node)}" if count is None else f"poll {place_text(node)} {expression(count)}"
        case ast.PollAny(nodes, target):
            return f"{_given(target)}poll {' or '.join(map(place_text, nodes))}"
        case ast.TryPoll(target, node):
            return f"{reference(target)} = trypoll {place_text(node)}"
        case ast.Lanes(lanes):
            return f"qp {', '.join(map(_lane, lanes))}"
        case ast.PostedStatement(buffers, sender, on=on):
            return f"posted {', '.join(map(word_range, buffers))} from {place_text(sender)}{flag_text(on)}"
        case ast.RecvStatement(buffer, sender, on=on):
            return f"recv {word_range(buffer)} from {place_text(sender)}{flag_text(on)}"
        case ast.RecvPollStatement(sender, target, on=on):
            return f"{_given(target)}rpoll {place_text(sender)}{flag_text(on)}"
        case ast.StartStatement(thread):
            return f"start {place_text(thread)}"
        case ast.JoinStatement(thread):
            return f"join {place_text(thread)}"
        case ast.RFenceStatement(node):
            return f"rfence {place_text(node)}"
        case ast.FlushStatement(node):
            return f"flush {place_text(node)}"
        case ast.OrderStatement(node):
            return f"order {place_text(node)}"


def _flags(flags: tuple[ast.Flag, ...]) -> str:
    return "".join(map(flag_text, flags))


def flag_text(flag: ast.Flag | None) -> str:
    """Return a flag as it stands behind a request, or a receive."""
    return "" if flag is None else f" {flag.word}{'' if flag.lane is None else f' {place_text(flag.lane)}'}"


def _given(target: ast.Ref | None) -> str:
    return "" if target is None else f"{reference(target)} = "


def item(part: ast.Item) -> str:
    """Return the one line of a declaration; for a node, thread or macro, what stands before its brace."""
    match part:
        case ast.ProgramName(name):
            return f"program {name.text}"
        case ast.AllowLoopback():
            return "allow loopback"
        case ast.HardwareDeclaration(settings):
            return "hardware " + ", ".join(f"{s.word.text} {s.value.text}" for s in settings)
        case ast.Constants(bindings):
            return "const " + ", ".join(binding(b) for b in bindings)
        case ast.Domain(low, high):
            return f"domain {expression(low)}..{expression(high)}"
        case ast.NodeDeclaration(name, family=many, via=via):
            return f"node {name.text}{family(many)}{'' if via is None else f' via {place_text(via)}'}"
        case ast.ThreadDeclaration(name, node, family=many, on_own=on_own):
            return f"thread {name.text}{family(many)} on {place_text(node)}{'[*]' * on_own}"
        case ast.Macro(name, parameters):
            return f"macro {name.text}({', '.join(p.text for p in parameters)})"
        case ast.OutcomeDeclaration(condition, claims, when=when):
            return f"outcome {expression(condition)} : {', '.join(claim(c) for c in claims)}{_when(when)}"
        case ast.InvariantDeclaration(condition, when=when):
            return f"invariant {expression(condition)}{_when(when)}"
        case ast.Expect(expectations, when=when):
            return f"expect {', '.join(expectation(e) for e in expectations)}{_when(when)}"
        case ast.NeedsDeclaration(guarantees):
            return f"needs {', '.join(each.text for each in guarantees)}"
        case ast.BrokenStatement():
            return ""
        case _:
            assert_never(part)


def _when(condition: ast.Expr | None) -> str:
    return "" if condition is None else f" when {expression(condition)}"


def claim(part: ast.ClaimClause) -> str:
    return f"{'allowed' if part.allowed else 'forbidden'} under {part.model}"


def expectation(part: ast.ExpectationClause) -> str:
    if part.kind == "race":
        return f"race{' free' if part.negated else ''}"
    if part.model is None:
        return f"{'not ' if part.negated else ''}{part.kind}"
    if part.kind == "safe":
        return f"{'un' if part.negated else ''}safe under {part.model}"
    return f"{'no ' if part.negated else ''}{part.kind} under {part.model}"


def _lane(lane: ast.LaneDeclaration) -> str:
    depth = "" if lane.depth is None else f" depth {expression(lane.depth)}"
    return f"{lane.name.text}{family(lane.family)} to {place_text(lane.node)}{depth}"
