"""The smallest number of processes: families of which it is known, limits, and how copies are named."""

from __future__ import annotations

import pytest

from rdma_robust.counting import smallest as module
from rdma_robust.counting.omega_search import omega_search
from rdma_robust.counting.protocol import ProcessCopy, name_copies
from rdma_robust.counting.smallest import SmallestResult, by_starts, smallest
from rdma_robust.limits import Limits
from tests.support.counting_systems import HandSystem, doubling, hand, stairs


def backward_only(system: HandSystem) -> SmallestResult[int, str, int] | None:
    """The answer where the search forward stores nothing before the one backward."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW", 0)
        return smallest(system)


@pytest.mark.parametrize("steps", range(6))
def test_one_process_more_than_steps(steps: int) -> None:
    found = smallest(stairs(steps))
    assert found is not None and found.run is not None
    assert found.least == found.run.total == steps + 1


@pytest.mark.parametrize("levels", range(5))
@pytest.mark.parametrize("way", (smallest, by_starts, backward_only))
def test_twice_as_many_for_each_level(levels: int, way: type[smallest]) -> None:
    found = way(doubling(levels))
    assert found is not None and found.run is not None
    assert found.least == found.run.total == 2**levels
    assert found.run.numbers == (2**levels,)


def test_none_where_no_number_will_do() -> None:
    assert smallest(hand([(0, "A", 1, "B")], (2,))) is None
    assert by_starts(hand([(0, "A", 1, "")], (2,))) is None


def test_a_limit_leaves_the_run_that_is_known() -> None:
    system = doubling(4)
    bound = omega_search(system).run
    assert bound is not None
    for found in (smallest(system, Limits(states=20), bound=bound), by_starts(system, Limits(states=20), best=None)):
        assert found is not None and found.cut == "states" and 0 < found.least < 16
    found = smallest(system, Limits(states=20), bound=bound)
    assert found is not None and found.run is not None and found.run.total == 16


def test_templates_are_counted_one_by_one() -> None:
    system = hand([(0, "A", 1, "C"), (1, "A", 2, "D"), (2, "BC", 3, "C"), (3, "DE", 4, "")], (4,), "ABE")
    found = smallest(system)
    assert found is not None and found.run is not None
    assert found.run.numbers == (2, 1, 1)
    copies = [names for _, names in found.run.steps]
    assert copies == [
        (ProcessCopy(0, 1),),
        (ProcessCopy(0, 2),),
        (ProcessCopy(1, 1), ProcessCopy(0, 1)),
        (ProcessCopy(0, 2), ProcessCopy(2, 1)),
    ]


def test_a_process_that_is_back_at_its_start_is_taken_again() -> None:
    system = hand([(0, "A", 1, "B"), (1, "B", 2, "A"), (2, "A", 3, "C"), (3, "C", 4, "")], (4,))
    found = smallest(system)
    assert found is not None and found.run is not None
    assert found.least == 1 and {names for _, names in found.run.steps} == {(ProcessCopy(0, 1),)}


def test_processes_that_are_born_belong_to_no_template() -> None:
    system = hand([(0, "A", 1, "BB"), (1, "BB", 2, "")], (2,))
    found = smallest(system)
    assert found is not None and found.run is not None and found.least == 1
    assert found.run.steps[1][1] == (ProcessCopy(0, 1), ProcessCopy(-1, 1))


def test_what_is_not_there_is_not_taken() -> None:
    system = hand([(0, "B", 1, "")], (1,))
    with pytest.raises(ValueError, match="not there"):
        name_copies(system, [system.table[0][1]])


def test_a_need_dropped_for_a_larger_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways to the target: a short one with two processes, a long one with one."""
    system = hand([(0, "AA", 5, ""), (0, "A", 1, "B"), (1, "B", 2, "B"), (2, "B", 5, "")], (5,))
    found = backward_only(system)
    assert found is not None and found.least == 1
    right = module._within
    monkeypatch.setattr(module, "_within", lambda small, large: right(large, small))
    wrong = backward_only(system)
    assert wrong is not None and wrong.run is not None and wrong.run.total == 2
