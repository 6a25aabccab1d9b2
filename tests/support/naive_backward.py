"""Coverability by its definitions, backward and forward, with nothing clever; and the replay of runs."""

from __future__ import annotations

import operator
from collections import deque

from rdma_robust.petri.net import Net, NetRun, Vector

Dense = tuple[int, ...]


def coverable(net: Net, most_elements: int = 3000) -> bool | None:
    """Return whether some run from an initial marking reaches a target; None if the basis grows beyond `most_elements`.

    Takes the minimal elements of the predecessors of the targets until nothing new comes, and prunes nothing but elements
    above others. Source: Abdulla, Cerans, Jonsson, Tsay 1996.
    """
    size = len(net.places)
    effects = [(dense(t.guard, size), dense(t.delta, size)) for t in net.transitions]
    basis: list[Dense] = []
    work: deque[Dense] = deque()

    def add(element: Dense) -> None:
        if not any(below(old, element) for old in basis):
            basis[:] = [old for old in basis if not below(element, old)]
            basis.append(element)
            work.append(element)

    for target in net.targets:
        add(dense(target, size))
    while work:
        element = work.popleft()
        if element not in basis:
            continue
        if len(basis) > most_elements:
            return None
        for guard, delta in effects:
            add(tuple(max(g, e - d) for g, e, d in zip(guard, element, delta, strict=True)))
    return any(
        all(high is None or value <= high for value, high in zip(element, net.most, strict=True)) for element in basis
    )


def reaches(net: Net, most_markings: int = 3000) -> bool | None:
    """The same question by firing rules from the largest initial marking; None if there is none or it takes too many."""
    size = len(net.places)
    if None in net.most:
        return None
    start = tuple(high or 0 for high in net.most)
    effects = [(dense(t.guard, size), dense(t.delta, size)) for t in net.transitions]
    targets = [dense(target, size) for target in net.targets]
    seen = {start}
    work = deque(seen)
    while work:
        marking = work.popleft()
        if any(below(target, marking) for target in targets):
            return True
        if len(seen) > most_markings:
            return None
        for guard, delta in effects:
            if below(guard, marking):
                after = tuple(m + d for m, d in zip(marking, delta, strict=True))
                if after not in seen:
                    seen.add(after)
                    work.append(after)
    return False


def dense(vector: Vector, size: int) -> Dense:
    values = [0] * size
    for place, value in vector:
        values[place] = value
    return tuple(values)


def below(small: Dense, large: Dense) -> bool:
    return all(map(operator.le, small, large))


def replay(net: Net, run: NetRun) -> Dense:
    """Fire `run` and return its last marking; assert that it is a run of `net` from an initial marking to its target."""
    size = len(net.places)
    assert len(run.start) == size
    for value, low, high in zip(run.start, net.least, net.most, strict=True):
        assert low <= value
        assert high is None or value <= high
    marking = run.start
    for number in run.unrolled():
        transition = net.transitions[number]
        assert below(dense(transition.guard, size), marking), f"{transition.name} is not enabled at {marking}"
        marking = tuple(m + d for m, d in zip(marking, dense(transition.delta, size), strict=True))
        assert min(marking, default=0) >= 0
    assert below(dense(net.targets[run.target], size), marking)
    return marking
