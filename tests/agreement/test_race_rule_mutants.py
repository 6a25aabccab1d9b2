"""Mutation check of the checker's rules about races: each is seen by a program of litmus/races.

Marks that are missing let a race-free program have none of its states as evidence; marks too many let the rules find no race
where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.race_accesses import RaceAccesses
from rdma_robust.certify.race_rules import RaceRules
from rdma_robust.certify.race_steps import RaceSteps
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.evidence import of_races
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from tests.litmus.test_races_suite import load
from tests.support.random_deployed import loaded, model_of

_LEVEL, _NOTED = RaceRules._level, RaceRules._noted


def _of(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def _without(**members: Any) -> Callable[..., Any]:
    """What remembers an event, but for members of the marks."""

    def noted(rules: Any, marks: Any, here: Any, marked: bool, issued: bool) -> Any:
        after = _NOTED(rules, marks, here, marked, issued)
        return after._replace(marks=replace(after.marks, **members))

    return noted


def _untagged(rules: Any, marks: Any, here: Any) -> Any:
    return _LEVEL(rules, marks, here._replace(tag=here.tag._replace(beta=False)))


NOTHING: Final[frozenset[Any]] = frozenset()
MUTANTS: Final[dict[str, tuple[Any, str, Any, str]]] = {
    "words tell nothing": (RaceRules, "_from_words", _of(()), "flag-behind-data"),
    "program order keeps nothing": (RaceRules, "_from_events", _of(()), "flag-behind-data"),
    "everything is marked": (RaceRules, "_level", _of((True, True)), "two-writers"),
    "all that is remembered of events is kept": (RaceRules, "_from_events", _of([(True, True)]), "source-reused"),
    "completions tell nothing": (RaceRules, "_noted", _without(told=NOTHING), "source-reused-polled"),
    "unsignaled requests tell nothing": (RaceRules, "_noted", _without(quiet=NOTHING), "unsignaled-polled-of-standard"),
    "a read of a card carries nothing": (RaceRules, "_noted", _without(read=NOTHING), "acknowledged-by-reader"),
    "no thread is marked altogether": (RaceRules, "_noted", _without(covered=NOTHING), "source-reused-polled"),
    "messages tell nothing": (RaceRules, "_told_by_message", _of(False), "store-under-tso"),
    "receives tell nothing": (RaceRules, "_level", _untagged, "store-under-tso"),
    "completions give no order": (Platform, "completions_order", False, "multipath-acknowledged"),
    "every access synchronises": (RaceAccesses, "kind", _of("any"), "two-writers"),
    "no access synchronises": (RaceAccesses, "kind", _of(""), "flag-behind-data"),
    "nothing is looked at where a thread does not go on": (
        of_races,
        "with_looks",
        lambda program: program,
        "look-that-fails",
    ),
    "nothing is ahead": (RaceSteps, "_going_on", _of(()), "two-writers"),
}


def is_free(program: Program) -> bool | None:
    """Whether the checker's rules find a program race free, None if they do not end."""
    model = model_of(program)
    platform = Platform(model.cpu, model.atomics, model.order, model.ordered_reads)
    try:
        of_races.race_free_evidence(program, platform, 8, Limits(states=5_000))
    except InternalError:
        return False
    except SizeLimitError:
        return None
    return True


@pytest.mark.parametrize("name", MUTANTS)
def test_a_rule_that_is_off_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, attribute, to, noticing = MUTANTS[name]
    program = load(noticing)
    expected = is_free(program)
    assert expected is not None
    monkeypatch.setattr(where, attribute, to)
    assert is_free(program) is not expected


def test_a_message_tells_of_nothing_that_its_network_lets_it_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        node A { a = 1 }
        node B { x, b }
        hardware order none
        thread T on A { put B.x = a; send 1 to U inline }
        thread U on B { reg r; posted b from T; rpoll T; r = x }
    """
    program, _ = loaded(text, "passed")
    assert is_free(program) is False
    monkeypatch.setattr(RaceRules, "_told_by_message", _of(True))
    assert is_free(program) is True
