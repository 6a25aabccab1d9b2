"""Notes about declarations before they are checked, wherever they stand: groups, nodes of threads, cards, lanes."""

from __future__ import annotations

from rdma_robust.diagnose import Reporter
from rdma_robust.language.check.families import (
    KINDS,
    FamilyMember,
    declared_kind,
    declared_members,
    lane_names,
    numbers_of,
    own_node,
)
from rdma_robust.language.check.names import Group, NamedConstant, ProgramNames
from rdma_robust.language.check.resolve import ConstantResolver, domain_of
from rdma_robust.language.check.substitution import Substitution
from rdma_robust.language.flow.cfg import MAX_CELLS
from rdma_robust.language.syntax import ast


def look_ahead(tree: ast.ProgramTree, world: ProgramNames, report: Reporter) -> None:
    """Note what holds for the whole file, wherever it stands, and where names will be declared."""
    world.domain = domain_of(tree, report)
    _note_groups(tree, world, report)
    for item in tree.items:
        match item:
            case ast.AllowLoopback():
                world.loopback = True
            case ast.Domain():
                world.has_domain = True
            case ast.Constants(bindings):
                for binding in bindings:
                    world.later.setdefault(("constant", binding.name.text), binding.name)
            case ast.NodeDeclaration(name):
                world.later.setdefault(("node", name.text), name)
            case ast.ThreadDeclaration(name):
                world.later.setdefault(("thread", name.text), name)
            case _:
                pass


def _note_groups(tree: ast.ProgramTree, world: ProgramNames, report: Reporter) -> None:
    """Note the groups of a program, the nodes and lanes of its threads, and the cards of its nodes. What is wrong with
    ranges, :func:`families.family_members` says."""
    quiet = ProgramNames()
    left = dict.fromkeys(KINDS, MAX_CELLS)
    constants = ConstantResolver(quiet, Reporter(report.file, report.source))
    for item in tree.items:
        match item:
            case ast.Constants(bindings):
                for each in bindings:
                    value = None if each.value is None else constants.value(each.value)
                    quiet.constants.setdefault(each.name.text, NamedConstant(each.name.text, value, each.name.span))
            case ast.NodeDeclaration(name, family=ast.FamilyRange() as family) | ast.ThreadDeclaration(
                name, family=ast.FamilyRange() as family
            ):
                kind = declared_kind(item)
                numbers = numbers_of(family, constants)
                left[kind] -= len(numbers or ())
                group = Group(name.text, None if left[kind] < 0 else numbers, family.many, name.span)
                quiet.groups.setdefault((kind, name.text), group)
            case _:
                pass
        if isinstance(item, ast.ThreadDeclaration):
            _place(item, quiet, world)
            _note_lanes(item, quiet, world)
        elif isinstance(item, ast.NodeDeclaration) and item.via is not None:
            _note_vias(item, item.via, quiet, world)
    world.groups.update(quiet.groups)


def _place(item: ast.ThreadDeclaration, quiet: ProgramNames, world: ProgramNames) -> None:
    """Note the nodes of threads, also of those further down."""
    for each in declared_members(item, quiet.groups.get(("thread", item.name.text))):
        world.placed.setdefault(each.name, _itself(own_node(item, each), each, quiet))


def _note_vias(item: ast.NodeDeclaration, via: ast.Ident, quiet: ProgramNames, world: ProgramNames) -> None:
    """Note behind whose cards the memory of nodes lies, also of those further down."""
    for each in declared_members(item, quiet.groups.get(("node", item.name.text))):
        world.vias.setdefault(each.name, _itself(via, each, quiet).text)


def _itself(node: ast.Ident, one: FamilyMember, quiet: ProgramNames) -> ast.Ident:
    """Return the name of a node itself that one of a declaration names, maybe by a number that depends on its own."""
    if node.index is None:
        return node
    silent = Reporter("", "")
    index = ConstantResolver(quiet, silent).value(Substitution(one.scope, silent).expression(node.index))
    return ast.Ident(f"{node.text}[{index}]", node.span)


def _note_lanes(item: ast.ThreadDeclaration, quiet: ProgramNames, world: ProgramNames) -> None:
    """Note the lanes of threads, also of those further down: others receive on them."""
    written = [lane for s in item.body.statements if isinstance(s, ast.Lanes) for lane in s.lanes]
    silent = Reporter("", "")
    for each in declared_members(item, quiet.groups.get(("thread", item.name.text))) if written else ():
        put_in, constants = Substitution(each.scope, silent), ConstantResolver(quiet, silent)
        found = world.lanes.setdefault(each.name, {})
        for lane in map(put_in.statement, written):
            node: str | None = lane.node.text
            if lane.node.index is not None:
                index = constants.value(lane.node.index)
                node = None if index is None else f"{node}[{index}]"
            for name in lane_names(lane, constants):
                found.setdefault(name, node)
