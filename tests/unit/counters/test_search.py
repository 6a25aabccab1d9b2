"""The coverability engines against textbook systems, a naive backward search, and a replay of every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import pytest

from rdma_robust.counters.permutations import Arranger
from rdma_robust.counters.searches import SearchResult, breadth_first, depth_first, karp_miller
from rdma_robust.counters.vass import Control, CounterEffect
from rdma_robust.limits import Limits
from tests.support.shares import share

ENGINES = {"bfs": breadth_first, "dfs": depth_first, "karp-miller": karp_miller}


@dataclass
class ExplicitVass:
    """Transitions are (source, target, guard, delta) between numbered control states; 0 is initial."""

    dimension: int
    edges: list[tuple[int, int, tuple[int, ...], tuple[int, ...]]]
    goal: int
    initial: Control = (0,)
    max_rank: int = 0
    arranger: Arranger | None = None
    effects: list[CounterEffect] = field(init=False)

    def __post_init__(self) -> None:
        self.effects = [CounterEffect(g, d) for _, _, g, d in self.edges]

    def successors(self, control: Control) -> list[tuple[int, Control, int]]:
        return [(i, (t,), i) for i, (s, t, _, _) in enumerate(self.edges) if (s,) == control]

    def expansions(self, control: Control) -> Iterator[list[tuple[int, Control, int]]]:
        yield self.successors(control)

    def advances(self, _before: Control, _after: Control) -> bool:
        return False

    def hopeless(self, _control: Control) -> bool:
        return False

    def target(self, control: Control) -> int:
        return 0 if control == (self.goal,) else -1

    def rank(self, _control: Control) -> int:
        return 0


def add(*delta: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(max(0, -d) for d in delta), delta


def check_run(vass: ExplicitVass, result: SearchResult) -> None:
    """The run starts at the initial state, is enabled throughout, and ends at the target."""
    at, marking = 0, [0] * vass.dimension
    for number in result.run:
        source, target, guard, delta = vass.edges[number]
        assert source == at
        assert all(m >= g for m, g in zip(marking, guard, strict=True))
        marking = [m + d for m, d in zip(marking, delta, strict=True)]
        at = target
    assert at == vass.goal


def backward_coverable(vass: ExplicitVass) -> bool:
    """Naive complete backward coverability: minimal elements of the predecessors until nothing new comes."""
    basis: set[tuple[int, tuple[int, ...]]] = {(vass.goal, (0,) * vass.dimension)}
    while True:
        new = set()
        for (state, need), (source, target, guard, delta) in product(basis, vass.edges):
            if target == state:
                least = tuple(max(g, n - d) for g, n, d in zip(guard, need, delta, strict=True))
                if not any(s == source and all(a <= b for a, b in zip(m, least, strict=True)) for s, m in basis | new):
                    new.add((source, least))
        if not new:
            return (0, (0,) * vass.dimension) in basis
        basis |= new


PUMP_THEN_PAY = ExplicitVass(
    2,
    [(0, 0, *add(1, 0)), (0, 1, *add(0, 0)), (1, 1, *add(-1, 2)), (1, 2, *add(0, 0)), (2, 3, *add(0, -9))],
    goal=3,
)
"""One counter pumps another: omegas nest, and a run needs the right number of both loops."""

NEVER = ExplicitVass(2, [(0, 0, *add(1, 0)), (0, 1, *add(0, -1))], goal=1)
"""Unbounded, target not coverable: only acceleration ends the search."""

TRANSFER_LOOP = ExplicitVass(
    3,
    [(0, 1, *add(1, 0, 0)), (1, 1, *add(-1, 1, 0)), (1, 2, *add(0, 0, 0)), (2, 2, *add(1, -1, 0)), (2, 1, *add(0, 0, 1)),
     (2, 3, *add(-1, 0, -4))],
    goal=3,
)  # fmt: skip
"""The sum of two counters stays 1 while the third grows without bound."""


@pytest.mark.parametrize("vass", [PUMP_THEN_PAY, TRANSFER_LOOP], ids=["pump then pay", "transfer loop"])
@pytest.mark.parametrize("engine", ["bfs", "karp-miller"])
def test_coverable(vass: ExplicitVass, engine: str) -> None:
    result = ENGINES[engine](vass, Limits())
    assert result.target == 0
    assert not result.cut
    check_run(vass, result)


def test_karp_miller_ends_where_exact_markings_do_not() -> None:
    assert karp_miller(NEVER, Limits()).target == -1
    assert karp_miller(NEVER, Limits()).cut == ""
    for engine in (breadth_first, depth_first):
        result = engine(NEVER, Limits(states=50))
        assert (result.target, result.cut, result.states) == (-1, "states", 50)
        assert result.frontier > 0


def test_limits_are_named() -> None:
    assert karp_miller(PUMP_THEN_PAY, Limits(deadline=0.0)).cut == "time"
    assert karp_miller(PUMP_THEN_PAY, Limits(memory=0)).cut == "memory"


def random_vass(rng: random.Random) -> ExplicitVass:
    dimension, states = rng.randint(1, 3), rng.randint(2, 5)
    edges = []
    for _ in range(rng.randint(3, 9)):
        delta = tuple(rng.choice((-2, -1, -1, 0, 0, 1, 1)) for _ in range(dimension))
        guard = tuple(max(0, -d) + (rng.random() < 0.1) for d in delta)
        edges.append((rng.randrange(states), rng.randrange(states), guard, delta))
    return ExplicitVass(dimension, edges, goal=states - 1)


@pytest.mark.ci
@pytest.mark.parametrize("chunk", share(range(4), 4))
def test_random_systems_agree_with_backward_search(chunk: int) -> None:
    reached = 0
    for seed in range(chunk * 250, (chunk + 1) * 250):
        vass = random_vass(random.Random(seed))
        expected = backward_coverable(vass)
        result = karp_miller(vass, Limits(states=20_000))
        assert not result.cut, seed
        assert (result.target == 0) == expected, seed
        if expected:
            reached += 1
            check_run(vass, result)
            for exact in (breadth_first, depth_first):
                other = exact(vass, Limits(states=300))
                assert other.cut or other.target == 0, seed
                if other.target == 0:
                    check_run(vass, other)
        else:
            assert breadth_first(vass, Limits(states=300)).target == -1, seed
    assert 25 < reached < 225
