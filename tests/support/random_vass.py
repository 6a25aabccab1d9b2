"""Random small VASS with control states."""

from __future__ import annotations

from random import Random

from rdma_robust.counters.explicit import Cone, ExplicitVass, VassEdge
from rdma_robust.counters.vass import CounterEffect, Marking


def random_vass(rng: Random) -> ExplicitVass:
    """Return a VASS of at most four control states and three counters; the same for the same state of `rng`.

    Guards may ask for more than is subtracted, runs may start with tokens, and there are up to two targets, also none.
    """
    states, counters, most = rng.randint(1, 4), rng.randint(0, 3), rng.choice([1, 1, 2, 3])

    def marking(highest: int) -> Marking:
        return tuple(rng.choice([0, 0, rng.randint(0, highest)]) for _ in range(counters))

    def effect() -> CounterEffect:
        delta = tuple(rng.choice([0, rng.randint(-most, most)]) for _ in range(counters))
        return CounterEffect(tuple(max(0, -d, rng.choice([0, 0, 0, rng.randint(0, most)])) for d in delta), delta)

    return ExplicitVass(
        name="random",
        states=tuple(f"s{i}" for i in range(states)),
        counters=tuple(f"c{i}" for i in range(counters)),
        edges=tuple(
            VassEdge(rng.randrange(states), rng.randrange(states), effect(), f"t{i}") for i in range(rng.randint(0, 6))
        ),
        initial=0,
        start=marking(2),
        targets=tuple(Cone(rng.randrange(states), marking(4)) for _ in range(rng.choice([0, 1, 1, 2]))),
    )
