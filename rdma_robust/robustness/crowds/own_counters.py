"""A crowd whose copies have completions without a bound: each copy counts its own.

The counting system of :class:`HeroFromStart` with vectors for the counters of copies; those of named threads and of the hero
are tokens, as there. The hero is chosen before the run, so no vector has to be given to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from rdma_robust.counting.vector_system import Numbers, VectorMove
from rdma_robust.robustness.crowds.hero_from_start import HeroFromStart
from rdma_robust.robustness.crowds.parts import Local
from rdma_robust.robustness.crowds.steps import Control, CrowdLabel, CrowdMove, InstanceSteps

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
