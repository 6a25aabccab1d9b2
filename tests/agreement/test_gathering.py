"""Programs that gather messages: what assignments say of them, and of assertions, is what all states say."""

from __future__ import annotations

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.match_candidates import candidate_pairs
from rdma_robust.messages.encoding.unrolled import NotEncodedError
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.engine_table import contradictions
from rdma_robust.messages.engines.gathers import by_gathering
from rdma_robust.messages.engines.relaxed import proven_assertions
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from rdma_robust.messages.replay.replaying import confirm_answer
from tests.support.gathering_programs import gathering_program
from tests.support.shares import chunks

ASKED = MessageQuestions(count=True, limit=2_000, listed=2_000)


def compared(seeds: range, *, wild: bool) -> tuple[int, int]:
    """Compare programs; return how many were decided by assignments, and how many assertions were proved."""
    decided = held = 0
    for seed in seeds:
        program = load_messages(gathering_program(seed, wild=wild), "random.mp")
        for buffer in BUFFERS:
            states = by_states(program, buffer, ASKED, Limits.of(None, 20_000))
            if states.reason:
                continue
            answer = by_gathering(program, buffer, ASKED, Limits())
            if answer is not None:
                confirm_answer(program, answer)
                assert not contradictions(answer, states), (seed, wild, buffer)
                assert answer.matchings is not None and states.matchings is not None
                assert set(answer.matchings.listed) == set(states.matchings.listed), (seed, wild, buffer)
                decided += 1
            try:
                unrolled = unroll(program, 8)
            except NotEncodedError:
                continue
            places = proven_assertions(unrolled, candidate_pairs(unrolled, buffer).endpoints, Limits())
            assert places.isdisjoint(each.span for each in states.violations), (seed, wild, buffer)
            held += len(places)
    return decided, held


def test_assignments_say_what_all_states_say() -> None:
    assert compared(range(6), wild=False) > (8, 8)
    assert compared(range(3), wild=True)[1] > 2


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_assignments_say_what_all_states_say_of_many(chunk: int) -> None:
    seeds = range(50 * chunk, 50 * chunk + 50)
    assert compared(seeds, wild=False)[0] > 30 and compared(seeds, wild=True)[1] > 20
