"""Processes with counters of their own, drawn at random: the backward search, the fast ways, and a naive search agree."""

from __future__ import annotations

from collections import Counter

import pytest

from rdma_robust.counting.omega_search import omega_search
from rdma_robust.counting.vector_system import CappedSystem, UnguardedSystem
from rdma_robust.counting.well_structured import backward, decide_vectors
from rdma_robust.limits import Limits
from tests.support.shares import share
from tests.support.vector_systems import can_be_run, random_vector_system, reached_with_few

CHUNK = 40
LIMITS = Limits(states=120)


@pytest.mark.parametrize("dimension", range(3))
@pytest.mark.parametrize("chunk", share(range(10), 10))
def test_the_ways_to_decide_agree(chunk: int, dimension: int) -> None:
    answers = Counter[int]()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        system = random_vector_system(seed, dimension)
        plain, fast = backward(system, LIMITS), decide_vectors(system, LIMITS)
        if not plain.cut and not fast.cut:
            assert plain.target == fast.target, seed
            answers[plain.target] += 1
        for found in (plain, fast):
            if found.target >= 0:
                assert found.run is not None, seed
                try:
                    assert can_be_run(system, found.run) == system.targets[0], seed
                except OverflowError:
                    continue
        assert plain.cut or plain.target == 0 or not reached_with_few(system, 3, 2), seed
        if dimension == 0 and not plain.cut:
            assert (
                plain.target == omega_search(UnguardedSystem(system)).target == omega_search(CappedSystem(system, 0)).target
            ), seed
    assert answers.total() > CHUNK // 2
