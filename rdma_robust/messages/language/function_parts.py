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
    return {name for line in all_lines(block) for name in names_stored_by(line)}


def stored_by(line: tree.Line) -> tuple[tree.Indexed, ...]:
    """Return where a statement stores what is received."""
    if not isinstance(line, tree.ReceiveLine):
        return ()
    stored = (each.stored for each in (line.source, line.tag) if isinstance(each, tree.AnyOf))
    return (line.target, *(each for each in stored if each is not None))


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
            return {each.name.text for each in stored_by(line)}


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
