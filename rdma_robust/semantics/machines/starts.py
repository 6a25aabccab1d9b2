"""The ways in which the threads of a program may begin: as many as the product of the threads' own ways, so none is made
before it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Any, overload

from rdma_robust.language.flow.cfg import Fault, Step
from rdma_robust.semantics.machines.machine import Action, Machine, Move, Verb
from rdma_robust.semantics.machines.threadcode import Arrival, Registers, ThreadCode

Start = tuple[int, Registers]
"""Where a thread begins: its program point, and what its registers hold."""

Make = Callable[[tuple[Start, ...], Action, tuple[Fault, ...]], Move]
"""Makes the move to an initial state from where the threads are, the cause, and the faults met on the way there."""


class Starts(Sequence[Move]):
    """The initial states of a machine as moves, each made when it is asked for: `ways` has how each thread may begin.

    The last thread's ways come fastest. `number` is how many there are, which may be more than `len` can say. Whether a move
    is one of them, and which begin at given places, is answered thread by thread.
    """

    def __init__(self, ways: Sequence[Sequence[Arrival]], make: Make) -> None:
        self.ways = tuple(map(tuple, ways))
        self._make = make

    @classmethod
    def of(cls, codes: Sequence[ThreadCode], make: Make) -> Starts:
        """Return every way in which the threads may have taken their first register-only steps."""
        return cls([code.settle(code.thread.entry, code.initial) for code in codes], make)

    @property
    def number(self) -> int:
        return prod(map(len, self.ways))

    def __len__(self) -> int:
        return self.number

    def __bool__(self) -> bool:
        return all(self.ways)

    def __iter__(self) -> Iterator[Move]:
        return map(self._move, product(*self.ways))

    @overload
    def __getitem__(self, place: int) -> Move: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Move, ...]: ...
    def __getitem__(self, place: int | slice) -> Move | tuple[Move, ...]:
        if isinstance(place, slice):
            return tuple(map(self.__getitem__, range(*place.indices(min(self.number, sys.maxsize)))))
        left = place + self.number if place < 0 else place
        if not 0 <= left < self.number:
            raise IndexError(place)
        chosen: list[Arrival] = []
        for mine in reversed(self.ways):
            left, which = divmod(left, len(mine))
            chosen.append(mine[which])
        return self._move(tuple(reversed(chosen)))

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Move) and move in iter(self.at(_places(move.state)))

    def place_of(self, move: object) -> int:
        """Return the place of a move among these. Raises ValueError if it is none of these."""
        if move not in self or not isinstance(move, Move):
            raise ValueError(move)
        place = 0
        for mine, there in zip(self.ways, _places(move.state), strict=True):
            ways = [(way.point, way.registers) for way in mine]
            place = place * len(ways) + ways.index(there)
        return place

    def at(self, places: Sequence[object]) -> Starts:
        """Return those in which the threads are at these places."""
        pairs = zip(self.ways, places, strict=True)
        return Starts([[way for way in mine if (way.point, way.registers) == place] for mine, place in pairs], self._make)

    def before(self, codes: Sequence[ThreadCode], first: Mapping[int, Step]) -> Iterator[Move]:
        """Yield those first in which the thread of each number can take the step that `first` has for it, then all.

        For runs of which it is known what each thread does first: of `codes`, the threads as the machine has them.
        """
        found = []
        for t, mine in enumerate(self.ways):
            able = [way for way in mine if t in first and _can_take(codes[t], way, first[t])]
            found.append(able or mine)
        yield from Starts(found, self._make)
        if any(len(able) < len(mine) for able, mine in zip(found, self.ways, strict=True)):
            yield from self

    def of_threads(self, among: Sequence[int]) -> Starts:
        """Return those that differ in how these threads begin, with the others as in the first."""
        return Starts([mine if u in among else mine[:1] for u, mine in enumerate(self.ways)], self._make)

    def _move(self, chosen: tuple[Arrival, ...]) -> Move:
        silent = tuple(step for settled in chosen for step in settled.silent)
        faults = tuple(dict.fromkeys(fault for settled in chosen for fault in settled.faults))
        places = tuple((settled.point, settled.registers) for settled in chosen)
        return self._make(places, Action(-1, Verb.START, None, silent=silent), faults)


def portions(starts: Iterable[Move], most: int) -> Iterator[list[Move]]:
    """Yield moves so many at a time."""
    every = iter(starts)
    while portion := list(islice(every, most)):
        yield portion


def _places(state: Any) -> list[Start]:
    return [(thread.point, thread.registers) for thread in state.threads]


def _can_take(code: ThreadCode, way: Arrival, step: Step) -> bool:
    return any(command.step == step and command.may_run(way.registers) for command in code.visible.get(way.point, ()))


def starts_at(machine: Machine, state: Any) -> Sequence[Move]:
    """Return the initial states of a machine in which the threads are where they are in `state`."""
    starts = machine.initial()
    return starts.at(_places(state)) if isinstance(starts, Starts) else starts
