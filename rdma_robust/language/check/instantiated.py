"""The tree of a program whose families are written out: one declaration for each node and thread, with a name of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from rdma_robust.diagnose import Reporter
from rdma_robust.language.check.families import KINDS, OneOfThem
from rdma_robust.language.check.macros import names_mentioned
from rdma_robust.language.check.names import Group, ProgramNames
from rdma_robust.language.check.substitution import PlaceKind
from rdma_robust.language.check.when import applies_here
from rdma_robust.language.syntax import ast


def plain_names(world: ProgramNames, taken: Iterable[str]) -> dict[str, str]:
    """Return for each node and thread of a family a name without brackets that is not `taken`: `Peer_2` for `Peer[2]`."""
    found: dict[str, str] = {}
    used = set(taken)
    for name in (*world.nodes, *world.threads):
        if "[" in name and name not in found:
            plain = name.replace("[", "_").replace("]", "")
            while plain in used:
                plain += "_"
            used.add(plain)
            found[name] = plain
    return found


def single_declaration(item: ast.ThreadDeclaration, name: str, node: str) -> ast.ThreadDeclaration:
    """Return the declaration of one thread of a family, on its node."""
    return replace(item, name=replace(item.name, text=name), node=ast.Ident(node, item.node.span), family=None, on_own=False)


@dataclass(frozen=True)
class PlainNames:
    """Puts plain names in. Claims about other numbers are left out, but for those about a crowd without a number."""

    world: ProgramNames
    names: Mapping[str, str]
    of_claim: bool = False

    def items(self, item: ast.Item) -> tuple[ast.Item, ...]:
        """Return what stands for a declaration in a program without families."""
        if not isinstance(item, ast.OutcomeDeclaration | ast.Expect | ast.InvariantDeclaration):
            return (self(item),)
        put_in = replace(self, of_claim=True)
        if applies_here(item, self.world, Reporter("", "")):
            return (put_in(replace(item, when=None)),)
        named = () if item.when is None else names_mentioned(ast.Assert(item.when))
        return (put_in(item),) if any(self._group("thread", name, is_open=True) for name in named) else ()

    def _group(self, kind: PlaceKind, name: str, *, is_open: bool) -> Group | None:
        group = self.world.groups.get((kind, name))
        return group if group is not None and group.is_open is is_open else None

    def __call__(self, part: Any) -> Any:
        """Return a part of a tree with plain names."""
        match part:
            case ast.Ref(None, name, None) if (
                self.of_claim and (group := self._group("thread", name.text, is_open=False)) is not None
            ):
                return ast.NumberLiteral(len(group.numbers or ()), part.span)
            case ast.Ident(index=None):
                return replace(part, text=self.names.get(part.text, part.text))
            case ast.Ident(text) if any(self._group(kind, text, is_open=True) for kind in KINDS):
                return part
            case ast.Ident():
                kind: PlaceKind = "thread" if ("thread", part.text) in self.world.groups else "node"
                found = OneOfThem(self.world, Reporter("", ""), "claim")(part, kind)
                return replace(found, text=self.names.get(found.text, found.text))
            case tuple():
                return tuple(map(self, part))
            case _ if is_dataclass(part) and not isinstance(part, type):
                return replace(part, **{f.name: self(getattr(part, f.name)) for f in fields(part)})
            case _:
                return part
