"""Traces: read as programs, written from runs, and all errors in them at their places."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.errors import ProgramError
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, MessageProgram
from rdma_robust.messages.machine.courses import random_run
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions
from rdma_robust.messages.replay.replaying import replay_schedule
from rdma_robust.messages.traces.observed import read_recorded, read_trace
from rdma_robust.messages.traces.trace_record import MEMBERS, REQUIRED
from rdma_robust.messages.traces.trace_writing import write_trace
from tests.conftest import ROOT
from tests.support.random_messages import random_looks, random_messages

FIGURE_1 = """{"format": "rdma-robust/message-trace", "version": 1, "name": "figure 1", "processes": [
  {"name": "T0", "events": [
    {"op": "irecv", "into": "a", "request": "h1", "matched": [2, 0], "line": 3},
    {"op": "wait", "request": "h1"},
    {"op": "recv", "into": "b", "from": "any", "port": null, "tag": "any"},
    {"op": "assume", "expr": "b > 0"},
    {"op": "assert", "expr": "a == 4"}]},
  {"name": "T1", "events": [{"op": "recv", "into": "c"}, {"op": "send", "to": 0, "value": 1}]},
  {"name": "T2", "events": [{"op": "send", "to": 0, "value": "2 * 2"}, {"op": "send", "to": 1}]}]}
