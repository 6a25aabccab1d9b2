"""What can be outstanding, and which sets of insertions keep every poll as it was."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.repair.counting import BalanceBound, most_outstanding, outstanding, path_refusals, stands
from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice
from rdma_robust.analyses.repair.sites import Sites


def sites(body: str) -> Sites:
    return Sites.of(f"node A {{ x, y }}\nnode B {{ z }}\nnode C {{ w }}\nthread T on A {{ {body} }}", "t", await_loops=False)


def chosen(*parts: tuple[int, Barrier]) -> Choices:
    copies: dict[tuple[int, Barrier], int] = {}
    found = set()
    for place, kind in parts:
        found.add(InsertionChoice(place, kind, "B", copies.get((place, kind), 0)))
        copies[place, kind] = copies.get((place, kind), 0) + 1
    return frozenset(found)


P, G, F = Barrier.POLL, Barrier.GET, Barrier.RFENCE


@pytest.mark.parametrize(
    ("body", "parts", "fine"),
    [
        ("put B.z = x; x = 1", [(1, P)], True),
        ("put B.z = x; x = 1", [(0, P)], False),
        ("put B.z = x; x = 1", [(0, G), (0, P)], True),
        ("put B.z = x; x = 1", [(1, P), (2, P)], False),
        ("put B.z = x; x = 1", [(1, P), (1, G), (2, P)], True),
        ("put B.z = x; x = 1", [(1, P), (1, P)], False),
        ("put B.z = x; put B.z = x; x = 1", [(2, P), (2, P)], True),
        ("put C.w = x; x = 1", [(1, P)], False),
        ("put B.z = x; x = 1; poll B", [(1, P)], False),
        ("put B.z = x; x = 1; poll B", [(1, G), (1, P)], True),
        ("put B.z = x; x = 1; poll B", [(1, G), (1, P), (1, P)], False),
        ("put B.z = x; x = 1; poll B", [(1, P), (2, G)], True),
        # A branch may issue nothing.
        ("choose { put B.z = x } or { skip }; x = 1", [(3, P)], False),
        ("choose { put B.z = x } or { skip }; x = 1", [(4, P)], False),
        ("choose { put B.z = x } or { skip }; x = 1", [(2, P)], True),
        ("choose { put B.z = x } or { skip }; x = 1", [(0, G), (4, P)], True),
        # What waits forever without insertions does with them, and comes to nothing that lies behind.
        ("poll B; put B.z = x; x = 1", [(2, P)], True),
        ("poll B; put B.z = x; x = 1", [(0, G)], False),
        ("put B.z = x; poll B; poll B; x = 1", [(1, G)], False),
        # A loop of polls may be left, unless something inserted commits to it.
        ("loop { put B.z = x }; loop { poll B }; x = 1", [(2, P)], True),
        ("loop { put B.z = x }; loop { poll B }; x = 1", [(2, P), (4, F)], False),
        ("loop { put B.z = x }; loop { poll B }; x = 1", [(2, P), (3, F)], True),
        ("loop { put B.z = x }; loop { poll B }; x = 1", [(1, P)], False),
        ("loop { put B.z = x }; loop { poll B; y = 1 }; x = 1", [(2, P)], False),
        ("loop { put B.z = x }; poll B; x = 1", [(2, P)], False),
        ("put B.z = x; x = 1; choose { poll B } or { }", [(1, P)], True),
        ("put B.z = x; x = 1; choose { poll B } or { y = 1 }", [(1, P)], False),
        ("reg r; put B.z = x; r = x; if r == 1 { poll B }; x = 1", [(2, P)], False),
        # With a get for each poll of a loop, however often it runs.
        ("loop { put B.z = x }; loop { poll B; y = 1 }; x = 1", [(2, G), (2, P)], True),
        ("loop { put B.z = x }; x = 1", [(2, G)], True),
        ("loop { put B.z = x }; x = 1", [(2, G), (2, P), (2, P)], True),
    ],
)
def test_standing(body: str, parts: list[tuple[int, Barrier]], fine: bool) -> None:
    assert stands(sites(body), chosen(*parts)) == fine


def test_a_refusal_holds_for_other_sets_too() -> None:
    """Three polls of two puts: the bound says so of every set that polls three times before a get."""
    marked = sites("put B.z = x; put B.z = x; x = 1")
    (refusal,) = path_refusals(marked, chosen((1, P), (2, P), (2, P)))
    assert isinstance(refusal, BalanceBound)
    for other in (
        [(1, P), (2, P), (2, P)],
        [(1, P), (1, P), (1, P)],
        [(2, P)] * 3,
        [(2, P), (2, P)],
        [(1, G)] + [(2, P)] * 3,
    ):
        polls = sum(refusal.row.weight(c) for c in chosen(*other))
        assert (polls > refusal.most) == (not stands(marked, chosen(*other))), other


def test_numbers_at_places() -> None:
    marked = sites("choose { put B.z = x; put B.z = x } or { skip }; loop { poll B }")
    wanted: dict[int, set[int]] = {0: {0}, 2: {1}, 3: {2}, 4: {0}, 5: {0, 2}, 6: {0, 1, 2}, 7: {0, 1}, 8: {0, 1, 2}}
    for place, numbers in wanted.items():
        assert outstanding(marked, frozenset(), place, "B") == numbers
    assert most_outstanding(marked.flows[0], "B") == {0: 0, 1: 0, **{place: max(n) for place, n in wanted.items()}}
    assert outstanding(marked, chosen((3, P)), 5, "B") == {0, 1}
