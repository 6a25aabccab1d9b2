"""Sets of bytes, and which accesses of threads conflict."""

from __future__ import annotations

import pytest

from rdma_robust.c.evaluate.byte_ranges import Touch, conflicting_bytes, has_all, has_some, merged_ranges


def test_ranges_that_touch_are_one() -> None:
    ranges = merged_ranges([(8, 16), (0, 4), (4, 6), (12, 20)])
    assert ranges == ((0, 6), (8, 20))
    assert has_some(ranges, 5, 9) and not has_all(ranges, 5, 9)
    assert has_all(ranges, 9, 20) and not has_some(ranges, 6, 8)


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        (Touch("main", 0, 8, True, ("t",)), Touch("t", 4, 12, False, ()), [(4, 8)]),
        (Touch("main", 0, 8, True, ()), Touch("t", 0, 8, False, ()), []),
        (Touch("main", 0, 8, True, ()), Touch("t_u", 0, 8, False, ()), []),
        (Touch("main", 0, 8, True, ("t",)), Touch("t_u", 0, 8, False, ()), [(0, 8)]),
        (Touch("t", 0, 8, True, ()), Touch("t_u", 0, 8, True, ()), []),
        (Touch("t", 0, 8, True, ("t_u",)), Touch("t_u", 0, 8, True, ()), [(0, 8)]),
        (Touch("s", 0, 8, True, ()), Touch("t", 0, 8, False, ()), [(0, 8)]),
        (Touch("s", 0, 8, False, ()), Touch("t", 0, 8, False, ()), []),
        (Touch("s", 0, 8, True, ()), Touch("t", 8, 16, True, ()), []),
        (Touch("main", 0, 8, False, ("t",)), Touch("t", 0, 8, True, ()), [(0, 8)]),
    ],
)
def test_accesses_conflict_unless_the_creation_of_a_thread_is_between(
    first: Touch, second: Touch, wanted: list[tuple[int, int]]
) -> None:
    creators = {"s": "main", "t": "main", "t_u": "t"}
    assert conflicting_bytes([first, second], creators) == conflicting_bytes([second, first], creators) == wanted
