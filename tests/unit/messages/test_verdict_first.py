"""Races and matchings never cost the verdict, and no engine takes the time of one that decides."""

from __future__ import annotations

from dataclasses import replace
from math import comb, factorial

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.engines import engine_table as engine_choice
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.engines.gathers import MOST_COUNTED, Endpoint, count_of, feasible
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions, OperationId
from rdma_robust.solver_library import has_solver

BESIDE = MessageQuestions(count=True, limit=100, beside_s=10.0)

SENDERS = """const N = 12
proc Receiver {
  reg got[N], all = 1
  for i in 0..N - 1 { recv got[i] }
  for i in 0..N - 1 { if got[i] != i + 1 { all = 0 } }
  assert !all
}
proc Sender[i in 1..N] { send i to Receiver }
"""
WORKERS = """const W = 12
proc Master {
  reg r, sum
  for i in 1..W { send i to Worker[i] }
  for i in 1..W { recv r; sum += r }
  assert sum == W * (W + 1)
}
proc Worker[i in 1..W] { reg x; recv x from Master; send 2 * x to Master }
"""


def ask(text: str, seconds: float = 60) -> BufferAnswer:
    return answered(load_messages(text, "f.mp"), "infinite", BESIDE, Limits.of(seconds))


def test_matchings_do_not_depend_on_how_an_assertion_is_written() -> None:
    answer = ask(SENDERS)
    assert answer.violated == "yes" and answer.deadlocked == "no" and answer.reason == ""
    assert len(answer.races) == 12 and answer.matchings is not None
    assert answer.matchings.count == factorial(12) and answer.matchings.exact


@pytest.mark.skipif(not has_solver(), reason="needs z3")
def test_smt_is_asked_before_the_time_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_choice, "_FIRST_S", 1.0)
    answer = ask(WORKERS)
    assert (answer.engine, answer.violated, answer.deadlocked) == ("smt", "no", "no")
    assert len(answer.races) == 12 and answer.pairs_exact
    assert answer.matchings is not None and answer.matchings.count >= 100


def gathering(receives: int, channels: list[int]) -> Endpoint:
    sends = tuple(tuple(OperationId(1 + c, n) for n in range(size)) for c, size in enumerate(channels))
    return Endpoint(tuple(OperationId(0, n) for n in range(receives)), sends)


@pytest.mark.parametrize(("receives", "channels"), [(4, [2, 2]), (3, [2, 2]), (5, [3, 1, 2]), (2, [4, 4]), (6, [3, 1, 2])])
def test_matchings_of_channels_are_counted_as_they_are_listed(receives: int, channels: list[int]) -> None:
    endpoint = gathering(receives, channels)
    assert endpoint.count() == len(set(endpoint.orders()))
    assert {pair.receive for pair in endpoint.partners()} == {pair.receive for pair in endpoint.pairs()}
    assert set(endpoint.partners()) <= set(endpoint.pairs())
    races = [sum(pair.receive == each for pair in endpoint.pairs()) > 1 for each in endpoint.receives]
    assert races == [sum(pair.receive == each for pair in endpoint.partners()) > 1 for each in endpoint.receives]


def test_large_counts_are_a_formula_and_too_many_pairs_are_left_out() -> None:
    whole, partly = gathering(3000, [1000] * 3), gathering(20_000, [15_000] * 2)
    assert count_of((whole,), 0).count == comb(3000, 1000) * comb(2000, 1000)
    assert count_of((partly,), 0).count == MOST_COUNTED and not count_of((partly,), 0).exact
    pairs, all_of_them = feasible((whole,))
    assert not all_of_them and len(pairs) == 6000
    assert feasible((replace(whole, channels=whole.channels[:1]),))[1] is False
