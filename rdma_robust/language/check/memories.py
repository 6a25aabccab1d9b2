"""Memory behind the card of another node: `node G via H`, and what has no card of its own."""

from __future__ import annotations

from functools import partial

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import Edit
from rdma_robust.language.check import advice
from rdma_robust.language.check.families import FamilyMember, OneOfThem
from rdma_robust.language.check.names import NodeNames, ProgramNames
from rdma_robust.language.check.substitution import Substitution
from rdma_robust.language.syntax import ast


def checked_via(
    item: ast.NodeDeclaration, via: ast.Ident, one: FamilyMember, world: ProgramNames, report: Reporter
) -> ast.Ident:
    """Return the node behind whose card the memory of one of a declaration lies, after checking that it has one."""
    if item.family is not None and item.family.low is None:
        message = f"there is any number of nodes {quote(item.name.text)}: memory behind a card is that of nodes with names"
        report.error("RR450", item.family.span, message, expected="a node, or a family with a range")
        return via
    named = Substitution(one.scope, report, OneOfThem(world, report, "place")).place(via)
    name = quote(named.text)
    if named.text in world.poisoned:
        return named
    if named.text == one.name:
        report.error("RR450", via.span, f"the memory of {name} lies behind its own card", expected="another node")
    elif named.text in world.vias:
        message = f"{name} has no card: its memory lies behind that of {world.card(named.text)}"
        hint = Hint(f"`via {world.card(named.text)}`", (Edit(via.span, world.card(named.text)),))
        report.error("RR450", via.span, message, hint=hint)
    elif named.text not in world.nodes:
        report.error("RR202", via.span, f"unknown node {name}", hint=partial(advice.nodes, world, named))
    return named


def has_card(node: NodeNames, name: ast.Ident, world: ProgramNames, report: Reporter) -> bool:
    """Return whether a node that is named for a queue pair has a card; if not that is reported."""
    card = world.vias.get(node.name)
    if card is not None:
        message = f"{quote(node.name)} has no card: its memory lies behind that of {card}, and so do its queue pairs"
        report.error("RR451", name.span, message, hint=Hint(f"write {quote(card)}", (Edit(name.span, card),)))
    return card is None
