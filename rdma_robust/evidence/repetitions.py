"""Repetitions in firing sequences made loops, so that a run that pumps a place a million times stays a few lines long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rdma_robust.certify.firing import Firing, FiringLoop

LONGEST_BODY: Final = 400
"""Transitions of the longest loop body that is looked for."""

WORK: Final = 4_000_000
"""Comparisons spent at most on finding loops."""


def compressed(transitions: Sequence[Firing]) -> tuple[Firing, ...]:
    """Return the same firing sequence with repetitions as loops, the shortest bodies first, loops of loops included."""
    sequence: list[Firing] = list(transitions)
    work = 0
    length = 1
    while length <= min(LONGEST_BODY, len(sequence) // 2) and work < WORK:
        work += len(sequence)
        sequence = list(_folded(sequence, length))
        length += 1
    return tuple(sequence)


def _folded(sequence: Sequence[Firing], length: int) -> Iterator[Firing]:
    """Yield `sequence` with every block of `length` firings that is repeated at once made a loop."""
    same = 0
    at = 0
    while at < len(sequence):
        while at + same + length < len(sequence) and sequence[at + same] == sequence[at + same + length]:
            same += 1
        times = same // length + 1
        if times > 1 and (length > 1 or times > 2):
            yield FiringLoop(times, tuple(sequence[at : at + length]))
            at += times * length
            same = 0
        else:
            yield sequence[at]
            at += 1
            same = max(0, same - 1)


def show_firings(firings: Sequence[Firing]) -> list[object]:
    """Return a firing sequence as JSON."""
    return [f if isinstance(f, int) else {"times": f.times, "of": show_firings(f.body)} for f in firings]
