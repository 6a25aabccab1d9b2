"""What the grammar lets through and no tree may have: checked without recursion, so that later passes may recurse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.chains import comparisons_in_a_row, two_readings
from rdma_robust.language.syntax.layout import MAX_NESTING


def within_limits(program: ast.Program, report: Reporter) -> bool:
    """Return whether no expression is too deep; report the others, and comparisons in a row."""
    return shallow(_expressions(program, report), operands, report)


def shallow(
    expressions: Iterable[ast.Expr],
    operands: Callable[[ast.Expr], Iterable[ast.Expr]],
    report: Reporter,
    conjoined: type | tuple[type, ...] = (),
) -> bool:
    """Return whether none of these expressions of a tree is too deep; report the others, and comparisons in a row.

    Inside of parts of the kinds `conjoined` comparisons in a row are conjunctions.
    """
    fine = True
    for expr in expressions:
        if depth(expr, operands) > MAX_NESTING:
            report.error(
                "RR109",
                first_line(expr.span),
                f"this expression is nested more than {MAX_NESTING} deep",
                hint="compute parts of it into registers first",
            )
            fine = False
        for row in comparisons_in_a_row(expr, operands, conjoined):
            hint = two_readings(row, report.source)
            report.error("RR111", first_line(row.span), "comparisons in a row", expected="one comparison", hint=hint)
    return fine


def first_line(span: Span) -> Span:
    """Return the part of `span` a caret line can show: nothing behind its first line."""
    if span.end_line == span.line:
        return span
    return replace(span, end_line=span.line, end_column=span.column + 1, end=span.start + 1)


def operands(expr: ast.Expr) -> tuple[ast.Expr, ...]:
    """Return the expressions directly inside of one."""
    match expr:
        case ast.Unary(_, arg):
            return (arg,)
        case ast.Binary(_, left, right):
            return (left, right)
        case ast.CasCall(target, expected, new):
            return (target, expected, new)
        case ast.RmwCall(_, target, value):
            return (target, value)
        case ast.NondetCall(low, high):
            return tuple(bound for bound in (low, high) if bound is not None)
        case ast.Ref(owner, _, index):
            of_owner = None if owner is None else owner.index
            return tuple(each for each in (index, of_owner) if each is not None)
        case ast.CopiesWhere(condition=condition):
            return (condition,)
        case ast.ThreadAt(thread) | ast.ThreadEnded(thread):
            return () if thread.index is None else (thread.index,)
        case _:
            return ()


def depth(expr: ast.Expr, operands: Callable[[ast.Expr], Iterable[ast.Expr]] = operands) -> int:
    """Return the number of levels of an expression of any size."""
    deepest = 0
    stack: list[tuple[ast.Expr, int]] = [(expr, 1)]
    while stack:
        part, level = stack.pop()
        deepest = max(deepest, level)
        stack += ((each, level + 1) for each in operands(part))
    return deepest


def statements(program: ast.Program) -> Iterator[ast.Statement]:
    """Yield every statement, also those inside others, in source order."""
    for item in program.items:
        body = getattr(item, "body", None)
        blocks = (body,) if isinstance(body, ast.Block) else item.blocks if isinstance(item, ast.Broken) else ()
        for block in blocks:
            yield from statements_in(block)


def statements_in(block: ast.Block) -> Iterator[ast.Statement]:
    """Yield every statement of a block, also those inside others, in source order."""
    stack = list(reversed(block.statements))
    while stack:
        statement = stack.pop()
        yield statement
        for inner in reversed(blocks_of(statement)):
            stack.extend(reversed(inner.statements))


def blocks_of(statement: ast.Statement) -> tuple[ast.Block, ...]:
    """Return the blocks directly inside a statement."""
    match statement:
        case ast.If(arms, otherwise):
            blocks = tuple(arm.block for arm in arms)
            return blocks if otherwise is None else (*blocks, otherwise)
        case ast.While(body=body) | ast.Loop(body) | ast.For(body=body):
            return (body,)
        case ast.Choose(blocks) | ast.Broken(blocks):
            return blocks
        case _:
            return ()


def _expressions(program: ast.Program, report: Reporter) -> Iterator[ast.Expr]:
    for item in program.items:
        match item:
            case ast.Constants(bindings):
                yield from (b.value for b in bindings if b.value is not None)
            case ast.Domain(low, high):
                yield from (low, high)
            case ast.Node(_, cells, family=family):
                yield from _bounds(family)
                yield from (e for c in cells for e in (c.size, c.init) if e is not None)
            case ast.Thread(_, node, family=family):
                yield from _bounds(family)
                yield from (() if node.index is None else (node.index,))
            case ast.Outcome(condition, when=when) | ast.Invariant(condition, when=when):
                yield from (condition,) if when is None else (condition, when)
            case ast.Expect(when=when):
                yield from () if when is None else (when,)
            case _:
                pass
    for statement in statements(program):
        if report.full:
            return
        yield from expressions_of(statement)
        yield from (place.index for place in places_of(statement) if place.index is not None)


def _bounds(family: ast.Family | None) -> tuple[ast.Expr, ...]:
    return () if family is None or family.low is None or family.high is None else (family.low, family.high)


def expressions_of(statement: ast.Statement) -> tuple[ast.Expr, ...]:
    """Return the expressions a statement itself contains, not those of inner statements."""
    match statement:
        case ast.Registers(registers):
            return tuple(r.value for r in registers if r.value is not None)
        case ast.Assign(target, value):
            return (target, value)
        case ast.Call(call):
            return (call,)
        case ast.Put(target, source, _, _, imm):
            return (target, source) if imm is None else (target, source, imm.value)
        case ast.Get(target, source):
            return (target, source)
        case ast.Send(source):
            return (source,)
        case ast.Poll(_, _, count):
            return () if count is None else (count,)
        case ast.PollAny(_, target) | ast.RecvPoll(_, target):
            return () if target is None else (target,)
        case ast.TryPoll(target) | ast.Recv(target):
            return (target,)
        case ast.Posted(buffers):
            return buffers
        case ast.Assume(condition) | ast.Assert(condition) | ast.While(condition):
            return (condition,)
        case ast.If(arms):
            return tuple(arm.condition for arm in arms)
        case ast.For(_, low, high):
            return (low, high)
        case ast.MacroCall(_, arguments):
            return arguments
        case _:
            return ()


def places_of(statement: ast.Statement) -> tuple[ast.Ident, ...]:
    """Return the nodes and threads that a statement itself names, but those of variables in its expressions."""
    match statement:
        case ast.Poll(node) | ast.RFence(node) | ast.Flush(node) | ast.TryPoll(node=node):
            return (node,)
        case ast.PollAny(nodes):
            return nodes
        case ast.Send(to=thread) | ast.Posted(sender=thread) | ast.Recv(sender=thread) | ast.RecvPoll(thread):
            return (thread,)
        case ast.Put(imm=ast.Immediate(to=thread)):
            return (thread,)
        case _:
            return ()


def alone(name: ast.Ident) -> Span:
    """Return the span of a name without the index behind it."""
    span, length = name.span, len(name.text)
    return replace(span, end_line=span.line, end_column=span.column + length, end=span.start + length)
