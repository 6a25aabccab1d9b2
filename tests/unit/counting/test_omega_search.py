"""The forward search with any number of tokens: families by hand, what it stores, and mistakes that must be noticed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from rdma_robust.counting import omega_search as module
from rdma_robust.counting import omega_tree
from rdma_robust.counting.omega_search import OmegaOptions, OmegaResult, OmegaSearch, omega_search
from rdma_robust.counting.omega_tree import KnownCycles
from rdma_robust.counting.protocol import OmegaMarking
from rdma_robust.counting.smallest import SmallestResult, by_starts
from rdma_robust.limits import Limits
from tests.support.counting_systems import HandMove, HandSystem, doubling, hand, idle_pairs, replayed, stairs
from tests.support.inductive_markings import why_not_inductive

Search = Callable[..., OmegaResult[int, str, int] | SmallestResult[int, str, int] | None]

PLAIN = OmegaOptions(copycats=False, milestones=False, drop_idle=False, cycles=False)


@pytest.mark.parametrize("steps", range(6))
def test_a_family_that_needs_one_process_more_than_steps(steps: int) -> None:
    found = omega_search(stairs(steps))
    assert found.target == 0 and found.run is not None
    assert replayed(stairs(steps), found.run) == (3, steps + 1)


@pytest.mark.parametrize("levels", range(5))
def test_a_family_that_needs_twice_as_many_processes_for_each_level(levels: int) -> None:
    found = omega_search(doubling(levels))
    assert found.target == 0 and found.run is not None
    assert replayed(doubling(levels), found.run) == (levels + 1, 2**levels)


def test_without_compare_and_swap_nothing_is_counted() -> None:
    assert omega_search(stairs(5)).counted == 0
    assert omega_search(stairs(5), options=PLAIN).counted > 0


def lock(holders: int) -> HandSystem:
    """A lock that so many may hold: target is that one more does."""
    rows = [(held, "A", held + 1, "B") for held in range(holders)] + [(held + 1, "B", held, "A") for held in range(holders)]
    return hand([*rows, (holders, "B" * (holders + 1), holders + 1, "")], (holders + 1,))


@pytest.mark.parametrize("holders", (1, 2, 3))
@pytest.mark.parametrize("options", (OmegaOptions(), PLAIN))
def test_a_lock_is_proved_for_any_number(holders: int, options: OmegaOptions) -> None:
    found = omega_search(lock(holders), options=options)
    assert found.target == -1 and not found.cut and found.run is None
    assert set(found.inductive) == {OmegaMarking(n, (), (("B", n),) if n else ()) for n in range(holders + 1)}
    assert why_not_inductive(lock(holders), found.inductive) == ""


def test_what_is_missing_in_a_set_is_said() -> None:
    full = omega_search(lock(2)).inductive
    for gone in full:
        said = why_not_inductive(lock(2), [marking for marking in full if marking != gone])
        assert ("initial control state" in said) if gone.control == 0 else ("leads out of the set" in said)
    assert "a target holds at 3" in why_not_inductive(lock(2), [*full, OmegaMarking(3, (), ())])


def test_idle_tokens_are_forgotten() -> None:
    system = hand([(0, "A", 1, "B"), (1, "A", 0, "C")], (2,))
    with_idle = replace(system, idle_pairs=idle_pairs(system))
    assert {local for each in omega_search(system).inductive for local in each.unlimited} == {"B", "C"}
    assert not any(each.unlimited for each in omega_search(with_idle).inductive)
    kept = omega_search(with_idle, options=OmegaOptions(drop_idle=False))
    assert why_not_inductive(with_idle, kept.inductive, drop_idle=False) == ""


def test_limits_are_named() -> None:
    endless = hand([(0, "", 0, "B"), (0, "BB", 1, "C"), (1, "B", 0, "CC"), (1, "CCC", 2, "B")], (9,))
    assert omega_search(endless, Limits(states=1)).cut == "states"
    assert omega_search(endless, Limits.of(0)).cut == "time"
    assert omega_search(endless).cut == ""


@pytest.mark.parametrize("search", (omega_search, by_starts))
def test_the_clock_is_looked_at_where_moves_take_long(monkeypatch: pytest.MonkeyPatch, search: Search) -> None:
    asked = 0

    class Slow(HandSystem):
        def moves(self, control: int, present: Collection[str]) -> Iterable[HandMove]:
            nonlocal asked
            asked += 1
            return super().moves(control, present)

    chain = hand([(n, "A", n + 1, "") for n in range(40)], (41,))
    slow = Slow(chain.table, targets=chain.targets)
    monkeypatch.setattr("rdma_robust.limits.time", SimpleNamespace(monotonic=lambda: float(asked)))
    found = search(slow, Limits.of(5))
    assert found is not None and found.cut == "time" and asked < 10


def test_the_initial_state_may_be_a_target() -> None:
    found = omega_search(hand([], (0,)))
    assert found.target == 0 and found.run == ()


def test_a_run_that_is_too_long_is_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_RUN", 30)
    assert omega_search(doubling(3)).run is not None
    assert omega_search(doubling(4)).run is None and omega_search(doubling(4)).target == 0


def test_a_pump_is_taken_as_often_as_its_tokens_are_needed() -> None:
    system = hand([(0, "", 1, "B"), (1, "", 0, "B"), (0, "BB", 0, "C"), (0, "CCC", 2, "")], (2,))
    found = omega_search(system)
    assert found.run is not None and replayed(system, found.run) == (2, 0)
    assert sum(move.gives == ("B",) for move in found.run) in (6, 7)


# What must be noticed.

GROWS = hand([(0, "A", 1, "B"), (0, "A", 1, "BB"), (1, "BB", 2, "")], (2,))


def test_domination_the_wrong_way_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert omega_search(GROWS).target == 0

    def wrong(search: OmegaSearch[int, str, int], control: int, wide: int, few: dict[int, int]) -> bool:
        nodes, tree = search.largest.get(control, ()), search.tree
        return any(module.covers_marking(wide, few, tree.wide[node], tree.few[node]) for node in nodes)

    monkeypatch.setattr(OmegaSearch, "_covered", wrong)
    assert omega_search(GROWS).target == -1


def test_omega_too_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A marking that is not at least the ancestor's: B has become C, which cannot be done again."""
    once = hand([(0, "", 1, "B"), (1, "B", 2, "CC"), (2, "", 1, ""), (1, "CCC", 3, "")], (3,))
    assert omega_search(once).target == -1
    monkeypatch.setattr(omega_tree, "covers_marking", lambda *_: True)
    assert omega_search(once).target == 0


