"""Data races: the search with marks finds those that brute force over the axioms finds, pair by pair, with counters and
without. The programs are those of the other agreement tests, some of them with words that are declared to synchronise.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.support.race_agreement import SOURCES, compared, with_words


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


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_they_agree_on_many(source: str) -> None:
    racing, free = agreeing(source, range(1_000, 1_400))
    assert racing >= 10 and free >= 10, (racing, free)
