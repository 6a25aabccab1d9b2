"""Deciding coverability of nets: the engines by name."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.vass.net import CoverResult, Net, Run, UpwardInvariant, Vector
from rdma_robust.vass.search import Limits, Progress

_Dense = tuple[int, ...]
_CHECK_EVERY = 16


def _ignore(_stored: int, _frontier: int) -> None:
    return None


def cover(net: Net, limits: Limits, engine: str = "auto", progress: Progress = _ignore) -> CoverResult:
    """Return whether a target of `net` is coverable, with the evidence. `engine` is `auto` or a name in COVER_ENGINES."""
    return COVER_ENGINES["backward" if engine == "auto" else engine](net, limits, progress)


def _backward(net: Net, limits: Limits, progress: Progress) -> CoverResult:
    """The minimal elements of the predecessors of the targets, until nothing new comes.

    Source: Abdulla, Cerans, Jonsson, Tsay 1996.
    """
    effects = [(_dense(t.guard, net), _dense(t.delta, net)) for t in net.transitions]
    origin: dict[_Dense, tuple[int, _Dense | None]] = {}
    basis: list[_Dense] = []
    work: deque[_Dense] = deque()
    for number, target in enumerate(net.targets):
        _add(_dense(target, net), (number, None), origin, basis, work)
    done = 0
    while work:
        element = work.popleft()
        if all(high is None or value <= high for value, high in zip(element, net.most, strict=True)):
            return CoverResult("backward", run=_run(net, element, origin), stored=len(basis))
        if done % _CHECK_EVERY == 0:
            progress(len(basis), len(work))
        cut = limits.exceeded() if done % _CHECK_EVERY == 0 else ""
        if limits.states is not None and len(basis) > limits.states:
            cut = "states"
        if cut:
            return CoverResult("backward", cut=cut, stored=len(basis))
        done += 1
        for number, (guard, delta) in enumerate(effects):
            before = tuple(max(g, e - d) for g, e, d in zip(guard, element, delta, strict=True))
            _add(before, (number, element), origin, basis, work)
    invariant = UpwardInvariant(tuple(tuple((p, v) for p, v in enumerate(element) if v) for element in basis))
    return CoverResult("backward", invariant=invariant, stored=len(basis))


def _add(
    element: _Dense,
    comes_from: tuple[int, _Dense | None],
    origin: dict[_Dense, tuple[int, _Dense | None]],
    basis: list[_Dense],
    work: deque[_Dense],
) -> None:
    if any(_below(old, element) for old in basis):
        return
    basis[:] = [old for old in basis if not _below(element, old)]
    basis.append(element)
    origin[element] = comes_from
    work.append(element)


def _run(net: Net, element: _Dense, origin: Mapping[_Dense, tuple[int, _Dense | None]]) -> Run:
    start = tuple(max(low, value) for low, value in zip(net.least, element, strict=True))
    transitions = []
    number, after = origin[element]
    while after is not None:
        transitions.append(number)
        number, after = origin[after]
    return Run(start, tuple(transitions), number)


def _dense(vector: Vector, net: Net) -> _Dense:
    values = [0] * len(net.places)
    for place, value in vector:
        values[place] = value
    return tuple(values)


def _below(small: _Dense, large: _Dense) -> bool:
    return all(map(operator.le, small, large))


COVER_ENGINES: Final[Mapping[str, Callable[[Net, Limits, Progress], CoverResult]]] = {"backward": _backward}
