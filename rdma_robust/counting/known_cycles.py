"""Cycles that were found to raise a marking, kept to raise others at once.

A cycle of steps from a control state back to it can be repeated from every marking that has what it needs, if what it takes
for good is unlimited there; then what it gives for good becomes unlimited. A search finds a cycle when a node is larger than
one of its ancestors, and would otherwise find it again on each path, after as many nodes as the cycle has steps.

Source: the accelerations of Finkel, Haddad and Khmelnitsky 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rdma_robust.counting.interned import Amounts, Few, NumberedMove, mask

_LONGEST = 48
"""Steps of a cycle that is kept for each of its control states, not only for the one at which it was found."""


class RaisingCycle(NamedTuple):
    """What a cycle needs, and the bits of what it gives and takes for good."""

    steps: tuple[NumberedMove, ...]
    needs: Amounts
    gain: int
    loss: int


class KnownCycles:
    """Cycles by the control state at which they begin and end."""

    def __init__(self, fresh: int) -> None:
        self._fresh = fresh
        self._at: dict[int, list[RaisingCycle]] = {}
        self.number = 0

    def note(self, steps: tuple[NumberedMove, ...]) -> None:
        """Keep a cycle, begun at each of its steps, unless one that is as good is known."""
        effect: Few = {}
        for step in steps:
            for local, count in step.gives:
                effect[local] = effect.get(local, 0) + count
            for local, count in step.takes:
                effect[local] = effect.get(local, 0) - count
        gain = mask(tuple((local, count) for local, count in effect.items() if count > 0))
        loss = mask(tuple((local, count) for local, count in effect.items() if count < 0))
        for first in range(len(steps) if len(steps) <= _LONGEST else 1):
            turned = steps[first:] + steps[:first]
            need: Few = {}
            for step in reversed(turned):
                need = need_before_step(need, step)
            needs = tuple((local, count) for local, count in need.items() if not self._fresh >> local & 1)
            self._keep(turned[-1].control, RaisingCycle(turned, needs, gain & ~self._fresh, loss & ~self._fresh))

    def _keep(self, control: int, cycle: RaisingCycle) -> None:
        those = self._at.setdefault(control, [])
        if any(_as_good(other, cycle) for other in those):
            return
        those[:] = [other for other in those if not _as_good(cycle, other)]
        those.append(cycle)
        self.number += 1

    def raising(self, control: int, wide: int, few: Few) -> Iterator[tuple[RaisingCycle, int]]:
        """Yield the cycles that raise a marking, with the bits of what becomes unlimited."""
        for cycle in self._at.get(control, ()):
            raised = cycle.gain & ~wide
            if not raised or cycle.loss & ~wide:
                continue
            if all(wide >> local & 1 or few.get(local, 0) >= count for local, count in cycle.needs):
                yield cycle, raised


def _as_good(one: RaisingCycle, other: RaisingCycle) -> bool:
    """Whether the first cycle can be taken wherever the other one can, and gives as much."""
    if one.loss & ~other.loss or other.gain & ~one.gain:
        return False
    more = dict(other.needs)
    return all(more.get(local, 0) >= count for local, count in one.needs)


def need_before_step(after: Few, step: NumberedMove) -> Few:
    """Return the least tokens from which a step is enabled and leaves at least `after`."""
    before = dict(after)
    for local, count in step.gives:
        left = before.get(local, 0) - count
        if left > 0:
            before[local] = left
        else:
            before.pop(local, None)
    for local, count in step.takes:
        before[local] = before.get(local, 0) + count
    return before
