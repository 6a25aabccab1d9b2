"""Mutation check: every rule of the marks, of looks, and of what counts as a write, is seen by a program of litmus/races.

Marks that are missing let the search find a race that its definition does not confirm; marks too many let it miss one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import pytest

from rdma_robust.analyses.races import find_races, race_marks, race_system
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.limits import Limits
from rdma_robust.semantics import happens_before
from rdma_robust.semantics.happens_before import Synchronising, synchronising_accesses, synchronising_words
from tests.litmus.test_races_suite import load
from tests.support.random_deployed import loaded, model_of


@dataclass(frozen=True)
class MarkMutant:
    """What is changed, to what, and the program that notices."""

    where: Any
    name: str
    to: Any
    program: str


def _of(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def _in_use(program: Program) -> frozenset[Cell]:
    """The words that synchronise where none is declared."""
    return frozenset(happens_before._used_to_synchronise(program))


RULES, SYSTEM = race_marks.MarkRules, race_system.RaceSystem
MUTANTS: Final = {
    "a poll tells of nothing": MarkMutant(RULES, "polls_one_that_tells", _of(False), "source-reused-polled"),
    "a poll tells of everything": MarkMutant(RULES, "polls_one_that_tells", _of(True), "completions-gather"),
    "a word tells nothing": MarkMutant(RULES, "_read", _of(0), "flag-behind-data"),
    "the table keeps nothing": MarkMutant(RULES, "_kept", _of(0), "flag-behind-data"),
    "the table keeps everything": MarkMutant(RULES, "_kept", _of(1), "flag-behind-data-of-standard"),
    "a receive tells nothing": MarkMutant(RULES, "_told_by_message", _of(False), "store-under-tso"),
    "a NIC's read carries nothing": MarkMutant(RULES, "_of_operation", _of(0), "acknowledged-by-reader"),
    "completions give no order": MarkMutant(RULES, "behind", None, "multipath-acknowledged"),
    "a round tells nothing": MarkMutant(SYSTEM, "_opened", lambda _, marks, *__: marks, "barrier-put-flushed"),
    "a round tells everything": MarkMutant(
        SYSTEM, "_opened", lambda _, marks, *__: marks._replace(round=True), "barrier-put"
    ),
    "a completion that tells is lost": MarkMutant(RULES, "_completed", lambda _, marks, *__: marks, "source-reused-polled"),
    "only reads that go on are looks": MarkMutant(find_races, "with_looks", lambda program: program, "look-that-fails"),
    "a failed swap reads": MarkMutant(race_marks, "may_write", lambda event: event.written is not None, "failed-cas"),
    "every word synchronises": MarkMutant(
        find_races, "synchronising_accesses", lambda program: Synchronising(frozenset(program.cells)), "two-writers"
    ),
    "no word synchronises": MarkMutant(
        find_races, "synchronising_accesses", _of(Synchronising(frozenset())), "lock-then-data"
    ),
    "what is declared `sync` does not synchronise": MarkMutant(
        find_races, "synchronising_accesses", lambda program: Synchronising(_in_use(program)), "store-buffering-of-flags"
    ),
    "what is used to synchronise does so beside what is declared": MarkMutant(
        find_races,
        "synchronising_accesses",
        lambda program: Synchronising(_in_use(program) | synchronising_words(program)),
        "failed-cas",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_rule_that_is_off_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    program = load(mutant.program)
    expected = find_races.find_races(program, model_of(program), Limits())
    monkeypatch.setattr(mutant.where, mutant.name, mutant.to)
    try:
        found = find_races.find_races(program, model_of(program), Limits())
    except InternalError:
        return
    assert found.verdict is not expected.verdict


def test_a_message_waits_for_its_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is an order of its own only where nothing else tells the sender of the buffer: a fault of hardware."""
    text = """
        node A { }
        node B { b }
        thread T on A { send 1 to U inline }
        thread U on B { reg r; r = b; recv b from T }
    """
    program, model = loaded(text, "waits")
    assert find_races.find_races(program, model, Limits()).verdict is find_races.RaceVerdict.RACE_FREE
    monkeypatch.setattr(RULES, "_taken", _of(0))
    with pytest.raises(InternalError):
        find_races.find_races(program, model, Limits())


def test_a_request_without_completion_is_told_of_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    program = load("unsignaled-polled-of-standard")
    noted = RULES._completed

    def forgetting(rules: Any, marks: Any, event: Any, *more: Any) -> Any:
        after = noted(rules, marks, event, *more)
        return after._replace(quiet=frozenset())

    monkeypatch.setattr(RULES, "_completed", forgetting)
    with pytest.raises(InternalError):
        find_races.find_races(program, model_of(program), Limits(), synchronising=synchronising_accesses(program))
