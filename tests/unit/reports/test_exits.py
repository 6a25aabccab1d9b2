"""Which exit code counts."""

from __future__ import annotations

from itertools import product

import pytest

from rdma_robust.frame.exits import Exit, within, worst

CODES = (Exit.OK, Exit.NOT_ROBUST, Exit.INVALID, Exit.UNKNOWN, Exit.INTERNAL)


@pytest.mark.parametrize(("rule", "order"), [(within, (4, 2, 1, 3, 0)), (worst, (4, 2, 3, 1, 0))])
def test_the_order_of_every_pair(rule: object, order: tuple[int, ...]) -> None:
    assert callable(rule)
    for pair in product(CODES, repeat=2):
        assert rule(pair) == next(code for code in order if code in pair)
    assert rule([]) is Exit.OK
