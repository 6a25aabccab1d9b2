"""The engine `states` agrees with all interleavings of single steps on random message programs."""

from __future__ import annotations

import pytest

from rdma_robust.messages.language.message_program import BUFFERS
from tests.support.message_agreement import disagreement
from tests.support.random_messages import random_messages
from tests.support.shares import chunks

PER_CHUNK = 20


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


@pytest.mark.parametrize("chunk", chunks(5, 60))
def test_states_agree_with_all_interleavings_of_more(chunk: int) -> None:
    first = 100 + chunk * PER_CHUNK
    assert _compare(range(first, first + PER_CHUNK)) > PER_CHUNK
