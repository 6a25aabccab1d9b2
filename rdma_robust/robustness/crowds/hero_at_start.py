"""The counting system of a crowd whose hero is chosen where beta starts, or where the hero stops behind a read.

In phase 1 all copies are alike. A step that starts beta after a pivot of a template takes two tokens: the copy that moves,
and the one that becomes the hero, which has an event of the class still ahead; or one, if the hero moves itself. That one
can be fresh as well. In phase 2 the hero is part of the control state, and copies of its template are other threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from rdma_robust.counting.protocol import CountingMove
from rdma_robust.robustness.crowds.instance import NOBODY, Local
from rdma_robust.robustness.crowds.steps import Control, CrowdLabel, CrowdMove, InstanceSteps


@dataclass
class HeroAtStart:
    """A :class:`~rdma_robust.counting.protocol.CountingSystem` whose target can be covered iff some P(n) is not robust."""

    steps: InstanceSteps
    _choices: dict[tuple[Control, Local], tuple[CrowdMove, ...]] = field(default_factory=dict)
    _pairs: dict[tuple[Control, Local, Local], tuple[CrowdMove, ...]] = field(default_factory=dict)

    @property
    def initial(self) -> Control:
        return self.steps.initial

    @property
    def fresh(self) -> tuple[Local, ...]:
        return self.steps.fresh

    def moves(self, control: Control, present: Collection[Local]) -> Iterable[CrowdMove]:
        steps = self.steps
        there = {*present}
        yield from (move for move in steps.of_threads(control) if there.issuperset(move.takes))
        copies = sorted(local for local in {*steps.fresh, *there} if local[0] >= 0 and not steps.at_end(local))
        for local in copies:
            yield from steps.of_copy(control, local)
        if control[1] == NOBODY and not steps.started(control):
            yield from self._with_hero(control, copies)

    def moves_with(self, control: Control, present: Collection[Local], new: Collection[Local]) -> Iterable[CrowdMove]:
        """Return those moves that take one of `new`: of other copies only those with a new one as the hero."""
        steps, there, names = self.steps, {*present}, {*new}
        yield from (m for m in steps.of_threads(control) if there.issuperset(m.takes) and not names.isdisjoint(m.takes))
        for local in sorted(local for local in names if local[0] >= 0 and not steps.at_end(local)):
            yield from steps.of_copy(control, local)
        if control[1] == NOBODY and not steps.started(control):
            copies = sorted(local for local in {*steps.fresh, *there} if local[0] >= 0 and not steps.at_end(local))
            yield from (m for m in self._with_hero(control, copies, names) if not names.isdisjoint(m.takes))

    def _with_hero(self, control: Control, copies: list[Local], new: Collection[Local] | None = None) -> Iterator[CrowdMove]:
        """Yield the moves in which a copy becomes the hero; if `new` are given, those between others may be left out."""
        heroes = [local for local in copies if local[1][0] in self._ahead[local[0]]]
        movers = [local for local in copies if local[1][0] in self._starting[local[0]]] if heroes else []
        for hero in heroes:
            yield from self._alone(control, hero)
            for mover in movers:
                if new is None or hero in new or mover in new:
                    yield from self._pair(control, mover, hero)

    def _chosen(self, control: Control, local: Local) -> Control:
        """The control state with the copy as the hero."""
        (template, held), parts = local, self.steps.parts
        hero = self.steps.instance.heroes[template]
        own = parts.moved(held, self.steps.instance.movers[template], hero)
        return parts.put_in(control[0], hero, own), hero, 0

    def _alone(self, control: Control, local: Local) -> tuple[CrowdMove, ...]:
        """The steps by which the copy becomes the hero that no other copy makes: its own, and those of named threads."""
        if (control, local) not in self._choices:
            chosen = self._chosen(control, local)
            hero = chosen[1]
            self._choices[control, local] = tuple(
                CountingMove(CrowdLabel(events, chosen=True), (local, *takes), (state, hero, 0), gives)
                for thread in (hero, *self.steps.instance.named)
                for events, state, takes, gives in self.steps.taken(thread, chosen, 0)
                if events[0].starts is not None or (events[0].edge.stops and thread == hero)
            )
        return self._choices[control, local]

    def _pair(self, control: Control, mover: Local, hero: Local) -> tuple[CrowdMove, ...]:
        """The steps by which one copy starts beta after a pivot of another."""
        key = control, mover, hero
        if key not in self._pairs:
            chosen = self._chosen(control, hero)
            self._pairs[key] = tuple(
                CountingMove(CrowdLabel(events, moves=True, chosen=True), (mover, hero), after, (now,))
                for events, after, now in self.steps.copied(chosen, mover)
                if events[0].starts is not None
            )
        return self._pairs[key]

    @cached_property
    def _ahead(self) -> tuple[frozenset[int], ...]:
        """For each template the program points from which a copy of it can come to an event of some class."""
        classes, instance = self.steps.instance.pivot.classes, self.steps.instance
        return tuple(
            frozenset().union(*(classes.ahead[c] for c in classes.tried if c.thread == hero)) for hero in instance.heroes
        )

    @cached_property
    def _starting(self) -> tuple[frozenset[int], ...]:
        """For each template the program points at which a copy of it may start beta after a pivot of another copy."""
        instance = self.steps.instance
        classes = [c for c in instance.classes if c.thread in instance.heroes]
        graphs = (instance.frame.graphs[mover] for mover in instance.movers)
        may_start = instance.pivot.classes.may_start
        return tuple(frozenset(e.source for e in g.edges if any(may_start(e, c) for c in classes)) for g in graphs)

    def target(self, control: Control) -> int:
        return self.steps.instance.lowered.target(control[0])

    def idle(self, _control: Control, local: Local) -> bool:
        return self.steps.at_end(local)

    def milestone(self, control: Control) -> int:
        return int(self.steps.started(control))
