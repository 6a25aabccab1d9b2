"""What can be said of a function by its text: what it declares, assigns, calls and returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import statements_in
from rdma_robust.messages.language import message_program as made
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_world import BUILT_IN


def all_lines(block: ast.Block) -> Iterator[tree.Line]:
    """Yield every statement of a block, also those inside of others."""
    yield from cast("Iterator[tree.Line]", statements_in(block))


def returns(block: ast.Block) -> bool:
    """Whether a block returns a value somewhere."""
    return any(isinstance(line, tree.ReturnLine) and line.value is not None for line in all_lines(block))


def declared_names(function: tree.Function) -> set[str]:
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
    found: set[str] = set()
    for line in all_lines(block):
        match line:
            case ast.Assign():
                found.add(tree.target(line).name.text)
            case tree.ReceiveLine(_, target, source, _, tag):
                stored = (each.stored for each in (source, tag) if isinstance(each, tree.AnyOf))
                found |= {each.name.text for each in (target, *stored) if each is not None}
            case _:
                pass
    return found


def calls_in(block: ast.Block) -> Iterator[tree.FunctionCall]:
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
            case made.Return() | made.Halt():
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
    return any(_returns_nothing(inner, result) for statement in block for inner in inner_blocks(statement))


def inner_blocks(statement: made.Statement) -> tuple[made.Block, ...]:
    """Return the blocks directly inside of a statement, but that of a function."""
    match statement:
        case made.If(_, then, other):
            return then, other
        case made.While(body=body) | made.For(body=body) | made.Loop(body=body):
            return (body,)
        case made.Choose(branches):
            return branches
        case _:
            return ()
