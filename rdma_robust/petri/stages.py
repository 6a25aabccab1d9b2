"""Proofs and runs in stages: what is left of a net when cones that are never entered are known, and back again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rdma_robust.errors import InternalError
from rdma_robust.petri.net import CoverResult, EnumeratedInvariant, Firing, Loop, Net, Run, StagedInvariant, Vector
from rdma_robust.petri.slice import Slice, replay


@dataclass(frozen=True, slots=True)
class Rest:
    """`net` without what is above one of the cones `never`; `transitions` and `targets` have the indices before that."""

    net: Net
    never: tuple[Vector, ...]
    transitions: tuple[int, ...]
    targets: tuple[int, ...]


def rest_of(part: Slice, basis: Iterable[Vector]) -> Rest:
    """Return what is left of a sliced net if its core never enters the cones of `basis`."""
    net = part.net
    never = tuple(part.vector(cone) for cone in basis)
    above = _above(never)
    transitions = tuple(i for i, t in enumerate(net.transitions) if not above(t.guard))
    targets = tuple(i for i, target in enumerate(net.targets) if not above(target))
    left = replace(
        net,
        transitions=tuple(net.transitions[i] for i in transitions),
        targets=tuple(net.targets[i] for i in targets),
    )
    return Rest(left, never, transitions, targets)


def _above(never: Sequence[Vector]) -> Callable[[Vector], bool]:
    """Return the test whether a cone is above one of those."""
    at: dict[int, list[Vector]] = {}
    for cone in never:
        at.setdefault(cone[0][0], []).append(cone)

    def above(cone: Vector) -> bool:
        values = dict(cone)
        return any(all(values.get(q, 0) >= k for q, k in small) for p, _ in cone for small in at.get(p, ()))

    return above


def whole(part: Slice, rest: Rest, result: CoverResult) -> CoverResult:
    """Turn the answer for what is left into one for the net of `part`. Raises InternalError if a run does not replay."""
    if result.run is not None:
        firings = tuple(_firing(firing, rest.transitions) for firing in result.run.transitions)
        run = Run(result.run.start, firings, rest.targets[result.run.target])
        replay(part.net, run)
        return replace(result, run=run)
    match result.invariant:
        case None | EnumeratedInvariant():
            return result
        case StagedInvariant():
            raise InternalError("a proof of what is left of a net has stages itself")
        case invariant:
            return replace(result, invariant=StagedInvariant(rest.never, tuple(sorted(part.marked)), invariant))


def _firing(firing: Firing, transitions: Sequence[int]) -> Firing:
    if isinstance(firing, Loop):
        return Loop(firing.times, tuple((transitions[t], times) for t, times in firing.body))
    return transitions[firing]
