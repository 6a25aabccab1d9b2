"""Nodes of Karp-Miller trees: firing, covering, acceleration, and the exact run behind a path."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.counters.vass import Control, CounterEffect, Marking

OMEGA = sys.maxsize
"""Stands for 'any number' in a marking; real markings stay far below it, which :func:`fire_effect` checks."""


@dataclass(slots=True)
class KarpMillerNode:
    """A node of the Karp-Miller tree. `pumps` are the cycles (transition, effect indices) that produced its omegas."""

    control: Control
    marking: Marking
    parent: int
    label: int
    effect: int
    pumps: list[tuple[tuple[int, ...], tuple[int, ...]]]


def fire_effect(effects: Sequence[CounterEffect], marking: Marking, effect: int) -> Marking | None:
    """Return the marking after a transition with this effect, or None where it is not enabled."""
    e = effects[effect]
    out = []
    for value, guard, delta in zip(marking, e.guard, e.delta, strict=True):
        if value == OMEGA:
            out.append(OMEGA)
        elif value < guard:
            return None
        else:
            out.append(value + delta)
    if any(value > OMEGA // 2 and value != OMEGA for value in out):
        raise OverflowError("a counter came near the number that stands for omega")
    return tuple(out)


def covers_exactly(large: Marking, small: Marking) -> bool:
    return all(a >= b for a, b in zip(large, small, strict=True))


def pump(nodes: list[KarpMillerNode], siblings: list[int], new: KarpMillerNode) -> None:
    """Set to omega what a cycle from an ancestor of the same control state to `new` increases; record the cycle."""
    smaller = {i for i in siblings if covers_exactly(new.marking, nodes[i].marking)}
    at = new.parent
    labels, effects = [new.label], [new.effect]
    while smaller and at >= 0:
        ancestor = nodes[at]
        if at in smaller and covers_exactly(new.marking, ancestor.marking) and new.marking != ancestor.marking:
            raised = tuple(OMEGA if b != OMEGA and b > a else b for a, b in zip(ancestor.marking, new.marking, strict=True))
            if raised != new.marking:
                new.pumps.append((tuple(reversed(labels)), tuple(reversed(effects))))
                new.marking = raised
        smaller.discard(at)
        labels.append(ancestor.label)
        effects.append(ancestor.effect)
        at = ancestor.parent


def realise_path(
    effects: Sequence[CounterEffect], steps: Sequence[tuple[int, Control, int]], *, accelerate: bool
) -> tuple[int, ...]:
    """Return a run with exact markings along a path of a Karp-Miller tree.

    `steps` has for every node on the path the transition to it, its control state and the effect of the transition; the
    first node is the root. The accelerations on the way are computed again.
    """
    nodes = [KarpMillerNode(steps[0][1], (0,) * len(effects[0].delta), -1, -1, -1, [])]
    for label, control, effect in steps[1:]:
        marking = fire_effect(effects, nodes[-1].marking, effect)
        assert marking is not None
        new = KarpMillerNode(control, marking, len(nodes) - 1, label, effect, [])
        if accelerate:
            pump(nodes, [i for i, n in enumerate(nodes) if n.control == control], new)
        nodes.append(new)
    return realise_node(effects, nodes, len(nodes) - 1)


def realise_node(effects: Sequence[CounterEffect], nodes: list[KarpMillerNode], at: int) -> tuple[int, ...]:
    """Return a run with exact markings that reaches the control state of node `at`, pumping recorded cycles as needed.

    Going backwards from the node, `need` has what each omega counter must hold at that point of the run; counters that
    are finite in a node hold exactly the node's number there and need no bookkeeping.
    """
    run: list[int] = []
    need = [0] * len(nodes[at].marking)
    while nodes[at].parent >= 0:
        node, parent = nodes[at], nodes[nodes[at].parent]
        markings = [fire_effect(effects, parent.marking, node.effect)]
        for _, cycle in node.pumps:
            markings.append(_pumped(effects, markings[-1], cycle))
        for (labels, cycle), before, after in zip(
            reversed(node.pumps), reversed(markings[:-1]), reversed(markings[1:]), strict=True
        ):
            assert before is not None and after is not None
            delta = [sum(effects[e].delta[c] for e in cycle) for c in range(len(need))]
            raised = [c for c in range(len(need)) if before[c] != OMEGA and after[c] == OMEGA]
            times = max(-(-(need[c] - before[c]) // delta[c]) for c in raised)
            for _ in range(max(0, times)):
                for label, effect in zip(reversed(labels), reversed(cycle), strict=True):
                    run.append(label)
                    need = _needed(effects, need, effect)
            need = [0 if before[c] != OMEGA else need[c] for c in range(len(need))]
        run.append(node.label)
        need = _needed(effects, need, node.effect)
        need = [0 if parent.marking[c] != OMEGA else need[c] for c in range(len(need))]
        at = node.parent
    return tuple(reversed(run))


def _pumped(effects: Sequence[CounterEffect], marking: Marking | None, cycle: tuple[int, ...]) -> Marking:
    """Return `marking` with omega where the cycle has a positive effect."""
    assert marking is not None
    gains = (sum(effects[e].delta[c] for e in cycle) for c in range(len(marking)))
    return tuple(OMEGA if value == OMEGA or gain > 0 else value for value, gain in zip(marking, gains, strict=True))


def _needed(effects: Sequence[CounterEffect], after: list[int], effect: int) -> list[int]:
    """The least marking from which a transition is enabled and leaves at least `after`."""
    e = effects[effect]
    return [max(g, a - d) for a, g, d in zip(after, e.guard, e.delta, strict=True)]
