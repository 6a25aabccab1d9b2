"""The hitting sets against trying all sets."""

from __future__ import annotations

from itertools import combinations
from random import Random

from rdma_robust.analyses.repair.hitting import HittingSets
from rdma_robust.analyses.repair.repairs import Choice, Kind

UNIVERSE = [Choice(k, Kind.POLL if k % 2 else Kind.RFENCE, "B") for k in range(9)]
SETS = [frozenset(some) for n in range(len(UNIVERSE) + 1) for some in combinations(UNIVERSE, n)]


def test_answers_are_cheapest() -> None:
    solved = 0
    for seed in range(25):
        rng = Random(seed)
        costs = {c: rng.choice([1, 2, 5, 50_000_000]) for c in UNIVERSE}
        sets = HittingSets(UNIVERSE, costs)
        left = SETS
        for _ in range(rng.randint(1, 6)):
            hit = frozenset(rng.sample(UNIVERSE, rng.randint(1, 4)))
            sets.hit(hit)
            left = [s for s in left if s & hit]
            forbidden = frozenset(rng.sample(UNIVERSE, 2))
            sets.forbid(forbidden)
            left = [s for s in left if not forbidden <= s]
            found = sets.best(None)
            wanted = min((sum(costs[c] for c in s) for s in left), default=None)
            assert (None if found is None else sum(costs[c] for c in found)) == wanted
            if found is not None:
                solved += 1
                among = frozenset(rng.sample(UNIVERSE, 5))
                sets.exclude(found & among, among)
                left = [s for s in left if s & among != found & among]
    assert solved > 40


def test_no_set_hits_an_empty_one() -> None:
    sets = HittingSets(UNIVERSE, dict.fromkeys(UNIVERSE, 1))
    assert sets.best(None) == frozenset()
    sets.hit([])
    assert sets.best(None) is None
    assert HittingSets([], {}).best(None) == frozenset()


def test_polls_of_one_place_come_in_order_and_a_flush_alone() -> None:
    polls = [Choice(0, Kind.POLL, "B", k) for k in range(3)]
    flush = Choice(0, Kind.DRAIN, "B")
    sets = HittingSets([*polls, flush], dict.fromkeys([*polls, flush], 1))
    sets.hit([polls[2]])
    assert sets.best(None) == frozenset(polls)
    sets.hit([flush])
    assert sets.best(None) is None
