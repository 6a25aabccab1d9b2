"""Coverability answered by the definitions, with evidence of every kind: what the checker of certificates is tested on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from rdma_robust.petri.net import DownwardInvariant, LinearInvariant, Net, NetRun, UpwardInvariant, Vector
from tests.support.naive_backward import below, dense

Dense = tuple[int, ...]
Limit = tuple[int | None, ...]


def run_to_a_target(net: Net, most: int = 2000) -> NetRun | None:
    """Return a shortest run from some initial marking with few tokens to a target, None if none is found so soon."""
    ranges = (range(low, (low + 3 if high is None else high) + 1) for low, high in zip(net.least, net.most, strict=True))
    starts = list(product(*ranges))[:200]
    size = len(net.places)
    effects = [(dense(t.guard, size), dense(t.delta, size)) for t in net.transitions]
    targets = [dense(target, size) for target in net.targets]
    came: dict[Dense, tuple[Dense, int] | None] = dict.fromkeys(starts)
    todo = deque(starts)
    while todo and len(came) < most:
        marking = todo.popleft()
        for i, target in enumerate(targets):
            if below(target, marking):
                return _run(came, marking, i)
        for number, (guard, delta) in enumerate(effects):
            after = tuple(m + d for m, d in zip(marking, delta, strict=True))
            if below(guard, marking) and after not in came:
                came[after] = (marking, number)
                todo.append(after)
    return None


def _run(came: dict[Dense, tuple[Dense, int] | None], marking: Dense, target: int) -> NetRun:
    fired = []
    while (step := came[marking]) is not None:
        marking, number = step
        fired.append(number)
    return NetRun(marking, tuple(reversed(fired)), target)


def upward(net: Net, most: int = 300) -> UpwardInvariant | None:
    """Return the markings from which a target can be covered, None if there are more than so many minimal ones."""
    size = len(net.places)
    effects = [(dense(t.guard, size), dense(t.delta, size)) for t in net.transitions]
    basis: list[Dense] = []
    todo = [dense(target, size) for target in net.targets]
    while todo:
        element = todo.pop()
        if any(below(old, element) for old in basis):
            continue
        basis = [old for old in basis if not below(element, old)] + [element]
        if len(basis) > most:
            return None
        todo += [tuple(max(g, e - d) for g, e, d in zip(guard, element, delta, strict=True)) for guard, delta in effects]
    return UpwardInvariant(tuple(sparse(element) for element in basis))


def downward(net: Net, most: int = 300) -> DownwardInvariant | None:
    """Return a coverability set of all that is reachable (Karp and Miller 1969, nothing pruned), None if it is large."""
    nodes: list[tuple[Limit, int]] = [(net.most, -1)]
    at = 0
    while at < len(nodes):
        for after in _successors(net, nodes[at][0]):
            if any(_covers(other, after) for other, _ in nodes):
                continue
            ancestor = at
            limit = after
            while ancestor >= 0:
                other, parent = nodes[ancestor]
                if _covers(limit, other):
                    limit = tuple(
                        None if b is None or (a is not None and b > a) else b for a, b in zip(other, limit, strict=True)
                    )
                ancestor = parent
            nodes.append((limit, at))
            if len(nodes) > most:
                return None
        at += 1
    return DownwardInvariant(tuple(limit for limit, _ in nodes))


def _successors(net: Net, limit: Limit) -> Iterator[Limit]:
    size = len(net.places)
    for transition in net.transitions:
        guard, delta = dense(transition.guard, size), dense(transition.delta, size)
        if all(have is None or have >= need for have, need in zip(limit, guard, strict=True)):
            yield tuple(None if have is None else have + d for have, d in zip(limit, delta, strict=True))


def _covers(large: Limit, small: Limit) -> bool:
    return all(a is None or (b is not None and b <= a) for a, b in zip(large, small, strict=True))


def linear(net: Net, largest: int = 2) -> LinearInvariant | None:
    """Return inequalities with weights up to `largest` that exclude every target, None if there are none."""
    marked = markable(net)
    firing = [t for t in net.transitions if all(p in marked for p, _ in t.guard)]
    found: list[Vector] = []
    for target in net.targets:
        if any(p not in marked for p, _ in target):
            found.append(())
            continue
        for weights in product(range(largest + 1), repeat=len(net.places)):
            top = sum(w * (10**9 if high is None else high) for w, high in zip(weights, net.most, strict=True))
            if sum(weights[p] * n for p, n in target) > top and all(
                sum(weights[p] * n for p, n in t.delta) <= 0 for t in firing
            ):
                found.append(sparse(weights))
                break
        else:
            return None
    return LinearInvariant(tuple(sorted(marked)), tuple(found))


def without(net: Net, never: tuple[Vector, ...]) -> Net:
    """Return the net without the transitions and targets that need a marking above one of the cones."""
    size = len(net.places)

    def stays(vector: Vector) -> bool:
        return not any(below(dense(cone, size), dense(vector, size)) for cone in never)

    return replace(
        net,
        transitions=tuple(t for t in net.transitions if stays(t.guard)),
        targets=tuple(target for target in net.targets if stays(target)),
    )


def markable(net: Net) -> set[int]:
    """Return the places that hold a token initially or after transitions that never take any away."""
    marked = {p for p, high in enumerate(net.most) if high != 0}
    while True:
        more = {p for t in net.transitions if all(q in marked for q, _ in t.guard) for p, n in t.delta if n > 0} - marked
        if not more:
            return marked
        marked |= more


def sparse(values: Dense) -> Vector:
    return tuple((p, value) for p, value in enumerate(values) if value)
