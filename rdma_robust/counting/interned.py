"""A counting system with control states and local states as small numbers, and sets of local states as bits of an integer.

A marking is a pair of `wide`, the bits of the local states with any number of tokens, the fresh ones always among them, and
`few`, the finite numbers of tokens of others, none of them 0. Such a dictionary is shared and never changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Generic, NamedTuple

from rdma_robust.counting.protocol import A, C, CountingMove, CountingSystem, L

Few = dict[int, int]
Amounts = tuple[tuple[int, int], ...]
"""Local states with how many tokens, by the number of the local state."""


class NumberedMove(NamedTuple):
    """A move in numbers: `need` and `gain` are the bits of what it `takes` and `gives`; `move` is its number."""

    move: int
    need: int
    takes: Amounts
    control: int
    gain: int
    gives: Amounts


class _KnownMoves:
    """The steps at one control state with the local states in `asked`, -1 before anything was asked."""

    __slots__ = ("asked", "away", "harmful", "harmless", "loops")

    def __init__(self) -> None:
        self.asked = -1
        self.away: list[NumberedMove] = []
        self.loops: list[NumberedMove] = []
        self.harmless = 0
        self.harmful = 0


class NumberedSystem(Generic[C, L, A]):
    """The system in numbers. The initial control state is 0."""

    def __init__(self, system: CountingSystem[C, L, A]) -> None:
        self.system = system
        self.controls: list[C] = []
        self.locals: list[L] = []
        self.moves: list[CountingMove[C, L, A]] = []
        self._control_numbers: dict[C, int] = {}
        self._local_numbers: dict[L, int] = {}
        self._known: list[_KnownMoves] = []
        self._targets: list[int] = []
        self._milestones: list[int] = []
        self.fresh = 0
        for local in system.fresh:
            self.fresh |= 1 << self.local(local)
        self.control(system.initial)

    def control(self, control: C) -> int:
        """Return the number of a control state."""
        number = self._control_numbers.get(control)
        if number is None:
            number = self._control_numbers[control] = len(self.controls)
            self.controls.append(control)
            self._known.append(_KnownMoves())
            self._targets.append(self.system.target(control))
            self._milestones.append(self.system.milestone(control))
        return number

    def local(self, local: L) -> int:
        """Return the number of a local state."""
        number = self._local_numbers.get(local)
        if number is None:
            number = self._local_numbers[local] = len(self.locals)
            self.locals.append(local)
        return number

    def target(self, control: int) -> int:
        return self._targets[control]

    def milestone(self, control: int) -> int:
        return self._milestones[control]

    def away(self, control: int, present: int) -> list[NumberedMove]:
        """Return the steps to other control states; some of them may take local states that are not present."""
        return self._asked(control, present).away

    def loops(self, control: int, present: int) -> list[NumberedMove]:
        """Return the steps that leave the control state as it is; as above."""
        return self._asked(control, present).loops

    def idle(self, control: int, present: int) -> int:
        """Return the bits of those present that are idle at the control state."""
        known = self._known[control]
        for number in set_bits(present & ~known.harmless & ~known.harmful & ~self.fresh):
            if self.system.idle(self.controls[control], self.locals[number]):
                known.harmless |= 1 << number
            else:
                known.harmful |= 1 << number
        return present & known.harmless

    def _asked(self, control: int, present: int) -> _KnownMoves:
        known = self._known[control]
        if known.asked < 0:
            known.asked = present & ~self.fresh
            for move in self.system.moves(self.controls[control], self._names(known.asked)):
                self._learn(known, control, move)
        elif new := present & ~known.asked & ~self.fresh:
            known.asked |= new
            for move in moves_with(self.system, self.controls[control], self._names(known.asked), self._names(new)):
                self._learn(known, control, move)
        return known

    def _names(self, present: int) -> list[L]:
        return [self.locals[number] for number in set_bits(present)]

    def _learn(self, known: _KnownMoves, control: int, move: CountingMove[C, L, A]) -> None:
        step = self._step(move)
        (known.loops if step.control == control else known.away).append(step)

    def _step(self, move: CountingMove[C, L, A]) -> NumberedMove:
        takes, gives = self._amounts(move.takes), self._amounts(move.gives)
        self.moves.append(move)
        return NumberedMove(len(self.moves) - 1, mask(takes), takes, self.control(move.control), mask(gives), gives)

    def _amounts(self, tokens: tuple[L, ...]) -> Amounts:
        if len(tokens) == 1:
            return ((self.local(tokens[0]), 1),)
        return tuple(sorted(Counter(map(self.local, tokens)).items()))


def moves_with(
    system: CountingSystem[C, L, A], control: C, present: Collection[L], new: Collection[L]
) -> Iterable[CountingMove[C, L, A]]:
    """Return the moves of a system that take one of `new`, which are among those present."""
    asked: Callable[[C, Collection[L], Collection[L]], Iterable[CountingMove[C, L, A]]] | None = getattr(
        system, "moves_with", None
    )
    if asked is not None:
        return asked(control, present, new)
    names = frozenset(new)
    return (move for move in system.moves(control, present) if not names.isdisjoint(move.takes))


def set_bits(those: int) -> Iterator[int]:
    """Yield the numbers of the bits of a set, in increasing order."""
    while those:
        lowest = those & -those
        yield lowest.bit_length() - 1
        those ^= lowest


def mask(amounts: Amounts) -> int:
    """Return the bits of the local states."""
    found = 0
    for local, _ in amounts:
        found |= 1 << local
    return found


def support(wide: int, few: Few) -> int:
    """Return the bits of the local states that have a token."""
    for local in few:
        wide |= 1 << local
    return wide


def fire_move(step: NumberedMove, wide: int, few: Few) -> Few | None:
    """Return the finite numbers after a step, or None where it is not enabled; what is unlimited stays so."""
    _, need, takes, _, gain, gives = step
    after = few
    if need & ~wide:
        after = dict(few)
        for local, count in takes:
            if not wide >> local & 1:
                left = after.get(local, 0) - count
                if left < 0:
                    return None
                if left:
                    after[local] = left
                else:
                    del after[local]
    if gain & ~wide:
        if after is few:
            after = dict(few)
        for local, count in gives:
            if not wide >> local & 1:
                after[local] = after.get(local, 0) + count
    return after


def covers_marking(wide: int, few: Few, lesser_wide: int, lesser_few: Few) -> bool:
    """Whether the first marking is at least the second one."""
    if lesser_wide & ~wide:
        return False
    return all(wide >> local & 1 or few.get(local, 0) >= count for local, count in lesser_few.items())
