"""Counting systems drawn at random: all ways to decide them have one answer, and its run or set is checked."""

from __future__ import annotations

from itertools import product

import pytest

from rdma_robust.counting.both_engines import CountingDecision, by_net
from rdma_robust.counting.omega_search import OmegaOptions, omega_search
from rdma_robust.counting.smallest import by_starts, smallest
from rdma_robust.limits import Limits
from tests.support.counting_systems import least_by_breadth, random_system, replayed
from tests.support.inductive_markings import why_not_inductive
from tests.support.shares import share

CHUNK, SMALL_CHUNK = 250, 100
FEW = 4
"""Numbers of processes that the naive search tries, and one more."""
LIMITS = Limits(states=3_000)
WAYS = [OmegaOptions(*switches) for switches in product((True, False), repeat=4)]


@pytest.mark.parametrize("chunk", share(range(24), 24))
def test_every_way_to_search_forward_has_one_checked_answer(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        system = random_system(seed)
        answers = set()
        for options in WAYS:
            found = omega_search(system, LIMITS, options=options)
            assert not found.cut, seed
            answers.add(found.target)
            if found.target >= 0:
                assert found.run is not None, seed
                assert system.target(replayed(system, found.run)[0]) == found.target, seed
            else:
                assert why_not_inductive(system, found.inductive, drop_idle=options.drop_idle) == "", (seed, options)
        assert len(answers) == 1, seed


@pytest.mark.parametrize("chunk", share(range(30), 30))
def test_the_smallest_number_is_that_of_a_plain_search(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdma_robust.counting.smallest._FEW", 0)  # else hardly any is searched backward
    compared = 0
    for seed in range(chunk * SMALL_CHUNK, (chunk + 1) * SMALL_CHUNK):
        system = random_system(seed)
        known = omega_search(system)
        backward, forward = smallest(system, LIMITS, bound=known.run), by_starts(system, Limits(states=500), best=None)
        if known.target < 0:
            assert backward is None, seed
            continue
        assert backward is not None, seed
        if backward.cut:
            continue
        assert backward.run is not None and backward.run.total == backward.least, seed
        assert replayed(system, [move for move, _ in backward.run.steps])[1] == backward.least, seed
        if forward is not None and not forward.cut:
            assert forward.least == backward.least, seed
        try:
            plain = least_by_breadth(system, FEW, states=2_000)
        except OverflowError:
            continue
        compared += 1
        assert plain == (backward.least if backward.least <= FEW else None), seed
    assert compared > SMALL_CHUNK // 5


@pytest.mark.parametrize("chunk", share(range(30), 30))
def test_nets_and_the_race_agree_with_the_forward_search(chunk: int) -> None:
    for seed in range(chunk * SMALL_CHUNK, (chunk + 1) * SMALL_CHUNK):
        system = random_system(seed)
        known = omega_search(system).target
        engines = ("auto", "backward", "forward") if seed % 5 == 0 else ("auto", "backward")[seed % 2 :]
        answers = [by_net(system, engine=engine) for engine in engines]
        answers += [CountingDecision(system, alone=alone).decide() for alone in (0, 3)]
        for found in answers:
            assert found.target == known and not found.cut, (seed, found)
            if found.target >= 0:
                assert found.run is not None, seed
                assert system.target(replayed(system, found.run)[0]) == found.target, seed
