"""The engine `sat` says of random message programs what all their states do, and every run that it shows replays."""

from __future__ import annotations

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.match_candidates import candidates
from rdma_robust.messages.encoding.message_shapes import unroll
from rdma_robust.messages.encoding.unrolled import NotEncodedError
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, Issued, Pair
from rdma_robust.messages.replay.replaying import confirm
from tests.support.message_agreement import QUESTIONS
from tests.support.random_messages import random_messages
from tests.support.shares import chunks

PER_CHUNK = 100


def facts(answer: BufferAnswer) -> dict[str, object]:
    assert answer.matchings is not None
    return {
        "violated": answer.violated,
        "violations": {(each.span, each.kind) for each in answer.violations},
        "deadlocked": answer.deadlocked,
        "leaking": answer.leaking,
        "pairs": answer.pairs,
        "races": answer.races,
        "count": (answer.matchings.count, answer.matchings.exact),
        "matchings": set(answer.matchings.listed),
    }


def compared(program: MessageProgram, buffer: Buffer) -> bool:
    """Compare `sat` with `states`; return whether both were exact. What `sat` has found is right in any case."""
    states = by_states(program, buffer, QUESTIONS, Limits.of(20))
    sat = by_sat(program, buffer, QUESTIONS, Limits.of(20))
    confirm(program, sat)
    if states.reason:
        return False
    ours, theirs = facts(sat), facts(states)
    if not sat.reason:
        assert ours == theirs
        return True
    for name in ("violated", "deadlocked", "leaking"):
        assert ours[name] in ("unknown", theirs[name])
    assert sat.pairs is not None
    assert states.pairs is not None
    assert sat.pairs <= states.pairs
    return False


def assert_nothing_lost(program: MessageProgram, buffer: Buffer) -> None:
    """No pair that is feasible was dropped from the candidates."""
    unrolled = unroll(program, 8)
    if not unrolled.fixed or unrolled.cuts:
        return
    kept = {
        Pair(Issued(a.process, a.rank.value), Issued(b.process, b.rank.value))
        for receive, send in candidates(unrolled, buffer).pairs()
        for a, b in [(unrolled.receives[receive], unrolled.sends[send])]
    }
    states = by_states(program, buffer, QUESTIONS, Limits.of(20))
    assert states.reason or (states.pairs or frozenset()) <= kept


def test_sat_agrees_with_states() -> None:
    assert sum(compared(random_messages(seed), buffer) for seed in range(2000, 2020) for buffer in BUFFERS) > 40


@pytest.mark.parametrize("chunk", chunks(6, 50))
def test_sat_agrees_with_states_on_more(chunk: int) -> None:
    seeds = range(10_000 + chunk * PER_CHUNK, 10_000 + (chunk + 1) * PER_CHUNK)
    assert sum(compared(random_messages(seed), buffer) for seed in seeds for buffer in BUFFERS) > 2 * PER_CHUNK


@pytest.mark.parametrize(
    "seeds", [range(3000, 3020), *[pytest.param(range(n, n + 200), marks=pytest.mark.ci) for n in (5000, 6000)]]
)
def test_pruning_loses_no_feasible_pair(seeds: range) -> None:
    for seed in seeds:
        program = random_messages(seed)
        for buffer in BUFFERS:
            try:
                assert_nothing_lost(program, buffer)
            except NotEncodedError:
                continue
