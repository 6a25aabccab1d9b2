"""From a node of a tree of omega-markings to a run: the path to it, with the cycles behind its omegas repeated as needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rdma_robust.petri.kernel.loops import Marking
from rdma_robust.petri.net import Firing, Loop
from rdma_robust.petri.slice import Core, before_firing

Came = Callable[[int], tuple[int, int, int]]
"""From a node to its parent, the transition between them and how often it is fired; the parent of a root is -1."""
Cycle = tuple[int, tuple[tuple[int, int, int], ...]]
"""The path from an ancestor to a node can be repeated there; it raises places: (place, tokens before, gain)."""


def realise(core: Core, node: int, cone: Marking, came: Came, cycles: Mapping[int, Sequence[Cycle]]) -> tuple[Firing, ...]:
    """Return a run from the initial marking into `cone`, which the marking of `node` is in.

    The `cycles` of a node are in the order in which they were found: a later one may lower what an earlier one raises.
    Going backwards, `need` is the least marking from which the rest of the run leads into the cone.
    """
    need = {p: int(k) for p, k in cone}
    run: list[Firing] = []

    def fires(firing: Firing) -> None:
        run.append(firing)
        before_firing(need, firing, core.guards, core.deltas)

    while node >= 0:
        for ancestor, raised in reversed(cycles.get(node, ())):
            times = max(-(-(need.get(p, 0) - held) // gain) for p, held, gain in raised)
            if times > 0:
                fires(Loop(times, _labels(ancestor, node, came)))
        node, transition, count = came(node)
        if node >= 0:
            fires(transition if count == 1 else Loop(1, ((transition, count),)))
    return tuple(reversed(run))


def _labels(ancestor: int, node: int, came: Came) -> tuple[tuple[int, int], ...]:
    """The transitions, and how often each, on the path from `ancestor` to `node`."""
    labels = []
    while node != ancestor:
        node, transition, times = came(node)
        labels.append((transition, times))
    return tuple(reversed(labels))
