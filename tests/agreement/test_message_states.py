"""The engine `states` agrees with all interleavings of single steps on random message programs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferGrant, MessageQuestions
from tests.support.message_agreement import disagreement
from tests.support.mutated_messages import mutated_messages
from tests.support.named_messages import NAMED
from tests.support.random_messages import BLOCKING, random_messages
from tests.support.shares import chunks

PER_CHUNK = 20
BY_A_BUFFER = ("only any", "two buffers", "a buffer lets another be first")


def _compare(seeds: range) -> int:
    """Return how many programs were small enough to be compared, under each buffer semantics."""
    compared = 0
    for seed in seeds:
        program = random_messages(seed)
        for buffer in BUFFERS:
            found = disagreement(program, buffer, 1_500)
            assert not found, (seed, buffer)
            compared += found is not None
    return compared


def test_states_agree_with_all_interleavings() -> None:
    assert _compare(range(8)) > 10


def _compare_any(seeds: range, limit: int) -> int:
    """Return how many programs deadlock under any, of those with many blocking sends that are small enough."""
    deadlocks = 0
    for seed in seeds:
        program = random_messages(seed, replace(BLOCKING, operations=8 + seed % 3))
        found = disagreement(program, "any", limit)
        assert not found, seed
        deadlocks += found is not None and by_states(program, "any", MessageQuestions(), NO_LIMITS).deadlock is not None
    return deadlocks


def test_waits_for_sends_that_may_be_buffered_agree_with_all_interleavings() -> None:
    assert _compare_any(range(6), 700) > 0


@pytest.mark.parametrize("chunk", chunks(1, 100))
def test_waits_for_sends_that_may_be_buffered_agree_with_all_interleavings_of_more(chunk: int) -> None:
    assert _compare_any(range(100 + chunk * 30, 130 + chunk * 30), 4_000) > 0


def _compare_changed(seeds: range, limit: int) -> int:
    """Return in how many programs, changed from those that deadlock by a buffer, one still does."""
    programs = [load_messages(NAMED[name].text, f"{name}.mp") for name in BY_A_BUFFER]
    by_a_buffer = 0
    for seed in seeds:
        program = mutated_messages(programs[seed % len(programs)], seed)
        assert not disagreement(program, "any", limit), seed
        deadlock = by_states(program, "any", MessageQuestions(), NO_LIMITS).deadlock
        by_a_buffer += deadlock is not None and any(isinstance(each, BufferGrant) for each in deadlock.schedule)
    return by_a_buffer


def test_deadlocks_that_need_buffers_agree_with_all_interleavings() -> None:
    assert _compare_changed(range(2), 700) > 0


@pytest.mark.parametrize("chunk", chunks(1, 75))
def test_deadlocks_that_need_buffers_agree_with_all_interleavings_in_more(chunk: int) -> None:
    assert _compare_changed(range(100 + chunk * PER_CHUNK, 100 + (chunk + 1) * PER_CHUNK), 6_000) > 0


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_states_agree_with_all_interleavings_of_more(chunk: int) -> None:
    first = 100 + chunk * PER_CHUNK
    assert _compare(range(first, first + PER_CHUNK)) > PER_CHUNK
