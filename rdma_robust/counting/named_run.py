"""A run whose processes have names: which copy of which template takes part in which move."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple

from rdma_robust.counting.protocol import A, C, CountingMove, CountingSystem, L

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
