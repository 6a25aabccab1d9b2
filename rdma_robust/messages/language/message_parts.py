"""The parts of trees of `.mp` programs: names, places, operands; what a function declares, assigns, calls and returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import all_statements, expressions_in, statements_in, subexpressions
from rdma_robust.messages.language import message_program as made
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.contract_tree import BoundsLine, CellsOf, ContractText, NameTerm, spec_parts
from rdma_robust.messages.language.message_world import BUILT_IN


def inner_operands(expr: object) -> tuple[ast.Expr, ...]:
    """Return the expressions directly inside of one."""
    if isinstance(expr, tree.IndexedName | tree.FunctionCall):
        inner = expr.indices if isinstance(expr, tree.IndexedName) else expr.arguments
        return cast("tuple[ast.Expr, ...]", inner)
    of_contracts = cast("tuple[ast.Expr | None, ...]", spec_parts(expr))
    return tuple(each for each in of_contracts if each is not None) or subexpressions(cast(ast.Expr, expr))


def contract_names(contract: ContractText) -> Iterator[ast.Ident]:
    """Yield the names in a contract that may be of registers and constants."""
    stack: list[object] = [contract]
    while stack:
        part = stack.pop()
        if isinstance(part, NameTerm | CellsOf | BoundsLine):
            yield part.name
        stack += inner_operands(part)


def places_in(*parts: object) -> Iterator[tree.IndexedName]:
    """Yield what is named in expressions, outer ones first; None is one that is left out."""
    stack = [part for part in parts if part is not None]
    while stack:
        part = stack.pop()
        if isinstance(part, tree.IndexedName):
            yield part
        stack += inner_operands(part)


def operands_in(program: ast.ProgramTree, report: Reporter) -> Iterator[ast.Expr]:
    """Yield every whole expression of a program, until the report is full."""
    for item in tree.declarations(program):
        match item:
            case ast.Constants(bindings):
                yield from (each.value for each in bindings if each.value is not None)
            case tree.RegisterLine(registers):
                yield from _expressions(_of_declared(registers))
            case tree.FunctionItem(contract=contract) if contract is not None:
                yield cast(ast.Expr, contract)
            case tree.GroupLine(members=members):
                yield from _expressions(members)
            case tree.Proc(numbers=numbers) if numbers is not None:
                yield from _expressions((numbers.low, numbers.high))
            case _:
                pass
    for statement in all_statements(program):
        if report.full:
            return
        if isinstance(statement, ast.While | ast.For) and statement.contract is not None:
            yield cast(ast.Expr, statement.contract)
        yield from _expressions(operands_of(cast(tree.Line, statement)))


def _expressions(found: tuple[tree.Operand | None, ...]) -> Iterator[ast.Expr]:
    yield from cast("Iterator[ast.Expr]", (each for each in found if each is not None))


def _of_declared(declared: tuple[tree.Declarator, ...]) -> tuple[tree.Operand | None, ...]:
    return tuple(part for each in declared for part in (each.size, each.value))


def operands_of(line: tree.Line) -> tuple[tree.Operand | None, ...]:
    """Return the whole expressions and places of a statement, not those of inner statements; None for those left out."""
    match line:
        case tree.RegisterLine(declared) | tree.RequestLine(declared):
            return _of_declared(declared)
        case tree.CallLine(call):
            return (call,)
        case tree.SendLine(request, value, to, _, tag, of_type=of_type, size=size):
            return (request, value, to, tag, of_type, size)
        case tree.ReceiveLine(request, target, source, _, tag, of=of, of_type=of_type, room=room):
            parts = (each.stored if isinstance(each, tree.AnyOf) else each for each in (source, tag))
            return (request, target, *parts, of, of_type, room)
        case tree.ProbeLine(source, _, tag, flag, taken=taken):
            parts = (each.stored if isinstance(each, tree.AnyOf) else each for each in (source, tag))
            return (taken, *parts, flag)
        case tree.WaitLine(requests):
            return requests
        case tree.CompletionLine(_, _, requests, into):
            return (*requests, *into)
        case tree.CollectiveLine(request, _, _, root, op, sig, give, get):
            return (request, root, op, sig, give, get)
        case tree.AbortLine(error):
            return (error,)
        case tree.ReturnLine(value):
            return (value,)
        case _:
            return tuple(map(tree.operand, expressions_in(line)))


def all_lines(block: ast.Block) -> Iterator[tree.Line]:
    """Yield every statement of a block, also those inside of others."""
    yield from cast("Iterator[tree.Line]", statements_in(block))


def returns(block: ast.Block) -> bool:
    """Whether a block returns a value somewhere."""
    return any(isinstance(line, tree.ReturnLine) and line.value is not None for line in all_lines(block))


def declared_names(function: tree.FunctionItem) -> set[str]:
    """Return what is declared in a function."""
    found = {each.text for each in function.parameters}
    for line in all_lines(function.body):
        match line:
            case tree.RegisterLine(declared) | tree.RequestLine(declared):
                found |= {each.name.text for each in declared}
            case ast.For(counter):
                found.add(counter.text)
            case _:
                pass
    return found


def assigned_names(block: ast.Block) -> set[str]:
    """Return what is stored to somewhere in a block."""
    return {name for line in all_lines(block) for name in names_stored_by(line)}


def stored_places(line: tree.Line) -> tuple[tree.IndexedName, ...]:
    """Return where a statement stores what is received or seen."""
    if isinstance(line, tree.CompletionLine):
        return line.into
    if isinstance(line, tree.CollectiveLine):
        return () if line.get is None else (line.get,)
    if not isinstance(line, tree.ReceiveLine | tree.ProbeLine):
        return ()
    stored = (each.stored for each in (line.source, line.tag) if isinstance(each, tree.AnyOf))
    first = line.target if isinstance(line, tree.ReceiveLine) else line.flag
    return tuple(each for each in (first, *stored) if each is not None)


def names_stored_by(line: tree.Line) -> set[str]:
    """Return the registers to which a statement stores something, now or at its wait."""
    match line:
        case ast.Assign():
            return {tree.target(line).name.text}
        case ast.For(counter):
            return {counter.text}
        case tree.RegisterLine(declared):
            return {each.name.text for each in declared}
        case _:
            return {each.name.text for each in stored_places(line)}


def function_calls_in(block: ast.Block) -> Iterator[tree.FunctionCall]:
    """Yield the calls of functions in a block that stand where they may."""
    for line in all_lines(block):
        found: tuple[object, ...]
        match line:
            case tree.CallLine(call):
                found = (call,)
            case ast.Assign(_, value):
                found = (value,)
            case tree.RegisterLine(declared):
                found = tuple(each.value for each in declared)
            case _:
                found = ()
        for each in found:
            if isinstance(each, tree.FunctionCall) and each.name.text not in BUILT_IN:
                yield each


def gives_value(block: made.Block, result: str) -> bool:
    """Whether each way through the statements of a function that comes to an end gives a value to its `result`.

    A `return` with a value is an assignment right before a :class:`Return`.
    """
    return not _falls_through(block) and not _returns_nothing(block, result)


def _falls_through(block: made.Block) -> bool:
    for statement in block:
        match statement:
            case made.Return() | made.Halt() | made.Abort():
                return False
            case made.If(_, then, other) if not _falls_through(then) and not _falls_through(other):
                return False
            case made.Choose(branches) if not any(map(_falls_through, branches)):
                return False
            case _:
                pass
    return True


def _returns_nothing(block: made.Block, result: str) -> bool:
    """Whether there is a `return` without a value somewhere in a block."""
    pairs = zip((None, *block), block, strict=False)
    for before, this in pairs:
        if isinstance(this, made.Return) and not (isinstance(before, made.Assign) and before.target.name == result):
            return True
    own = [each for each in block if not isinstance(each, made.InlinedCall)]
    return any(_returns_nothing(inner, result) for statement in own for inner in made.inner_blocks(statement))
