"""Random Petri nets, a naive complete backward search, and direct checks of invariants by their definitions."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

from rdma_robust.petri.net import (
    CoverResult,
    DownwardInvariant,
    LinearInvariant,
    Net,
    NetTransition,
    StagedInvariant,
    UpwardInvariant,
    Vector,
)


def vector(values: dict[int, int]) -> Vector:
    return tuple(sorted((p, k) for p, k in values.items() if k))


def make_net(
    places: int, rules: list[tuple[dict[int, int], dict[int, int]]], start: list[int | None], targets: list[dict[int, int]]
) -> Net:
    """A net from (guard, delta) rules, an initial marking (None for any number) and targets."""
    transitions = tuple(NetTransition(f"t{i}", vector(g), vector(d)) for i, (g, d) in enumerate(rules))
    least = tuple(0 if k is None else k for k in start)
    return Net("net", tuple(f"p{i}" for i in range(places)), transitions, least, tuple(start), tuple(map(vector, targets)))


def random_net(rng: random.Random) -> Net:
    """A small net; about half of them have a reachable target, many are unbounded."""
    places = rng.randint(1, 6)
    weight = rng.choice([1, 1, 2, 4])
    rules = []
    for _ in range(rng.randint(1, 8)):
        guard = {
            p: rng.randint(1, weight)
            for p in rng.sample(range(places), rng.randint(0 if rng.random() < 0.1 else 1, min(3, places)))
        }
        delta = {p: -rng.randint(0, k) for p, k in guard.items()}
        for p in rng.sample(range(places), rng.randint(0, min(2, places))):
            delta[p] = delta.get(p, 0) + rng.randint(1, weight)
        rules.append((guard, delta))
    start = [None if rng.random() < 0.08 else rng.choice([0, 0, 0, 1, 1, 2, 3]) for _ in range(places)]
    targets = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        targets.append({p: rng.randint(1, 4) for p in rng.sample(range(places), rng.randint(1, min(3, places)))})
    return make_net(places, rules, start, targets)


def random_program(rng: random.Random) -> Net:
    """A small net with one token of control, threads with states of their own, and counters: little of it is sliced away."""
    shared, local, counters = rng.randint(2, 4), rng.randint(2, 4), rng.randint(0, 3)
    places = shared + local + counters
    rules = []
    for _ in range(rng.randint(6, 20)):
        guard: dict[int, int] = {}
        delta: dict[int, int] = {}
        if rng.random() < 0.8:
            _move(guard, delta, rng.randrange(shared), rng.randrange(shared))
        if rng.random() < 0.8:
            _move(guard, delta, shared + rng.randrange(local), shared + rng.randrange(local))
        if rng.random() < 0.1:
            delta[shared] = delta.get(shared, 0) + 1
        for p in rng.sample(range(shared + local, places), rng.randint(0, counters)):
            change = rng.randint(-2, 2)
            guard[p] = max(0, -change, rng.randint(-2, 3))
            delta[p] = change
        rules.append((guard, delta))
    start: list[int | None] = [1, *([0] * (shared - 1)), rng.choice([1, 2, 3, None]), *([0] * (places - shared - 1))]
    target = {rng.randrange(shared): 1, shared + rng.randrange(local): rng.randint(1, 2)}
    if counters:
        target[rng.randrange(shared + local, places)] = rng.randint(1, 3)
    return make_net(places, rules, start, [target])


def _move(guard: dict[int, int], delta: dict[int, int], source: int, sink: int) -> None:
    guard[source] = 1
    if source != sink:
        delta[source], delta[sink] = -1, 1


def naive_coverable(net: Net, cones: int) -> bool | None:
    """Backward reachability by its definition, on dense vectors; None if the basis grows beyond `cones`."""
    size = range(len(net.places))
    basis: list[tuple[int, ...]] = []
    waiting = [tuple(dict(target).get(p, 0) for p in size) for target in net.targets]
    while waiting:
        cone = waiting.pop()
        if any(all(b[p] <= cone[p] for p in size) for b in basis):
            continue
        if all(high is None or cone[p] <= high for p, high in enumerate(net.most)):
            return True
        if len(basis) >= cones:
            return None
        basis = [b for b in basis if not all(cone[p] <= b[p] for p in size)] + [cone]
        for t in net.transitions:
            guard, delta = dict(t.guard), dict(t.delta)
            waiting.append(tuple(max(guard.get(p, 0), cone[p] - delta.get(p, 0)) for p in size))
    return False


def check_result(net: Net, result: CoverResult) -> bool:
    """Check the run or the invariant of an answer by its definition; return whether a target is coverable."""
    if result.run is not None:
        marking = list(result.run.start)
        assert all(
            low <= k and (high is None or k <= high) for k, low, high in zip(marking, net.least, net.most, strict=True)
        )
        for t in result.run.unrolled():
            assert all(marking[p] >= k for p, k in net.transitions[t].guard)
            for p, change in net.transitions[t].delta:
                marking[p] += change
        assert all(marking[p] >= k for p, k in net.targets[result.run.target])
        assert result.invariant is None and not result.cut
        return True
    assert result.invariant is not None and not result.cut, result
    invariant = result.invariant
    if isinstance(invariant, StagedInvariant):
        _check_upward(replace(net, targets=()), UpwardInvariant(invariant.never, marked=invariant.marked))
        net, invariant = _without(net, invariant.never), invariant.rest
    match invariant:
        case LinearInvariant():
            _check_linear(net, invariant)
        case UpwardInvariant():
            _check_upward(net, invariant)
        case DownwardInvariant():
            _check_downward(net, invariant)
    return False


def _without(net: Net, never: tuple[Vector, ...]) -> Net:
    """The net without what needs a marking above one of the cones."""

    def stays(vector: Vector) -> bool:
        return not any(all(dict(vector).get(p, 0) >= k for p, k in cone) for cone in never)

    transitions = tuple(t for t in net.transitions if stays(t.guard))
    return replace(net, transitions=transitions, targets=tuple(target for target in net.targets if stays(target)))


def _alive(net: Net, marked: tuple[int, ...] | None) -> list[NetTransition]:
    if marked is None:
        return list(net.transitions)
    inside = set(marked)
    assert all(p in inside for p, high in enumerate(net.most) if high is None or high > 0)
    alive = [t for t in net.transitions if all(p in inside for p, _ in t.guard)]
    assert all(p in inside for t in alive for p, change in t.delta if change > 0)
    return alive


def _sum(weights: Vector, values: dict[int, int]) -> int:
    return sum(w * values.get(p, 0) for p, w in weights)


def _bound(net: Net, weights: Vector, alive: list[NetTransition]) -> int:
    """The largest weighted sum of an initial marking, having checked that no transition increases it."""
    assert all(w > 0 for _, w in weights)
    assert all(_sum(weights, dict(t.delta)) <= 0 for t in alive)
    total = 0
    for p, w in weights:
        high = net.most[p]
        assert high is not None
        total += w * high
    return total


def _keeps(trap: tuple[int, ...], t: NetTransition) -> bool:
    guard, delta = dict(t.guard), dict(t.delta)
    takes = any(delta.get(p, 0) < 0 for p in trap)
    return not takes or any(guard.get(p, 0) + delta.get(p, 0) > 0 for p in trap)


def _with_traps(invariant: UpwardInvariant, i: int) -> tuple[Vector, int]:
    """The sum that never increases on which bound i rests, and its own bound."""
    total = dict(invariant.weights[i])
    bound = invariant.bounds[i]
    for trap, times in invariant.shares[i] if invariant.shares else ():
        bound += times
        for p in invariant.traps[trap]:
            total[p] = total.get(p, 0) + times
    return tuple(sorted(total.items())), bound


def _check_linear(net: Net, invariant: LinearInvariant) -> None:
    alive = _alive(net, invariant.marked)
    assert len(invariant.weights) == len(net.targets)
    for target, weights in zip(net.targets, invariant.weights, strict=True):
        if all(p in invariant.marked for p, _ in target):
            assert _sum(weights, dict(target)) > _bound(net, weights, alive)


def _check_upward(net: Net, invariant: UpwardInvariant) -> None:
    alive = _alive(net, invariant.marked)
    scope = range(len(net.places)) if invariant.scope is None else invariant.scope

    def seen(vector: Vector) -> Vector:
        return tuple((p, k) for p, k in vector if p in scope)

    alive = [replace(t, guard=seen(t.guard), delta=seen(t.delta)) for t in alive]
    alive = [t for t in alive if any(change > 0 for _, change in t.delta)]
    named = (*invariant.basis, *invariant.weights)
    assert all(p in scope for vector in named for p, _ in vector)
    for trap in invariant.traps:
        assert all(p in scope for p in trap)
        assert any(net.most[p] != 0 for p in trap)
        assert all(_keeps(trap, t) for t in alive)
    for i in range(len(invariant.weights)):
        total, bound = _with_traps(invariant, i)
        assert _bound(net, total, alive) <= bound
    cuts = list(zip(invariant.weights, invariant.bounds, strict=True))
    basis = [dict(b) for b in invariant.basis]

    def inside(cone: dict[int, int]) -> bool:
        if invariant.marked is not None and any(k and p not in invariant.marked for p, k in cone.items()):
            return True
        if any(_sum(weights, cone) > bound for weights, bound in cuts):
            return True
        return any(all(cone.get(p, 0) >= k for p, k in b.items()) for b in basis)

    for b in basis:
        assert any(high is not None and high < b.get(p, 0) for p, high in enumerate(net.most))
    for target in net.targets:
        assert inside(dict(target)) if invariant.scope is None else inside(dict(target)) or inside(dict(seen(target)))
    for b, t in product(basis, alive):
        before = {p: max(0, b.get(p, 0) - dict(t.delta).get(p, 0)) for p in range(len(net.places))}
        for p, k in t.guard:
            before[p] = max(before[p], k)
        assert inside(before)


def _check_downward(net: Net, invariant: DownwardInvariant) -> None:
    def inside(marking: list[int | None]) -> bool:
        return any(
            all(high is None or (k is not None and k <= high) for k, high in zip(marking, limit, strict=True))
            for limit in invariant.limits
        )

    assert inside(list(net.most))
    for limit in invariant.limits:
        for target in net.targets:
            assert any(limit[p] is not None and limit[p] < k for p, k in target)
        for t in net.transitions:
            if all(limit[p] is None or limit[p] >= k for p, k in t.guard):
                delta = dict(t.delta)
                assert inside([None if k is None else k + delta.get(p, 0) for p, k in enumerate(limit)])
