"""Collective operations of groups: what `states` finds, each of its rules switched off, texts, traces, and reports."""

from __future__ import annotations

from typing import Any, Final

import pytest

from rdma_robust.certify.messages.proven_claims import check_message_claim
from rdma_robust.errors import ProgramError
from rdma_robust.evidence.of_messages import message_certificates
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.language.messages_text import program_text
from rdma_robust.messages.machine import group_calls, state_search
from rdma_robust.messages.machine.courses import random_run
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.messages.replay import collective_calls, interpreter
from rdma_robust.messages.replay.replaying import confirm_answer
from rdma_robust.messages.traces.observed import read_trace
from rdma_robust.messages.traces.trace_writing import write_trace
from rdma_robust.reports.messages.run_findings import run_findings
from tests.support.message_agreement import QUESTIONS
from tests.unit.messages.test_modes_and_looks import is_as_claimed, program_of

DIFFERENT: Final = {
    "two-names": "collective",
    "two-roots": "root",
    "two-operations": "operation",
    "two-types": "signature",
    "blocking-and-not": "collective",
}

RULES: Final[dict[str, tuple[Any, str, Any, str]]] = {
    "calls are compared": (state_search, "call_differences", lambda *_: (), "two-roots"),
    "calls that differ are no deadlock": (state_search, "absent_members", lambda *_: None, "two-names"),
    "who depends on nobody leaves": (
        group_calls,
        "awaited_members",
        lambda _, me, members, **__: tuple(each for each in members if each != me),
        "root-does-not-wait",
    ),
    "all wait with rendezvous": (
        group_calls,
        "awaited_members",
        lambda *given, **_: _AWAITED(*given, everyone=False),
        "scan",
    ),
    "groups are apart": (
        group_calls,
        "_call",
        lambda local, _, nth: next((op for op in local.ops if op.nth == nth), None),
        "circle-without-waiting",
    ),
}
"""Rules of the machine, what stands for them, and a program that shows that each is needed."""
_AWAITED = group_calls.awaited_members


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_needed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, what, other, name = RULES[rule]
    assert is_as_claimed(by_states, f"groups/{name}")
    monkeypatch.setattr(where, what, other)
    assert not is_as_claimed(by_states, f"groups/{name}")


@pytest.mark.parametrize(
    ("where", "what", "other", "name"),
    [
        (interpreter, "new_mismatches", lambda *_: (), "two-operations"),
        (collective_calls, "call_mismatch", lambda *_: "", "blocking-and-not"),
        (interpreter, "may_leave", lambda *_, **__: False, "barrier-missed"),
    ],
)
def test_a_replay_has_rules_of_its_own(
    where: Any, what: str, other: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, what, other)
    assert not is_as_claimed(_replayed, f"groups/{name}")


def _replayed(program: MessageProgram, *asked: Any) -> BufferAnswer:
    answer = by_states(program, *asked)
    confirm_answer(program, answer)
    return answer


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_found_where_it_is_called(name: str) -> None:
    program = program_of(f"groups/{name}")
    for buffer in program.buffers:
        answer = by_states(program, buffer, QUESTIONS, Limits.of(20))
        assert {each.kind for each in answer.violations} == {DIFFERENT[name]}
        assert {each.process for each in answer.violations} == {1}
        headlines = [each.headline for each in run_findings(program, [answer])]
        assert len(headlines) == 1
        assert "another process" in headlines[0]


def test_who_waits_for_whom_is_told() -> None:
    program = program_of("groups/groups-in-a-circle")
    answer = by_states(program, "zero", QUESTIONS, Limits.of(20))
    (found,) = run_findings(program, [answer])
    assert any("P0 waits forever for P1 to enter `barrier`" in row.text for row in found.chart.rows)
    assert found.words == ("P0 waits for P1, P1 for P2, and P2 for P0.",)
    assert found.advice.startswith("Every member of a group")


def test_sat_says_what_it_does_not_know() -> None:
    answer = by_sat(program_of("groups/apart"), "zero", QUESTIONS, Limits.of(20))
    assert answer.violated == answer.deadlocked == "unknown"
    assert "who has entered a collective operation" in answer.reason


def test_a_run_is_certified_and_nothing_else() -> None:
    program = program_of("groups/two-roots")
    answer = by_states(program, "zero", QUESTIONS, Limits.of(20))
    made = message_certificates(program, answer, Limits.of(20), None).certificates
    assert {str(each.claim["kind"]) for each in made.values()} == {"violated"}
    for each in made.values():
        check_message_claim(program, "zero", "violated", each.evidence)


TEXT: Final = """port c
group g = {2, 0}

proc P {
  reg root, op, r, a[2]
  req h
  h = icollective reduce on g root 2 op op + 1 sig root give a
  collective scan op max give r get a[1]
  collective scatterv on g root root give a get r
  wait h
  send root to 2 on c
}

proc Q { skip }

proc R {
  reg x
  recv x on c
}
"""


def test_the_text_is_read_and_written() -> None:
    assert format_messages(TEXT, "p.mp") == TEXT
    program = load_messages(TEXT, "p.mp")
    again = load_messages(program_text(program), "p.mp")
    assert [each.body for each in again.processes] == [each.body for each in program.processes]
    assert again.groups == program.groups
    assert program.groups[1].members == (2, 0)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("collective bariere", "RR923"),
        ("collective bcast give 1", "RR924"),
        ("collective barrier get a", "RR924"),
        ("collective allreduce op 3 get a", "RR924"),
        ("collective barrier on h", "RR903"),
        ("collective bcast root 7", "RR914"),
        ("collective barrier root", "RR"),
        ("a = icollective barrier", "RR910"),
    ],
)
def test_what_is_wrong_is_an_error_at_its_place(line: str, code: str) -> None:
    with pytest.raises(ProgramError) as error:
        load_messages(f"group g = {{0}}\nproc P {{ reg a\n {line}\n collective barrier on g\n}}", "p.mp")
    (found,) = error.value.diagnostics
    assert found.code.startswith(code)
    assert found.span.line in (3, 4)


@pytest.mark.parametrize("members", ["0, 0", "5", "PID", "a"])
def test_members_are_processes_each_once(members: str) -> None:
    with pytest.raises(ProgramError):
        load_messages(f"group g = {{{members}}}\nproc P {{ collective barrier on g }}", "p.mp")


def test_a_group_that_nothing_uses_is_told() -> None:
    (found,) = load_messages("group g = {0}\nproc P { collective barrier }", "p.mp").warnings
    assert (found.code, found.span.line) == ("RR701", 1)


@pytest.mark.parametrize("name", ["apart", "exchange", "two-types", "groups-in-a-circle", "blocking-and-not", "scan"])
def test_runs_become_traces(name: str) -> None:
    program = program_of(f"groups/{name}")
    for seed in range(3):
        trace = read_trace(write_trace(program, "infinite", random_run(program, "infinite", seed)), "t.json")
        answer, whole = (by_states(each, "infinite", QUESTIONS, Limits.of(20)) for each in (trace, program))
        assert {each.kind for each in answer.violations} == {each.kind for each in whole.violations}
        assert answer.deadlocked == whole.deadlocked
