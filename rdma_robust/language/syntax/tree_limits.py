"""Limits of trees, for what the grammar lets through: checked without recursion, so that later passes may recurse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any, Final, Literal

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.expressions import comparisons_in_a_row, two_readings
from rdma_robust.language.syntax.layout import MAX_NESTING


def within_limits(program: ast.ProgramTree, report: Reporter) -> bool:
    """Return whether no expression is too deep; report the others, and comparisons in a row."""
    return shallow(_expressions(program, report), subexpressions, report)


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
        if expression_depth(expr, operands) > MAX_NESTING:
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


def subexpressions(expr: ast.Expr) -> tuple[ast.Expr, ...]:
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
        case ast.FetchCall(target):
            return (target,)
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


def expression_depth(expr: ast.Expr, operands: Callable[[ast.Expr], Iterable[ast.Expr]] = subexpressions) -> int:
    """Return the number of levels of an expression of any size."""
    deepest = 0
    stack: list[tuple[ast.Expr, int]] = [(expr, 1)]
    while stack:
        part, level = stack.pop()
        deepest = max(deepest, level)
        stack += ((each, level + 1) for each in operands(part))
    return deepest


def all_statements(program: ast.ProgramTree) -> Iterator[ast.Statement]:
    """Yield every statement, also those inside others, in source order."""
    for item in program.items:
        body = getattr(item, "body", None)
        blocks = (body,) if isinstance(body, ast.Block) else item.blocks if isinstance(item, ast.BrokenStatement) else ()
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
        case ast.Choose(blocks) | ast.BrokenStatement(blocks):
            return blocks
        case _:
            return ()


def _expressions(program: ast.ProgramTree, report: Reporter) -> Iterator[ast.Expr]:
    for item in program.items:
        match item:
            case ast.Constants(bindings):
                yield from (b.value for b in bindings if b.value is not None)
            case ast.Domain(low, high):
                yield from (low, high)
            case ast.NodeDeclaration(_, cells, family=family, via=via):
                yield from _bounds(family)
                yield from () if via is None or via.index is None else (via.index,)
                yield from (e for c in cells for e in (c.size, c.init) if e is not None)
            case ast.ThreadDeclaration(_, node, family=family):
                yield from _bounds(family)
                yield from (() if node.index is None else (node.index,))
            case ast.OutcomeDeclaration(condition, when=when) | ast.InvariantDeclaration(condition, when=when):
                yield from (condition,) if when is None else (condition, when)
            case ast.Expect(when=when):
                yield from () if when is None else (when,)
            case _:
                pass
    for statement in all_statements(program):
        if report.full:
            return
        yield from expressions_in(statement)
        yield from (place.index for place in places_named(statement) if place.index is not None)


def _bounds(family: ast.FamilyRange | None) -> tuple[ast.Expr, ...]:
    return () if family is None or family.low is None or family.high is None else (family.low, family.high)


Role = Literal["expression", "changed", "node", "thread", "label", "inner", "block", "span", "kept"]
"""What stands in a field of a statement: an expression, a word that it may change, a name of something, a part that has
such fields too, a block, where it was written, or what is the same in every copy of the statement."""

_ROLES: Final[dict[str, Role]] = {
    "Expr": "expression",
    "AtomicCall": "expression",
    "Ref": "changed",
    "NodeName": "node",
    "ThreadName": "thread",
    "LabelName": "label",
    "LaneName": "node",
    "Binding": "inner",
    "Arm": "inner",
    "Flag": "inner",
    "LaneDeclaration": "inner",
    "FamilyRange": "inner",
    "Immediate": "inner",
    "WordRange": "inner",
    "Block": "block",
    "Span": "span",
    "Ident": "kept",
    "FlagWord": "kept",
    "Literal": "kept",
    "str": "kept",
    "object": "kept",
}
"""By what the field is declared as, whether there is one of it, none or several. A contract, of `.mp`, is an `object`."""

_DECLARED: Final = re.compile(r"(?:tuple\[)?(\w+)")


def roles_of(part: Any) -> tuple[tuple[str, Role], ...]:
    """Return the fields of a statement, or of a part of one, with what stands in each.

    Raises KeyError for a field that is declared as something of which `_ROLES` says nothing.
    """
    return _roles(part.__class__)


@cache
def _roles(kind: Any) -> tuple[tuple[str, Role], ...]:
    return tuple((each.name, _ROLES[_DECLARED.findall(str(each.type))[0]]) for each in fields(kind))


def field_parts(part: Any) -> Iterator[tuple[Role, Any]]:
    """Yield what stands in the fields of a statement, in their order, and what it is; of inner statements their blocks."""
    for name, role in roles_of(part):
        value = getattr(part, name)
        for each in value if isinstance(value, tuple) else (value,):
            if each is not None and role == "inner":
                yield from field_parts(each)
            elif each is not None:
                yield role, each


def expressions_in(statement: ast.Statement) -> tuple[ast.Expr, ...]:
    """Return the expressions a statement itself contains, not those of inner statements."""
    return tuple(each for role, each in field_parts(statement) if role in ("expression", "changed"))


def places_named(statement: ast.Statement) -> tuple[ast.Ident, ...]:
    """Return the nodes and threads that a statement itself names, but those of variables in its expressions."""
    return tuple(each for role, each in field_parts(statement) if role in ("node", "thread"))


def alone(name: ast.Ident) -> Span:
    """Return the span of a name without the index behind it."""
    span, length = name.span, len(name.text)
    return replace(span, end_line=span.line, end_column=span.column + length, end=span.start + length)
