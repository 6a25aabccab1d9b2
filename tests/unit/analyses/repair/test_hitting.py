"""The hitting sets against trying all sets."""

from __future__ import annotations

from itertools import combinations
from random import Random

from rdma_robust.analyses.repair.counting import BalanceBound, Exactly, PollBalance
from rdma_robust.analyses.repair.hitting import HittingSets
from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice

UNIVERSE = [InsertionChoice(k, Barrier.POLL if k % 2 else Barrier.RFENCE, "B") for k in range(9)]
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


def test_equal_statements_of_one_place_come_in_order() -> None:
    polls = [InsertionChoice(0, Barrier.POLL, "B", k) for k in range(3)]
    sets = HittingSets(polls, dict.fromkeys(polls, 1))
    sets.hit([polls[2]])
    assert sets.best(None) == frozenset(polls)


POLL, GET = InsertionChoice(0, Barrier.POLL, "B"), InsertionChoice(1, Barrier.GET, "B")
MORE = [
    POLL,
    InsertionChoice(0, Barrier.POLL, "B", 1),
    GET,
    InsertionChoice(2, Barrier.POLL, "C"),
    InsertionChoice(2, Barrier.RFENCE, "B"),
]
EVERY = [frozenset(some) for n in range(len(MORE) + 1) for some in combinations(MORE, n)]


def test_bounds_and_numbers_of_polls() -> None:
    """Rows with weights, with conditions and with ways out, against trying all sets."""
    for seed in range(40):
        rng = Random(seed)
        costs = {c: rng.choice([1, 2, 5]) for c in MORE}
        sets = HittingSets(MORE, costs)
        least, unless = rng.randint(1, 3), [c for c in MORE if rng.random() < 0.2]
        weights = {POLL: 1, MORE[1]: 1, GET: -1}
        sets.reach(weights, least, unless)
        given = rng.choice([None, MORE[4]])
        bound = BalanceBound(
            PollBalance("B", {0: 2, 1: 1}), 1, rng.randint(0, 3), given, ((PollBalance("C", {2: 1}), 1),) if seed % 2 else ()
        )
        sets.refuse(bound)

        allowed = [s for s in EVERY if _reached(s, weights, least, unless) and _kept(s, bound)]
        left = [s for s in allowed if MORE[1] not in s or POLL in s]
        found = sets.best(None)
        wanted = min((sum(costs[c] for c in s) for s in left), default=None)
        assert (None if found is None else sum(costs[c] for c in found)) == wanted


def _reached(some: Choices, weights: dict[InsertionChoice, int], least: int, unless: list[InsertionChoice]) -> bool:
    return sum(weights.get(c, 0) for c in some) >= least or not some.isdisjoint(unless)


def _kept(some: Choices, bound: BalanceBound) -> bool:
    away = any(sum(row.weight(c) for c in some) >= number for row, number in bound.escapes)
    free = bound.given is not None and bound.given not in some
    return sum(bound.row.weight(c) for c in some) <= bound.most or away or free


def test_a_set_of_which_nothing_is_known_is_left_out_alone() -> None:
    costs = dict.fromkeys(MORE, 1)
    sets = HittingSets(MORE, costs)
    sets.hit([GET])
    sets.refuse(Exactly(frozenset({GET}), frozenset({0, 1})))
    assert sets.best(None) == frozenset({POLL, GET})
