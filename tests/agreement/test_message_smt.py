"""The engine `smt` says of random message programs what all their states do, and every run that it shows replays."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.engines.smt import by_smt
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS
from tests.conftest import ROOT
from tests.support.message_agreement import compared_with_states
from tests.support.mutated_messages import mutated_messages
from tests.support.random_messages import BRANCHED, LARGER, Taste, random_messages
from tests.support.shares import chunks, share

PER_CHUNK = 50
SLOW = {"servers-call-each-other", "bounded-buffer"}
"""Programs of which z3 counts the matchings for seconds, as of those of the folder `long`."""

LITMUS = sorted((ROOT / "litmus" / "messages").rglob("*.mp"))
LONG = [path for path in LITMUS if path.parent.name == "long" or path.stem in SLOW]


@pytest.mark.parametrize("path", share([path for path in LITMUS if path not in LONG], 110), ids=lambda path: path.stem)
def test_smt_agrees_with_states_on_the_litmus(path: Path) -> None:
    program = load_messages(path.read_text(encoding="utf-8"), path.name)
    for buffer in BUFFERS:
        compared_with_states(by_smt, program, buffer)


@pytest.mark.long
@pytest.mark.parametrize("path", LONG, ids=lambda path: path.stem)
def test_smt_agrees_with_states_on_long_ones(path: Path) -> None:
    program = load_messages(path.read_text(encoding="utf-8"), path.name)
    for buffer in BUFFERS:
        compared_with_states(by_smt, program, buffer)


def test_smt_agrees_with_states() -> None:
    seeds = range(3000, 3004)
    assert sum(compared_with_states(by_smt, random_messages(seed), buffer) for seed in seeds for buffer in BUFFERS) > 8


@pytest.mark.parametrize("chunk", chunks(1, 16))
def test_smt_agrees_with_states_on_more(chunk: int) -> None:
    seeds = range(20_000 + chunk * PER_CHUNK, 20_000 + (chunk + 1) * PER_CHUNK)
    agree = sum(compared_with_states(by_smt, random_messages(seed), buffer) for seed in seeds for buffer in BUFFERS)
    assert agree > 2 * PER_CHUNK


@pytest.mark.long
@pytest.mark.parametrize("taste", [LARGER, BRANCHED], ids=["larger", "branched"])
@pytest.mark.parametrize("first", range(30_000, 30_100, 10))
def test_smt_agrees_with_states_on_larger_ones(first: int, taste: Taste) -> None:
    for seed in range(first, first + 10):
        for buffer in BUFFERS:
            compared_with_states(by_smt, random_messages(seed, taste), buffer)


@pytest.mark.parametrize("chunk", chunks(1, 12))
def test_both_solvers_agree_with_states_on_mutations_of_named_programs(chunk: int) -> None:
    named = [path for path in LITMUS if path not in LONG]
    for seed in range(chunk * 50, chunk * 50 + 50):
        path = named[7 * seed % len(named)]
        program = mutated_messages(load_messages(path.read_text(encoding="utf-8"), path.name), seed)
        for engine in (by_smt, by_sat):
            compared_with_states(engine, program, BUFFERS[seed % 3])
