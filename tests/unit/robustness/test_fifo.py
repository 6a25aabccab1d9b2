"""Queues packed into numbers, against a list."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.expr import Name, evaluate
from rdma_robust.robustness.fifo import BITS, Fifo


@settings(max_examples=60, deadline=None)
@given(st.integers(1, BITS), st.integers(0, 9), st.lists(st.integers(0, 2**BITS - 1), max_size=30))
def test_a_queue_is_a_list(width: int, capacity: int, draws: list[int]) -> None:
    """Odd numbers are put in, where there is room; even ones take out."""
    queue, entries = Fifo("q", width, capacity), deque[int]()
    env = dict(queue.holding(()))
    for draw in draws:
        entry = draw % (1 << width)
        if draw % 2 and len(entries) < capacity:
            entries.append(entry)
            env |= {name: evaluate(e, {**env, "entry": entry}) for name, e in queue.with_newest(Name("entry")).items()}
        elif entries:
            assert evaluate(queue.oldest((1 << width) - 1), env) == entries.popleft()
            env |= {name: evaluate(e, env) for name, e in queue.without_oldest().items()}
        assert env == dict(queue.holding(entries))
        assert bool(evaluate(queue.some(), env)) is bool(entries)
        assert bool(evaluate(queue.any(entry), env)) is any(e & entry for e in entries)
        assert all(env[name] < 1 << bits <= 1 << BITS for name, bits in queue.variables())


@pytest.mark.parametrize("capacity", [1, 7, 8])
def test_what_has_no_room_is_dropped(capacity: int) -> None:
    queue = Fifo("q", 5, capacity)
    env = dict(queue.holding([3] * capacity))
    assert {name: evaluate(e, {**env, "entry": 1}) for name, e in queue.with_newest(Name("entry")).items()} == env
