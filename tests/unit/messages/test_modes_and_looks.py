"""Modes of sends, eager limits and looks: every rule about them is needed by a program of the suite, in each engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.evidence.of_message_proofs import proof_of
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding import unrolled
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.language.message_program import MessageProgram, completion_of
from rdma_robust.messages.machine import courses, local_table, process_rules, request_rules
from rdma_robust.messages.machine.matching import acceptable_sends, receive_accepts
from rdma_robust.messages.machine.process_rules import ProcessRules
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageEngine, MessageQuestions
from rdma_robust.messages.replay.interpreter import Interpreter
from sitegen.messages_index import MESSAGES
from tests.litmus.message_goldens import load
from tests.litmus.test_messages_suite import met
from tests.support.naive_messages import Naive, naive_messages

ASKED: Final = MessageQuestions(count=True)


def program_of(name: str) -> MessageProgram:
    return load(MESSAGES / f"{name}.mp")


def is_as_claimed(engine: MessageEngine, name: str) -> bool:
    """Whether an engine finds what the `expect` lines of a program say."""
    program = program_of(name)
    try:
        answers = {buffer: engine(program, buffer, ASKED, Limits.of(20)) for buffer in program.buffers}
    except InternalError:  # a run that it has found is none
        return False
    return all(met(claim, answers[buffer]) for claim in program.claims for buffer in claim.buffers)


def completion_without(mode: str, more: int = 0) -> Callable[..., Any]:
    """Return when sends complete if those of a mode are like others, or the limit is another one."""

    def completion(given: Any, elements: int, buffer: Any, eager: int | None) -> Any:
        return completion_of("standard" if given == mode else given, elements, buffer, (eager or 0) + more)

    return completion


MODES: Final = {
    "sync is nothing": (completion_without("sync"), "modes/ssend-shows-the-hang"),
    "buffered is nothing": (completion_without("buffered"), "modes/bsend-exchange"),
    "the limit is too small": (completion_without("", -1), "modes/eager-enough"),
    "the limit is too large": (completion_without("", 1), "modes/eager-limit"),
}


@pytest.mark.parametrize("mutant", MODES)
@pytest.mark.parametrize(("engine", "where"), [(by_states, process_rules), (by_sat, unrolled)], ids=["states", "sat"])
def test_every_mode_is_needed(engine: MessageEngine, where: Any, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other, name = MODES[mutant]
    assert is_as_claimed(engine, name)
    monkeypatch.setattr(where, "completion_of", other)
    assert not is_as_claimed(engine, name)


def _behind_receives(look: Any, receiver: int, _receives: Any, sender: int, sends: Any) -> Iterator[int]:
    yield from acceptable_sends(look, receiver, sender, sends.sends)


def _out_of_order(look: Any, receiver: int, _receives: Any, sender: int, sends: Any) -> Iterator[int]:
    fit = [at for at, send in enumerate(sends.sends) if send.to == receiver and receive_accepts(look, send, sender)]
    yield from fit[-1:]


def _never_misses(rules: Any, frame: Any) -> Any:
    return () if rules.look(frame) is not None else _CHOICES(rules, frame)


_CHOICES = ProcessRules.choices


def _at_once(_rules: Any, _frame: Any) -> bool:
    return False


def _leaves_all(rules: Any, frame: Any, others: Any, sender: int, number: int) -> str:
    before = list(others.sends)
    violation = _SEE(rules, frame, others, sender, number)
    others.sends[:] = before
    return violation


def _completes(rules: Any, frame: Any, others: Any, sender: int, number: int) -> str:
    violation = _SEE(rules, frame, others, sender, number)
    request_rules.open_send(others, others.sends[number].nth)
    return violation


def _overwrites(rules: Any, frame: Any, request: Any) -> int:
    return -1 if request is None else rules.single(frame, request)[0]


_SEE = ProcessRules.see

LOOKS: Final = {
    "ready sends expect nothing": ("is_expected", lambda *_: True, "modes/rsend-too-early"),
    "ready sends expect too much": ("is_expected", lambda *_: False, "modes/rsend-after-go"),
    "receives are posted at once": ("is_seen", _at_once, "modes/rsend-too-early"),
    "looks see what a posted receive takes": ("seen_by", _behind_receives, "probes/behind-a-posted-receive"),
    "looks see messages out of order": ("seen_by", _out_of_order, "probes/in-order"),
    "looks never miss a message": ("choices", _never_misses, "probes/seen-late"),
    "looks take nothing off": ("see", _leaves_all, "probes/matched-then-received"),
    "what is taken off is received": ("see", _completes, "probes/matched-send-waits"),
    "requests hold several messages": ("spare", _overwrites, "probes/matched-twice"),
    "all have one key": ("_unused_key", lambda _: 0, "probes/matched-out-of-turn"),
}


@pytest.mark.parametrize("mutant", LOOKS)
def test_every_rule_about_looks_is_needed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    what, other, name = LOOKS[mutant]
    assert is_as_claimed(by_states, name)
    places = {"seen_by": (local_table, courses), "is_expected": (local_table, courses), "_unused_key": (process_rules,)}
    for where in places.get(what, (ProcessRules,)):
        monkeypatch.setattr(where, what, other)
    assert not is_as_claimed(by_states, name)


class _Modeless(Interpreter):
    def is_unbuffered(self, world: Any, name: Any) -> bool:
        changed = world._replace(sends=tuple(each._replace(mode="standard") for each in world.sends))
        return super().is_unbuffered(changed, name)


class _Farsighted(Interpreter):
    def jumps_the_queue(self, world: Any, receive: Any, send: Any) -> bool:
        return receive in world.receives and super().jumps_the_queue(world, receive, send)


class _Unordered(Interpreter):
    def overtakes(self, world: Any, receive: Any, send: Any) -> bool:
        return receive in world.receives and super().overtakes(world, receive, send)

    def seen(self, world: Any, me: int) -> list[Any]:
        return super().seen(world, me)[::-1]


class _Trusting(Interpreter):
    def is_expected(self, *_: Any) -> bool:
        return True


class _Leaving(Interpreter):
    def accepts(self, receive: Any, send: Any) -> bool:
        return super().accepts(receive._replace(of=None), send._replace(held=False))


class _Completing(Interpreter):
    def is_unbuffered(self, world: Any, name: Any) -> bool:
        return super().is_unbuffered(world, name) and not any(each.name == name and each.held for each in world.sends)


class _Attentive(Interpreter):
    def choices(self, world: Any, me: int) -> list[int | None]:
        found = super().choices(world, me)
        return [each for each in found if each] or found


INTERPRETERS: Final = {
    "ready sends expect nothing": (_Trusting, "modes/rsend-too-early"),
    "sync is nothing": (_Modeless, "modes/ssend-shows-the-hang"),
    "buffered is nothing": (_Modeless, "modes/bsend-exchange"),
    "looks see what a posted receive takes": (_Farsighted, "probes/behind-a-posted-receive"),
    "looks see messages out of order": (_Unordered, "probes/in-order"),
    "looks never miss a message that is there": (_Attentive, "probes/seen-late"),
    "looks take nothing off": (_Leaving, "probes/matched-out-of-turn"),
    "what is taken off is received": (_Completing, "probes/matched-send-waits"),
}


def _all_ways(kind: Callable[..., Interpreter], name: str) -> list[tuple[bool, bool, int]]:
    program = program_of(name)
    found: list[Naive | None] = [naive_messages(program, each, 20_000, kind(program, each)) for each in program.buffers]
    return [(bool(each.violations), each.deadlock is None, len(each.matchings)) for each in found if each is not None]


@pytest.mark.parametrize("mutant", INTERPRETERS)
def test_every_rule_of_the_interpreter_is_needed(mutant: str) -> None:
    kind, name = INTERPRETERS[mutant]
    assert _all_ways(Interpreter, name) != _all_ways(kind, name)


def _is_proved(name: str, buffer: Any) -> bool:
    try:
        proof_of(program_of(name), buffer, "deadlock-free", 8, Limits.of(10))
    except (TooMuch, SizeLimitError):
        return False
    return True


def test_the_formula_of_the_checker_has_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = (("modes/ssend-shows-the-hang", "infinite"), ("modes/bsend-exchange", "zero"))
    assert [_is_proved(*each) for each in cases] == [False, True]
    monkeypatch.setattr(MatchFormula, "needs_match", lambda self, wait: wait.kind == "receive" or self.buffer == "zero")
    monkeypatch.setattr(MatchFormula, "may_hold", lambda self, wait: wait.kind == "receive" or self.buffer != "infinite")
    assert [_is_proved(*each) for each in cases] == [True, False]
