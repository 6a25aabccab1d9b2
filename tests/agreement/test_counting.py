"""Counting systems drawn at random: all ways to decide them have one answer, and its run or set is checked."""

from __future__ import annotations

from itertools import product

import pytest

from rdma_robust.counting.inductive_markings import why_not_inductive
from rdma_robust.counting.omega_search import OmegaOptions, omega_search
from rdma_robust.limits import Limits
from tests.support.counting_systems import random_system, replayed
from tests.support.shares import share

CHUNK = 250
LIMITS = Limits(states=3_000)
WAYS = [OmegaOptions(*switches) for switches in product((True, False), repeat=3)]


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
