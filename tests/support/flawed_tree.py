"""The minimal coverability tree with its published flaw, to show which nets reveal it."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field

from rdma_robust.petri.net import Net
from tests.support.naive_backward import dense

Limit = tuple[float, ...]


@dataclass(eq=False)
class _Node:
    label: Limit
    parent: _Node | None
    children: list[_Node] = field(default_factory=list)
    gone: bool = False

    def remove(self) -> None:
        self.gone = True
        for child in self.children:
            child.remove()

    def ancestors(self) -> list[_Node]:
        return [self.parent, *self.parent.ancestors()] if self.parent else []


def flawed_limits(net: Net, newest_first: bool) -> list[Limit]:
    """Return the omega-markings (omega is infinity) of the tree of Finkel 1993, too few for some nets.

    A node below a node of the tree stays as a leaf; a node above others removes their subtrees. The flaw: such a leaf goes
    on pruning others when the node that justified it is gone. Source: Finkel, Geeraerts, Raskin, Van Begin 2005.
    """
    size = len(net.places)
    effects = [(dense(t.guard, size), dense(t.delta, size)) for t in net.transitions]
    root = _Node(tuple(math.inf if high is None else high for high in net.most), None)
    work = [root]
    done: list[_Node] = []
    while work:
        node = work.pop(-1 if newest_first else 0)
        if node.gone:
            continue
        done = [other for other in done if not other.gone]
        if any(_below(node.label, other.label) for other in done):
            done.append(node)
            continue
        node = _accelerated(node)
        above = node.ancestors()
        for other in done:
            if other is not node and other not in above and _below(other.label, node.label):
                other.remove()
        done.append(node)
        for guard, delta in effects:
            if _below(guard, node.label):
                child = _Node(tuple(m + d for m, d in zip(node.label, delta, strict=True)), node)
                node.children.append(child)
                work.append(child)
    return [node.label for node in done if not node.gone]


def _accelerated(node: _Node) -> _Node:
    """Return the node that takes the label of `node` with its omegas: the highest smaller ancestor, without its subtree."""
    label, before = node.label, None
    above = node.ancestors()
    while label != before:
        before = label
        for ancestor in above:
            if _below(ancestor.label, label) and ancestor.label != label:
                label = tuple(math.inf if b > a else b for a, b in zip(ancestor.label, label, strict=True))
    smaller = [ancestor for ancestor in above if _below(ancestor.label, label) and ancestor.label != label]
    if not smaller:
        return node
    top = smaller[-1]
    for child in top.children:
        child.remove()
    top.children.clear()
    top.label = label
    return top


def _below(small: Limit | tuple[int, ...], large: Limit) -> bool:
    return all(map(operator.le, small, large))