"""
"""Only the second receive of T0 does not say what it took."""

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/message-trace.schema.json").read_text()))


def answer(program: MessageProgram) -> BufferAnswer:
    return by_states(program, "infinite", MessageQuestions(count=True), NO_LIMITS)


def errors(read: Callable[[], object]) -> str:
    with pytest.raises(ProgramError) as raised:
        read()
    return str(raised.value)


def test_a_trace_is_a_program_at_the_places_of_its_events() -> None:
    SCHEMA.validate(json.loads(FIGURE_1))
    program = read_trace(FIGURE_1, "t.json")
    found = answer(program)
    assert found.matchings is not None
    assert (found.violated, found.deadlocked, len(found.pairs or ()), found.matchings.count) == ("yes", "no", 5, 2)
    assert found.violations[0].span.line == 7
    assert [each.name for each in program.processes] == ["T0", "T1", "T2"]


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('"b > 0"', '"b > > 0"', ["t.json:6:35: error: unexpected `>`"]),
        ('"b > 0"', '"bb > 0"', ["t.json:6:31: error: there is nothing called `bb`", "did you mean `b`?"]),
        ('"a == 4"', '"a == 4) ; send (3"', ["t.json:7:30: error: `expr` is no expression"]),
        ('"a == 4"', '"d == 4"', ["t.json:7:31: error: there is nothing called `d`"]),
        ('"into": "b"', '"into": "a"', ["t.json:5:28: error: `a` is defined before"]),
        ('"into": "b"', '"into": "while"', ["`while` is a keyword", "RR103"]),
        (
            '"request": "h1"}',
            '"request": "h2"}',
            ["4:31: error: no request `h2` is open", "`a` has no value before"],
        ),
        ('"recv", "into": "b"', '"recw", "into": "b"', ["t.json:5:12: error: an event has an `op`", "did you mean `recv`?"]),
        ('"to": 0, "value": 1', '"to": 9, "value": 1', ["t.json:8:79: error: there is no process 9", "from 0 to 2"]),
        ('"to": 0, "value": 1', '"too": 0', ["`send` has no `too`", "did you mean `to`?", "`send` has no `to`"]),
        ('"from": "any"', '"from": 1, "sender": "s"', ["`sender` is for a receive of which `from` is any"]),
        ('"tag": "any"', '"tag": -1', ["`tag` is a number from 0"]),
        ('"line": 3', '"line": 0', ["`line` is the number of a line"]),
        ("[2, 0]", "[2, 7]", ["t.json:3:62: error: process 2 has 2 sends"]),
        ("[2, 0]", "[2]", ["`matched` is [process, number]"]),
        ('"version": 1', '"version": 2', ["its version is another", "expected: 1"]),
        ('"name": "T1"', '"name": ""', ["a process has a name"]),
        ('{"name": "T1", ', '{"name": "T1", "name": "T1", ', ["the member `name` is there twice"]),
        ('"a == 4"}', '"a == 4"}}', ["t.json:7:39: error: this is no JSON", "expected: `,` or `]`"]),
        ('"h1"}', '"h1}', ["error: this string is not closed"]),
        ('"format": "rdma-robust/message-trace", ', "", ["a trace has a member `format`"]),
    ],
)
def test_an_error_is_told_where_it_is(old: str, new: str, said: list[str]) -> None:
    assert old in FIGURE_1
    told = errors(lambda: read_trace(FIGURE_1.replace(old, new), "t.json"))
    assert all(each in told for each in said), told


@pytest.mark.parametrize("text", ["", "[]", "{}", "nul", '{"processes": []}', "[" * 100, "1" * 2000])
def test_what_is_no_trace_is_an_error(text: str) -> None:
    assert "error: " in errors(lambda: read_trace(text, "t.json"))


HELD = (
    '{"format": "rdma-robust/message-trace", "version": 1, "processes": [{"name": "A", "events": [\n'
    '{"op": "mprobe", "taken": "m", "from": 1},\n'
    '{"op": "imrecv", "of": "m", "into": "v", "request": "h", "matched": [1, 0]},\n'
    '{"op": "wait", "request": "h"},\n{"op": "assert", "expr": "v == 1"}]},\n'
    '{"name": "B", "events": [{"op": "send", "to": 0, "value": "1"}]}]}'
)


def test_the_schema_has_the_members_that_are_read() -> None:
    parts = SCHEMA.schema["$defs"]
    assert {op: list(parts[op]["properties"]) for op in MEMBERS} == {op: ["op", *MEMBERS[op], "line"] for op in MEMBERS}
    assert {op: set(parts[op]["required"]) for op in MEMBERS} == {op: {"op", *REQUIRED[op]} for op in MEMBERS}
    assert [each["$ref"] for each in parts["event"]["anyOf"]] == [f"#/$defs/{op}" for op in parts if op in MEMBERS]


def test_a_trace_has_messages_that_are_held() -> None:
    SCHEMA.validate(json.loads(HELD))
    found = answer(read_trace(HELD, "t.json"))
    assert (found.violated, found.deadlocked, len(found.pairs or ())) == ("no", "no", 1)


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('"of": "m"', '"of": "n"', "t.json:3:24: error: no request `n` holds a message here"),
        ('"request": "h"', '"request": "m"', "no request `h` is open here"),
        ('"taken": "m"', '"token": "m"', "`mprobe` has no `taken`"),
        ("[1, 0]", "[1, 1]", "process 1 has 1 sends"),
        ('"mprobe", "taken": "m"', '"irecv", "request": "m"', "no request `m` holds a message here"),
    ],
)
def test_an_error_about_what_is_held_is_told_where_it_is(old: str, new: str, said: str) -> None:
    assert said in errors(lambda: read_trace(HELD.replace(old, new, 1), "t.json"))


OBSERVED = FIGURE_1.replace('"from": "any", ', '"matched": [1, 0], ').replace(
    '"into": "c"', '"into": "c", "matched": [2, 1]'
)


def test_what_was_observed_is_a_run() -> None:
    recorded = read_recorded(OBSERVED, "t.json")
    assert recorded.observed is not None
    end = replay_schedule(recorded.program, "infinite", recorded.observed)
    assert (end.ending, len(end.pairs), end.violations) == ("complete", 3, ())


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("[2, 0]", "[2, 1]", "t.json:3:5: error: this receive cannot have taken the send on line 9: ports, sources"),
        ("[1, 0]", "[2, 0]", "t.json:5:5: error: this receive cannot have taken the send on line 9: ports, sources"),
        ("b > 0", "b > 1", ""),
        ('"request": "h1", "matched"', '"request": "h1", "from": 1, "matched"', "t.json:3:5: error: this receive cannot"),
        ('"recv", "into": "c"', '"recv", "into": "c", "tag": 4', "t.json:8:29: error: this receive cannot have taken"),
    ],
)
def test_what_cannot_have_been_observed_is_an_error(old: str, new: str, said: str) -> None:
    text = OBSERVED.replace(old, new, 1)
    assert text != OBSERVED
    if said:
        assert said in errors(lambda: read_trace(text, "t.json"))
    else:
        assert read_recorded(text, "t.json").observed is not None


def test_collective_events_are_library_procedures() -> None:
    event = '{"op": "collective", "name": "reduce", "root": 1, "value": "%d", "into": "s"}'
    processes = ", ".join(
        f'{{"name": "P{each}", "events": [{event % (each + 1)}{claim}]}}'
        for each, claim in enumerate(
            ["", ', {"op": "assert", "expr": "s == 6"}', ', {"op": "collective", "name": "barrier"}']
        )
    )
    text = f'{{"format": "rdma-robust/message-trace", "version": 1, "processes": [{processes}]}}'
    SCHEMA.validate(json.loads(text))
    found = answer(read_trace(text, "t.json"))
    assert (found.violated, found.deadlocked) == ("no", "yes")
    assert {each.calls for each in found.mismatches} == {("", "barrier")}
    assert "unknown function" not in errors(lambda: read_trace(text.replace("reduce", "reduct"), "t.json"))


ALL = """
port ctl
reg total
fun double(x) { if x == 0 { return 7 }; return 2 * x }
proc Server {
  reg v, s, a[2], b; req h[2]
  for i in 0..1 { h[i] = irecv a[i] from any s tag any }
  wait h
  while v < 2 { total = total + a[v]; v = v + 1 }
  b = double(total)
  send a to Client[s - 1] on ctl
  b = bcast(b, 0)
  assert a[0] < a[1] && b > 0
}
proc Client[i in 1..2] {
  reg v
  send i to Server tag i
  choose { recv v on ctl; v = v[1]; assert v == 2 } or { skip }
  v = bcast(v, 0)
}
"""


def test_the_trace_of_a_run_has_all_that_it_did() -> None:
    program = load_messages(ALL, "all.mp")
    endings = set()
    for seed in range(6):
        run = random_run(program, "infinite", seed)
        text = write_trace(program, "infinite", run, ("by chance",))
        SCHEMA.validate(json.loads(text))
        recorded = read_recorded(text, "t.json")
        before = replay_schedule(program, "infinite", run)
        assert recorded.notes == ("by chance",)
        assert recorded.observed is not None
        after = replay_schedule(recorded.program, "infinite", recorded.observed)
        assert (after.pairs, len(after.violations)) == (before.pairs, len(before.violations))
        endings.add((before.ending, after.ending, bool(after.violations)))
    assert {("complete", "complete", False), ("complete", "complete", True), ("deadlock", "deadlock", False)} & endings
    assert all(before == after for before, after, _ in endings)


def test_numbers_of_any_size_are_written() -> None:
    large = "1000000000 * 1000000000 * 123456789012"
    text = f"proc P {{ send 3 - {large} to Q; send {large} + 7 to Q }}\n"
    text += f"proc Q {{ reg a, b; recv a; recv b; assert a < 4 - {large}; assert b == {large} + 7; assert a + b == 0 }}"
    program = load_messages(text, "t.mp")
    trace = write_trace(program, "infinite", random_run(program, "infinite", 0))
    found = answer(read_trace(trace, "t.json"))
    assert (found.violated, len(found.violations), found.deadlocked) == ("yes", 1, "no")


@pytest.mark.parametrize("first", [0, pytest.param(60, marks=pytest.mark.ci), pytest.param(400, marks=pytest.mark.long)])
def test_traces_of_random_runs_can_be_observed(first: int) -> None:
    for seed in range(first, first + max(10, 5 * first)):
        program, buffer = (random_looks if seed % 2 else random_messages)(seed), BUFFERS[seed % 3]
        run = random_run(program, buffer, seed, 300)
        before = replay_schedule(program, buffer, run)
        recorded = read_recorded(write_trace(program, buffer, run), "t.json")
        if before.pairs:
            assert recorded.observed is not None, seed
            after = replay_schedule(recorded.program, "infinite", recorded.observed)
            assert after.pairs == before.pairs, seed
            assert len(after.violations) >= len(before.violations), seed
