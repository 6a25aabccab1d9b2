"""The search for the fewest waits, on set functions whose cheapest and irreducible sets are known by trying all."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.analyses.repair.hitting import OutOfTimeError
from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice
from rdma_robust.analyses.repair.safe.fewest import Fewest, WaitJudgement

NEVER = 9
"""A patience that nobody has."""


class Puzzle:
    """Safe are the sets that meet all of some clauses; each answer may name a clause that is larger than need be."""

    def __init__(self, random: Random, size: int) -> None:
        self.random = random
        self.universe = tuple(InsertionChoice(k, Barrier.FLUSH, "B") for k in range(size))
        self.costs = {c: random.choice((1, 1, 2, 10)) for c in self.universe}
        self.clauses = [
            frozenset(random.sample(self.universe, random.randint(1, min(3, size))))
            for _ in range(random.randint(0, 5) if size else 0)
        ]
        self.hard: dict[Choices, int] = {}
        self.asked: list[Choices] = []

    def safe(self, chosen: Choices) -> bool:
        return all(clause & chosen for clause in self.clauses)

    def judge(self, chosen: Choices, patience: int) -> WaitJudgement:
        self.asked.append(chosen)
        if self.hard.get(chosen, 0) > patience:
            return WaitJudgement(Safety.UNKNOWN, patience=self.hard[chosen] < NEVER)
        if self.safe(chosen):
            return WaitJudgement(Safety.SAFE)
        clause = self.random.choice([clause for clause in self.clauses if not clause & chosen])
        more = (c for c in self.universe if c not in chosen and self.random.random() < 0.3)
        return WaitJudgement(Safety.UNSAFE, clause.union(more))

    def sets(self) -> list[Choices]:
        return [frozenset(s) for k in range(len(self.universe) + 1) for s in combinations(self.universe, k)]

    def irreducible(self) -> set[Choices]:
        return {s for s in self.sets() if self.safe(s) and not any(self.safe(s - {c}) for c in s)}


@pytest.mark.parametrize("seed", range(20))
def test_all_irreducible_sets_cheapest_first(seed: int) -> None:
    random = Random(seed)
    puzzle = Puzzle(random, random.randint(0, 7))
    search = Fewest(puzzle.universe, puzzle.costs, puzzle.judge)
    search.run(100)
    assert set(search.found) == puzzle.irreducible()
    assert len(set(search.found)) == len(search.found)
    assert search.exhausted
    prices = [search.cost(s) for s in search.found]
    assert prices == sorted(prices)
    assert search.needed == frozenset().union(*(c for c in puzzle.clauses if len(c) == 1))
    assert len(puzzle.asked) == len(set(puzzle.asked)), "nothing is asked twice"


@pytest.mark.parametrize("seed", range(20))
def test_what_is_undecided_is_left_out_and_listed(seed: int) -> None:
    """Every safe set that costs less than the answer is among the undecided; what is decided by a larger set is not."""
    random = Random(1000 + seed)
    puzzle = Puzzle(random, 6)
    everything = frozenset(puzzle.universe)
    puzzle.hard = {s: NEVER for s in puzzle.sets() if random.random() < 0.3 and s != everything}
    search = Fewest(puzzle.universe, puzzle.costs, puzzle.judge)
    search.run(1)
    (best,) = search.found
    assert puzzle.safe(best)
    assert best not in puzzle.hard
    better = {s for s in puzzle.sets() if puzzle.safe(s) and search.cost(s) < search.cost(best)}
    assert better <= set(search.left_undecided(best)) <= puzzle.hard.keys()


@pytest.mark.parametrize("seed", range(16))
def test_sets_that_take_long_are_decided_in_the_end(seed: int) -> None:
    """The quick ones are asked first; nothing is asked twice with the same patience."""
    random = Random(2000 + seed)
    puzzle = Puzzle(random, 6)
    everything = frozenset(puzzle.universe)
    puzzle.hard = {s: random.randint(1, 3) for s in puzzle.sets() if random.random() < 0.5 and s != everything}
    search = Fewest(puzzle.universe, puzzle.costs, puzzle.judge)
    search.run(1 if seed % 2 else 100)
    if seed % 2:
        assert not search.left_undecided(search.found[0])
        assert search.cost(search.found[0]) == min(map(search.cost, puzzle.irreducible()))
    else:
        assert not search.left_undecided()
        assert set(search.found) == puzzle.irreducible()
    assert all(puzzle.asked.count(s) <= 1 + puzzle.hard.get(s, 0) for s in puzzle.asked)


def test_when_the_time_is_over_the_cheapest_known_set_is_left() -> None:
    puzzle = Puzzle(Random(3), 6)
    puzzle.clauses = [frozenset(puzzle.universe[:2]), frozenset(puzzle.universe[1:4]), frozenset(puzzle.universe[3:5])]

    def judge(chosen: Choices, patience: int) -> WaitJudgement:
        if len(puzzle.asked) == 5:
            raise OutOfTimeError
        return puzzle.judge(chosen, patience)

    search = Fewest(puzzle.universe, dict.fromkeys(puzzle.universe, 1), judge)
    with pytest.raises(OutOfTimeError):
        search.run(1)
    assert search.safe is not None
    assert puzzle.safe(search.safe)
    assert not search.found
