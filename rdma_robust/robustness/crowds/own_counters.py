"""A crowd whose copies have completions without a bound: each copy counts its own.

The counting system of :class:`HeroFromStart` with vectors for the counters of copies; those of named threads and of the hero
are tokens, as there. The hero is chosen before the run, so no vector has to be given to it.

The counting system of a crowd whose hero is chosen before the run: it is a thread like the named ones.

The first move chooses the template whose copy has the pivot, or that a named thread has it. A simpler way to the same
verdict than :mod:`hero_at_start`, since no move takes two tokens; the hero makes phase 1 larger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from rdma_robust.counting.protocol import CountingMove
from rdma_robust.counting.vector_system import Numbers, VectorMove
from rdma_robust.robustness.crowds.instance import Local
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


Process = tuple[Local, Numbers]


@dataclass
class AllCounted(InstanceSteps):
    """The steps with the counters of all threads as tokens, those of copies as well."""

    @cached_property
    def counted(self) -> tuple[int, ...]:
        return tuple(range(len(self.instance.lowered.unbounded)))


@dataclass
class OwnCounters:
    """A :class:`~rdma_robust.counting.vector_system.VectorSystem` with a target in reach iff some P(n) is not robust."""

    steps: AllCounted
    _known: dict[int, tuple[CrowdMove, VectorMove[Control, Local, CrowdLabel]]] = field(default_factory=dict)

    @cached_property
    def _system(self) -> HeroFromStart:
        return HeroFromStart(self.steps)

    @property
    def initial(self) -> Control:
        return self._system.initial

    @property
    def fresh(self) -> tuple[Local, ...]:
        return self._system.fresh

    @cached_property
    def dimension(self) -> int:
        return max((place + 1 for place in self._places.values()), default=0)

    @cached_property
    def _zero(self) -> Numbers:
        return (0,) * self.dimension

    @cached_property
    def _places(self) -> dict[Local, int]:
        """The tokens of counters of copies, with their places in the vector of a copy."""
        instance = self.steps.instance
        found: dict[Local, int] = {}
        for mover in instance.movers:
            names = instance.counters((mover,))
            mine = [i for i, name in enumerate(instance.lowered.unbounded) if name in names]
            found.update({(-1 - i, ()): place for place, i in enumerate(mine)})
        return found

    def moves(self, control: Control, present: Collection[Local]) -> Iterator[VectorMove[Control, Local, CrowdLabel]]:
        for move in self._system.moves(control, present):
            yield self._vectors(move)

    def moves_with(
        self, control: Control, present: Collection[Local], new: Collection[Local]
    ) -> Iterator[VectorMove[Control, Local, CrowdLabel]]:
        """Yield those moves that take one of `new`."""
        for move in self._system.moves_with(control, present, new):
            yield self._vectors(move)

    def _vectors(self, move: CrowdMove) -> VectorMove[Control, Local, CrowdLabel]:
        """The move of :meth:`_with_vector`, remembered by identity: steps are asked for again and again."""
        known = self._known.get(id(move))
        if known is None:
            known = self._known[id(move)] = move, self._with_vector(move)
        return known[1]

    def target(self, control: Control) -> int:
        return self._system.target(control)

    def enough(self, run: Iterable[VectorMove[Control, Local, CrowdLabel]]) -> tuple[int, ...]:
        """Return for each template with how many copies a run can be made: a new one for each process taken from its first
        local state, unless it has to have something counted."""
        taken = Counter(part for move in run for part, guard in move.takes if guard == self._zero)
        return tuple(taken[local] for local in self.fresh)

    def _with_vector(self, move: CrowdMove) -> VectorMove[Control, Local, CrowdLabel]:
        """The move with the tokens of copies' counters as the vector of the copy that moves."""
        taken, given = self._vector(move.takes), self._vector(move.gives)
        takes = self._processes(move.takes)
        gives = self._processes(move.gives)
        if move.label.moves:
            takes[0] = takes[0][0], taken
            gives[0] = gives[0][0], tuple(b - a for a, b in zip(taken, given, strict=True))
            gives = [] if self.steps.at_end(gives[0][0]) and len(gives) == 1 else gives
        return VectorMove(move.label, tuple(takes), move.control, tuple(gives))

    def _vector(self, tokens: tuple[Local, ...]) -> Numbers:
        places = [self._places[token] for token in tokens if token in self._places]
        return tuple(map(places.count, range(self.dimension))) if places else self._zero

    def _processes(self, tokens: tuple[Local, ...]) -> list[Process]:
        return [(token, self._zero) for token in tokens if token not in self._places]
