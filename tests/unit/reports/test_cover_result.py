"""Folding a firing sequence into repetitions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.reports.cover_result import Group, grouped


def unfolded(groups: list[tuple[int, Group]]) -> list[int]:
    return [number for times, group in groups for _ in range(times) for number, repeated in group for _ in range(repeated)]


@given(st.lists(st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(1, 5)), max_size=8))
def test_folding_keeps_the_sequence(parts: list[tuple[list[int], int]]) -> None:
    sequence = [number for part, times in parts for _ in range(times) for number in part]
    assert unfolded(grouped(sequence)) == sequence


def test_repetitions_become_short() -> None:
    assert grouped([]) == []
    assert grouped([7] * 1000) == [(1, ((7, 1000),))]
    assert grouped([1, 2, 3] * 50) == [(50, ((1, 1), (2, 1), (3, 1)))]
    assert grouped([0, *[1, 2, 2] * 9, 4]) == [(1, ((0, 1),)), (9, ((1, 1), (2, 2))), (1, ((4, 1),))]
    assert grouped([1, 2, 1, 3]) == [(1, ((1, 1),)), (1, ((2, 1),)), (1, ((1, 1),)), (1, ((3, 1),))]
    assert len(grouped([*range(1000)] * 3)) == 3000
