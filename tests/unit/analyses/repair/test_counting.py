"""What can be outstanding, which polls could wait for ever, and how often a flush polls."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.repair.counting import Plan, Refused, count, plan
from rdma_robust.analyses.repair.repairs import Choice, Kind
from rdma_robust.analyses.repair.sites import Sites


def sites(body: str) -> Sites:
    return Sites.of(f"node A {{ x, y }}\nnode B {{ z }}\nnode C {{ w }}\nthread T on A {{ {body} }}", "t", await_loops=False)


def chosen(*parts: tuple[int, Kind]) -> frozenset[Choice]:
    copies: dict[tuple[int, Kind], int] = {}
    found = set()
    for place, kind in parts:
        found.add(Choice(place, kind, "B", copies.get((place, kind), 0)))
        copies[place, kind] = copies.get((place, kind), 0) + 1
    return frozenset(found)


P, D, R, F = Kind.POLL, Kind.DRAIN, Kind.REFILL, Kind.RFENCE


@pytest.mark.parametrize(
    ("body", "parts", "blocks"),
    [
        ("put B.z = x; x = 1", [(1, P)], False),
        ("put B.z = x; x = 1", [(0, P)], True),
        ("put B.z = x; x = 1", [(1, P), (2, P)], True),
        ("put B.z = x; x = 1", [(1, P), (1, P)], True),
        ("put B.z = x; put B.z = x; x = 1", [(2, P), (2, P)], False),
        ("put C.w = x; x = 1", [(1, P)], True),
        ("put B.z = x; x = 1; poll B", [(1, P)], True),
        ("put B.z = x; x = 1; poll B", [(1, D)], True),
        ("put B.z = x; x = 1; poll B", [(1, R)], False),
        ("put B.z = x; poll B; x = 1", [(2, D)], False),
        # A branch may issue nothing.
        ("choose { put B.z = x } or { skip }; x = 1", [(3, P)], True),
        ("choose { put B.z = x } or { skip }; x = 1", [(4, P)], True),
        ("choose { put B.z = x } or { skip }; x = 1", [(2, P)], False),
        # What waits for ever without insertions may wait for ever with them.
        ("poll B; put B.z = x; x = 1", [(3, P)], False),
        # A loop that may be left is no place to wait, unless something inserted commits to it.
        ("loop { put B.z = x }; loop { poll B }; x = 1", [(2, P)], False),
        ("loop { put B.z = x }; loop { poll B }; x = 1", [(4, F)], True),
        ("loop { put B.z = x }; loop { poll B }; x = 1", [(1, P)], True),
        ("loop { put B.z = x }; poll B", [(2, P)], True),
        ("put B.z = x; x = 1; choose { poll B } or { }", [(1, P)], False),
        ("put B.z = x; x = 1; choose { poll B } or { poll C }", [(1, P)], True),
        # A test of a register is a step, whatever comes after it.
        ("reg r; put B.z = x; r = x; if r == 1 { poll B }; x = 1", [(2, P)], True),
    ],
)
def test_blocking(body: str, parts: list[tuple[int, Kind]], blocks: bool) -> None:
    found = plan(sites(body), chosen(*parts))
    assert (isinstance(found, Refused) and found.blocks) == blocks


@pytest.mark.parametrize(
    ("body", "parts", "numbers"),
    [
        ("put B.z = x; x = 1", [(1, D)], (1, 2)),
        ("put B.z = x; poll B; x = 1", [(2, D)], (1, 1)),
        ("put B.z = x; put B.z = x; x = 1", [(1, P), (2, D)], (1, 2)),
        ("put B.z = x; put B.z = x; x = 1; poll B; poll B", [(2, R)], (3, 3)),
        ("choose { put B.z = x } or { skip }; x = 1", [(4, D)], None),
        ("choose { put B.z = x } or { skip }; x = 1", [(4, R)], (2, 2)),
        ("choose { put B.z = x } or { skip }; x = 1", [(2, P), (4, D)], (1, 1)),
        ("loop { put B.z = x }; x = 1", [(2, D)], (1, 2)),
        ("loop { put B.z = x }; x = 1", [(3, D)], None),
        ("loop { put B.z = x }; x = 1", [(3, R)], None),
        ("loop { put B.z = x }; x = 1", [(2, P), (3, D)], (1, 1)),
        ("put C.w = x; put B.z = x; x = 1", [(2, D)], (1, 2)),
        ("; ".join(["put B.z = x"] * 12), [(11, D)], (1, 12)),
    ],
)
def test_polls_of_a_flush(body: str, parts: list[tuple[int, Kind]], numbers: tuple[int, int] | None) -> None:
    found = plan(sites(body), chosen(*parts))
    if numbers is None:
        assert isinstance(found, Refused)
        assert not found.blocks
        assert found.chosen & found.among
    else:
        assert isinstance(found, Plan)
        assert list(found.flushes.values()) == [numbers]


def test_blocking_sets_are_made_small() -> None:
    found = plan(sites("put B.z = x; put B.z = x; put B.z = x; x = 1; poll B"), chosen((1, P), (2, P), (3, P)))
    assert isinstance(found, Refused)
    assert len(found.chosen) == 3
    found = plan(sites("put B.z = x; put B.z = x; x = 1; poll B"), chosen((1, F), (1, P), (2, P), (2, F)))
    assert isinstance(found, Refused)
    assert {c.kind for c in found.chosen} == {P}


def test_numbers_at_places() -> None:
    marked = sites("choose { put B.z = x; put B.z = x } or { skip }; loop { poll B }")
    found = count(marked.flows[0], "B", {})
    assert found.at == {
        0: {0},
        1: {0},
        2: {1},
        3: {2},
        4: {0},
        5: {0, 2},
        6: {0, 1, 2},
        7: {0, 1},
        8: {0, 1, 2},
    }
