"""Syntax trees as text, each in its one canonical form."""

from __future__ import annotations

from typing import Final, assert_never

from rdma_robust.language.syntax import ast

_LEVELS: Final = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_BINDING: Final = {op: level for level, ops in enumerate(_LEVELS) for op in ops}


def expression(expr: ast.Expr) -> str:
    """Return `expr` with the parentheses it needs, and those around `&&` in `||` that readers need."""
    match expr:
        case ast.Number(value):
            return str(value)
        case ast.Ref():
            return reference(expr)
        case ast.CasCall(target, expected, new):
            return f"cas({reference(target)}, {expression(expected)}, {expression(new)})"
        case ast.RmwCall(kind, target, value):
            return f"{kind}({reference(target)}, {expression(value)})"
        case ast.NondetCall(low, high):
            return "nondet()" if low is None or high is None else f"nondet({expression(low)}, {expression(high)})"
        case ast.ThreadAt(thread, label):
            return f"{thread.text} at {label.text}"
        case ast.ThreadEnded(thread):
            return f"{thread.text} ended"
        case ast.Unary(op, arg):
            whole = isinstance(arg, ast.Binary | ast.ThreadAt | ast.ThreadEnded)
            return f"{op}({expression(arg)})" if whole else op + expression(arg)
        case ast.Binary(op, left, right):
            return f"{_operand(left, op, 0)} {op} {_operand(right, op, 1)}"
        case _:
            assert_never(expr)


def _operand(part: ast.Expr, op: str, right: int) -> str:
    text = expression(part)
    if not isinstance(part, ast.Binary):
        return text
    clearer = part.op == "&&" and op == "||"
    return f"({text})" if clearer or _BINDING[part.op] < _BINDING[op] + right else text


def reference(ref: ast.Ref) -> str:
    """Return `name`, `name[index]`, `owner.name` or `owner.name[index]`."""
    owner = f"{ref.owner.text}." if ref.owner is not None else ""
    index = f"[{expression(ref.index)}]" if ref.index is not None else ""
    return f"{owner}{ref.name.text}{index}"


def binding(part: ast.Binding) -> str:
    return part.name.text if part.value is None else f"{part.name.text} = {expression(part.value)}"


def cell(part: ast.Cell) -> str:
    size = "" if part.size is None else f"[{expression(part.size)}]"
    init = "" if part.init is None else f" = {expression(part.init)}"
    return f"{part.name.text}{size}{init}"


def statement(part: ast.Statement) -> str:
    """Return the one line of a statement; for one with blocks, what stands before its first brace."""
    if isinstance(part, ast.Request):
        return _request(part)
    match part:
        case ast.Registers(registers):
            return "reg " + ", ".join(binding(r) for r in registers)
        case ast.Assign(target, value, op):
            return f"{reference(target)} {op}= {expression(value)}"
        case ast.Call(call):
            return expression(call)
        case ast.MacroCall(name, arguments):
            return f"{name.text}({', '.join(map(expression, arguments))})"
        case ast.MFence():
            return "mfence"
        case ast.Label(name):
            return f"{name.text}:"
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
        case ast.Broken():
            return ""
        case _:
            assert_never(part)


def _request(part: ast.Request) -> str:
    match part:
        case ast.Put(target, source, _, flags, imm):
            message = "" if imm is None else f" imm {expression(imm.value)} to {imm.to.text}"
            return f"put {reference(target)} = {expression(source)}{_flags(flags)}{message}"
        case ast.Get(target, source, _, flags):
            return f"get {reference(target)} = {expression(source)}{_flags(flags)}"
        case ast.Send(source, to, _, flags):
            return f"send {expression(source)} to {to.text}{_flags(flags)}"
        case ast.Poll(node, _, count):
            return f"poll {node.text}" if count is None else f"poll {node.text} {expression(count)}"
        case ast.PollAny(nodes, target):
            return f"{_given(target)}poll {' or '.join(node.text for node in nodes)}"
        case ast.TryPoll(target, node):
            return f"{reference(target)} = trypoll {node.text}"
        case ast.Posted(buffers, sender):
            return f"posted {', '.join(map(reference, buffers))} from {sender.text}"
        case ast.Recv(buffer, sender):
            return f"recv {reference(buffer)} from {sender.text}"
        case ast.RecvPoll(sender, target):
            return f"{_given(target)}rpoll {sender.text}"
        case ast.RFence(node):
            return f"rfence {node.text}"
        case ast.Flush(node):
            return f"flush {node.text}"


def _flags(flags: tuple[ast.Flag, ...]) -> str:
    return "".join(f" {flag.word}" for flag in flags)


def _given(target: ast.Ref | None) -> str:
    return "" if target is None else f"{reference(target)} = "


def item(part: ast.Item) -> str:
    """Return the one line of a declaration; for a node, thread or macro, what stands before its brace."""
    match part:
        case ast.ProgramName(name):
            return f"program {name.text}"
        case ast.AllowLoopback():
            return "allow loopback"
        case ast.Hardware(settings):
            return "hardware " + ", ".join(f"{s.word.text} {s.value.text}" for s in settings)
        case ast.Constants(bindings):
            return "const " + ", ".join(binding(b) for b in bindings)
        case ast.Domain(low, high):
            return f"domain {expression(low)}..{expression(high)}"
        case ast.Node(name):
            return f"node {name.text}"
        case ast.Thread(name, node):
            return f"thread {name.text} on {node.text}"
        case ast.Macro(name, parameters):
            return f"macro {name.text}({', '.join(p.text for p in parameters)})"
        case ast.Outcome(condition, claims):
            return f"outcome {expression(condition)} : {', '.join(claim(c) for c in claims)}"
        case ast.Invariant(condition):
            return f"invariant {expression(condition)}"
        case ast.Expect(expectations):
            return f"expect {', '.join(expectation(e) for e in expectations)}"
        case ast.Broken():
            return ""
        case _:
            assert_never(part)


def claim(part: ast.Claim) -> str:
    return f"{'allowed' if part.allowed else 'forbidden'} under {part.model}"


def expectation(part: ast.Expectation) -> str:
    if part.model is None:
        return f"{'not ' if part.negated else ''}{part.kind}"
    if part.kind == "safe":
        return f"{'un' if part.negated else ''}safe under {part.model}"
    return f"{'no ' if part.negated else ''}{part.kind} under {part.model}"
