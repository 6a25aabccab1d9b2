"""Whether an answer can be written down: numbers are exact, and a few rules make runs whose length has a million digits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from rdma_robust.petri.net import (
    CoverResult,
    DownwardInvariant,
    EnumeratedInvariant,
    Invariant,
    LinearInvariant,
    Net,
    Run,
    StagedInvariant,
    UpwardInvariant,
    Vector,
)

DIGITS: Final = 4_000
"""What a number of a run or an invariant may have; Python itself writes and reads 4,300."""
_LARGEST: Final[int] = 10**DIGITS


def writable(net: Net, result: CoverResult) -> bool:
    """Return whether no number of an answer, nor of a marking that its run passes, has more than :data:`DIGITS` digits."""
    if result.run is not None:
        return _longest(net, result.run) < _LARGEST
    if result.invariant is None or isinstance(result.invariant, EnumeratedInvariant):
        return True
    return all(-_LARGEST < number < _LARGEST for number in _numbers(result.invariant))


def _longest(net: Net, run: Run) -> int:
    """A bound of the tokens on any place during the run, and of its length."""
    change = max((abs(c) for t in net.transitions for _, c in t.delta), default=0)
    return max(run.start, default=0) + run.length * max(1, change)


def _numbers(invariant: Invariant) -> Iterator[int]:
    match invariant:
        case LinearInvariant(_, weights):
            return _values(weights)
        case DownwardInvariant(limits):
            return (value for limit in limits for value in limit if value is not None)
        case UpwardInvariant():
            vectors = (*invariant.basis, *invariant.weights, *invariant.shares)
            return chain(_values(vectors), invariant.bounds)
        case StagedInvariant(never, _, rest):
            return chain(_values(never), _numbers(rest))


def _values(vectors: Iterable[Vector]) -> Iterator[int]:
    return (value for vector in vectors for _, value in vector)
