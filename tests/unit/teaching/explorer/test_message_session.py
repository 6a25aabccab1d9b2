"""The explorer of message programs: every place is a run of the interpreter, and what is seen is what holds there."""

from __future__ import annotations

import re
from dataclasses import asdict
from random import Random

import pytest

from rdma_robust.errors import InternalError, UsageError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer
from rdma_robust.messages.message_answers import MatchMove, MessageQuestions, ProcessStep
from rdma_robust.messages.replay.replaying import replay_schedule
from rdma_robust.teaching.explorer.address import AddressError
from rdma_robust.teaching.explorer.message_session import MessagePlace, MessageSession, found_runs
from rdma_robust.teaching.explorer.view import MessageView
from tests.support.explored import message_litmus

WALKED = (
    "buffers/head-to-head",
    "choices/loop-counts",
    "collectives/barrier",
    "daemons/echo",
    "faults/kind",
    "leaks/sometimes",
    "order/tags-crossed-isend",
    "requests/all-of-an-array",
    "values/early-return",
)


def take(session: MessageSession, seen: MessageView, *labels: str) -> MessageView:
    """Take the moves with these labels, each after the local steps."""
    for label in labels:
        seen = session.seen(seen.address, ["local"])
        (choice,) = [move.choice for move in seen.moves if label in f"{move.process} {move.label}"]
        seen = session.seen(seen.address, ["step", choice])
    return session.seen(seen.address, ["local"])


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("name", WALKED)
def test_what_is_seen_is_what_a_replay_finds(name: str, buffer: Buffer) -> None:
    session, rng = message_litmus(name, buffer), Random(7)
    place = session.place("")
    for _ in range(40):
        moves = session.runs(buffer).moves(session.runs(buffer).point(place.run.now))
        if not moves:
            break
        place = session.step(place, rng.randrange(len(moves)))
    seen, schedule = session.view(place), session.runs(buffer).point(place.run.now).schedule
    found = replay_schedule(session.program, buffer, schedule)
    assert len(seen.violations) == len(found.violations) and len(seen.steps) == len(schedule)
    assert seen.end.kind in (found.ending, "") and (seen.end.kind == "") == bool(seen.moves)
    for process, values, status in zip(seen.processes, found.registers, found.statuses, strict=True):
        assert {name for name in values if "." not in name} <= {each.name for each in process.registers} <= set(values)
        assert (process.status in ("ready", "waiting")) == (status == "runs")
    listed = sum(len(each.sends) for each in seen.endpoints), sum(len(each.receives) for each in seen.endpoints)
    assert listed == (len(found.unmatched_sends), len(found.unmatched_receives))
    arrows = seen.drawing.count("rr-message")
    assert arrows <= sum(isinstance(each, MatchMove) for each in schedule)
    assert "style=" not in re.sub("data-style=", "", seen.drawing) and "<style" not in seen.drawing
    assert asdict(session.seen(seen.address)) == asdict(seen)


def test_the_run_that_the_paper_is_about() -> None:
    session = message_litmus("paper/figure-1")
    seen = take(session, session.seen(""), "T2 its message is buffered", "T1 takes 9 from T2 (line 23)")
    matches = [(move.process, move.label, move.hint, move.line) for move in seen.moves if move.kind == "match"]
    assert matches == [
        ("T0", "takes 1 from T1 (line 18)", "by its receive from any", 8),
        ("T0", "takes 4 from T2 (line 22)", "by its receive from any", 8),
    ]
    assert [(each.name, len(each.sends), len(each.receives)) for each in seen.endpoints] == [("T0", 2, 1)]
    seen = take(session, seen, "takes 1 from T1", "takes 4 from T2")
    assert seen.end.kind == "complete" and not seen.moves
    (violation,) = seen.violations
    assert "T0, line 12, `assert a == 4`: the assertion is false" in violation
    assert {each.name: each.value for each in seen.processes[0].registers} == {"a": "1", "b": "4"}
    assert "T0 takes 1 from T1" in seen.chart and seen.drawing.startswith("<svg")


def test_only_what_the_buffer_allows() -> None:
    session = message_litmus("paper/figure-1")
    seen = session.seen("", ["local"])
    assert [move.kind for move in seen.moves] == ["grant", "match"]
    assert all(f">{each.name}</text>" in session.seen("").drawing for each in session.program.processes), "lifelines stay"
    zero = session.seen(seen.address, ["buffer", "zero"])
    assert [move.kind for move in zero.moves] == ["match"] and zero.at == seen.at and zero.buffer == "zero"
    granted = session.seen(seen.address, ["step", 0])
    assert session.seen(granted.address, ["buffer", "zero"]).at == granted.at - 1
    infinite = session.seen(session.seen(seen.address, ["buffer", "infinite"]).address, ["local"])
    assert {move.process for move in infinite.moves if move.kind == "match"} == {"T0", "T1"}


def test_who_waits_for_whom() -> None:
    session = message_litmus("buffers/head-to-head")
    refused = session.seen("", ["local"])
    assert refused.end.kind == "deadlock" and "If the runtime buffers nothing more" in refused.end.text
    assert {move.kind for move in refused.moves} == {"grant"}
    granted = session.seen(refused.address, ["step", 0])
    assert granted.end.kind == "" and [each.status for each in granted.processes] == ["ready", "waiting"]
    zero = session.seen(refused.address, ["buffer", "zero"])
    assert zero.end.text == "Nothing can happen any more." and not zero.moves
    names = [process.name for process in zero.processes]
    assert all(any(f"{name} waits forever" in reason for reason in zero.end.reasons) for name in names)
    assert "waits for" in zero.end.reasons[-1] and "waits for" in zero.drawing
    assert {process.status for process in zero.processes} == {"waiting"}


