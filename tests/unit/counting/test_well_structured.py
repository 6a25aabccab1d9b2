"""Processes with counters of their own: systems by hand, the order of their markings, limits, and mistakes to be noticed."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from rdma_robust.counting import well_structured
from rdma_robust.counting.omega_search import omega_search
from rdma_robust.counting.vector_system import CappedSystem, UnguardedSystem
from rdma_robust.counting.well_structured import BACKWARD, CAPPED, WITHOUT_COUNTERS, backward, decide_vectors, embeds
from rdma_robust.limits import Limits
from tests.support.vector_systems import HandVectorSystem, can_be_run, with_vectors


def posts_and_polls(needed: int, processes: int = 1) -> HandVectorSystem:
    """A process posts as often as it likes, then polls; target: so many processes with so many polls in a row each."""
    rows = [
        (0, [("A", (0,))], 0, [("P", (1,))]),
        (0, [("P", (0,))], 0, [("P", (1,))]),
        (0, [("P", (0,))], 0, [("Q0", (0,))]),
    ]
    rows += [(0, [(f"Q{n}", (1,))], 0, [(f"Q{n + 1}", (-1,))]) for n in range(needed)]
    rows.append((0, [(f"Q{needed}", (0,))] * processes, 1, []))
    return with_vectors(rows, 1, (1,))


POLLS_TOO_MANY = with_vectors(
    [(0, [("A", (0,))], 1, [("P", (1,))]), (1, [("P", (1,))], 2, [("P", (-1,))]), (2, [("P", (1,))], 3, [])], 1, (3,)
)
"""Two processes may each post once; no process may poll twice. Two could, so counters must not be added up."""


@pytest.mark.parametrize(("needed", "processes"), [(1, 1), (3, 1), (2, 2), (6, 1)])
def test_a_process_can_poll_what_it_has_posted(needed: int, processes: int) -> None:
    system = posts_and_polls(needed, processes)
    for found in (backward(system), decide_vectors(system)):
        assert found.target == 0 and found.run is not None
        assert can_be_run(system, found.run) == 1
    assert decide_vectors(system).engine == (CAPPED if needed == 1 else BACKWARD)


@pytest.mark.parametrize(("needed", "processes", "engine"), [(3, 1, CAPPED), (2, 2, CAPPED), (6, 1, BACKWARD)])
def test_the_backward_search_is_left_and_goes_on(
    needed: int, processes: int, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(well_structured, "_FEW", 3)
    system = posts_and_polls(needed, processes)
    found = decide_vectors(system)
    assert (found.target, found.engine) == (0, engine) and found.run is not None
    assert can_be_run(system, found.run) == 1


def test_a_process_cannot_poll_what_it_has_not_posted() -> None:
    found = decide_vectors(POLLS_TOO_MANY)
    assert (found.target, found.engine, found.cut) == (-1, BACKWARD, "")
    assert omega_search(UnguardedSystem(POLLS_TOO_MANY)).target == 0
    assert omega_search(CappedSystem(POLLS_TOO_MANY, 3)).target == -1


def test_without_counters_is_enough_where_no_guard_matters() -> None:
    system = with_vectors([(0, [("A", (0,))], 1, [("B", (1,))]), (2, [("B", (1,))], 3, [])], 1, (3,))
    assert decide_vectors(system).engine == WITHOUT_COUNTERS


def test_processes_that_are_born_have_what_they_are_born_with() -> None:
    system = with_vectors(
        [(0, [], 1, [("B", (2, 1))]), (1, [("B", (2, 1))], 2, [("B", (-2, 0))]), (2, [("B", (0, 1))], 3, [])], 2, (3,)
    )
    assert backward(system).target == 0
    more = with_vectors([(0, [], 1, [("B", (2, 1))]), (1, [("B", (2, 2))], 3, [])], 2, (3,))
    assert backward(more).target == -1


def test_limits_are_named() -> None:
    assert backward(posts_and_polls(9), Limits(states=3)).cut == "states"
    assert backward(posts_and_polls(9), Limits.of(0)).cut == "time"
    assert decide_vectors(posts_and_polls(9), Limits(states=3)).cut == "states"


def test_the_order_is_that_of_injections() -> None:
    rng = random.Random(7)
    larger = 0
    for _ in range(400):
        dimension = rng.randint(0, 3)
        small, large = (
            tuple(
                sorted((rng.randint(0, 1), tuple(rng.choices(range(3), k=dimension))) for _ in range(rng.randint(0, most)))
            )
            for most in (3, 5)
        )
        naive = any(
            all(
                a[0] == b[0] and all(x <= y for x, y in zip(a[1], b[1], strict=True))
                for a, b in zip(small, chosen, strict=True)
            )
            for chosen in permutations(large, len(small))
        )
        larger += naive
        assert embeds(small, large) == naive, (small, large)
    assert 100 < larger < 350


def test_one_process_for_two_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two in P would do and one in P would do as well, but there is only one: the need of one is not above that of two."""
    two, one = [("P", (1,)), ("P", (1,))], [("P", (1,))]
    system = with_vectors([(0, [("A", (0,))], 1, one), (1, two, 3, []), (1, one, 2, []), (2, [], 3, [])], 1, (3,))
    assert backward(system).target == 0
    right = well_structured.embeds
    monkeypatch.setattr(well_structured, "embeds", lambda small, large: right(tuple(set(small)), large))
    assert backward(system).target == -1


def test_counters_that_are_added_up_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vector that is forgotten going backward: any process would do for the second poll."""
    right = well_structured._Backward._add

    def forgetful(search: object, control: int, tokens: tuple[tuple[int, tuple[int, ...]], ...], came: object) -> bool:
        return right(search, control, tuple((part, (min(1, *vector, 1),)) for part, vector in tokens), came)  # type: ignore[arg-type]

    assert backward(POLLS_TOO_MANY).target == -1
    monkeypatch.setattr(well_structured._Backward, "_add", forgetful)
    assert backward(POLLS_TOO_MANY).target == 0
