"""Programs in which every receive can get messages from one sender only, decided by one run."""

from __future__ import annotations

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.engines.one_run import by_one_run
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions
from rdma_robust.messages.replay.replaying import confirm_answer
from tests.support.random_messages import Taste, random_messages

FEW_SENDERS = Taste((3, 4), (0, 1), 8, 8, wild=70, tags=30, ports=30, planned=100, faults=2, loops=0)

RING = """
proc P[i in 0..2] {
  reg best = i, v
  for r in 1..2 {
    send best to P[(i + 1) % 3]
    recv v from P[(i + 2) % 3]
    if v > best { best = v }
  }
  assert best == 2
  send best to P[(i + 1) % 3]
}
"""
ASKED = """
proc Client { reg v; assert v == 1; send 1 to Server; recv v from Server; assert v == 1 }
daemon proc Server { reg v; while 1 { recv v from Client; send v + 1 to Client } }
"""
STOPPING = """
proc P { reg v; recv v from Q; assume v == 2; recv v from Q }
proc Q { send 1 to P; recv v from P }
"""
COLLECTIVES = """
proc P { reg x; barrier(); x = bcast(1, 0) }
proc Q { reg x; x = bcast(1, 0); barrier() }
"""
ONE_WAY = RING.replace(" from P[(i + 2) % 3]", " from any tag any")
PROGRAMS = {
    "ring": RING,
    "one way": ONE_WAY,
    "asked": ASKED,
    "stopping": STOPPING.replace("recv v from P", "reg v; recv v from P"),
}
PROGRAMS["collectives"] = COLLECTIVES


def said(answer: BufferAnswer) -> object:
    """What an answer says, but for its runs and its work."""
    violations = {(each.process, each.kind, each.span, each.text) for each in answer.violations}
    calls = {(each.position, each.processes, each.calls) for each in answer.mismatches}
    verdicts = (answer.violated, answer.deadlocked, answer.leaking)
    return verdicts, violations, answer.pairs, answer.matchings, calls


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_run_says_what_all_states_say(name: str, buffer: Buffer) -> None:
    program = load_messages(PROGRAMS[name], f"{name}.mp")
    questions = MessageQuestions(count=True, listed=10)
    answer = by_one_run(program, buffer, questions, Limits())
    assert answer is not None
    assert said(answer) == said(by_states(program, buffer, questions, Limits()))


@pytest.mark.parametrize(
    "text",
    [
        "proc P { reg v; recv v from any }\nproc Q[i in 1..2] { send i to P }",
        "proc P { reg v; recv v from Q; send v to R; recv v }\nproc Q { send 1 to P; send 2 to P }\n"
        "proc R { reg v; recv v; send v to P }",
        "proc P { choose { skip } or { send 1 to Q } }\nproc Q { reg v; recv v from P }",
        "proc P { reg x; while 1 { x = 1 - x } }",
    ],
    ids=["any", "any, later", "choose", "endless"],
)
def test_others_are_left_to_the_other_engines(text: str) -> None:
    assert by_one_run(load_messages(text, "p.mp"), "any", MessageQuestions(), Limits()) is None


def test_random_programs_have_in_one_run_what_they_have_in_all() -> None:
    decided = 0
    for seed in range(40):
        program = random_messages(seed, FEW_SENDERS)
        for buffer in BUFFERS:
            questions = MessageQuestions(count=True, listed=10)
            answer = by_one_run(program, buffer, questions, Limits())
            if answer is not None:
                confirm_answer(program, answer)
                assert said(answer) == said(by_states(program, buffer, questions, Limits())), (seed, buffer)
                decided += 1
    assert decided > 40


THIRD = "send 3 to Server tag 2"


def counted(receives: int, tag: str, third: str) -> str:
    """A server that takes messages of two clients, a barrier, and one more of the first client."""
    client = f"send 1 to Server tag 1\nsend 2 to Server tag 1\ncollective barrier\n{third}\ncollective barrier\n"
    server = "recv v from any tag 1\n" * receives + f"collective barrier\nrecv v from any{tag}\ncollective barrier\n"
    other = client.replace(third, "skip")
    return f"proc Server {{\nreg v\n{server}}}\nproc A {{\n{client}}}\nproc B {{\n{other}}}\n"


@pytest.mark.parametrize(
    ("receives", "tag", "third"),
    [
        (4, " tag 2", "send 3 to Server tag 2"),
        (5, " tag 2", "skip"),
        (3, " tag 2", "send 3 to Server tag 2"),
        (4, "", "skip"),
    ],
)
def test_where_nothing_depends_on_who_has_sent_one_run_has_the_verdict(receives: int, tag: str, third: str) -> None:
    program = load_messages(counted(receives, tag, third).replace("skip\n", ""), "p.mp")
    asked = MessageQuestions(pairs=False)
    answer = by_one_run(program, "infinite", asked, Limits())
    assert answer is not None
    assert by_one_run(program, "infinite", MessageQuestions(), Limits()) is None
    confirm_answer(program, answer)
    assert said(answer)[0] == said(by_states(program, "infinite", asked, Limits()))[0]  # type: ignore[index]


def test_collective_calls_that_agree_are_followed_in_one_run() -> None:
    calls = "collective bcast root 0\ncollective reduce root 2\n"
    text = "".join(
        f"proc P{i} {{\nreg v\n{calls}{end}}}\n" for i, end in enumerate(("recv v from P1\n", "send 1 to P0\n", ""))
    )
    for changed in (text, text.replace("recv v from P1", "collective barrier"), text.replace(calls, "", 1)):
        program = load_messages(changed, "p.mp")
        for buffer in BUFFERS:
            answer = by_one_run(program, buffer, MessageQuestions(count=True, listed=10), Limits())
            assert answer is not None
            confirm_answer(program, answer)
            assert said(answer) == said(by_states(program, buffer, MessageQuestions(count=True, listed=10), Limits()))
