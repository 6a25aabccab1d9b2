"""The counting system of a crowd whose hero is chosen before the run: it is a thread like the named ones.

The first move chooses the template whose copy has the pivot, or that a named thread has it. A simpler way to the same
verdict than :mod:`hero_at_start`, since no move takes two tokens; the hero makes phase 1 larger.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.counting.protocol import CountingMove
from rdma_robust.robustness.crowds.parts import Local
from rdma_robust.robustness.crowds.steps import Control, CrowdLabel, CrowdMove, InstanceSteps

_OPEN: Final = -2
"""In the place of the hero: not chosen yet."""


@dataclass
class HeroFromStart:
    """A :class:`~rdma_robust.counting.protocol.CountingSystem` whose target can be covered iff some P(n) is not robust."""

    steps: InstanceSteps

    @cached_property
    def initial(self) -> Control:
        return self.steps.parts.initial, _OPEN, 0

    @property
    def fresh(self) -> tuple[Local, ...]:
        return self.steps.fresh

    def moves(self, control: Control, present: Collection[Local]) -> Iterable[CrowdMove]:
        steps, there = self.steps, {*present}
        if control[1] == _OPEN:
            yield CountingMove(CrowdLabel(()), (), steps.initial, ())
            for hero, local in zip(steps.instance.heroes, steps.fresh, strict=True):
                yield CountingMove(CrowdLabel((), chosen=True), (local,), (steps.parts.initial, hero, 0), ())
            return
        yield from (move for move in steps.of_threads(control) if there.issuperset(move.takes))
        for local in sorted(local for local in {*steps.fresh, *there} if local[0] >= 0 and not steps.at_end(local)):
            yield from steps.of_copy(control, local)

    def moves_with(self, control: Control, present: Collection[Local], new: Collection[Local]) -> Iterable[CrowdMove]:
        """Return those moves that take one of `new`."""
        steps, there, names = self.steps, {*present}, {*new}
        if control[1] == _OPEN:
            return
        yield from (m for m in steps.of_threads(control) if there.issuperset(m.takes) and not names.isdisjoint(m.takes))
        for local in sorted(local for local in names if local[0] >= 0 and not steps.at_end(local)):
            yield from steps.of_copy(control, local)

    def target(self, control: Control) -> int:
        return -1 if control[1] == _OPEN else self.steps.instance.lowered.target(control[0])

    def idle(self, _control: Control, local: Local) -> bool:
        return self.steps.at_end(local)

    def milestone(self, control: Control) -> int:
        return int(self.steps.started(control))
