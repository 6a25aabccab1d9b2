"""Random small Petri nets of several shapes, and making a failing one smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from rdma_robust.petri.net import Net, NetTransition, Vector

SHAPES = ("sparse", "dense", "token", "counters", "weighted", "lossless")


def random_net(rng: Random, shape: str = "") -> Net:
    """Return a net of at most six places; the same for the same state of `rng`.

    sparse and dense: free arcs, unbounded; token: a control state (one token moves) and two counters; counters: few places
    and large numbers; weighted: arcs of weight up to three, read arcs; lossless: the number of tokens never changes.
    Every shape has omega and interval places, read arcs, and up to five targets.
    """
    shape = shape or rng.choice(SHAPES)
    size = {"counters": rng.randint(1, 3), "token": rng.randint(4, 6)}.get(shape, rng.randint(2, 5))
    transitions = tuple(
        NetTransition(f"t{i + 1}", *_effect(rng, shape, size)) for i in range(rng.randint(1, {"dense": 7}.get(shape, 5)))
    )
    least = [rng.choice([0, 0, 0, 1, 1, 2]) for _ in range(size)]
    most: list[int | None] = list(least)
    if shape == "token":
        least[: size - 2] = most[: size - 2] = [int(i == 0) for i in range(size - 2)]
    for place in range(size - 2 if shape == "token" else 0, size):
        kind = rng.random()
        if kind < 0.12:
            most[place] = None
        elif kind < 0.24:
            most[place] = least[place] + rng.randint(0, 2)
    targets = tuple(_target(rng, shape, size) for _ in range(rng.choice([1, 1, 1, 2, 3, 5])))
    names = tuple(f"p{i}" for i in range(size))
    return Net(f"random {shape}", names, transitions, tuple(least), tuple(most), targets, _hints(rng, size))


def _effect(rng: Random, shape: str, size: int) -> tuple[Vector, Vector]:
    most = {"counters": 4, "weighted": 3}.get(shape, 1)
    guard: dict[int, int] = {}
    delta: dict[int, int] = {}
    free = range(size)
    if shape == "token":
        source, target = rng.randrange(size - 2), rng.randrange(size - 2)
        guard[source] = 1
        delta = {source: -1, target: 1} if source != target else {}
        free = range(size - 2, size)
    arcs = {"dense": 4, "token": 2}.get(shape, 3)
    for _ in range(rng.randint(1, arcs)):
        place = rng.choice(free)
        delta[place] = rng.choice([-1, 1, rng.randint(-most, most)])
    if shape == "lossless":
        change = sum(delta.values())
        rest = [p for p in free if p not in delta]
        if rest:
            delta[rng.choice(rest)] = -change
        else:
            delta[rng.choice(list(delta))] -= change
    for place, change in delta.items():
        guard[place] = max(0, -change, guard.get(place, 0))
    if rng.random() < 0.25:
        place = rng.choice(free)
        guard[place] = max(guard.get(place, 0), rng.randint(1, most + 1))
    return sparse(guard), sparse(delta)


def _target(rng: Random, shape: str, size: int) -> Vector:
    highest = 6 if shape == "counters" else 3
    chosen = rng.sample(range(size), min(size, rng.choice([1, 1, 2, 2, 3])))
    if rng.random() < 0.02:
        return ()
    return sparse({place: rng.randint(1, highest) for place in chosen})


def _hints(rng: Random, size: int) -> tuple[Vector, ...]:
    """Invariants that are mostly wrong, as they are in published files."""
    if rng.random() < 0.7:
        return ()
    return (sparse({place: rng.randint(1, 2) for place in rng.sample(range(size), rng.randint(1, size))}),)


def sparse(values: dict[int, int]) -> Vector:
    return tuple(sorted((place, value) for place, value in values.items() if value))


def shrink(net: Net, still_fails: Callable[[Net], bool]) -> Net:
    """Return a smaller net for which `still_fails` is true, from which nothing more can be taken. `net` must fail."""
    progress = True
    while progress:
        progress = False
        for candidate in _smaller(net):
            if still_fails(candidate):
                net, progress = candidate, True
                break
    return net


def _smaller(net: Net) -> Iterator[Net]:
    for i in range(len(net.transitions)):
        yield replace(net, transitions=net.transitions[:i] + net.transitions[i + 1 :])
    if len(net.targets) > 1:
        for i in range(len(net.targets)):
            yield replace(net, targets=net.targets[:i] + net.targets[i + 1 :])
    if net.weights:
        yield replace(net, weights=())
    for place in range(len(net.places)):
        yield _without_place(net, place)
    for place, (low, high) in enumerate(zip(net.least, net.most, strict=True)):
        most = list(net.most)
        if high != low:
            most[place] = low
            yield replace(net, most=tuple(most))
        elif low:
            least = list(net.least)
            least[place] = most[place] = low - 1
            yield replace(net, least=tuple(least), most=tuple(most))


def _without_place(net: Net, place: int) -> Net:
    def cut(vector: Vector) -> Vector:
        return tuple((p - (p > place), value) for p, value in vector if p != place)

    transitions = tuple(replace(t, guard=cut(t.guard), delta=cut(t.delta)) for t in net.transitions)
    places, least, most = (row[:place] + row[place + 1 :] for row in (net.places, net.least, net.most))
    return Net(net.name, places, transitions, least, most, tuple(map(cut, net.targets)), tuple(map(cut, net.weights)))  # type: ignore[arg-type]
