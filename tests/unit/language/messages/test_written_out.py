"""A checked program as text is read as the same program, up to names of functions that stand there several times."""

from __future__ import annotations

import re

import pytest

from rdma_robust.errors import InternalError, ProgramError
from rdma_robust.limits import Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.messages.language.messages_text import program_text
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from tests.conftest import ROOT
from tests.support.random_messages import random_messages
from tests.support.shares import chunks
from tests.unit.language.messages.test_loading import RELAY
from tests.unit.language.messages.test_message_layout import EVERYTHING

TEXTS = {
    "relay": RELAY,
    "everything": EVERYTHING,
    "nothing": "",
    "words": "reg to, any\nproc P { reg tag\n send tag to P tag to\n recv tag from any any on on tag any to }\nport on",
    "same functions": "fun f(x) { return x + PID }\nproc P[i in 0..2] { reg r\n r = f(r)\n r = f(r + 1)\n f(i) }",
    "known arguments": "fun f(x, y) { if y { return x } else { return -x } }\n"
    "proc P { reg r, s\n r = f(s, 1)\n r = f(s, 0) }",
    "nested calls": "fun g(x) { return x }\nfun f(x) { reg r\n r = g(x)\n r = g(r)\n return r }\n"
    "proc P { reg a[2]\n a[1] = f(a) }",
    "no result": "reg n\nfun f() { reg r = 1; n += r; if n { return } }\nproc P { f() }\nproc Q { f() }",
    "sometimes a result": "fun f(x) { if x { return 1 } }\nproc P { reg r\n while r { r = f(r) } }",
    "result as a name": "fun f(result) { reg x\n result = x; if x { return result }; return 2 }\n"
    "proc P { reg r\n r = f(r) }",
    "fault": "proc P[i in 0..1] { send 1 / i to P[i + 1] tag -i\n reg a = new(-i) }",
    "low": "proc Q { }\nproc P[i in 3..4] { for k in 3..4 { send 1 to P[k]\n recv k2 from P[k + 1] }\n }\nreg k2",
    "a family of one": "proc P[i in 5..5] { reg r\n send i to P[r] }",
    "library": "proc P[i in 0..1] { reg x, a\n barrier()\n x = bcast(i, 1)\n x = reduce(x, 1 - 1)\n x = allreduce(x + 1)\n"
    " a = gather(x, x)\n x = scatter(a, 0) }",
    "blocks": "proc P { choose { reg x = 1 } or { reg x\n req h\n h = irecv x\n wait h }\n"
    "loop { reg x, y; for k in x..y { x = k } } }",
    "large": "const K = 100000000000000000 * 100000000000000000\nproc P { assume K * K - 1 > -K }\n"
    "proc Q { reg r\n assert r > K + 5 }",
    "hidden": "fun barrier() { reg told\n recv told }\nproc P { barrier()\n barrier() }",
    "arrays": "reg g[2] = 3\nproc P { reg a[3] = 4, b\n b = a\n b[0] = new(2)\n a[0] = b[0][1] + len(b[0]) }",
}


def same(program: MessageProgram) -> str:
    """What must be the same of two programs."""
    shown: list[object] = [program.name, program.ports, *((each.kind, each.buffers, each.number) for each in program.claims)]
    for process in program.processes:
        names = sorted(process.registers), sorted(process.requests)
        shown += [
            process.name,
            process.daemon,
            *names,
            re.sub(r"span=Span\(.*?origin=(None|.*?None\)+)\)", "", str(process.body)),
        ]
    return "\n".join(map(str, shown))


def renamed(text: str) -> str:
    """Functions without the numbers that tell several of one name apart, and calls without theirs."""
    return re.sub(r"\b(f|g)(?:_\d)?(?:@\d)?\b", r"\1", text).replace("$index", "_index").replace("$value", "_value")


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_written_out_is_read_as_the_same(name: str) -> None:
    program = load_messages(TEXTS[name], "t.mp")
    text = program_text(program)
    again = load_messages(text, "t.mp")
    if name != "fault":
        assert program_text(again) == text
        assert renamed(same(again)) == renamed(same(program))


def test_the_programs_of_the_suite_are_written_out() -> None:
    paths = sorted((ROOT / "litmus/messages").rglob("*.mp"))[::10]
    for path in paths:
        text = program_text(load_messages(path.read_text(encoding="utf-8"), path.name))
        again = program_text(load_messages(text, path.name))
        assert program_text(load_messages(again, path.name)) == again, path


def facts(program: MessageProgram, buffer: Buffer) -> list[object]:
    """What is found out about a program, without places of its text."""
    answer = by_states(program, buffer, MessageQuestions(count=True), Limits(states=3000))
    violations = sorted({(each.process, each.kind) for each in answer.violations})
    return [violations, answer.deadlocked, answer.leaking, answer.pairs, answer.matchings, answer.reason]


def written_and_read(seed: int) -> int:
    """Compare a random program with what is read of its text, if it has one; return how many comparisons there were."""
    program = random_messages(seed)
    try:
        again = load_messages(program_text(program), "t.mp")
    except InternalError:
        return 0  # it marks calls of the library where there are none, or stores what a pattern asks for
    except ProgramError as error:
        # Requests and counters that are what they are by chance.
        assert {each.code for each in error.diagnostics} <= {"RR904", "RR910", "RR911"}
        return 0
    for buffer in BUFFERS:
        assert facts(again, buffer) == facts(program, buffer), (seed, buffer)
    return 1


def test_random_programs_mean_the_same() -> None:
    assert sum(map(written_and_read, range(20))) > 5


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_more_random_programs_mean_the_same(chunk: int) -> None:
    assert sum(map(written_and_read, range(100 * (chunk + 1), 100 * (chunk + 2)))) > 25


def test_functions_stand_once() -> None:
    text = program_text(load_messages(TEXTS["nested calls"], "t.mp"))
    assert (
        text
        == """\
program t
fun g(x) { return x }
fun f(x) {
  reg r = g(x)
  r = g(r)
  return r
}
proc P {
  reg a = new(2)
  a[1] = f(a)
}
"""
    )


def test_what_is_not_known_before_it_is_computed_stays_so() -> None:
    text = program_text(load_messages(TEXTS["fault"], "t.mp"))
    assert (
        text
        == """\
program t
reg nought
proc P[k in 0..1] {
  if k == 0 {
    send 1 / nought to 1
    reg a = new(0)
  } else {
    send 1 to P[nought + 2] tag nought + -1
    reg a = new(nought + -1)
  }
}
"""
    )
