"""The engine `states` on named programs; each rule of the machine is needed by one of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from rdma_robust.errors import InternalError
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.messages.machine import local_runs, matching, process_rules, request_rules
from rdma_robust.messages.machine.local_table import LocalTable
from rdma_robust.messages.machine.process_state import ANYTHING, ReceiveHandle, SendHandle
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    BufferGrant,
    MatchMove,
    MessageQuestions,
    ProcessStep,
    Schedule,
)
from rdma_robust.messages.replay.replaying import confirm_answer
from tests.support.message_agreement import QUESTIONS
from tests.support.named_messages import NAMED, Expected


@cache
def named(name: str) -> MessageProgram:
    return load_messages(NAMED[name].text, f"{name}.mp")


def summary(answer: BufferAnswer) -> Expected:
    found = (answer.violated == "yes", answer.deadlocked == "yes", answer.leaking == "yes")
    assert answer.pairs is not None and answer.matchings is not None
    return Expected(*found, len(answer.pairs), answer.matchings.count)


def answered(text: str, buffer: Buffer = "infinite", limits: Limits = NO_LIMITS, **asked: Any) -> BufferAnswer:
    program = load_messages(text, "t.mp")
    answer = by_states(program, buffer, MessageQuestions(**asked), limits)
    confirm_answer(program, answer)
    return answer


@pytest.mark.parametrize("name", NAMED)
def test_a_named_program_does_what_is_expected(name: str) -> None:
    for buffer, expected in zip(BUFFERS, NAMED[name].expected, strict=True):
        answer = by_states(named(name), buffer, QUESTIONS, NO_LIMITS)
        confirm_answer(named(name), answer)
        assert (summary(answer), answer.reason) == (expected, ""), buffer


def _without(port: bool = True, source: bool = True, tag: bool = True) -> Callable[..., bool]:
    def accepts(receive: Any, send: Any, sender: int) -> bool:
        fits = (not port or receive.port == send.port) and (not source or receive.source in (ANYTHING, sender))
        return fits and (not tag or receive.tag in (ANYTHING, send.tag))

    return accepts


def _any_send(receive: Any, receiver: int, sender: int, sends: Any) -> list[int]:
    return [at for at, send in enumerate(sends) if send.to == receiver and matching.receive_accepts(receive, send, sender)]


def _to_anybody(receive: Any, _receiver: int, sender: int, sends: Any) -> list[int]:
    return [at for at, send in enumerate(sends) if matching.receive_accepts(receive, send, sender)][:1]


_BLOCKING = process_rules.ProcessRules.blocking


def _never_at(kind: type) -> Callable[..., Any]:
    def blocking(rules: Any, frame: Any) -> Any:
        handle = _BLOCKING(rules, frame)
        return None if isinstance(handle, kind) else handle

    return blocking


def _also_infinite(self: Any, frame: Any, request: Any, handle: Any) -> None:
    at, _ = self.single(frame, request)
    request_rules.put_request(frame, request.name, at, SendHandle(frame.sent) if isinstance(handle, SendHandle) else handle)


_ADVANCES, _MAY_SEND = LocalTable.advances, LocalTable.may_send


def _only_without_buffers(table: Any, state: Any, sender: int, endpoint: int) -> bool:
    return len(_ADVANCES(table, sender, state[sender])) == 1 and _MAY_SEND(table, state, sender, endpoint)


MUTANTS = {
    "ports do not matter": (matching, "receive_accepts", _without(port=False), "ports are told apart"),
    "sources do not matter": (matching, "receive_accepts", _without(source=False), "sources are told apart"),
    "tags do not matter": (matching, "receive_accepts", _without(tag=False), "tags may overtake"),
    "destinations do not matter": (matching, "acceptable_sends", _to_anybody, "processes are told apart"),
    "messages overtake": (matching, "acceptable_sends", _any_send, "messages keep their order"),
    "receives overtake": (matching, "is_taken_earlier", lambda *_: False, "receives keep their order"),
    "no wait for receives": (process_rules.ProcessRules, "blocking", _never_at(ReceiveHandle), "nobody sends"),
    "no wait for sends": (process_rules.ProcessRules, "blocking", _never_at(SendHandle), "head to head"),
    "sends wait under infinite": (process_rules.ProcessRules, "activate", _also_infinite, "head to head"),
    "no buffers under any": (LocalTable, "later_hops", lambda *_: (), "only any"),
    "one buffer and no more": (LocalTable, "advances", lambda *given: _ADVANCES(*given)[:2], "two buffers"),
    "buffers are of no use to others": (LocalTable, "may_send", _only_without_buffers, "a buffer lets another be first"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_every_rule_is_needed_by_a_named_program(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, other, noticed_by = MUTANTS[mutant]
    monkeypatch.setattr(where, name, other)
    assert not _is_as_expected(noticed_by)


SENDERS = "proc R { reg x, i; while i < %d { recv x; i = i + 1 } }\nproc S[n in 1..%d] { send n to R }"


def test_a_run_to_a_violation_has_only_what_leads_to_it() -> None:
    text = """
    proc A { reg x; recv x from B; assert x == 1 }
    proc B { reg y; recv y from C; send 2 to A; recv y from D }
    proc C { send 1 to B }
    proc D { send 1 to B; send 2 to E }
    proc E { reg z; recv z }
    """
    violation = answered(text).violations[0]
    assert [each.pair.send.process for each in violation.schedule if isinstance(each, MatchMove)] == [2, 1]
    assert {each.process for each in violation.schedule if isinstance(each, ProcessStep)} == {0, 1, 2}


def buffers(schedule: Schedule) -> list[int]:
    """Return the processes whose sends get buffers."""
    return [each.process for each in schedule if isinstance(each, BufferGrant)]


def test_a_deadlock_under_any_has_only_the_buffers_that_it_needs() -> None:
    text = NAMED["only any"].text.replace("proc B {", "proc X { reg x; recv x }\nproc Y { send 1 to X }\nproc B {")
    deadlock = answered(text, "any").deadlock
    assert deadlock is not None
    assert buffers(deadlock.schedule) == [0]


def test_a_violation_under_any_has_only_the_buffers_that_it_needs() -> None:
    text = """
    proc A { send 1 to C; send 1 to B; send 1 to B }
    proc B { reg x, y; recv x; recv y; assert x == 2 }
    proc C { reg x; recv x; recv x from D }
    proc D { send 1 to C }
    """
    violation = answered(text, "any").violations[0]
    assert buffers(violation.schedule) == [0]


def test_a_buffer_that_another_one_makes_needless_is_taken_back() -> None:
    """B and C stand head to head, so one of them needs a buffer; A, which is tried first, waits for them only."""
    text = """
    proc A { send 1 to B; send 2 to C }
    proc B { reg x; send 1 to C; recv x from A; recv x from C }
    proc C { reg x; send 1 to B; recv x from B; recv x from A; req h; h = isend 1 to A }
    """
    leak = answered(text, "any").leak
    assert leak is not None
    assert buffers(leak.schedule) == [1]


def test_what_waits_for_many_sends_has_few_states_under_any() -> None:
    text = """
    const N = 30
    proc P[i in 0..N - 1] { reg x, y; send i to (i + 1) % N; send i to (i + 2) % N; recv x; recv y }
    """
    answer = answered(text, "any", Limits(states=200), pairs=False)
    assert (answer.deadlocked, answer.violated, answer.reason) == ("yes", "no", "")
    taking = "recv x; recv y"
    even = f"""
    const N = 30
    proc P[i in 0..N - 1] {{
      reg x, y
      if i % 2 {{ {taking} }}
      send i to (i + 1) % N; send i to (i + N - 1) % N
      if i % 2 == 0 {{ {taking} }}
    }}
    """
    answer = answered(even, "any", Limits(states=4_000), pairs=False)
    assert (answer.deadlocked, answer.violated, answer.reason) == ("no", "no", "")


@pytest.mark.parametrize(
    "statement, kind",
    {
        "assert x": "assert",
        "x = 1 / x": "division",
        "x = a[2]": "index",
        "a[2] = 1": "index",
        "send 1 to x - 1": "destination",
        "recv x from 2 + x": "source",
        "send 1 to A tag x - 1": "tag",
        "recv x tag x - 1": "tag",
        "x = new(x - 1)": "length",
        "x = new(1000001 + x)": "length",
        "h[x + 2] = isend 1 to A": "index",
        "h[x + 2] = irecv x": "index",
        "h[0] = irecv a[x + 2]\nh[1] = isend 1 to A\nwait h": "index",
    }.items(),
)
def test_a_fault_is_a_violation_that_stops_its_process(statement: str, kind: str) -> None:
    text = f"proc A {{ reg x, a[2]; req h[2]\n{statement}\nassert {int(kind != 'assert')} == 0 }}\nproc B {{ skip }}"
    answer = answered(text, "zero" if "send" not in statement else "infinite")
    assert [each.kind for each in answer.violations] == [kind]
    assert answer.deadlocked == "no"


def test_processes_that_call_library_procedures_in_different_orders_are_told() -> None:
    text = "proc A { reg x; x = bcast(x, 0); barrier() }\nproc B { reg x; barrier(); x = bcast(x, 0) }"
    found = answered(text).mismatches
    assert [(each.position, each.processes, each.calls) for each in found] == [(0, (0, 1), ("bcast, root 0", "barrier"))]
    assert not answered("proc A[i in 0..1] { reg x; x = bcast(x, 0); barrier() }").mismatches


def test_endless_communication_that_comes_back_is_decided_without_pairs() -> None:
    text = "proc A { reg x; while 1 { send 1 to B; recv x } }\nproc B { reg y; while 1 { recv y; send 1 to A; assert y } }"
    answer = answered(text, "zero", count=True)
    assert (answer.violated, answer.deadlocked, answer.pairs_exact) == ("no", "no", False)
    assert answer.matchings is not None and not answer.matchings.exact
    assert "without end" in answer.reason


@pytest.mark.parametrize(
    "text, said",
    [
        ("proc A { while 1 { send 1 to B } }\nproc B { reg x; recv x }", "A issues without end and without waiting"),
        ("proc A { reg x; while 1 { x = x + 1 } }", "A takes more steps than are followed without waiting"),
        ("proc A { reg x = 2; while 1 { x = x * x } }", "A computes with numbers that are too large"),
        (
            "proc A { reg x; while 1 { send x to B; recv x } }\nproc B { reg y; while 1 { recv y; send y + 1 to A } }",
            "limit",
        ),
    ],
)
def test_what_is_cut_is_unknown_and_says_why(text: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_runs, "_STEPS", 2_000)
    answer = answered(text, limits=Limits(states=50))
    assert (answer.violated, answer.deadlocked) == ("unknown", "unknown")
    assert said in answer.reason


def test_limits_are_kept_before_the_first_match_too() -> None:
    text = "".join(f"proc P{n} {{ choose {{ send 1 to R }} or {{ send 2 to R }} }}\n" for n in range(40))
    answer = answered(text + "proc R { reg x; recv x }", "any", Limits(states=200))
    assert (answer.violated, answer.reason) == ("unknown", "reached the limit of 200 states")


def test_a_violation_is_found_although_a_process_issues_for_ever() -> None:
    text = "proc A { while 1 { send 1 to B } }\nproc B { reg x; recv x; recv x; assert x == 0 }"
    assert answered(text).violated == "yes"


def test_matchings_are_counted_up_to_the_limit() -> None:
    exact = answered(SENDERS % (3, 3), count=True).matchings
    assert exact is not None and (exact.count, exact.exact) == (6, True)
    cut = answered(SENDERS % (4, 4), count=True, limit=10, listed=3).matchings
    assert cut is not None and (cut.count, cut.exact, len(cut.listed)) == (10, False, 3)


def test_what_is_not_asked_for_is_not_said() -> None:
    answer = answered(SENDERS % (2, 2), pairs=False)
    assert (answer.pairs, answer.matchings) == (None, None)


def _is_as_expected(name: str) -> bool:
    """Whether a named program does what is expected, and its runs replay."""
    try:
        answers = [by_states(named(name), buffer, QUESTIONS, NO_LIMITS) for buffer in BUFFERS]
        for answer in answers:
            confirm_answer(named(name), answer)
    except (AssertionError, InternalError, IndexError):
        return False
    return tuple(map(summary, answers)) == NAMED[name].expected


def test_a_wait_reads_the_index_of_its_request_though_it_stores_into_it() -> None:
    """What a receive will overwrite is forgotten while it is waited for, but not if it says which request is meant."""
    receives = "g[0] = irecv x tag 1; b = 1; g[b] = irecv b tag 2; wait g[b]"
    answer = answered(f"proc A {{ reg b, x; req g[2]; {receives} }} proc B {{ send 5 to A tag 1 }}")
    assert (answer.violated, answer.deadlocked, answer.reason) == ("no", "yes", "")
