"""Folding a firing sequence into repetitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.errors import InternalError
from rdma_robust.petri.net import Net, NetRun, NetTransition, RepeatedFirings
from rdma_robust.petri.slice import replay_firings
from rdma_robust.reports.cover.cover_result import Group, firing_sequence, grouped


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


def test_loops_of_a_run_stay_loops() -> None:
    huge = 10**30
    loop, single = RepeatedFirings(huge, ((1, 2), (2, 1))), RepeatedFirings(huge, ((3, 2),))
    assert grouped([0, loop, single, 3]) == [(1, ((0, 1),)), (huge, ((1, 2), (2, 1))), (1, ((3, 2 * huge + 1),))]
    assert grouped([RepeatedFirings(1, ((1, 1), (2, 3))), 2]) == [(1, ((1, 1),)), (1, ((2, 4),))]


def test_a_loop_is_fired_as_its_rounds_are() -> None:
    """a -> a + b; 3 b -> c: one round of three and one, a huge number of times, and what a round too many needs."""
    net = Net(
        "loops",
        ("a", "b", "c", "d"),
        (NetTransition("fill", ((0, 1),), ((1, 1),)), NetTransition("pack", ((1, 3), (3, 1)), ((1, -3), (2, 1), (3, -1)))),
        (1, 0, 0, 10**30),
        (1, 0, 0, 10**30),
        (((2, 10**30),),),
    )
    run = NetRun((1, 0, 0, 10**30), (RepeatedFirings(10**30, ((0, 3), (1, 1))),), 0)
    view = firing_sequence(net, run, True)
    assert view.length == run.length == 4 * 10**30
    assert [(t.place, t.tokens) for t in view.end] == [("a", 1), ("c", 10**30)]
    replay_firings(net, run)
    for wrong, said in (
        (RepeatedFirings(10**30 + 1, ((0, 3), (1, 1))), "fires pack"),
        (RepeatedFirings(10**30, ((0, 2), (1, 1))), "fires pack"),
        (RepeatedFirings(10**30 - 1, ((0, 3), (1, 1))), "cover"),
    ):
        with pytest.raises(InternalError, match=said):
            firing_sequence(net, NetRun(run.start, (wrong,), 0), False)
        with pytest.raises(InternalError):
            replay_firings(net, NetRun(run.start, (wrong,), 0))
