"""What parts of trees of `.mp` programs have inside of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import expressions_of, operands, statements
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.contract_tree import BoundsLine, CellsOf, ContractText, Named, parts_of


def inner_operands(expr: object) -> tuple[ast.Expr, ...]:
    """Return the expressions directly inside of one."""
    if isinstance(expr, tree.Indexed | tree.FunctionCall):
        inner = expr.indices if isinstance(expr, tree.Indexed) else expr.arguments
        return cast("tuple[ast.Expr, ...]", inner)
    of_contracts = cast("tuple[ast.Expr | None, ...]", parts_of(expr))
    return tuple(each for each in of_contracts if each is not None) or operands(cast(ast.Expr, expr))


def names_in(contract: ContractText) -> Iterator[ast.Ident]:
    """Yield the names in a contract that may be of registers and constants."""
    stack: list[object] = [contract]
    while stack:
        part = stack.pop()
        if isinstance(part, Named | CellsOf | BoundsLine):
            yield part.name
        stack += inner_operands(part)


def places_in(*parts: object) -> Iterator[tree.Indexed]:
    """Yield what is named in expressions, outer ones first; None is one that is left out."""
    stack = [part for part in parts if part is not None]
    while stack:
        part = stack.pop()
        if isinstance(part, tree.Indexed):
            yield part
        stack += inner_operands(part)


def operands_in(program: ast.Program, report: Reporter) -> Iterator[ast.Expr]:
    """Yield every whole expression of a program, until the report is full."""
    for item in tree.declarations(program):
        match item:
            case ast.Constants(bindings):
                yield from (each.value for each in bindings if each.value is not None)
            case tree.RegisterLine(registers):
                yield from _expressions(_of_declared(registers))
            case tree.Function(contract=contract) if contract is not None:
                yield cast(ast.Expr, contract)
            case tree.Proc(numbers=numbers) if numbers is not None:
                yield from _expressions((numbers.low, numbers.high))
            case _:
                pass
    for statement in statements(program):
        if report.full:
            return
        if isinstance(statement, ast.While | ast.For) and statement.contract is not None:
            yield cast(ast.Expr, statement.contract)
        yield from _expressions(operands_of(cast(tree.Line, statement)))


def _expressions(found: tuple[tree.Operand | None, ...]) -> Iterator[ast.Expr]:
    yield from cast("Iterator[ast.Expr]", (each for each in found if each is not None))


def _of_declared(declared: tuple[tree.Declared, ...]) -> tuple[tree.Operand | None, ...]:
    return tuple(part for each in declared for part in (each.size, each.value))


def operands_of(line: tree.Line) -> tuple[tree.Operand | None, ...]:
    """Return the whole expressions and places of a statement, not those of inner statements; None for those left out."""
    match line:
        case tree.RegisterLine(declared) | tree.RequestLine(declared):
            return _of_declared(declared)
        case tree.CallLine(call):
            return (call,)
        case tree.SendLine(request, value, to, _, tag):
            return (request, value, to, tag)
        case tree.ReceiveLine(request, target, source, _, tag):
            parts = (each.stored if isinstance(each, tree.AnyOf) else each for each in (source, tag))
            return (request, target, *parts)
        case tree.WaitLine(requests):
            return requests
        case tree.ReturnLine(value):
            return (value,)
        case _:
            return tuple(map(tree.operand, expressions_of(line)))
