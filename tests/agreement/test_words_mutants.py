"""Every rule about messages of several words, left out or changed: a program of litmus/words notices it, or one of
tests/agreement/messages where a run meets `rnr`, which no program of the suite may."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.search_steps import SearchSteps
from rdma_robust.certify.thread_events import ThreadEvent
from rdma_robust.certify.violations import check_not_robust
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.expr import disj
from rdma_robust.language.check import long_messages
from rdma_robust.language.flow import cfg, send_queues
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.send_queues import needed_slots
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.messages import Messages
from rdma_robust.semantics import connections
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.inboxes import Inbox
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from tests.conftest import ROOT
from tests.support.checker_search import RNR, Search, platform_of
from tests.support.patches import Patch, mutated

TOO_LONG: Final = "tests/agreement/messages/words-too-long.rdma"


def load(name: str) -> Program:
    path = ROOT / (name if "/" in name else f"litmus/words/{name}.rdma")
    return load_program(path.read_text(encoding="utf-8"), path.name)


def by_search(name: str, **options: Any) -> str:
    return decide(load(name), CheckOptions(**options)).verdict.value


def _padded(op: cfg.Send | cfg.ImmPut, length: int) -> Any:
    return [word for word in _SENT(op, length) if not (word.word > 1 and word.data is None)]


def _all_signaled(op: cfg.Send | cfg.ImmPut, length: int) -> Any:
    return [replace(word, signaled=op.signaled) for word in _SENT(op, length)]


def _one_poll(thread: str, step: cfg.Step, *more: Any) -> Any:
    steps = list(_WORDS(thread, step, *more))
    return steps[:1] if isinstance(step.op, cfg.RecvPoll) else steps


def _number_last(thread: str, step: cfg.Step, *more: Any) -> Any:
    steps = list(_WORDS(thread, step, *more))
    return [replace(each, assigns=()) for each in steps[:-1]] + [replace(steps[-1], assigns=step.assigns)]


def _needing_room(self: Messages, edge: Any) -> Any:
    return disj(self.unposted(edge), self.channel(edge).is_void)


_SENT, _WORDS = long_messages._sent, long_messages._words
SEARCH: Final[dict[str, tuple[tuple[Patch, ...], str, str, dict[str, Any]]]] = {
    "a word with data needs room": (((Messages, "waits", Messages.unposted),), TOO_LONG, "unknown", {}),
    "a word without data needs none": (((Messages, "waits", _needing_room),), "words-capsules", "robust", {}),
    "only the last word completes": (((long_messages, "_sent", _all_signaled),), "words", "robust", {}),
    "a receive takes room once": (
        ((cfg.Program, "words_of", lambda *_: 1),),
        "words-stale-rest",
        "robust",
        {"recv_depth": 1},
    ),
}


@pytest.mark.parametrize("rule", SEARCH)
def test_the_search_needs_the_rule(rule: str) -> None:
    patches, name, right, options = SEARCH[rule]
    assert by_search(name, **options) == right
    with mutated(patches):
        assert by_search(name, **options) != right


def _no_room_for_any(self: Inbox, place: int, _unfit: Any) -> bool:
    return len(self.posted) > place and self.posted[place] < 7


OUTCOMES: Final[dict[str, tuple[tuple[Patch, ...], str]]] = {
    "axioms: a word with data needs room": (((connections, "finds_room", lambda *_: True),), TOO_LONG),
    "axioms: a word without data needs none": (
        ((connections, "finds_room", lambda _, buffer: not buffer.void),),
        "words-capsules",
    ),
    "machine: a word with data needs room": (
        ((Inbox, "has", lambda self, place, _: len(self.posted) > place),),
        TOO_LONG,
    ),
    "machine: a word without data needs none": (((Inbox, "has", _no_room_for_any),), "words-capsules"),
    "a shorter message takes a whole buffer": (((long_messages, "_sent", _padded),), "words-capsules"),
    "a poll of the receiver is behind all words": (((long_messages, "_words", _one_poll),), "words"),
    "the first poll has the number": (((long_messages, "_words", _number_last),), "words-immediate"),
}


def outcomes(rule: str, name: str) -> tuple[Any, Any]:
    program = load(name)
    if rule.startswith("axioms"):
        found = axiomatic_outcomes(program)
        return found.sc, found.rdma
    return explore(sc_machine_of(program), Limits()).finals, explore(machine_of(program), Limits()).finals


@pytest.mark.parametrize("rule", OUTCOMES)
def test_outcomes_need_the_rule(rule: str) -> None:
    patches, name = OUTCOMES[rule]
    right = outcomes("axioms", name)
    assert outcomes(rule, name) == right
    with mutated(patches):
        assert outcomes(rule, name) != right


def test_a_message_takes_one_slot() -> None:
    assert [each.slots for each in needed_slots(load("words-depth").threads)] == [2]
    with mutated(((send_queues, "_goes_on", lambda _: False),)):
        assert [each.slots for each in needed_slots(load("words-depth").threads)] == [6]


def _by_checker(name: str) -> str:
    try:
        return Search.of(load(name), platform_of(RDMA)).verdict(20_000)
    except ValueError as error:  # it writes a word that nothing writes
        return str(error)


def _unposted(self: SearchSteps, event: ThreadEvent, mail: Any) -> bool:
    return event.is_message and not mail[self.number_of(event)].posted


def _without_room(self: SearchSteps, event: ThreadEvent, mail: Any) -> bool:
    return _unposted(self, event, mail) or (event.is_message and mail[self.number_of(event)].posted[0].cell.void)


@pytest.mark.parametrize(
    ("name", "right", "wrong"), [(TOO_LONG, RNR, _unposted), ("words-capsules", "robust", _without_room)]
)
def test_the_checker_knows_room(name: str, right: str, wrong: Any) -> None:
    assert _by_checker(name) == right
    with mutated(((SearchSteps, "finds_no_buffer", wrong),)):
        assert _by_checker(name) != right


def test_the_checker_takes_no_trace_with_a_word_without_room() -> None:
    program = load(TOO_LONG)
    with mutated(((connections, "finds_room", lambda *_: True),)):
        trace = oracle_robust(program)
        assert trace is not None
        evidence = trace_evidence(program, trace)
    with pytest.raises(InvalidCertificate, match="finds no room in its buffer"):
        check_not_robust(program, platform_of(RDMA), evidence)
