"""Nodes of the forward search: what a step leads to, and when a number of tokens becomes any number.

Cycles that were found to raise a marking, kept to raise others at once.

A cycle of steps from a control state back to it can be repeated from every marking that has what it needs, if what it takes
for good is unlimited there; then what it gives for good becomes unlimited. A search finds a cycle when a node is larger than
one of its ancestors, and would otherwise find it again on each path, after as many nodes as the cycle has steps.

Source: the accelerations of Finkel, Haddad and Khmelnitsky 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple

from rdma_robust.counting.interned import (
    Amounts,
    Few,
    NumberedMove,
    NumberedSystem,
    covers_marking,
    fire_move,
    mask,
    support,
)
from rdma_robust.counting.protocol import A, C, L

_LONGEST = 48
"""Steps of a cycle that is kept for each of its control states, not only for the one at which it was found."""


class RaisingCycle(NamedTuple):
    """A cycle: what it needs, and the bits of what it gives and takes for good."""

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


Marking = tuple[int, Few]
"""What is unlimited, as bits, and the finite numbers."""


@dataclass(frozen=True, slots=True)
class OmegaPump:
    """A cycle of steps that was found to raise the local states `raised`, before which they had the numbers in `few`."""

    steps: tuple[NumberedMove, ...]
    raised: int
    few: Few


class OmegaTree(Generic[C, L, A]):
    """Nodes by number, 0 is the root: control state, marking, and the step from the parent.

    With `copycats` a new node takes every step at once that leaves its control state as it is, takes nothing for good of
    what is counted, and gives something. A step of a process out of an unlimited local state that the next one can repeat
    is such a step where it has led, so what it gives is unlimited there at once.
    """

    def __init__(
        self, known: NumberedSystem[C, L, A], *, copycats: bool, drop_idle: bool, cycles: KnownCycles | None
    ) -> None:
        self.known = known
        self.copycats = copycats
        self.drop_idle = drop_idle
        self.cycles = cycles
        self.control: list[int] = []
        self.wide: list[int] = []
        self.few: list[Few] = []
        self.parent: list[int] = []
        self.step: list[NumberedMove | None] = []
        self.at: dict[int, list[int]] = {}
        self.forgot: list[bool] = []

    def __len__(self) -> int:
        return len(self.control)

    def root(self) -> None:
        """Add the initial marking."""
        self.add(-1, None, (self.known.fresh, {}))

    def add(self, parent: int, step: NumberedMove | None, marking: Marking, pumps: list[OmegaPump] | None = None) -> None:
        """Append a node with what its marking is raised to; `pumps` gets the cycles for it.

        Without a step it is the root, or a larger marking at the control state of its parent.
        """
        control = step.control if step else self.control[parent] if parent >= 0 else 0
        while True:
            if self.copycats:
                marking = self._repeated(control, marking, pumps)
            marking = self._cycled(control, marking, pumps)
            raised = self._raised((parent, step), control, marking, pumps)
            if raised == marking:
                break
            marking = raised
        left_wide, left_few = self.without_idle(control, *marking)
        self.at.setdefault(control, []).append(len(self.control))
        self.control.append(control)
        self.wide.append(left_wide)
        self.few.append(left_few)
        self.parent.append(parent)
        self.step.append(step)
        self.forgot.append(parent >= 0 and bool(self.wide[parent] & ~left_wide))

    def without_idle(self, control: int, wide: int, few: Few) -> Marking:
        """Return a marking without the tokens that can never matter again."""
        if not self.drop_idle:
            return wide, few
        idle = self.known.idle(control, support(wide, few))
        if not idle:
            return wide, few
        return wide & ~idle, {local: count for local, count in few.items() if not idle >> local & 1}

    def path(self, number: int) -> list[NumberedMove]:
        """Return the steps from the root to a node."""
        steps: list[NumberedMove] = []
        while number >= 0:
            if (step := self.step[number]) is not None:
                steps.append(step)
            number = self.parent[number]
        return steps[::-1]

    def can_rise(self, number: int) -> bool:
        """Whether a cycle that is known by now raises the marking of a node."""
        if self.cycles is None:
            return False
        control = self.control[number]
        found = self.cycles.raising(control, self.wide[number], self.few[number])
        return any(not self.drop_idle or raised & ~self.known.idle(control, raised) for _, raised in found)

    def _repeated(self, control: int, marking: Marking, pumps: list[OmegaPump] | None) -> Marking:
        """Take every step again and again that stays at the control state and loses nothing that is counted."""
        wide, few = marking
        changed = True
        while changed:
            changed = False
            for step in self.known.loops(control, support(wide, few)):
                raised = step.gain & ~wide
                if raised and step.need & ~wide:
                    raised = _gained(step, wide, few)
                if raised:
                    if pumps is not None:
                        pumps.append(OmegaPump((step,), raised, few))
                    changed = True
                    wide, few = lift_to_omega(wide, few, raised)
        return wide, few

    def _cycled(self, control: int, marking: Marking, pumps: list[OmegaPump] | None) -> Marking:
        """Take the cycles that are known at the control state again and again."""
        if self.cycles is None:
            return marking
        wide, few = marking
        while found := next(self.cycles.raising(control, wide, few), None):
            cycle, raised = found
            if pumps is not None:
                pumps.append(OmegaPump(cycle.steps, raised, few))
            wide, few = lift_to_omega(wide, few, raised)
        return wide, few

    def _raised(
        self, came: tuple[int, NumberedMove | None], control: int, marking: Marking, pumps: list[OmegaPump] | None
    ) -> Marking:
        """Raise what has grown since an ancestor of the same control state; not beyond where unlimited tokens were idle."""
        at, step = came
        wide, few = marking
        smaller = (
            {i for i in self.at.get(control, ()) if covers_marking(wide, few, self.wide[i], self.few[i])} if few else ()
        )
        if not smaller:
            return wide, few
        steps: list[NumberedMove] = []
        while at >= 0:
            if step is not None:
                steps.append(step)
            if at in smaller and covers_marking(wide, few, self.wide[at], self.few[at]):
                before = self.few[at]
                raised = sum(1 << local for local, count in few.items() if count > before.get(local, 0))
                if raised:
                    cycle = tuple(reversed(steps))
                    if self.cycles is not None:
                        self.cycles.note(cycle)
                    if pumps is not None:
                        pumps.append(OmegaPump(cycle, raised, few))
                    wide, few = lift_to_omega(wide, few, raised)
            if self.forgot[at]:
                break
            at, step = self.parent[at], self.step[at]
        return wide, few


def _gained(step: NumberedMove, wide: int, few: Few) -> int:
    """Return what a step adds to if it is enabled and takes nothing that is counted without giving it back, else 0."""
    taken, given = dict(step.takes), dict(step.gives)
    for local, count in taken.items():
        if not wide >> local & 1 and not few.get(local, 0) >= count <= given.get(local, 0):
            return 0
    return sum(1 << local for local, count in given.items() if not wide >> local & 1 and count > taken.get(local, 0))


def lift_to_omega(wide: int, few: Few, raised: int) -> Marking:
    """Return a marking with any number of tokens in the local states `raised`."""
    return wide | raised, {local: count for local, count in few.items() if not raised >> local & 1}


def counting_run(tree: OmegaTree[C, L, A], number: int, most: int) -> list[int] | None:
    """Return the moves of a run with finite numbers of tokens to the control state of a node; None if longer than `most`.

    The path to the node is walked again, now with the cycles that raised something; then, from its end to its start, each
    cycle is taken as often as the tokens that are needed after it ask for. What a marking counts is there, so only what
    it does not count has to be made.
    """
    steps = tree.path(number)
    again = OmegaTree(tree.known, copycats=tree.copycats, drop_idle=tree.drop_idle, cycles=tree.cycles)
    made: list[list[OmegaPump]] = [[]]
    again.add(-1, None, (tree.known.fresh, {}), made[0])
    for at, step in enumerate(steps):
        few = fire_move(step, again.wide[at], again.few[at])
        assert few is not None
        made.append([])
        again.add(at, step, (again.wide[at], few), made[-1])
    run: list[int] = []
    need: Few = {}
    backwards: list[NumberedMove | None] = [*reversed(steps), None]
    for last, pumps in zip(backwards, reversed(made), strict=True):
        for pump in reversed(pumps):
            for _ in range(_times(pump, need)):
                if len(run) > most:
                    return None
                for each in reversed(pump.steps):
                    run.append(each.move)
                    need = need_before_step(need, each)
        if last is not None:
            run.append(last.move)
            need = need_before_step(need, last)
    return run[::-1] if len(run) <= most else None


def _times(pump: OmegaPump, need: Few) -> int:
    """Return how often a cycle must be taken so that what it raises is as much as is needed."""
    if not any(pump.raised >> local & 1 for local in need):
        return 0
    effect: Few = {}
    for step in pump.steps:
        for local, count in step.gives:
            effect[local] = effect.get(local, 0) + count
        for local, count in step.takes:
            effect[local] = effect.get(local, 0) - count
    return max(
        -(-(count - pump.few.get(local, 0)) // effect[local]) if count > pump.few.get(local, 0) else 0
        for local, count in need.items()
        if pump.raised >> local & 1
    )
