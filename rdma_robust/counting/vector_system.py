"""Counting systems whose processes have counters of their own, and two systems without that are near to them.

The local state of a process is a part, which is finite, and a vector of `dimension` natural numbers. A marking is larger
than another one of the same control state if each process of the other one has one of its own in it, in the same part and
with a vector at least as large. No move asks for an absence or for a zero, so what can be reached from a marking can be
reached from each larger one, and this order has no infinite antichains: a well-structured transition system.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Generic, Protocol

from rdma_robust.counting.protocol import A, C, CountingMove, L

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VectorMove(Generic[C, L, A]):
    """One transition: it takes processes by part and `guard`, that is with vectors at least as large.

    `gives[i]` is the part after it of the process of `takes[i]`, and what is added to its vector, so that guard + added is
    never below 0; where fewer are given, the last ones are gone. Where more are given, processes are born with these
    numbers.
    """

    label: A
    takes: tuple[tuple[L, Numbers], ...]
    control: C
    gives: tuple[tuple[L, Numbers], ...]


class VectorSystem(Protocol[C, L, A]):
    """As :class:`CountingSystem`, with parts for local states. A fresh process has a vector of zeros."""

    @property
    def initial(self) -> C:
        """The control state at the start."""

    @property
    def fresh(self) -> tuple[L, ...]:
        """The initial part of each template: there are always more processes in it, with nothing counted."""

    @property
    def dimension(self) -> int:
        """How many counters each process has."""

    def moves(self, control: C, present: Collection[L]) -> Iterable[VectorMove[C, L, A]]:
        """Return every move at `control` that takes only of the parts `present` and `fresh`, whatever the counters are."""

    def target(self, control: C) -> int:
        """Return the index of the target that holds at `control`, or -1."""


def vector_moves_with(
    system: VectorSystem[C, L, A], control: C, present: Collection[L], new: Collection[L]
) -> Iterable[VectorMove[C, L, A]]:
    """Return the moves of a system that take a process of one of the parts `new`, which are among those present."""
    asked: Callable[[C, Collection[L], Collection[L]], Iterable[VectorMove[C, L, A]]] | None
    asked = getattr(system, "moves_with", None)
    if asked is not None:
        found: Iterable[VectorMove[C, L, A]] = asked(control, present, new)
        return found
    names = frozenset(new)
    return (move for move in system.moves(control, present) if not names.isdisjoint(part for part, _ in move.takes))


@dataclass(frozen=True, slots=True)
class UnguardedSystem(Generic[C, L, A]):
    """The counting system without the counters, whose guards always hold: it reaches whatever the system reaches.

    The label of a move is the move that it is made of.
    """

    system: VectorSystem[C, L, A]

    @property
    def initial(self) -> C:
        return self.system.initial

    @property
    def fresh(self) -> tuple[L, ...]:
        return self.system.fresh

    def moves(self, control: C, present: Collection[L]) -> Iterator[CountingMove[C, L, VectorMove[C, L, A]]]:
        return map(self._unguarded, self.system.moves(control, present))

    def moves_with(
        self, control: C, present: Collection[L], new: Collection[L]
    ) -> Iterator[CountingMove[C, L, VectorMove[C, L, A]]]:
        return map(self._unguarded, vector_moves_with(self.system, control, present, new))

    def _unguarded(self, move: VectorMove[C, L, A]) -> CountingMove[C, L, VectorMove[C, L, A]]:
        return CountingMove(move, tuple(part for part, _ in move.takes), move.control, tuple(part for part, _ in move.gives))

    def target(self, control: C) -> int:
        return self.system.target(control)

    def idle(self, control: C, local: L) -> bool:  # noqa: ARG002
        return False

    def milestone(self, control: C) -> int:  # noqa: ARG002
        return 0


@dataclass(frozen=True, slots=True)
class CappedSystem(Generic[C, L, A]):
    """The counting system in which a counter that would exceed `most` stays there: the system reaches whatever it reaches.

    That is so because the smaller vector enables no more. The label of a move is the move that it is made of.
    """

    system: VectorSystem[C, L, A]
    most: int

    @property
    def initial(self) -> C:
        return self.system.initial

    @property
    def fresh(self) -> tuple[tuple[L, Numbers], ...]:
        return tuple((part, (0,) * self.system.dimension) for part in self.system.fresh)

    def moves(
        self, control: C, present: Collection[tuple[L, Numbers]]
    ) -> Iterator[CountingMove[C, tuple[L, Numbers], VectorMove[C, L, A]]]:
        """Yield a move for each choice of vectors among those present that its guards allow."""
        vectors = self._vectors(present)
        return self._chosen(vectors, self.system.moves(control, tuple(vectors)))

    def moves_with(
        self, control: C, present: Collection[tuple[L, Numbers]], new: Collection[tuple[L, Numbers]]
    ) -> Iterator[CountingMove[C, tuple[L, Numbers], VectorMove[C, L, A]]]:
        vectors, names = self._vectors(present), {*new}
        moves = vector_moves_with(self.system, control, tuple(vectors), {part for part, _ in new})
        return (move for move in self._chosen(vectors, moves) if not names.isdisjoint(move.takes))

    def _vectors(self, present: Collection[tuple[L, Numbers]]) -> dict[L, dict[Numbers, None]]:
        """The vectors that are there by part."""
        vectors: dict[L, dict[Numbers, None]] = {}
        for part, vector in (*self.fresh, *present):
            vectors.setdefault(part, {})[vector] = None
        return vectors

    def _chosen(
        self, vectors: dict[L, dict[Numbers, None]], moves: Iterable[VectorMove[C, L, A]]
    ) -> Iterator[CountingMove[C, tuple[L, Numbers], VectorMove[C, L, A]]]:
        for move in moves:
            choices = [
                [vector for vector in vectors[part] if all(map(int.__ge__, vector, guard))] for part, guard in move.takes
            ]
            for chosen in product(*choices):
                gives = tuple(
                    (part, self._capped(chosen[at], added) if at < len(chosen) else self._capped(added, (0,) * len(added)))
                    for at, (part, added) in enumerate(move.gives)
                )
                takes = tuple((part, vector) for (part, _), vector in zip(move.takes, chosen, strict=True))
                yield CountingMove(move, takes, move.control, gives)

    def target(self, control: C) -> int:
        return self.system.target(control)

    def idle(self, control: C, local: tuple[L, Numbers]) -> bool:  # noqa: ARG002
        return False

    def milestone(self, control: C) -> int:  # noqa: ARG002
        return 0

    def _capped(self, vector: Numbers, added: Numbers) -> Numbers:
        return tuple(min(self.most, a + b) for a, b in zip(vector, added, strict=True))
