"""What `auto` says of the suite when a few states never decide: what all states say."""

from __future__ import annotations

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.engines import engine_table as engine_choice
from rdma_robust.messages.engines.engine_table import answered, contradictions
from rdma_robust.messages.language.message_program import BUFFERS
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from sitegen.messages_index import FAMILIES, family_programs
from tests.litmus.message_goldens import load

ASKED = MessageQuestions(count=True, limit=200)


def compared(family: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Compare the programs of a family; return which engines decided."""
    monkeypatch.setattr(engine_choice, "FEW", 1)
    engines = set()
    for path in family_programs(family):
        program = load(path)
        for buffer in BUFFERS:
            states = by_states(program, buffer, ASKED, Limits())
            answer = answered(program, buffer, ASKED, Limits())
            assert not contradictions(answer, states), (path.stem, buffer)
            verdicts = zip(
                (answer.violated, answer.deadlocked, answer.leaking),
                (states.violated, states.deadlocked, states.leaking),
                strict=True,
            )
            assert all(ours == theirs for ours, theirs in verdicts), (path.stem, buffer, answer.reason)
            engines.add(answer.engine)
    return engines


def test_a_family_for_make_test(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared("order", monkeypatch) >= {"one run", "sat"}


@pytest.mark.ci
@pytest.mark.parametrize("family", [each for each in FAMILIES if each not in ("order", "long")])
def test_a_family(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(family, monkeypatch)


@pytest.mark.long
def test_the_long_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared("long", monkeypatch)
