"""Types and lengths of messages: a match of what does not fit is a violation, in every engine and for the checker."""

from __future__ import annotations

from typing import Any, Final

import pytest

from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.messages import proved_formulas
from rdma_robust.certify.messages.proven_claims import check_message_claim
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.errors import ProgramError, SizeLimitError
from rdma_robust.evidence.of_message_proofs import proof_of
from rdma_robust.evidence.of_messages import message_certificates
from rdma_robust.limits import Limits
from rdma_robust.messages.engines import message_goals, smt
from rdma_robust.messages.engines.engine_table import by_auto
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.engines.smt import by_smt
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_program import BUFFERS
from rdma_robust.messages.language.messages_text import program_text
from rdma_robust.messages.machine import courses, local_table
from rdma_robust.messages.machine.courses import random_run
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.traces.observed import read_trace
from rdma_robust.messages.traces.trace_writing import write_trace
from tests.support.message_agreement import QUESTIONS
from tests.support.naive_messages import naive_messages
from tests.unit.messages.test_modes_and_looks import is_as_claimed, program_of

BAD: Final = ("type-of-another", "type-by-who-comes-first", "room-too-small", "room-by-what-came")
GOOD: Final = ("type-never-meets", "room-enough")


@pytest.mark.parametrize("engine", [by_states, by_sat, by_smt, by_auto])
def test_every_engine_finds_what_does_not_fit(engine: Any) -> None:
    for name in (*BAD, *GOOD):
        assert is_as_claimed(engine, f"faults/{name}"), name


@pytest.mark.parametrize("name", BAD)
def test_it_is_found_where_the_receive_stands(name: str) -> None:
    program = program_of(f"faults/{name}")
    for buffer in BUFFERS:
        answer = by_states(program, buffer, QUESTIONS, Limits.of(20))
        lines = [program.source.split("\n")[each.span.line - 1] for each in answer.violations]
        assert all("recv" in line and name[:4] in line for line in lines)
        assert {each.kind for each in answer.violations} == {name[:4]}


@pytest.mark.parametrize(("engine", "where"), [(by_states, local_table), (by_sat, message_goals), (by_smt, smt)])
def test_the_engines_need_the_rule(engine: Any, where: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    what = "pair_mismatch" if where is local_table else "pair_mismatches"
    monkeypatch.setattr(where, what, lambda *_: "" if where is local_table else ())
    assert [is_as_claimed(engine, f"faults/{name}") for name in ("room-too-small", "room-enough")] == [False, True]


def test_a_run_that_shows_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "pair_mismatch", lambda *_: "")
    assert not is_as_claimed(by_sat, "faults/type-of-another")


def test_the_interpreter_needs_the_rule() -> None:
    class Lenient(Interpreter):
        @staticmethod
        def _mismatch(*_: Any) -> None:
            return None

    program = program_of("faults/room-too-small")
    said = [naive_messages(program, "zero", 1_000, kind(program, "zero")) for kind in (Interpreter, Lenient)]
    assert [bool(each and each.violations) for each in said] == [True, False]


def _proof(name: str) -> Any:
    return proof_of(program_of(f"faults/{name}"), "infinite", "holds", 8, Limits.of(20))


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_not_proved_to_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises((TooMuch, SizeLimitError)):
        _proof(name)
    monkeypatch.setattr(proved_formulas, "_mismatches", lambda _: ())
    assert _proof(name)


@pytest.mark.parametrize("name", GOOD)
def test_what_fits_is_certified(name: str) -> None:
    program = program_of(f"faults/{name}")
    answer = by_states(program, "zero", QUESTIONS, Limits.of(20))
    made = message_certificates(program, answer, Limits.of(20), None).certificates
    assert set(made) == {"asserts", "deadlock"}
    for each in made.values():
        check_message_claim(program, "zero", str(each.claim["kind"]), each.evidence)
    check_message_claim(program, "infinite", "holds", _proof(name))


def test_states_of_what_does_not_fit_are_refused() -> None:
    good, bad = (
        load_messages(text, "p.mp")
        for text in (
            "proc P { reg r; recv r room 1 }\nproc Q { send 1 to P size 1 }",
            "proc P { reg r; recv r room 1 }\nproc Q { send 1 to P size 2 }",
        )
    )
    answer = by_states(good, "zero", QUESTIONS, Limits.of(20))
    states = message_certificates(good, answer, Limits.of(20), None).certificates["asserts"].evidence
    with pytest.raises(InvalidCertificate):
        check_message_claim(bad, "zero", "holds", states)


TEXT: Final = """proc P {
  reg a, size, room, type
  req h
  recv a from Q tag 1 of type a + 1 room 4
  h = irecv a of type 2
  recv size room room
  send size to Q on c tag 2 of type type size size
  h = isend room to Q size -1
}

proc Q { skip }

port c
"""


def test_the_text_is_read_and_written() -> None:
    assert format_messages(TEXT, "p.mp") == TEXT
    program = load_messages(TEXT, "p.mp")
    again = load_messages(program_text(program), "p.mp")
    assert [each.body for each in again.processes] == [each.body for each in program.processes]


@pytest.mark.parametrize(
    "line", ["send 1 to P of type", "recv a size 3", "send 1 to P room 3", "recv a of 3", "send a of type 1 to P"]
)
def test_parts_that_are_wrong_are_errors(line: str) -> None:
    with pytest.raises(ProgramError) as error:
        load_messages(f"proc P {{ reg a\n {line} }}", "p.mp")
    assert all(each.span.line == 2 for each in error.value.diagnostics)


def test_runs_become_traces() -> None:
    for name in (*BAD[:3], *GOOD):  # of the last one the room in the trace is that of the run
        program = program_of(f"faults/{name}")
        trace = read_trace(write_trace(program, "zero", random_run(program, "zero", 1)), "t.json")
        answer = by_states(trace, "zero", QUESTIONS, Limits.of(20))
        assert (answer.violated == "yes") == (name in BAD), name