def test_daemons_branches_and_registers_of_functions() -> None:
    session = message_litmus("daemons/echo", "zero")
    seen = session.seen("", ["local"])
    while seen.moves:
        seen = session.seen(seen.address, ["step", 0, "local"])
    assert seen.end.kind == "complete" and not seen.end.reasons and seen.endpoints, (
        "a daemon's receive is left, as it may be"
    )
    session = message_litmus("deadlocks/chosen-branch")
    labels = [move.label for move in session.seen("", ["local"]).moves if move.process == "P0"]
    assert labels == ["chooses branch 1: `send 1 to P1`", "chooses branch 2"]
    session = message_litmus("collectives/allreduce", "infinite")
    seen, called = session.seen(""), False
    assert not any("." in register.name for process in seen.processes for register in process.registers)
    while seen.moves:
        seen = session.seen(seen.address, ["step", 0])
        called = called or any("." in register.name for process in seen.processes for register in process.registers)
    assert called and not any("." in register.name for process in seen.processes for register in process.registers)


def test_local_steps_stop_where_something_is_to_be_chosen_or_never_ends() -> None:
    session = message_litmus("deadlocks/spinning-is-no-deadlock", "zero")
    seen = session.seen("", ["local"])
    assert 0 < seen.at < 100 and seen.end.kind == "" and all(step.local for step in seen.steps)
    text = "proc P { reg x; while 1 { x += 1 } }\nproc Q { reg y = 5 }\n"
    seen = MessageSession(load_messages(text, "p.mp")).seen("", ["local"])
    assert [each.status for each in seen.processes] == ["ready", "ended"] and 200 < seen.at < 210
    session = message_litmus("choices/loop-counts", "zero")
    seen = session.seen("", ["local"])
    assert any(not move.local and move.kind == "step" for move in seen.moves)
    assert session.seen(session.seen("").address, ["step", 0, "local"]).at >= seen.at


def test_a_place_is_its_choices_and_nothing_else() -> None:
    session = message_litmus("paper/figure-1")
    seen = session.seen("", ["local"])
    back = session.seen(seen.address, ["go", 2])
    assert back.at == 2 and len(back.steps) == seen.at
    assert session.seen(back.address, ["step", back.steps[2].choice]).steps == seen.steps
    granted = session.seen(seen.address, ["step", 0])
    again = session.seen(session.seen(granted.address, ["go", 0]).address, ["local"])
    assert again.at == seen.at and again.steps == granted.steps, "the way forward is kept"
    other = session.seen(back.address, ["step", back.moves[-1].choice])
    assert len(other.steps) == 3
    for wrong, why in (
        (seen.address.replace("run=0", "run=7"), "cannot run this state: step 1 is choice 7"),
        (seen.address.replace("at=", "at=9"), "the state is at step"),
        (seen.address.replace("any", "some"), "zero, infinite or any, not `some`"),
        (seen.address.replace("run", "rdma"), "has the parts p, buffer, run, at"),
        (f"p=0{seen.address[3:]}", "belongs to another program"),
        ("nonsense", "not a state of an exploration"),
    ):
        with pytest.raises(AddressError, match=re.escape(why)):
            session.seen(wrong)
    for do in (["step"], ["step", "0"], ["step", 99], ["go", 99], ["buffer", "all"], "local", {"step": 0}):
        with pytest.raises(UsageError):
            session.seen(seen.address, do)
    changed = session.program.source.replace("4 to T0", "5 to T0")
    assert MessageSession(load_messages(changed, "figure-1.mp")).fingerprint != session.fingerprint


@pytest.mark.parametrize(
    ("name", "verdict", "kinds"),
    [
        ("paper/figure-1", "wrong", {"violation"}),
        ("buffers/head-to-head", "wrong", {"deadlock"}),
        ("leaks/message", "fine", {"leak"}),
        ("paper/figure-1-named", "fine", set()),
    ],
)
def test_the_runs_that_were_found_can_be_stepped_through(name: str, verdict: str, kinds: set[str]) -> None:
    session = message_litmus(name)
    answers = [answered(session.program, buffer, MessageQuestions(pairs=False), Limits()) for buffer in BUFFERS]
    told = found_runs(message_litmus(name), answers)
    assert told.verdict == verdict and {run.kind for run in told.runs} == kinds
    for run in told.runs:
        begin = session.seen(run.address)
        assert begin.at == 0 and len(begin.steps) == run.steps
        end = session.seen(run.address, ["go", run.steps])
        shows = {"violation": bool(end.violations), "deadlock": end.end.kind == "deadlock", "leak": bool(end.end.reasons)}
        assert shows[run.kind]


def test_a_run_that_was_found_and_is_none_is_a_defect() -> None:
    runs = message_litmus("paper/figure-1").runs("zero")
    with pytest.raises(InternalError, match="move 2 of a run"):
        runs.whole((ProcessStep(0), ProcessStep(7)))
    assert MessagePlace("zero").run.choices == ()
