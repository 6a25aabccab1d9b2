"""What can be said of a function by its text: what it declares, assigns, calls and returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import statements_in
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


def gives_value(block: ast.Block) -> bool:
    """Whether each way through a block of a function that comes to an end returns a value."""
    for line in tree.lines(block):
        match line:
            case tree.ReturnLine(value):
                return value is not None
            case ast.Halt():
                return True
            case ast.If(arms, otherwise) if otherwise is not None:
                if all(map(gives_value, (*(arm.block for arm in arms), otherwise))):
                    return True
            case ast.Choose(branches) if all(map(gives_value, branches)):
                return True
            case _:
                pass
    return False
