"""The engine `sat` says of random message programs what all their states do, and every run that it shows replays."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.match_candidates import candidate_pairs
from rdma_robust.messages.encoding.unrolled import NotEncodedError
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MatchedPair, OperationId
from tests.conftest import ROOT
from tests.support.message_agreement import QUESTIONS, compared_with_states
from tests.support.random_messages import ARRAYS, BLOCKING, BRANCHED, LARGER, random_messages
from tests.support.shares import chunks, share

PER_CHUNK = 100
LITMUS = sorted((ROOT / "litmus" / "messages").rglob("*.mp"))


def compared(program: MessageProgram, buffer: Buffer) -> bool:
    return compared_with_states(by_sat, program, buffer)


def assert_nothing_lost(program: MessageProgram, buffer: Buffer) -> None:
    """No pair that is feasible was dropped from the candidates."""
    unrolled = unroll(program, 8)
    if not unrolled.fixed or unrolled.cuts:
        return
    kept = {
        MatchedPair(OperationId(a.process, a.rank.value), OperationId(b.process, b.rank.value))
        for receive, send in candidate_pairs(unrolled, buffer).pairs()
        for a, b in [(unrolled.receives[receive], unrolled.sends[send])]
    }
    states = by_states(program, buffer, QUESTIONS, Limits.of(20))
    assert states.reason or (states.pairs or frozenset()) <= kept


@pytest.mark.parametrize("path", share(LITMUS, 40), ids=lambda path: path.stem)
def test_sat_agrees_with_states_on_the_litmus(path: Path) -> None:
    program = load_messages(path.read_text(encoding="utf-8"), path.name)
    for buffer in BUFFERS:
        compared(program, buffer)


def test_circles_leave_no_choice_to_both_ends_of_a_stretch() -> None:
    """Under zero, one match may give its receive up for earlier ones, or the next for later ones; not both."""
    path = ROOT / "litmus" / "messages" / "long" / "token-ring.mp"
    assert compared(load_messages(path.read_text(encoding="utf-8"), path.name), "zero")


def test_sat_agrees_with_states() -> None:
    assert sum(compared(random_messages(seed), buffer) for seed in range(2000, 2020) for buffer in BUFFERS) > 40


@pytest.mark.parametrize("chunk", chunks(1, 50))
def test_sat_agrees_with_states_on_more(chunk: int) -> None:
    seeds = range(10_000 + chunk * PER_CHUNK, 10_000 + (chunk + 1) * PER_CHUNK)
    assert sum(compared(random_messages(seed), buffer) for seed in seeds for buffer in BUFFERS) > 2 * PER_CHUNK
    larger = range(seeds.start, seeds.start + PER_CHUNK // 3)
    for taste in (LARGER, BRANCHED, BLOCKING, ARRAYS):
        assert sum(compared(random_messages(seed, taste), buffer) for seed in larger for buffer in BUFFERS) > PER_CHUNK // 2


@pytest.mark.parametrize("first", share(range(5000, 5300, 20), 15))
def test_pruning_loses_no_feasible_pair(first: int) -> None:
    for seed in range(first, first + 20):
        program = random_messages(seed)
        for buffer in BUFFERS:
            try:
                assert_nothing_lost(program, buffer)
            except NotEncodedError:
                continue
