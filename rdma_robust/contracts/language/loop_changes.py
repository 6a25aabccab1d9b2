"""Which registers declared outside a loop may look at and change, by its text and that of what it calls."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.contracts.language.contract_calls import reached
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as written
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.collective_loops import Looping, loop_names
from rdma_robust.messages.language.message_parts import all_lines, assigned_names, contract_names, operands_of, places_in
from rdma_robust.messages.language.message_world import GlobalScope


def changed_globals(body: ast.Block, world: GlobalScope) -> set[str] | None:
    """Return the registers declared outside that a body may change, None if that may be all."""
    found = set(assigned_names(body))
    for name, callee in reached(body, world):
        if callee.contract is None:
            found |= assigned_names(callee.body)
            continue
        if name not in world.functions:
            continue  # the library has no registers outside
        lines = [part for part in callee.contract.parts if isinstance(part, written.AssignsLine)]
        if not lines:
            return None
        found |= {cells.name.text for line in lines for cells in line.cells}
    return found & world.globals.keys()


def looked_at_globals(line: Looping, world: GlobalScope) -> set[str]:
    """Return the registers declared outside that a loop, its contract and what it calls name."""
    found = set(loop_names(line))
    seen: set[str] = set()
    stack = [line.body]
    while stack:
        for name, callee in reached(stack.pop(), world):
            if name not in seen:
                seen.add(name)
                found |= set(_named(callee))
                stack.append(callee.body)
    return found & world.globals.keys()


def _named(function: tree.FunctionItem) -> Iterator[str]:
    for line in all_lines(function.body):
        yield from (each.name.text for each in places_in(*operands_of(line)))
    if function.contract is not None:
        yield from (each.text for each in contract_names(function.contract))
