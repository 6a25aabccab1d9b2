"""The inductive set behind a negative answer: every control state with its largest markings, omega for unbounded counters.

A plain Karp-Miller search without any reduction. It keeps what the other engines need not keep, for certificates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdma_robust.counters.vass import Control, CounterEffect, Vass
from rdma_robust.limits import Limits

Limit = tuple[int | None, ...]
"""An omega-marking: None is omega."""

_CHECK_EVERY = 64


@dataclass(frozen=True, slots=True)
class InductiveSet:
    """`states` are all (control state, maximal omega-marking) pairs, sorted, if the search was complete without a target.

    `target` is the index of a target that was found (-1: none), `cut` the limit that ended the search ('' for none).
    """

    states: tuple[tuple[Control, Limit], ...]
    stored: int
    target: int = -1
    cut: str = ""


@dataclass(frozen=True, slots=True)
class _Node:
    control: Control
    limit: Limit
    parent: int


def inductive_set(vass: Vass, limits: Limits) -> InductiveSet:
    """Return the inductive set of `vass`: it contains the initial state and with every state all its successors.

    Source: Karp and Miller 1969. Nodes are dropped when an equal or larger one is stored and are never removed during the
    search; only at its end those that a later, larger one made superfluous.
    """
    nodes = [_Node(vass.initial, (0,) * vass.dimension, -1)]
    by_control: dict[Control, list[int]] = {vass.initial: [0]}
    if (found := vass.target(vass.initial)) >= 0:
        return InductiveSet((), 1, found)
    todo = [0]
    done = 0
    while todo:
        if done % _CHECK_EVERY == 0 and (cut := limits.exceeded()):
            return InductiveSet((), len(nodes), cut=cut)
        done += 1
        at = todo.pop()
        for control, fired in _successors(vass, nodes[at]):
            siblings = by_control.setdefault(control, [])
            if any(limit_covers(nodes[i].limit, fired) for i in siblings):
                continue
            if limits.states is not None and len(nodes) >= limits.states:
                return InductiveSet((), len(nodes), cut="states")
            if not siblings and (found := vass.target(control)) >= 0:
                return InductiveSet((), len(nodes), found)
            grown = any(limit_covers(fired, nodes[i].limit) for i in siblings)
            siblings.append(len(nodes))
            todo.append(len(nodes))
            nodes.append(_Node(control, _accelerated(nodes, at, control, fired) if grown else fired, at))
    return InductiveSet(tuple(_maximal(nodes, by_control)), len(nodes))


def limit_covers(large: Limit, small: Limit) -> bool:
    """Whether `large` is at least `small` everywhere."""
    return all(a is None or (b is not None and a >= b) for a, b in zip(large, small, strict=True))


def _successors(vass: Vass, node: _Node) -> Iterator[tuple[Control, Limit]]:
    for _, control, effect in vass.successors(node.control):
        fired = _fire(node.limit, vass.effects[effect])
        if fired is not None:
            yield control, fired


def _fire(limit: Limit, effect: CounterEffect) -> Limit | None:
    if any(value is not None and value < guard for value, guard in zip(limit, effect.guard, strict=True)):
        return None
    return tuple(None if value is None else value + delta for value, delta in zip(limit, effect.delta, strict=True))


def _accelerated(nodes: list[_Node], at: int, control: Control, limit: Limit) -> Limit:
    """Set to omega what grew since an ancestor, from node `at` upwards, of the same control state."""
    while at >= 0:
        ancestor = nodes[at]
        if ancestor.control == control and limit_covers(limit, ancestor.limit):
            limit = tuple(
                None if b is None or (a is not None and b > a) else b for a, b in zip(ancestor.limit, limit, strict=True)
            )
        at = ancestor.parent
    return limit


def _maximal(nodes: list[_Node], by_control: dict[Control, list[int]]) -> Iterator[tuple[Control, Limit]]:
    for control in sorted(by_control):
        limits = [nodes[i].limit for i in by_control[control]]
        kept = [a for a in limits if not any(a != b and limit_covers(b, a) for b in limits)]
        yield from ((control, limit) for limit in sorted(kept, key=lambda limit: [(v is None, v or 0) for v in limit]))
