"""Claims about some numbers only: `expect robust when N <= 2`."""

from __future__ import annotations

from typing import Final

from rdma_robust.diagnose import Reporter
from rdma_robust.expr import Const, Expr
from rdma_robust.language.check.names import Group, ProgramNames
from rdma_robust.language.check.resolve import ConstantResolver
from rdma_robust.language.syntax import ast

_MANY: Final = 1_000_003
"""Stands for a number that is not given; nothing depends on it."""


def applies_here(
    item: ast.Expect | ast.OutcomeDeclaration | ast.InvariantDeclaration, world: ProgramNames, report: Reporter
) -> bool:
    """Return whether a claim is about the program as it is, with its constants and its numbers of copies.

    Errors in its condition go to the report. A claim is about any number of each crowd that its condition does not name, and
    about given numbers of those that it does. So it is set aside where a number is given and not named, as well as where one
    is named and not given. An invariant of any number is one of each.
    """
    resolver = _NumberResolver(world, report)
    value = Const(1) if item.when is None else resolver.resolve(item.when)
    crowds = {group.name: group for (kind, _), group in world.groups.items() if kind == "thread" and group.many}
    given = {name for name, group in crowds.items() if not group.is_open}
    if any(crowds[name].is_open for name in resolver.named_crowds):
        return False
    if given - resolver.named_crowds and not isinstance(item, ast.InvariantDeclaration):
        return False
    return isinstance(value, Const) and bool(value.value)


class _NumberResolver(ConstantResolver):
    """The name of a family or crowd of threads is the number of them."""

    def __init__(self, world: ProgramNames, report: Reporter) -> None:
        super().__init__(world, report)
        self.named_crowds: set[str] = set()

    def named(self, ref: ast.Ref) -> Expr:
        group = self.world.groups.get(("thread", ref.name.text)) if ref.owner is None else None
        if group is None or ref.name.text in self.world.constants:
            return super().named(ref)
        self.no_index(ref)
        return self._number(group)

    def _number(self, group: Group) -> Expr:
        if group.many:
            self.named_crowds.add(group.name)
        return Const(_MANY if group.numbers is None else len(group.numbers))
