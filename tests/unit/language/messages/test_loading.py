"""`.mp` texts and what they are once names are resolved and functions are written out."""

from __future__ import annotations

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import (
    BUFFERS,
    Assign,
    For,
    If,
    InlinedCall,
    IssueReceive,
    IssueSend,
    MessageClaim,
    Place,
    Process,
    Requests,
    Return,
    Wait,
)
from rdma_robust.messages.language.message_terms import Element, Operation, Zeros

RELAY = """\
program relay
const N = 2
port ctl
reg total = 5
fun double(x) { return 2 * x }
proc Server {
  reg v, s, a[N]; req h[N]
  recv v from any s tag any
  for i in 0..N - 1 { h[i] = irecv a[i] from Client[i] tag 1 }
  wait h
  v = double(v)
  send v to s on ctl
}
proc Client[i in 0..N - 1] {
  reg r
  if i == 0 { send i to Server } else { send PID to Server tag NPROCS }
  recv r from Server on ctl
}
expect holds, no deadlock under zero
expect matchings 6
"""


def test_a_program_is_resolved_and_written_out() -> None:
    program = load_messages(RELAY, "relay.mp")
    assert (program.name, program.file, program.source, program.ports) == ("relay", "relay.mp", RELAY, ("", "ctl"))
    server, first, second = program.processes
    start = Assign(Place("total"), Const(5))
    hidden = Place("$recv")
    number = Operation("+", (Name("i"), Element(Zeros(Const(2)), Name("i"))))
    posted = IssueReceive(
        Place("h", (Name("i"),)), Place("a", (Name("i"),)), Operation("+", (Const(1), number)), 0, Const(1)
    )
    doubled = Assign(Place("double.result"), Operation("*", (Const(2), Name("double.x"))))
    assert server == Process(
        "Server",
        (
            start,
            Assign(Place("a"), Zeros(Const(2))),
            Requests("h", Const(2)),
            IssueReceive(hidden, Place("v"), None, 0, None, Place("s")),
            Wait((hidden,)),
            For("i", Const(0), Const(1), (posted,)),
            Wait((Place("h"),)),
            Assign(Place("double.x"), Name("v")),
            InlinedCall("double", (doubled, Return())),
            Assign(Place("v"), Name("double.result")),
            IssueSend(Place("$send"), Name("v"), Name("s"), 1, Const(0)),
            Wait((Place("$send"),)),
        ),
        ("total", "v", "s", "a", "i", "double.x", "double.result"),
        ("h", "$recv", "$send"),
    )
    receive = (IssueReceive(hidden, Place("r"), Const(0), 1, None), Wait((hidden,)))
    sends = [(Const(0), Const(0)), (Const(2), Const(3))]
    for process, (value, tag) in zip((first, second), sends, strict=True):
        issue = IssueSend(Place("$send"), value, Const(0), 0, tag)
        assert process.body == (start, issue, Wait((Place("$send"),)), *receive)
    assert [each.name for each in program.processes] == ["Server", "Client[0]", "Client[1]"]
    zero = ("zero",)
    assert program.claims == (
        MessageClaim("holds", zero),
        MessageClaim("no deadlock", zero),
        MessageClaim("matchings", BUFFERS, 6),
    )


def test_a_call_of_the_library_is_marked_and_has_only_what_the_process_does() -> None:
    text = "proc P[i in 0..1] { reg x = i\n x = reduce(x, 0) }\nproc Q { reg y\n y = reduce(7, 0) }"
    program = load_messages(text, "t.mp")
    assert program.ports == ("", "coll")
    shapes = [[type(each).__name__ for each in process.body] for process in program.processes]
    called = ["Assign", "CollectiveCall", "InlinedCall", "Assign"]
    assert shapes == [["Assign", *called], ["Assign", *called], called]
    inlined = program.processes[2].body[2]
    assert isinstance(inlined, InlinedCall)
    assert inlined.body[0] == IssueSend(Place("$send"), Name("reduce.x"), Const(0), 1, Const(0))
    assert (inlined.body[0].span.file, inlined.body[0].span.expanded_from) == ("library.mp", ())
    assert [each.file for each in inlined.body[0].span.chain()] == ["t.mp"]


def test_a_function_of_the_program_hides_one_of_the_library() -> None:
    program = load_messages("fun barrier() { skip }\nproc P { barrier() }", "t.mp")
    assert program.processes[0].body == (InlinedCall("barrier", ()),)
    assert program.ports == ("",)


def test_the_second_call_has_registers_of_its_own() -> None:
    program = load_messages("fun f(x) { reg r = x\n return r }\nproc P { reg y\n y = f(y)\n y = f(y) }", "t.mp")
    assert program.processes[0].registers == ("y", "f.x", "f.result", "f.r", "f@2.x", "f@2.result", "f@2.r")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if 1 { halt } else { skip }", ["Halt"]),
        ("if PID { halt } else { return }", ["Halt"]),
        ("while 0 { halt }", []),
        ("reg r; while r { reg s }", ["While"]),
        ("reg r, s = 1", ["Assign"]),
        ("if NPROCS > 1 { send 1 to 7 }", []),
    ],
)
def test_what_is_known_is_not_asked(body: str, expected: list[str]) -> None:
    program = load_messages(f"proc P {{ {body} }}", "t.mp")
    assert [type(each).__name__ for each in program.processes[0].body] == expected


def test_registers_in_loops_begin_anew() -> None:
    program = load_messages("proc P { reg r\n if r { reg u } \n loop { reg s } }", "t.mp")
    branch, loop = program.processes[0].body
    assert branch == If(Name("r"), ())
    assert getattr(loop, "body", None) == (Assign(Place("s"), Const(0)),)


def test_all_errors_are_said_at_once() -> None:
    with pytest.raises(ProgramError) as caught:
        load_messages("proc P { x = 1\n await 1\n send 1 to 9\n ) }\nport coll", "t.mp")
    codes = [each.code for each in caught.value.diagnostics]
    assert codes == ["RR901", "RR909", "RR914", "RR101", "RR920"]
