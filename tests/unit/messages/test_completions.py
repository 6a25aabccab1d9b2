"""`wait any`, `wait some`, `test` and `abort`: every rule about them is needed by a program of the suite, in each engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from rdma_robust.certify.messages.proven_claims import check_message_claim
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.certify.messages.unfolding import WaitingProcess, _Unfolding
from rdma_robust.errors import ProgramError, SizeLimitError
from rdma_robust.evidence.of_message_proofs import proof_of
from rdma_robust.evidence.of_messages import message_certificates
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding.unrolled import WaitEvent
from rdma_robust.messages.encoding.unrolled_completions import Completions
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.engines.smt import by_smt
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_program import BUFFERS, Completion
from rdma_robust.messages.language.messages_text import program_text
from rdma_robust.messages.machine import request_rules
from rdma_robust.messages.machine.courses import random_run
from rdma_robust.messages.machine.process_rules import ProcessRules
from rdma_robust.messages.machine.request_rules import CompletionChoice
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageEngine
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.traces.observed import read_trace
from rdma_robust.messages.traces.trace_writing import write_trace
from tests.support.message_agreement import QUESTIONS
from tests.support.naive_messages import naive_messages
from tests.unit.messages.test_modes_and_looks import is_as_claimed, program_of


def _all_at_once(rules: Any, frame: Any) -> list[int]:
    found = list(_CHOICES(rules, frame))
    return [each for each in found if each] or ([] if rules.lacks(frame) else found)


def _first_only(rules: Any, frame: Any) -> Any:
    return _CHOICES(rules, frame)[:1]


def _stores_nothing(_done: Any, _wanted: Any) -> Iterator[Any]:
    yield from ()


def _stays_active(frame: Any, name: str, at: int, handle: Any) -> None:
    _PASS(frame, name, at, handle)
    if handle is not None:
        request_rules.put_request(frame, name, at, handle)


_CHOICES = ProcessRules.choices
_PASS = request_rules._pass

RULES: Final = {
    "tests are never late": (ProcessRules, "choices", _all_at_once, "test-is-seen-late"),
    "only the first is completed": (ProcessRules, "choices", _first_only, "any-chosen-too-early"),
    "there is no end before a completion": (ProcessRules, "lacks", lambda *_: (), "any-goes-on"),
    "nothing waits for one of several": (ProcessRules, "held_up", lambda *_: None, "any-of-what-never-comes"),
    "what is complete is not told": (CompletionChoice, "stored", _stores_nothing, "any-drains-all"),
    "what is complete stays active": (request_rules, "_pass", _stays_active, "any-leaves-out-inactive"),
}


@pytest.mark.parametrize("mutant", RULES)
def test_every_rule_is_needed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, what, other, name = RULES[mutant]
    assert is_as_claimed(by_states, f"completions/{name}")
    monkeypatch.setattr(where, what, other)
    assert not is_as_claimed(by_states, f"completions/{name}")


class _Patient(WaitEvent):
    """Is held up although another request is complete."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given[:6])


