"""Calls of functions with contracts in a body, what a local one must not do, and what a loop may look at and change."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as written
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.collective_loops import Looping, loop_names
from rdma_robust.messages.language.message_parts import (
    all_lines,
    assigned_names,
    contract_names,
    function_calls_in,
    operands_of,
    places_in,
)
from rdma_robust.messages.language.message_printer import statement_text
from rdma_robust.messages.language.message_world import GlobalScope

_COMMUNICATES = (tree.SendLine, tree.ReceiveLine, tree.WaitLine, tree.CompletionLine, tree.RequestLine)


def contracted_calls(body: ast.Block, world: GlobalScope) -> tuple[str, ...]:
    """Return the functions with a contract that a body calls, also through functions without one, in their order."""
    found = (name for name, callee in reached(body, world) if callee.contract is not None)
    return tuple(name for name in dict.fromkeys(found) if name not in world.hidden)


def reached(body: ast.Block, world: GlobalScope) -> Iterator[tuple[str, tree.FunctionItem]]:
    """Yield what a body calls, and what the functions without a contract among that call."""
    seen: set[str] = set()
    stack = [body]
    while stack:
        for call in function_calls_in(stack.pop()):
            name = call.name.text
            callee = world.function(name)
            if callee is None or (name in seen and callee.contract is None):
                continue
            seen.add(name)
            yield name, callee
            if callee.contract is None:
                stack.append(callee.body)


def check_local(function: tree.FunctionItem, world: GlobalScope, report: Reporter) -> None:
    """Report where a function whose contract is local communicates, or calls a collective function."""
    name = quote(function.name.text)
    for line in all_lines(function.body):
        if isinstance(line, _COMMUNICATES):
            hint = "write `contract collective`, or communicate where it is called"
            report.error("RR954", line.span, f"{name} is local, and communicates here", hint=hint)
    for call in function_calls_in(function.body):
        callee = world.function(call.name.text)
        why = None if callee is None else _why_not_local(callee, world)
        if why:
            hint = "a local function is called by one process on its own: write `contract collective`"
            report.error("RR954", call.span, f"{name} is local, and calls {quote(call.name.text)}, which {why}", hint=hint)


def check_modes(function: tree.FunctionItem, world: GlobalScope, report: Reporter) -> None:
    """Report sends of a function with a contract, or of one that it calls, that contracts do not have."""
    bodies = [function.body, *(callee.body for _, callee in reached(function.body, world) if callee.contract is None)]
    for line in (each for body in bodies for each in all_lines(body)):
        mode = f"send {line.mode}" if isinstance(line, tree.SendLine) and line.mode != "standard" else ""
        looks = isinstance(line, tree.ProbeLine) or (isinstance(line, tree.ReceiveLine) and line.of is not None)
        if isinstance(line, tree.SendLine | tree.ReceiveLine) and _is_agreed(line):
            mode = "of type"
        if isinstance(line, tree.CompletionLine | tree.CollectiveLine | tree.AbortLine):
            mode = statement_text(line).split(" = ")[-1].split()[0]
        if mode or looks:
            said = f"contracts know nothing of `{mode or 'probe'}`, and {quote(function.name.text)} has one"
            report.error("RR962", line.span, said, hint="`rdma-robust messages check` decides programs that call it")


def _is_agreed(line: tree.SendLine | tree.ReceiveLine) -> bool:
    length = line.size if isinstance(line, tree.SendLine) else line.room
    return line.of_type is not None or length is not None


def _why_not_local(callee: tree.FunctionItem, world: GlobalScope) -> str:
    """Return why a local function cannot call a function, nothing if it can."""
    if callee.contract is not None:
        return "is collective" if callee.contract.kind == "collective" else ""
    communicates = [line for line in _lines(callee, world) if isinstance(line, _COMMUNICATES)]
    if communicates:
        return f"communicates, on line {communicates[0].span.line}"
    for name, each in reached(callee.body, world):
        if each.contract is not None and each.contract.kind == "collective":
            return f"calls {quote(name)}, which is collective"
    return ""


def _lines(function: tree.FunctionItem, world: GlobalScope) -> Iterator[tree.Line]:
    """Yield the statements of a function, and of those without a contract that it calls."""
    yield from all_lines(function.body)
    for _, callee in reached(function.body, world):
        if callee.contract is None:
            yield from all_lines(callee.body)


# Which registers declared outside a loop may look at and change, by its text and that of what it calls.


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
