"""The engine `auto`: which engine answers, and how two answers are compared and joined."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from bench.message_programs import figure_8, leader, senders
from rdma_robust.limits import Limits
from rdma_robust.messages.engines import engine_table as engine_choice
from rdma_robust.messages.engines import sat
from rdma_robust.messages.engines.engine_table import (
    CrossCheckedAnswer,
    by_auto,
    combined_answer,
    comparison,
    contradictions,
)
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import Buffer
from rdma_robust.messages.message_answers import BufferAnswer, MatchedPair, Matchings, MessageQuestions, OperationId

ENDLESS = """
proc Server { reg v, n; while n < 4 { recv v from any; n = n + v; send 1 to Front } }
proc Front { reg v, n; while n < 4 { recv v; n = n + 1; assert v == 1 } }
proc Client[i in 1..2] { send 1 to Server; send 1 to Server }
"""
ONE, TWO = (MatchedPair(OperationId(0, 0), OperationId(sender, 0)) for sender in (1, 2))
EXACT = BufferAnswer("zero", "first", "no", "no", "no", pairs=frozenset([ONE]), matchings=Matchings(3, True))
OPEN = replace(EXACT, engine="second", violated="unknown", pairs_exact=False, matchings=Matchings(2, False), reason="slow")


def test_small_programs_are_decided_by_states_and_rings_by_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    small, ring = load_messages(senders(2, "sum"), "p.mp"), load_messages(leader(8, 4), "p.mp")
    assert by_auto(small, "zero", MessageQuestions(), Limits()).engine == "states"
    monkeypatch.setattr(engine_choice, "FEW", 1)
    assert by_auto(ring, "infinite", MessageQuestions(), Limits()).engine == "one run"


@pytest.mark.parametrize(
    "wrong",
    [
        {"violated": "yes"},
        {"leaking": "yes"},
        {"deadlocked": "yes"},
        {"pairs": frozenset([ONE, TWO])},
        {"pairs": frozenset()},
        {"matchings": Matchings(4, False)},
        {"matchings": Matchings(2, True)},
    ],
)
def test_answers_that_contradict_each_other(wrong: dict[str, object]) -> None:
    other = replace(EXACT, **wrong)  # type: ignore[arg-type]
    assert contradictions(EXACT, other) and contradictions(other, EXACT)


def test_what_is_left_open_contradicts_nothing() -> None:
    assert not contradictions(EXACT, OPEN) and not contradictions(OPEN, EXACT) and not contradictions(EXACT, EXACT)


def test_a_comparison_says_which_engines_leave_something_open() -> None:
    fast, slow = replace(EXACT, engine="states"), replace(OPEN, engine="sat")
    assert comparison([CrossCheckedAnswer(EXACT, (fast,))]) == "the engines states answer alike"
    both = [CrossCheckedAnswer(EXACT, (fast, slow)), CrossCheckedAnswer(EXACT, (fast, replace(slow, buffer="any")))]
    said = "the engines states, sat answer alike where they answer; sat leaves something open under zero, any (slow)"
    assert comparison(both) == said


def test_answers_together_know_what_either_knows() -> None:
    assert combined_answer(OPEN, EXACT) == replace(EXACT, engine="first")
    both = combined_answer(OPEN, replace(OPEN, engine="third", deadlocked="unknown", pairs=frozenset([TWO]), reason="large"))
    assert (both.violated, both.deadlocked, both.pairs) == ("unknown", "no", frozenset([ONE, TWO]))
    assert both.reason == "second: slow; third: large"


def test_larger_programs_are_decided_by_assignments_and_by_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_choice, "FEW", 1)
    gathers, rounds = load_messages(senders(8, "sum"), "p.mp"), load_messages(figure_8(6), "p.mp")
    assert by_auto(gathers, "any", MessageQuestions(count=True), Limits()).matchings == Matchings(40_320, True)
    answer = by_auto(rounds, "infinite", MessageQuestions(), Limits())
    assert (answer.engine, answer.violated, answer.deadlocked) == ("sat", "no", "no")


def test_what_is_beyond_the_bound_of_loops_is_left_to_the_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_choice, "FEW", 1)
    program = load_messages(ENDLESS, "p.mp")
    asked = MessageQuestions(loop_bound=2)
    assert "bound of loops" in by_sat(program, "infinite", asked, Limits()).reason
    assert by_auto(program, "infinite", asked, Limits()).violated == "no"
    cut = by_auto(program, "infinite", asked, Limits(states=2))
    assert (cut.violated, cut.deadlocked) == ("unknown", "unknown")
    assert "the bound of loops" in cut.reason and "the limit of 2 states" in cut.reason


ARITHMETIC = """
proc Server { reg v, s, t; for i in 0..3 { recv v from any s; t = (3 * t + v) % 1000; send t to s }
  assert t >= 0 && t < 1000 }
proc Client[i in 1..4] { reg x; send i to Server; recv x }
"""


@pytest.mark.parametrize("there", [True, False])
def test_smt_is_the_last_resort_where_it_is_installed(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(_: object, buffer: Buffer, *__: object, **___: object) -> BufferAnswer:
        return BufferAnswer(buffer, "sat", "unknown", "unknown", "unknown", pairs_exact=False, reason="reached a limit")

    monkeypatch.setattr(engine_choice, "FEW", 1)
    monkeypatch.setattr(sat, "by_sat", cut)
    monkeypatch.setattr(engine_choice, "by_states", cut)
    if not there:
        monkeypatch.setitem(sys.modules, "z3", None)
    answer = by_auto(load_messages(ARITHMETIC, "p.mp"), "infinite", MessageQuestions(), Limits())
    assert (answer.engine, answer.violated, answer.deadlocked) == (
        ("smt", "no", "no") if there else ("sat", "unknown", "unknown")
    )
