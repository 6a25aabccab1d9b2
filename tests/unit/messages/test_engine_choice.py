"""The engine `auto`: which engine answers, and how two answers are compared and joined."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.message_programs import leader, senders
from rdma_robust.errors import InternalError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines import engine_choice
from rdma_robust.messages.engines.answers_compared import contradictions, together
from rdma_robust.messages.engines.engine_choice import by_auto, self_checked
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.message_answers import BufferAnswer, Issued, Matchings, Pair, Questions

ONE, TWO = (Pair(Issued(0, 0), Issued(sender, 0)) for sender in (1, 2))
EXACT = BufferAnswer("zero", "first", "no", "no", "no", pairs=frozenset([ONE]), matchings=Matchings(3, True))
OPEN = replace(EXACT, engine="second", violated="unknown", pairs_exact=False, matchings=Matchings(2, False), reason="slow")


def test_small_programs_are_decided_by_states_and_rings_by_one_run() -> None:
    small, ring = load_messages(senders(2, "sum"), "p.mp"), load_messages(leader(8, 4), "p.mp")
    assert by_auto(small, "zero", Questions(), Limits()).engine == "states"
    assert by_auto(ring, "infinite", Questions(), Limits()).engine == "one run"


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


def test_answers_together_know_what_either_knows() -> None:
    assert together(OPEN, EXACT) == replace(EXACT, engine="first")
    both = together(OPEN, replace(OPEN, engine="third", deadlocked="unknown", pairs=frozenset([TWO]), reason="large"))
    assert (both.violated, both.deadlocked, both.pairs) == ("unknown", "no", frozenset([ONE, TWO]))
    assert both.reason == "second: slow; third: large"


def test_a_self_check_compares_two_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    program = load_messages(senders(3, "max"), "p.mp")
    assert self_checked(program, "any", Questions(count=True), Limits())[1] == ""
    asked = engine_choice.by_states
    monkeypatch.setattr(engine_choice, "by_auto", lambda *given: replace(asked(*given), engine="wrong", deadlocked="yes"))
    with pytest.raises(InternalError, match=r"two engines disagree under any: deadlocked is yes \(wrong\) or no \(states\)"):
        self_checked(program, "any", Questions(), Limits())