def test_a_milestone_left_from_one_maximal_marking_only_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(0, "", 1, "B"), (0, "", 1, "C"), (1, "B", 2, ""), (1, "C", 3, "")]
    two = replace(hand(rows, (2,)), stages={2: 1, 3: 1})
    other = replace(two, targets=(3,))
    assert omega_search(two).target == omega_search(other).target == 0
    right = OmegaSearch._leave

    def first_only(search: OmegaSearch[int, str, int], control: int) -> int:
        search.largest[control] = search.largest[control][:1]
        return right(search, control)

    monkeypatch.setattr(OmegaSearch, "_leave", first_only)
    assert {omega_search(two).target, omega_search(other).target} == {0, -1}


def test_a_copycat_that_is_none_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step at 1 uses up a counted token, so the next process cannot repeat it."""
    system = hand([(0, "", 1, "B"), (1, "AB", 1, "C"), (1, "CC", 2, "")], (2,))
    assert omega_search(system).target == -1
    monkeypatch.setattr(omega_tree, "_gained", lambda step, wide, _few: step.gain & ~wide)
    assert omega_search(system).target == 0


def test_a_cycle_whose_losses_are_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By way of 8 there is any number of W, and a cycle at 0 makes Bs of them; by way of 7 there are one W and one C."""
    rows = [
        (9, "", 8, ""),
        (8, "", 8, "W"),
        (8, "", 0, ""),
        (9, "", 7, "WC"),
        (7, "", 0, ""),
        (0, "W", 1, "B"),
        (1, "", 0, ""),
    ]
    system = replace(hand([*rows, (0, "CBB", 3, "")], (3,)), initial=9)
    assert omega_search(system).target == -1
    right = KnownCycles._keep
    monkeypatch.setattr(KnownCycles, "_keep", lambda cycles, at, cycle: right(cycles, at, cycle._replace(loss=0)))
    assert omega_search(system).target == 0


def test_a_cycle_that_is_known_raises_other_markings_at_once() -> None:
    """Eight steps give a D, whether there is an E or an F: the second time it need not be found out."""
    rows = [(9, "", 0, "E"), (9, "", 0, "F"), *((n, "", (n + 1) % 8, "D" * (n == 7)) for n in range(8))]
    system = replace(hand(rows, (10,)), initial=9)
    known, unknown = (omega_search(system, options=OmegaOptions(cycles=cycles)) for cycles in (True, False))
    assert set(known.inductive) == set(unknown.inductive)
    assert known.states < unknown.states - 5
