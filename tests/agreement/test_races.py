"""Data races: the search with marks finds those that brute force over the axioms finds, pair by pair, with counters and
without. The programs are those of the other agreement tests, some of them with words that are declared to synchronise.
"""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.races.find_races import find_races
from rdma_robust.limits import Limits
from tests.support.race_agreement import SOURCES, compared, found_pairs, with_accesses, with_words
from tests.support.random_deployed import loaded
from tests.support.random_programs import SMALL, TINY, random_program


def agreeing(source: str, seeds: range) -> tuple[int, int]:
    """Compare the programs of these seeds; return how many race, and how many do not."""
    racing = free = 0
    for program, model in SOURCES[source](seeds):
        found = compared(with_words(program, Random(program.file)), model)
        racing += bool(found)
        free += found == frozenset()
    return racing, free


@pytest.mark.ci
@pytest.mark.parametrize("source", SOURCES)
def test_search_and_brute_force_agree(source: str) -> None:
    racing, free = agreeing(source, range(6))
    assert racing + free >= 1


def agreeing_on_accesses(source: str, seeds: range) -> tuple[int, int]:
    """Compare programs of which some accesses synchronise; return how many race, and how many do not."""
    racing = free = 0
    for program, model in SOURCES[source](seeds):
        found = compared(with_accesses(with_words(program, Random(program.file)), Random(f"said {program.file}")), model)
        racing += bool(found)
        free += found == frozenset()
    return racing, free


@pytest.mark.ci
@pytest.mark.parametrize("source", SOURCES)
def test_they_agree_where_accesses_synchronise(source: str) -> None:
    racing, free = agreeing_on_accesses(source, range(20, 26))
    assert racing + free >= 1


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_they_agree_on_many_where_accesses_synchronise(source: str) -> None:
    racing, free = agreeing_on_accesses(source, range(2_000, 2_400))
    assert racing >= 10 and free >= 10, (racing, free)


def counted_as_without(seeds: range) -> int:
    """Compare the search that counts completions with that of all states on programs with loops; return how many race."""
    racing = 0
    for seed in seeds:
        rng = Random(f"races loops {seed}")
        program, model = loaded(random_program(rng, rng.choice([TINY, SMALL]), loops=True), f"loops {seed}")
        program = with_words(program, rng)
        found = [find_races(program, model, Limits(states=4_000), counted=counted) for counted in (True, False)]
        counted, plain = map(found_pairs, found)
        if not found[0].reason:
            assert plain <= counted and (found[1].reason or plain == counted), program.source
        racing += bool(plain)
    return racing


@pytest.mark.ci
def test_completions_may_be_counted() -> None:
    assert counted_as_without(range(40)) >= 5


@pytest.mark.long
def test_completions_may_be_counted_on_many() -> None:
    assert counted_as_without(range(1_000, 3_000)) >= 300


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_they_agree_on_many(source: str) -> None:
    racing, free = agreeing(source, range(1_000, 1_400))
    assert racing >= 10 and free >= 10, (racing, free)
