"""Markings of any number of copies in which finite numbers are exact: what is asked of them may be an absence.

Whether a program hangs, or how it ends, is about all copies: each of them is stuck, or has ended. That is no coverability.
But every marking that can be reached is one of those that this search keeps, with some number in the place of "any":

- a marking that is reached is dropped only if a kept one of the same control state has, for each local state, the same
  number or "any";
- a number becomes "any" if an ancestor of the same control state has fewer, and nowhere more (Karp and Miller), or if the
  token came from a local state with "any" and the same move can be made again right after (copycats).

So if none of them can be made one of the markings in question by choosing numbers for "any", none of those can be reached.
The opposite does not follow: which numbers go together is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from rdma_robust.analyses.safety.crowds.copy_steps import LocalPart
from rdma_robust.analyses.safety.crowds.safety_system import Control, Doing, SafetySystem
from rdma_robust.counting.interned import Few, Interned, Step, bits, fire, support
from rdma_robust.limits import Limits, Progress, ignore

ANY: Final = -1
"""The number of tokens that may be any."""

Tokens = Mapping[LocalPart, int]
"""The number of tokens of each local state that has some, or ANY; that of a fresh one is always ANY."""


@dataclass(frozen=True)
class MarkingSearch:
    """`possible` if a marking was kept that may be one of those in question; else none can be reached, unless `cut` names
    the limit that ended the search. `markings` were kept."""

    possible: bool
    cut: str
    markings: int


@dataclass(frozen=True, slots=True)
class _Node:
    """A marking in the numbers of :class:`Interned`: `wide` are the local states with any number of tokens."""

    control: int
    wide: int
    few: Few
    before: _Node | None


def search_exact(
    system: SafetySystem, may_be: Callable[[Control, Tokens], bool], limits: Limits, progress: Progress = ignore
) -> MarkingSearch:
    """Search until a marking may be one in question, all were seen, or a limit is reached."""
    search = _Search(system)
    kept: dict[int, list[_Node]] = {}
    todo = [_Node(0, search.known.fresh, {}, None)]
    stored = 0
    reached = limits.watch()
    while todo:
        node = _raised(todo.pop())
        those = kept.setdefault(node.control, [])
        if any(_stands_for(other, node) for other in those):
            continue
        if may_be(search.known.controls[node.control], search.tokens(node)):
            return MarkingSearch(possible=True, cut="", markings=stored)
        those.append(node)
        stored += 1
        if limits.states is not None and stored > limits.states:
            return MarkingSearch(possible=False, cut="states", markings=stored)
        if cut := reached():
            return MarkingSearch(possible=False, cut=cut, markings=stored)
        if stored % 256 == 0:
            progress(stored, len(todo))
        todo += search.following(node)
    return MarkingSearch(possible=False, cut="", markings=stored)


class _Search:
    def __init__(self, system: SafetySystem) -> None:
        self.known: Interned[Control, LocalPart, Doing] = Interned(system)
        self._again: dict[int, bool] = {}

    def tokens(self, node: _Node) -> dict[LocalPart, int]:
        names = self.known.locals
        return {names[i]: ANY for i in bits(node.wide)} | {names[i]: n for i, n in node.few.items()}

    def following(self, node: _Node) -> Iterator[_Node]:
        present = support(node.wide, node.few)
        for step in chain(self.known.away(node.control, present), self.known.loops(node.control, present)):
            if step.need & ~present or (few := fire(step, node.wide, node.few)) is None:
                continue
            wide = node.wide
            if step.need and not step.need & ~wide and self._can_be_made_again(step):
                wide |= step.gain
                few = {local: number for local, number in few.items() if not wide >> local & 1}
            yield _Node(step.control, wide, few, node)

    def _can_be_made_again(self, step: Step) -> bool:
        """Whether the same tokens can be taken once more right after a step, with the same tokens and control then."""
        found = self._again.get(step.move)
        if found is None:
            present = step.need | self.known.fresh
            others = chain(self.known.away(step.control, present), self.known.loops(step.control, present))
            same = (o for o in others if o.takes == step.takes and o.gives == step.gives)
            found = self._again[step.move] = any(other.control == step.control for other in same)
        return found


def _raised(node: _Node) -> _Node:
    """Return the marking with any number of those tokens of which an ancestor of the same control state has fewer, if it
    has of none more."""
    wide, few = node.wide, node.few
    before = node.before
    while before is not None:
        if before.control == node.control and not before.wide & ~wide and _at_least(wide, few, before.few):
            grown = [local for local, number in few.items() if before.few.get(local, 0) != number]
            if grown:
                for local in grown:
                    wide |= 1 << local
                few = {local: number for local, number in few.items() if not wide >> local & 1}
        before = before.before
    return _Node(node.control, wide, few, node.before)


def _at_least(wide: int, few: Few, lesser: Few) -> bool:
    return all(wide >> local & 1 or few.get(local, 0) >= number for local, number in lesser.items())


def _stands_for(general: _Node, node: _Node) -> bool:
    """Whether choosing numbers for "any" makes `general` every marking that `node` can be made."""
    if node.wide & ~general.wide or any(node.few.get(local) != number for local, number in general.few.items()):
        return False
    return all(general.wide >> local & 1 or local in general.few for local in node.few)
