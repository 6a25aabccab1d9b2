"""What a checked thread consists of."""

from __future__ import annotations

from rdma_robust.language.check.control import ThreadGraph
from rdma_robust.language.check.families import FamilyMember
from rdma_robust.language.check.names import NodeNames, ThreadNames
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast


def thread_of(names: ThreadNames, built: ThreadGraph, node: str, one: FamilyMember) -> cfg.Thread:
    """Return a thread of its names, its graph, its node and which one of its declaration it is."""
    registers = tuple((r.name, r.init) for r in (*names.registers.values(), *names.hidden.values()))
    return cfg.Thread(
        names.name,
        node,
        registers,
        built.points,
        built.edges,
        built.entry,
        built.exit,
        tuple(built.labels.items()),
        tuple(names.posted),
        one.many,
        one.family,
    )


def own_names(item: ast.ThreadDeclaration, node: NodeNames | None) -> dict[str, str]:
    """Return what the names are that a thread can use itself."""
    found = {} if node is None else dict.fromkeys(node.variables, f"a variable of node {node.name}")
    for statement in item.body.statements:
        if isinstance(statement, ast.Registers):
            found |= {r.name.text: f"a register (line {r.name.span.line})" for r in statement.registers}
    return found
