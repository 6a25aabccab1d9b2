"""Assignments of sends to receives: matchings, Hall violators, bounds; each is what all assignments show."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import numpy as np

from rdma_robust.messages.engines.assignments import HallViolator, assignment, at_most, is_hall_violator, proves_bound
from rdma_robust.messages.engines.gathers import Endpoint
from rdma_robust.messages.message_answers import OperationId


def test_matchings_and_hall_violators_of_random_tables() -> None:
    chance = random.Random(7)
    seen = set()
    for _ in range(400):
        rows, columns = chance.randint(1, 5), chance.randint(1, 6)
        allowed = np.array([[chance.random() < 0.45 for _ in range(columns)] for _ in range(rows)])
        found = assignment(allowed)
        exists = any(all(allowed[row, to] for row, to in enumerate(way)) for way in permutations(range(columns), rows))
        seen.add(exists)
        if isinstance(found, HallViolator):
            assert not exists and is_hall_violator(found, allowed)
            assert not is_hall_violator(replace(found, rows=found.rows[1:]), allowed)
        else:
            assert exists and len(set(found)) == rows and all(allowed[row, to] for row, to in enumerate(found))
    assert seen == {True, False}


def test_the_bound_of_a_linear_program_is_the_most_there_is() -> None:
    chance = random.Random(8)
    for _ in range(60):
        rows = chance.randint(1, 4)
        columns = rows + chance.randint(0, 2)
        allowed = np.array([[chance.random() < 0.8 for _ in range(columns)] for _ in range(rows)])
        amounts = np.array([[chance.randint(-5, 5) for _ in range(columns)] for _ in range(rows)], np.int64)
        sums = [
            sum(int(amounts[row, to]) for row, to in enumerate(way))
            for way in permutations(range(columns), rows)
            if all(allowed[row, to] for row, to in enumerate(way))
        ]
        if not sums:
            continue
        found = at_most(allowed, amounts, thorough=True)
        assert proves_bound(found, allowed, amounts) and found.bound == max(sums)
        assert not proves_bound(replace(found, rows=tuple(each - 1 for each in found.rows)), allowed, amounts)


def test_a_column_that_may_be_left_out_has_no_negative_multiplier() -> None:
    allowed, amounts = np.ones((1, 2), np.bool_), np.array([[3, 5]], np.int64)
    found = at_most(allowed, amounts, thorough=True)
    assert found.bound == 5
    wrong = replace(found, rows=(6,), columns=(-3, -1))
    assert wrong.bound == 2 and not proves_bound(wrong, allowed, amounts)


def test_orders_of_channels_are_counted_and_listed() -> None:
    channels = tuple(tuple(OperationId(sender, nth) for nth in range(length)) for sender, length in enumerate((2, 1, 2)))
    for count in range(6):
        endpoint = Endpoint(tuple(OperationId(9, nth) for nth in range(count)), channels)
        orders = list(endpoint.orders())
        assert len(orders) == len(set(orders)) == endpoint.count() == (1, 3, 8, 18, 30, 30)[count]
        assert set(endpoint.pairs()) == {pair for order in orders for pair in zip(endpoint.receives, order, strict=True)}
