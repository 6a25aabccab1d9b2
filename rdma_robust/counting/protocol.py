"""Counting systems: a finite control, and for each local state the number of processes that are in it.

A marking is a control state with a finite multiset of local states, the tokens. A move is enabled at a marking iff it is
one of `moves(control, ...)` and what it takes lies in the multiset or, token by token, in `fresh`: of each fresh local
state there is always one more. It takes these tokens, gives others, and sets the control. No move asks for the absence of a
token, so what can be reached from a marking can be reached from every larger one of the same control state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

C = TypeVar("C", bound=Hashable)
L = TypeVar("L", bound=Hashable)
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class CountingMove(Generic[C, L, A]):
    """One transition of a counting system.

    `takes` are the local states of the processes that take part, most often none, one or two; `control` is the control state
    after the move. `gives[i]` is the local state after it of the process of `takes[i]`; where fewer are given, the last ones
    have become part of the control or have ended, and where more are given, processes are born. `label` is the caller's own.
    """

    label: A
    takes: tuple[L, ...]
    control: C
    gives: tuple[L, ...]


class CountingSystem(Protocol[C, L, A]):
    """A counting system whose control states and local states are found while it is searched.

    Equal arguments must give equal answers, in an equal order: searches are deterministic, and ask again. A system may have
    a method `moves_with(control, present, new)` as well: those of `moves(control, present)` that take one of `new`, which
    are among those present, in the same order.
    """

    @property
    def initial(self) -> C:
        """The control state at the start, where there are no tokens but fresh ones."""

    @property
    def fresh(self) -> tuple[L, ...]:
        """The initial local state of each template, in the order of templates: always there, any number, never counted."""

    def moves(self, control: C, present: Collection[L]) -> Iterable[CountingMove[C, L, A]]:
        """Return every move at `control` that takes only of `present` and of `fresh`, each local state once or more often.

        Searches ask again for a control state when more local states are there; a system should remember what one local
        state can do at a control state.
        """

    def target(self, control: C) -> int:
        """Return the index of the target that holds at `control`, whatever the tokens are, or -1.

        A target that asks for tokens is a move that takes them to a control state of its own.
        """

    def idle(self, control: C, local: L) -> bool:
        """Whether a token in this local state can never matter again, at `control` and at all control states after it."""

    def milestone(self, control: C) -> int:
        """Return a number that no move makes smaller.

        What has a smaller number is searched to its end first, and left from its maximal markings only. 0 always is right.
        """


BORN = -1


class ProcessCopy(NamedTuple):
    """A process: the number of its template among the fresh local states (BORN if a move gave it), and its own, from 1."""

    template: int
    number: int


@dataclass(frozen=True, slots=True)
class NamedRun(Generic[C, L, A]):
    """Moves with the copies whose tokens they take, in the order of `takes`; `numbers` are the copies of each template.

    A copy is started by the first move that takes part with it, so copies have their numbers in the order of their starts.
    """

    steps: tuple[tuple[CountingMove[C, L, A], tuple[ProcessCopy, ...]], ...]
    numbers: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.numbers)


def name_copies(system: CountingSystem[C, L, A], run: Iterable[CountingMove[C, L, A]]) -> NamedRun[C, L, A]:
    """Return the run with copies named, a new one only where none that is already there can take part.

    Raises ValueError if a move takes what is not there.
    """
    templates = {local: number for number, local in reversed(list(enumerate(system.fresh)))}
    waiting: dict[L, deque[ProcessCopy]] = {}
    started = [0] * len(system.fresh)
    born = 0
    steps = []
    for move in run:
        copies = []
        for local in move.takes:
            if pool := waiting.get(local):
                copies.append(pool.popleft())
            elif local in templates:
                started[templates[local]] += 1
                copies.append(ProcessCopy(templates[local], started[templates[local]]))
            else:
                raise ValueError(f"{move!r} takes {local!r}, which is not there")
        for at, local in enumerate(move.gives):
            born += at >= len(copies)
            copy = copies[at] if at < len(copies) else ProcessCopy(BORN, born)
            waiting.setdefault(local, deque()).append(copy)
        steps.append((move, tuple(copies)))
    return NamedRun(tuple(steps), tuple(started))


@dataclass(frozen=True, slots=True)
class OmegaMarking(Generic[C, L]):
    """All markings of a control state with any number of tokens in the local states `unlimited`, besides the fresh ones,
    and at most so many in those that are `counted`."""

    control: C
    unlimited: tuple[L, ...]
    counted: tuple[tuple[L, int], ...]
