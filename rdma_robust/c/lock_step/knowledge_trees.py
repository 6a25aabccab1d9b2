"""The runs of one process as a tree: where its runs differ, it knows something else.

A process depends on nothing but what it has learned. So two runs of it do the same until they learn different facts at the
same place, which is a branch of the statements that it becomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from rdma_robust.c.lock_step.rank_machine import Facts
from rdma_robust.expr import Const
from rdma_robust.messages.language import message_program as mp
from rdma_robust.messages.language.message_terms import Operation, Term

_STOP: Final = mp.Assume(Const(0))


class ContradictionError(Exception):
    """Two runs of a process differ where it knows the same."""


@dataclass(slots=True)
class KnowledgeTree:
    """The statements of a process up to the next place where it learns something, and how it goes on for each of the facts
    that it may learn there."""

    body: mp.Block = ()
    ways: dict[Facts, KnowledgeTree] = field(default_factory=dict)
    has_ended: bool = False

    def add(self, statements: Sequence[mp.Statement], learned: Sequence[tuple[int, Facts]], *, has_ended: bool) -> None:
        """Add a run: its statements, and what is learned before which of them. Raises ContradictionError."""
        tree, at = self, 0
        for end, facts in learned:
            tree._agree(tuple(statements[at:end]), is_whole=True)
            tree, at = tree.ways.setdefault(facts, KnowledgeTree()), end
        tree._agree(tuple(statements[at:]), is_whole=has_ended)
        tree.has_ended |= has_ended
        if tree.has_ended and tree.ways:
            raise ContradictionError

    def _agree(self, body: mp.Block, *, is_whole: bool) -> None:
        """Take the statements of a run; one that waits forever may have fewer of them."""
        shorter, longer = sorted((self.body, body), key=len)
        is_longer = len(body) > len(self.body) and (bool(self.ways) or self.has_ended)
        if longer[: len(shorter)] != shorter or is_longer or (is_whole and len(body) < len(self.body)):
            raise ContradictionError
        self.body = longer

    def statements(self, *, is_whole: bool) -> mp.Block:
        """Return the statements of the process. If the runs that were added are not all, one that is in none of them stops
        where it differs from those."""
        found: list[mp.Statement] = []
        tree = self
        while True:
            found += tree.body
            if not tree.ways and not tree.has_ended and not is_whole:
                found.append(_STOP)
            if len(tree.ways) != 1 or not is_whole:
                break
            (tree,) = tree.ways.values()
        return (*found, *_branches(tree, is_whole=is_whole))


def _branches(tree: KnowledgeTree, *, is_whole: bool) -> mp.Block:
    """Return the ways on from a place, one inside of what is left by those before."""
    ways = list(tree.ways.items())
    others: mp.Block = () if is_whole or not ways else (_STOP,)
    if is_whole and ways:
        others = ways.pop()[1].statements(is_whole=True)
    for facts, way in reversed(ways):
        others = (mp.If(_known(facts), way.statements(is_whole=is_whole), others),)
    return others


def _known(facts: Facts) -> Term:
    """Return the condition that facts hold."""
    conditions: list[Term] = [Operation("==", (register, Const(value))) for register, value in facts]
    return reduce(lambda left, right: Operation("&&", (left, right)), conditions or [Const(1)])