class _Stubborn(WaitEvent):
    """A test that waits for what it has chosen."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given[:7])


ENCODED: Final = {
    "only what is chosen lets it go on": ("WaitEvent", _Patient, "any-goes-on"),
    "tests wait": ("WaitEvent", _Stubborn, "test-never-answered"),
}


@pytest.mark.parametrize("engine", [by_sat, by_smt])
@pytest.mark.parametrize("mutant", ENCODED)
def test_every_part_of_the_encoding_is_needed(mutant: str, engine: MessageEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    what, other, name = ENCODED[mutant]
    assert is_as_claimed(engine, f"completions/{name}")
    monkeypatch.setattr(f"rdma_robust.messages.encoding.unrolled.{what}", other)
    assert not is_as_claimed(engine, f"completions/{name}")


def test_the_encoding_chooses_what_is_active(monkeypatch: pytest.MonkeyPatch) -> None:
    given: Callable[..., Any] = Completions._takes
    monkeypatch.setattr(Completions, "_takes", lambda self, how, choice, number: given(self, how, choice, min(number, 0)))
    assert not is_as_claimed(by_sat, "completions/any-leaves-out-inactive")


class _Hasty(Interpreter):
    def can_complete(self, *given: Any) -> bool:
        return given[1] is not None


class _Prompt(Interpreter):
    def choices(self, world: Any, me: int) -> list[int | None]:
        found = super().choices(world, me)
        return [each for each in found if each != 0] or ([] if self.may_pause(world, me) else found)


class _Idle(Interpreter):
    def waited_for_one(self, *_: Any) -> None:
        return None


INTERPRETERS: Final = {
    "what is not complete is completed": (_Hasty, "any-of-what-never-comes"),
    "tests are never late": (_Prompt, "test-is-seen-late"),
    "nobody waits for one of several": (_Idle, "any-of-what-never-comes"),
}


@pytest.mark.parametrize("mutant", INTERPRETERS)
def test_every_rule_of_the_interpreter_is_needed(mutant: str) -> None:
    kind, name = INTERPRETERS[mutant]
    program = program_of(f"completions/{name}")

    def said(rules: Interpreter) -> object:
        try:
            found = naive_messages(program, "zero", 20_000, rules)
        except StopIteration:
            return "a message that never came is stored"
        return None if found is None else (bool(found.violations), found.deadlock is None, len(found.matchings))

    assert said(Interpreter(program, "zero")) != said(kind(program, "zero"))


@pytest.mark.parametrize("name", ["any-goes-on", "test-all-or-none", "some-at-once", "abort-is-not-reached"])
def test_certificates_by_states_and_by_proof(name: str) -> None:
    program = program_of(f"completions/{name}")
    for buffer in BUFFERS:
        answer = by_states(program, buffer, QUESTIONS, Limits.of(20))
        made = message_certificates(program, answer, Limits.of(20), None).certificates
        assert set(made) == {"asserts", "deadlock"}
        for each in made.values():
            check_message_claim(program, buffer, str(each.claim["kind"]), each.evidence)
        for claim in ("holds", "deadlock-free"):
            check_message_claim(program, buffer, claim, proof_of(program, buffer, claim, 8, Limits.of(20)))


def _proved(name: str, claim: Any) -> bool:
    try:
        proof_of(program_of(f"completions/{name}"), "zero", claim, 8, Limits.of(10))
    except (TooMuch, SizeLimitError):
        return False
    return True


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("any-in-either-order", "holds"),
        ("test-is-seen-late", "holds"),
        ("some-are-not-all", "holds"),
        ("any-of-what-never-comes", "deadlock-free"),
        ("any-of-sends", "deadlock-free"),
        ("abort-ends-all", "holds"),
    ],
)
def test_what_is_false_is_not_proved(name: str, claim: str) -> None:
    assert not _proved(name, claim)


def test_the_checker_knows_what_lets_a_process_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _proved("any-goes-on", "deadlock-free")
    wait = _Unfolding._wait
    monkeypatch.setattr(_Unfolding, "_wait", lambda self, slot, when, *_, **__: wait(self, slot, when))
    assert not _proved("any-goes-on", "deadlock-free")


def test_waiting_has_no_others_by_itself() -> None:
    assert WaitingProcess("send", 0, 0, 0, None).others == ()  # type: ignore[arg-type]


TEXT: Final = """proc P {
  reg a, f, i, n, w[3]
  req g[2], h
  h = irecv a from Q
  wait any g, h into i
  wait some g[0], h into n, w
  test h into f
  test all g, h into f
  test any g, h into f, i
  test some g, h into n, w
  abort a + 1
}

proc Q { send 1 to P }
"""


def test_the_text_is_read_and_written() -> None:
    assert format_messages(TEXT, "p.mp") == TEXT
    program = load_messages(TEXT, "p.mp")
    found = [each for each in program.processes[0].body if isinstance(each, Completion)]
    assert [(each.how, each.tests) for each in found] == [
        ("any", False), ("some", False), ("all", True), ("all", True), ("any", True), ("some", True),
    ]  # fmt: skip
    again = load_messages(program_text(program), "p.mp")
    assert [each.body for each in again.processes] == [each.body for each in program.processes]


def test_the_words_are_names_elsewhere() -> None:
    text = "proc P { reg test = 1, some, all, abort; req any; some = test; all = some + abort; abort = all; wait any }"
    assert len(load_messages(text, "p.mp").processes[0].body) == 6


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("wait any h", "into"),
        ("wait some h into a", ","),
        ("test h", "into"),
        ("wait any a into a", "no request"),
        ("test h into h", "request"),
        ("abort", "error"),
    ],
)
def test_errors_say_what_to_do(line: str, said: str) -> None:
    with pytest.raises(ProgramError) as error:
        load_messages(f"proc P {{ reg a; req h\n {line} }}", "p.mp")
    assert said in str(error.value)
    assert all(each.span.line in (2, 3) for each in error.value.diagnostics)


def test_what_completes_without_end_is_unknown() -> None:
    sends = "\n".join(f"proc S{at} {{ send 1 to P }}" for at in range(11))
    text = "proc P { reg v[11], n, w[11]; req g[11]; for k in 0..10 { g[k] = irecv v[k] from S0 + k }\n"
    program = load_messages(f"{text} wait some g into n, w }}\n{sends}", "p.mp")
    answer = by_states(program, "infinite", QUESTIONS, Limits.of(60))
    assert "more requests at once" in answer.reason
    assert "some of more than 8 requests" in by_sat(program, "infinite", QUESTIONS, Limits.of(20)).reason


@pytest.mark.parametrize("name", ["some-at-once", "any-of-what-never-comes", "any-drains-all", "test-any-says-which"])
def test_runs_become_traces(name: str) -> None:
    program = program_of(f"completions/{name}")
    for seed in range(3):
        trace = read_trace(write_trace(program, "zero", random_run(program, "zero", seed)), "t.json")
        answer = by_states(trace, "zero", QUESTIONS, Limits.of(20))
        assert (answer.violated, answer.deadlocked == "yes") == ("no", "never" in name)
