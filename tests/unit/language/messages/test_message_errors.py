"""What is wrong with `.mp` texts, and what is warned of: the codes, where they point, and what they say."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rdma_robust.errors import Diagnostic, ProgramError
from rdma_robust.messages.language import message_world as written_names
from rdma_robust.messages.language.load_messages import load_messages

HEADER = """\
const N = 2
port p
reg g
fun f(x) { return x }
fun none() { skip }
proc Q[k in 1..N] { recv g on p }
proc R { send N to Q[1] on p; g = f(g); none() }
"""

BLOCK = "what line 8 declares is known in its block only"
ERRORS = [
    ("x = 1", "RR901", "x", "there is nothing called `x`", "`reg x` declares a register"),
    ("h = isend 1 to R", "RR910", "h", "`h` is no request", "`req h` declares a request"),
    ("reg total; totl = 1", "RR901", "totl", "there is nothing called `totl`", "did you mean `total`?"),
    ("g = f", "RR901", "f", "`f` is a function, and has no value", "a call is written `f(...)`"),
    (
        "for i in 0..1 { skip }; g = i",
        "RR901",
        "i",
        "`i` is not known here",
        BLOCK,
    ),
    ("if g { reg y = g }; y = 1", "RR901", "y", "`y` is not known here", BLOCK),
    ("h()", "RR902", "h", "there is no function `h`", ""),
    ("bcas(1, 0)", "RR902", "bcas", "there is no function `bcas`", "did you mean `bcast`?"),
    ("send 1 to 0 on q", "RR903", "q", "there is no port `q`", "`port q` outside of processes declares it"),
    ("reg g", "RR904", "g", "`g` was declared before, on line 3", ""),
    ("reg len", "RR904", "len", "`len` has a meaning of its own in expressions", ""),
    ("for i in 0..1 { for i in 0..1 { } }", "RR904", "i", "`i` was declared before, on line 8", ""),
    ("g = 1 + f(2)", "RR905", "f(2)", "a call stands alone on the right of `=`, not in an expression", None),
    ("send f(g) to R", "RR905", "f(g)", "a call stands alone on the right of `=`, not in an expression", None),
    ("g += f(1)", "RR905", "f(1)", "a call stands alone on the right of `=`, not in an expression", None),
    ("g = f()", "RR906", "f()", "`f` takes 1 argument, and here are none", ""),
    ("g = len(g, g)", "RR906", "len(g, g)", "`len` takes one argument, and here are 2", ""),
    ("g = none()", "RR908", "none()", "`none` returns nothing", "call it on a line of its own"),
    ("return 1", "RR908", "1", "a process has no result", "`return` alone ends it"),
    ("len(g)", "RR908", "len(g)", "the value of `len` is used nowhere", ""),
    ("await g", "RR909", "await g", "no register changes while its process waits", None),
    ("req h; g = h", "RR910", "h", "`h` is a request, and has no value", None),
    ("req h; h = 1", "RR910", "h", "`h` is a request: only `isend` and `irecv` give it something", ""),
    ("wait g", "RR910", "g", "`g` is no request", "`req g` declares a request"),
    ("g = irecv g", "RR910", "g", "`g` is no request", "`req g` declares a request"),
    ("req h[2]; h = irecv g", "RR911", "h", "`h` is an array of requests: which one?", ""),
    ("req h; wait h[0]", "RR911", "h[0]", "`h` is one request", ""),
    ("g = N[0]", "RR911", "N[0]", "`N` is a number and has no elements", ""),
    ("N = 1", "RR912", "N", "`N` is a constant", ""),
    ("R = 1", "RR912", "R", "`R` is a process", ""),
    ("recv R", "RR912", "R", "`R` is a process", ""),
    ("for i in 0..1 { i = 2 }", "RR912", "i", "`i` is the counter of a `for`, which only the `for` changes", ""),
    ("for i in 0..1 { recv g from any i }", "RR912", "i", "`i` is the counter of a `for`, which only the `for` changes", ""),
    ("send 1 to Q", "RR913", "Q", "`Q` are 2 processes: which one?", None),
    ("send 1 to R[0]", "RR913", "R[0]", "`R` is one process", "write `R`"),
    ("send 1 to Q[0]", "RR914", "Q[0]", "there is no process `Q[0]`", ""),
    ("recv g from N + 2", "RR914", "N + 2", "there is no process 4", ""),
    ("send 1 to R tag 1 - N", "RR915", "1 - N", "the tag -1 is negative", ""),
    ("g = g / (N - 2)", "RR917", "(N - 2)", "division by zero", ""),
    ("g %= 0", "RR917", "0", "division by zero", ""),
    ("reg a[-1]", "RR922", "-1", "an array of -1 elements", ""),
    ("g = new(1000001)", "RR922", "1000001", "an array of more than 1,000,000 elements", ""),
    ("wait any h", "RR101", "\n", "unexpected end of the line", ""),
    ("g = \\old(g)", "RR101", "\\old", "unexpected `\\old`", None),
    ("probe g", "RR102", "probe", "`probe` begins no statement", None),
    ("mprobe from R", "RR103", "from", "`from` is a keyword, it cannot be a name", ""),
    ("imrecv g of h", "RR102", "imrecv", "`imrecv` begins no statement", None),
    ("mprobe g", "RR910", "g", "`g` is no request", "`req g` declares a request"),
    ("break", "RR102", "break", "`break` begins no statement", "loops end when their condition is false"),
    ("sned 1 to R", "RR102", "sned", "`sned` begins no statement", "did you mean `send`?"),
    ("recv g tag 1 on p", "RR101", "on", "unexpected `on`", "`on PORT` stands before `tag`"),
    ("send = 1", "RR103", "send", "`send` is a keyword, it cannot be a name", ""),
    ("g == 1", "RR101", "==", "unexpected `==`", "`=` assigns"),
    ("if g = 1 { }", "RR101", "=", "unexpected `=`", "`==` compares; `=` assigns and is a statement of its own"),
    ("g++", "RR101", "+", "unexpected `+`", "write `g += 1`"),
]


def found(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(ProgramError) as caught:
        load_messages(text, "t.mp")
    return caught.value.diagnostics


@pytest.mark.parametrize(("line", "code", "place", "message", "hint"), ERRORS, ids=[each[0] for each in ERRORS])
def test_an_error_in_a_process(line: str, code: str, place: str, message: str, hint: str | None) -> None:
    """A hint of None is one that is there, whatever it says."""
    text = f"{HEADER}proc P {{ {line}\n}}\n"
    (error,) = found(text)
    assert (error.code, text[error.span.start : error.span.end], error.message) == (code, place, message)
    assert bool(error.hint) if hint is None else error.hint == hint
    assert error.render("t.mp", text).startswith("t.mp:8:")


DECLARATIONS = [
    ("const M = PID", "RR916", "PID"),
    ("const M = K + 1", "RR916", "K"),
    ("const M = g", "RR916", "g"),
    ("const M = f(1)", "RR905", "f(1)"),
    ("const N = 3", "RR904", "N"),
    ("proc P[N in 0..1] { }", "RR904", "N"),
    ("fun f() { }", "RR904", "f"),
    ("fun len(x) { }", "RR920", "len"),
    ("port p", "RR904", "p"),
    ("port coll", "RR920", "coll"),
    ("reg r = f(1)", "RR905", "f(1)"),
    ("proc P[i in 3..1] { }", "RR918", "i in 3..1"),
    ("proc P[i in 1..20000] { }", "RR918", "P"),
    ("fun h(x) { h(x) }", "RR907", "h(x)"),
    ("fun h(x, x) { h2(x) }\nfun h2(x) { }", "RR904", "x"),
    ("expect holds, violated", "RR921", "violated"),
    ("expect deadlock under zero, any\nexpect no deadlock under any", "RR921", "no deadlock"),
    ("expect matchings 2\nexpect matchings 3 under any", "RR921", "matchings 3"),
    ("expect race, race", "RR921", "race"),
    ("expect race under any, any", "RR921", "any"),
    ("program a\nprogram b", "RR206", "program b"),
    ("proc P {", "RR104", ""),
    ("send 1 to R", "RR101", "send"),
    ("thread T on A { }", "RR102", "thread"),
]


@pytest.mark.parametrize(("text", "code", "place"), DECLARATIONS, ids=[each[0] for each in DECLARATIONS])
def test_an_error_in_a_declaration(text: str, code: str, place: str) -> None:
    whole = f"{HEADER}{text}"
    (error,) = found(whole)
    assert (error.code, whole[error.span.start : error.span.end]) == (code, place)
    assert error.span.line > HEADER.count("\n")


def test_functions_that_call_each_other() -> None:
    errors = found("fun a() { b() }\nfun b() { c() }\nfun c() { a() }\nproc P { a() }")
    assert [each.code for each in errors] == ["RR907"] * 3
    assert errors[0].message == "`a` calls itself: it calls `b`, `c` and then `a`"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"fun f{k + 1}() {{ f{k}(); f{k}() }}" for k in range(30)) + "\nfun f0() { assume PID }\nproc P { f30() }",
        "\n".join(f"fun f{k + 1}() {{ f{k}() }}" for k in range(150)) + "\nfun f0() { skip }\nproc P { f150() }",
        "proc P[i in 1..100] {" + "assume i\n" * 30 + "}",
    ],
)
def test_what_is_written_out_has_a_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_names, "MAX_STATEMENTS", 1000)
    (error,) = found(text)
    assert error.code == "RR919"
    assert error.message.startswith("written out there are more than ")


LOST = "RR742: `h` is active since line 8, and is lost here: it stays posted"
AGAIN = "RR742: `h` is issued again in the next round, and not waited for before"


def early(name: str) -> str:
    return f"RR741: `{name}` is the target of the receive of line 8, which stores at its `wait` only"


WARNINGS = [
    ("reg r", ["RR701: register `r` is never used"]),
    ("req h", ["RR701: request `h` is never used"]),
    ("halt; skip", ["RR703: this is never reached: the process has ended"]),
    ("if g { halt } else { return }; skip", ["RR703: this is never reached: the process has ended"]),
    ("while 1 { g += 1 }; skip", ["RR703: this is never reached: the process has ended"]),
    ("choose { halt } or { skip }; skip", []),
    ("for i in 2..1 { g = i }", ["RR705: from 2 to 1 there is no number: this block is never executed"]),
    ("assert 1 < 2", ["RR745: this can never fail: the condition is a constant"]),
    ("assert 0", []),
    ("reg r; r = 1", ["RR746: register `r` is never read"]),
    ("reg r, a[2]; r = 1; a[r] = 2", ["RR746: register `a` is never read"]),
    ("reg r; r = f(g)", []),
    ("reg r; recv r", []),
    ("reg r; r = 1; g = r", []),
    ("reg r = 1; r += 1", ["RR746: register `r` is never read"]),
    ("req h; h = irecv g; assert g; wait h", [early("g")]),
    ("req h; reg s; h = irecv g from any s; s = 1; wait h", [early("s")]),
    ("req h; h = irecv g; if g { wait h }; assert g", [early("g")]),
    ("req h; h = irecv g; wait h; assert g", []),
    ("req h; reg a[2]; h = irecv a[0]; a[1] = 1; wait h", []),
    ("req h; reg a[2]; h = irecv a[0]; g = len(a); wait h", [early("a")]),
    ("req h; reg a[2], i; h = irecv a[i]; i = 1; a[i] = 1; wait h", []),
    ("req h; h = isend g to R; g = 1; wait h", []),
    ("req h; h = isend 1 to R; h = isend 1 to R; wait h", [LOST]),
    ("req h; loop { h = isend 1 to R }; wait h", [AGAIN]),
    ("req h; loop { h = isend 1 to R; wait h }", []),
    ("req h; h = isend 1 to R; loop { wait h; h = isend 2 to R }; wait h", []),
    ("req h[3]; for i in 0..2 { h[i] = isend 1 to R }; wait h", []),
    ("req h; if g { h = isend 1 to R } else { h = irecv g }; wait h", []),
    ("req h; h = isend 1 to R", ["RR743: nothing waits for `h`"]),
    ("req h; mprobe h", ["RR743: nothing receives the message that `h` holds"]),
    ("req h; improbe h into g; if g { mrecv g of h }", []),
    ("req h, k[2]; mprobe k[1]; h = imrecv g of k[1]; g = 1; wait h", [early("g")]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), WARNINGS, ids=[each[0] for each in WARNINGS])
def test_warnings(line: str, expected: list[str]) -> None:
    text = f"{HEADER}proc P {{ {line} }}\n"
    program = load_messages(text, "t.mp")
    assert [f"{each.code}: {each.message}" for each in program.warnings] == expected
    code = expected[0][:5] if expected else "RR701"
    ignored = load_messages(f"// rdma-robust: ignore-file {code}\n{text}", "t.mp").warnings
    assert [each.code for each in ignored] == ([] if expected else ["RR791"])


def test_warnings_about_declarations() -> None:
    text = "const A = 1\nport p, q, r\nreg u\nfun f(x) { skip }\nproc P { send 1 to P on p; recv u on q }"
    expected = [
        "1:7 RR701 constant `A` is never used",
        "2:6 RR744 nothing is received on the port `p`",
        "2:9 RR744 nothing is sent on the port `q`: who receives there waits forever",
        "2:12 RR701 port `r` is never used",
        "4:5 RR701 function `f` is never used",
        "4:7 RR701 parameter `x` is never used",
    ]
    warnings = load_messages(text, "t.mp").warnings
    assert [f"{w.span.line}:{w.span.column} {w.code} {w.message}" for w in warnings] == expected
    assert [each.code for each in load_messages("", "t.mp").warnings] == ["RR706"]


def test_errors_come_in_the_order_of_the_file() -> None:
    lines = [line for line, code, *_ in ERRORS if code.startswith("RR9")]
    body = "\n".join(f"if g {{ {line} }}" for line in lines)
    errors = found(f"{HEADER}proc P {{\n{body}\n}}")
    assert len(errors) >= len(lines)
    assert all(one.span.start <= other.span.start for one, other in pairwise(errors))
