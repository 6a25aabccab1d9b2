"""Warnings about names that nothing uses, statements that are never reached, and what is known before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import blocks_of, first_line
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.function_parts import all_lines, stored_by
from rdma_robust.messages.language.message_parts import operands_of, places_in
from rdma_robust.messages.language.message_world import Local, World


def warn_unused(world: World, locals_: Iterable[tuple[str, Local]], report: Reporter) -> None:
    """Warn of constants, ports, functions, registers and requests that nothing uses."""
    found = [("constant", name, each.span) for name, each in world.constants.items() if not each.used]
    found += [("register", name, each.span) for name, each in world.globals.items() if not each.used]
    given = {each.span for function in world.functions.values() for each in function.parameters}
    unused = [(name, each) for name, each in locals_ if not each.used and each.kind != "counter"]
    found += [("parameter" if each.span in given else each.kind, name, each.span) for name, each in unused]
    found += [
        ("function", name, each.name.span)
        for name, each in world.functions.items()
        if name not in world.called and each.contract is None
    ]
    for what, name, span in found:
        report.warn("RR701", span, f"{what} {quote(name)} is never used")


def warn_of_ports(program: ast.Program, report: Reporter) -> None:
    """Warn of ports that nothing uses, or on which nothing is sent, or received."""
    bodies = [item.body for item in tree.declarations(program) if isinstance(item, tree.Proc | tree.Function)]
    lines = [line for body in bodies for line in all_lines(body)]
    sent = {line.port.text for line in lines if isinstance(line, tree.SendLine) and line.port is not None}
    received = {line.port.text for line in lines if isinstance(line, tree.ReceiveLine) and line.port is not None}
    for item in tree.declarations(program):
        for name in item.names if isinstance(item, tree.PortLine) else ():
            if name.text not in sent | received:
                report.warn("RR701", name.span, f"port {quote(name.text)} is never used")
            elif name.text not in sent:
                said = f"nothing is sent on the port {quote(name.text)}: who receives there waits for ever"
                report.warn("RR744", name.span, said)
            elif name.text not in received:
                report.warn("RR744", name.span, f"nothing is received on the port {quote(name.text)}")


def warn_never_read(body: ast.Block, report: Reporter) -> None:
    """Warn of registers of a process or function that are assigned, by something else than a call, and never read."""
    lines = list(all_lines(body))
    declared = [each for line in lines if isinstance(line, tree.RegisterLine) for each in line.registers]
    read = {name for line in lines for name in _read_by(line)}
    received = {each.name.text for line in lines for each in stored_by(line)}
    plain = {line for line in lines if isinstance(line, ast.Assign) and not isinstance(line.value, tree.FunctionCall)}
    assigned = {tree.target(line).name.text for line in lines if isinstance(line, ast.Assign)}
    called = assigned - {tree.target(line).name.text for line in plain}
    for each in declared:
        if each.name.text in assigned - read - received - called:
            report.warn("RR746", each.name.span, f"register {quote(each.name.text)} is never read")


def _read_by(line: tree.Line) -> Iterator[str]:
    """Yield the names whose values a statement uses."""
    stored = (tree.target(line),) if isinstance(line, ast.Assign) else stored_by(line)
    for place in places_in(*operands_of(line)):
        if not any(place is each for each in stored):
            yield place.name.text


def warn_unreached(block: ast.Block, report: Reporter, ends: str) -> None:
    """Warn of the first statement of each block that comes after the end; `ends` says of what."""
    ended = False
    for line in tree.lines(block):
        if ended:
            report.warn("RR703", first_line(line.span), f"this is never reached: {ends} has ended")
            return
        for inner in blocks_of(cast(ast.Statement, line)):
            warn_unreached(inner, report, ends)
        ended = _ends(line)


def _ends(line: tree.Line) -> bool:
    """Whether nothing after a statement is executed in its process or function."""
    match line:
        case ast.Halt() | tree.ReturnLine():
            return True
        case ast.While(condition):
            return isinstance(condition, ast.Number) and condition.value != 0
        case ast.If(_, None):
            return False
        case ast.If() | ast.Choose():
            return all(any(map(_ends, tree.lines(block))) for block in blocks_of(line))
        case _:
            return False
