"""The one layout of `.mp` programs, the values of `-D`, and which texts are such programs."""

from __future__ import annotations

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.language.defines import with_definitions
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_library import library_text
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.messages.language.recognised import is_messages

EVERYTHING = """\
// What it is about.
program every
const N = 2, M = -(N + 1) * 2
port a, b
reg total = 5, table[N * 2]

fun f(x, y) {
  // On its own line.
  return x * (y - 1)
}
fun none() { }

daemon proc Server {
  reg v, s, w[N], u[2] = 1
  req h[N], one
  recv v
  recv w[v] from any s on a tag any w[0]
  one = irecv v from Client[N - 1] tag 1 + 1
  h[0] = isend w to s on b
  wait h, one
  wait h[0]
  v = f(v, 2)  // behind it
  none()
  if (v == 0 && !s) || v != 1 { halt } else { return }
  while 1 { v += w[v][0] % 3 }
  choose { send PID to NPROCS - 1 } or { assume v >= 1 }
  loop {
    w = new(3)
    assert v == v
  }
}
proc Client[i in 0..N - 1] {
  for k in 0..i {
    send -k to Server on a tag i
    total -= 1
  }
}
expect holds, no deadlock, no race, matchings 3 under zero, infinite
expect violated, deadlock, race under any
"""


def test_the_layout_keeps_what_is_laid_out() -> None:
    assert format_messages(EVERYTHING, "t.mp") == EVERYTHING
    assert format_messages(library_text(), "library.mp") == library_text()


@pytest.mark.parametrize(
    ("text", "laid_out"),
    [
        ("proc P{}", "proc P { }\n"),
        ("proc  P [ i in 0 .. 3 ]\n{\n}", "proc P[i in 0..3] { }\n"),
        ("proc P { send(1+2)to(P)tag(3) }", "proc P { send 1 + 2 to P tag 3 }\n"),
        ("proc P { recv to from from on on tag tag }", "proc P { recv to from from on on tag tag }\n"),
        (
            "proc P { mprobe  h[1]  from any s;h = imrecv v  of h[1] }",
            "proc P {\n  mprobe h[1] from any s\n  h = imrecv v of h[1]\n}\n",
        ),
        ("proc P { improbe h tag(1)into f[0]; mrecv v of h }", "proc P {\n  improbe h tag 1 into f[0]\n  mrecv v of h\n}\n"),
        ("proc P { h=irecv a[0][1]from any any tag any tag }", "proc P { h = irecv a[0][1] from any any tag any tag }\n"),
        ("fun f ( ) { return }", "fun f() { return }\n"),
        ("const port = 1; port port", "const port = 1\nport port\n"),
        ("reg daemon, tag", "reg daemon, tag\n"),
        ("expect no race , matchings 007 under zero", "expect no race, matchings 7 under zero\n"),
        ("proc P { x = (1 + 2) * (3) }", "proc P { x = (1 + 2) * 3 }\n"),
        ("proc P { x = f ( 1,\n 2 ) }", "proc P { x = f(1, 2) }\n"),
        ("proc P { wait a, b /* c */ }", "proc P {\n  wait a, b  /* c */\n}\n"),
    ],
)
def test_the_layout_of(text: str, laid_out: str) -> None:
    assert format_messages(text, "t.mp") == laid_out
    assert format_messages(laid_out, "t.mp") == laid_out


def test_a_constant_gets_another_value() -> None:
    text = with_definitions("const N = 2, M = N\nproc P[i in 1..M] { }", ["N=3"], message_grammar())
    assert [each.name for each in load_messages(text, "t.mp").processes] == ["P[1]", "P[2]", "P[3]"]
    with pytest.raises(UsageError, match="no constant `K` to define; it has `N`"):
        with_definitions("const N = 2", ["K=3"], message_grammar())


@pytest.mark.parametrize(
    ("text", "file", "expected"),
    [
        ("", "a.mp", True),
        ("proc P { }", "a.rdma", False),
        ("// proc\n  daemon proc P[i in 0..1] { }", "<stdin>", True),
        ("node A { proc }\nthread T on A { proc = 1 }", "<stdin>", False),
        ("proc = 1", "-", False),
    ],
)
def test_programs_are_recognised(text: str, file: str, expected: bool) -> None:
    assert is_messages(text, file) is expected
