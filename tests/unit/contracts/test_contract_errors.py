"""Every mistake in a contract is an error with its place; all of a file are said at once; warnings that need no engine."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import Diagnostic, ProgramError
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.tools.messages import _diagnostics as diagnostics_of

HEADER = """\
const K = 2
port data
reg u, table
fun plain() { }
fun adds(x) contract local { assigns \\nothing; } { return x + 1 }
fun sends() { send 1 to 0 }
"""
COLLECTIVE = HEADER + "fun f(x, root) contract collective { assigns \\nothing; CLAUSE } { return x }\n"
NO_RESULT = HEADER + "fun f(x) contract collective { assigns \\nothing; CLAUSE } { skip }\n"
LOCAL = HEADER + "fun f(x) contract local { assigns \\nothing; CLAUSE } { return x }\n"
OUTSIDE = HEADER + "CLAUSE\n"
BODY = HEADER + "fun f(x) contract local { assigns \\nothing; } { CLAUSE }\n"

NO_VALUE = "`\\no` is no value: it stands in `requires` and `ensures`, joined by `&&` or behind `==>`"

ERRORS = [
    (COLLECTIVE, "requires \\result == 1;", "RR951", "\\result", "`\\result` cannot stand in `requires`"),
    (COLLECTIVE, "waitsfor \\result;", "RR951", "\\result", "`\\result` cannot stand in a path clause"),
    (COLLECTIVE, "ensures \\pre(\\result) == 1;", "RR951", "\\result", "`\\result` cannot stand in `\\pre`"),
    (NO_RESULT, "ensures \\result == 1;", "RR951", "\\result", "`f` returns nothing, so there is no `\\result`"),
    (COLLECTIVE, "requires \\pre(u) == 1;", "RR951", "\\pre(u)", "`\\pre` cannot stand in `requires`"),
    (COLLECTIVE, "requires \\old(u) == 1;", "RR951", "\\old(u)", "`\\old` cannot stand in `requires`"),
    (COLLECTIVE, "waitsfor \\on(0, x);", "RR951", "\\on(0, x)", "`\\on` cannot stand in a path clause"),
    (COLLECTIVE, "waitsfor 0 if \\agree(x);", "RR951", "\\agree(x)", "`\\agree` cannot stand in a path clause"),
    (COLLECTIVE, "requires \\i == 0;", "RR951", "\\i", "`\\i` cannot stand in `requires`"),
    (COLLECTIVE, "bounds x in 0..\\i;", "RR951", "\\i", "`\\i` cannot stand in `bounds`"),
    (COLLECTIVE, "bounds x len 0..1 in 0..\\j;", "RR951", "\\j", "`\\j` cannot stand in `bounds`"),
    (COLLECTIVE, "bounds x in 0..root;", "RR951", "root", "`root` is a parameter, and not known in `bounds`"),
    (COLLECTIVE, "bounds x in u..3;", "RR951", "u", "`u` is a register, and not known in `bounds`"),
    (LOCAL, "ensures \\on(0, x) == 1;", "RR951", "\\on(0, x)", "`\\on` cannot stand in the contract of a local function"),
    (LOCAL, "waitsfor 0;", "RR954", "waitsfor 0", "a path clause in the contract of `f`, which is local"),
    (COLLECTIVE, "assigns x;", "RR952", "x", "`x` is a parameter: parameters are passed by value, and nobody sees a change"),
    (COLLECTIVE, "assigns K;", "RR952", "K", "`K` is a constant that a call could change"),
    (COLLECTIVE, "assigns tabel[0];", "RR952", "tabel", "there is no register `tabel` that a call could change"),
    (COLLECTIVE, "bounds K in 0..1;", "RR953", "K", "`K` is no input of `f`"),
    (COLLECTIVE, "bounds x in 0..1; bounds x in 0..2;", "RR953", "bounds x in 0..2", None),
    (COLLECTIVE, "bounds x len 0..1 len 0..1 len 0..1 in 0..1;", "RR953", "len 0..1", None),
    (COLLECTIVE, "behavior a: bounds x in 0..1;", "RR953", "bounds x in 0..1", "`bounds` is not for one behavior only"),
    (COLLECTIVE, "ensures \\no \\exit(PID) \\after \\enter(PID) \\until \\exit(0);", "RR955", None, None),
    (COLLECTIVE, "ensures \\no \\exit(0) \\after \\enter(PID) \\until \\enter(0);", "RR955", None, None),
    (COLLECTIVE, "requires \\no \\send(0, PID) \\after \\exit(1) \\until \\exit(PID);", "RR955", None, None),
    (COLLECTIVE, "requires \\no \\exit(PID) \\after \\enter(PID) \\until \\enter(0);", "RR955", None, None),
    (COLLECTIVE, "ensures 1 && \\no \\exit(PID);", "RR101", ";", "unexpected `;`"),
    (COLLECTIVE, "ensures 1 || \\no \\exit(PID) \\after \\enter(PID) \\until \\enter(0);", "RR955", None, NO_VALUE),
    (COLLECTIVE, "ensures (\\no \\exit(PID) \\after \\enter(PID) \\until \\enter(0)) ==> 1;", "RR955", None, None),
    (COLLECTIVE, "ensures \\result == 1 if PID == 0;", "RR955", None, "`if` stands behind path clauses only"),
    (COLLECTIVE, "requires 0 <= x > 3;", "RR111", "0 <= x > 3", "comparisons in a row"),
    (COLLECTIVE, "requires 0 != x != 3;", "RR111", "0 != x != 3", "comparisons in a row"),
    (COLLECTIVE, "complete behaviors;", "RR956", None, "there are no behaviors that could be complete"),
    (COLLECTIVE, "behavior a: assumes x == 1; disjoint behaviors a, b;", "RR956", "b", "there is no behavior `b`"),
    (COLLECTIVE, "requires \\max(x) == 1;", "RR101", ")", None),
    (COLLECTIVE, "requires \\forall real t; t;", "RR951", "real", "a variable of `\\forall` is no `real`"),
    (COLLECTIVE, "assumes x == 1;", "RR956", "assumes x == 1", "`assumes` stands in behaviors only"),
    (COLLECTIVE, "behavior a: ensures 1; assumes x;", "RR956", "assumes x", "`assumes` is the first clause of a behavior"),
    (COLLECTIVE, "behavior a: ensures 1; behavior a: ensures 0;", "RR904", "a", None),
    (COLLECTIVE, "behavior a: assumes \\on(0, x); waitsfor 0;", "RR951", "waitsfor 0", None),
    (COLLECTIVE, "requires rot == 0;", "RR901", "rot", "there is nothing called `rot` here"),
    (COLLECTIVE, "ensures result == 0;", "RR901", "result", "there is nothing called `result` here"),
    (COLLECTIVE, "ensures \\result == adds(x);", "RR905", "adds(x)", "no function is called in a contract"),
    (COLLECTIVE, "ensures on(0, x) == x;", "RR902", "on", "there is no function `on`"),
    (COLLECTIVE, "ensures len(x, x) == 0;", "RR906", "len(x, x)", "`len` takes one argument, and here are 2"),
    (COLLECTIVE, "ensures \\result == new(-1);", "RR922", "-1", "an array of -1 elements"),
    (COLLECTIVE, "ensures \\result == x / 0;", "RR917", "0", "division by zero"),
    (COLLECTIVE, "quiet from 0 on dat;", "RR903", "dat", "there is no port `dat`"),
    (COLLECTIVE, "ensures \\forall x in 0..1 : \\result;", "RR904", "x", "`x` is a parameter of `f` already"),
    (COLLECTIVE, "ensures \\let u = 1 : \\result;", "RR904", "u", "`u` was declared before, on line 3"),
    (COLLECTIVE, "ensures \\sum t in 0..1 : \\sum t in 0..1 : \\result;", "RR904", "t", None),
    (COLLECTIVE, "ensures \\result == \\max t in 1..0 : t;", "RR958", None, None),
    (COLLECTIVE, "ensures \\foral t in 0..1 : t;", "RR101", "\\foral", "unexpected `\\foral`"),
    (COLLECTIVE, "ensures \\forall t : t;", "RR101", ":", "unexpected `:`"),
    (COLLECTIVE, "ensure x == 1;", "RR102", "ensure", "`ensure` begins no clause"),
    (COLLECTIVE, "requires x == 1 ensures x == 1;", "RR101", "ensures", "unexpected `ensures`"),
    (COLLECTIVE, "quiet 0;", "RR101", "0", "unexpected `0`"),
    (COLLECTIVE, "quiet to 0;", "RR101", ";", "unexpected `;`"),
    (COLLECTIVE, "requires x = 1;", "RR101", "=", "unexpected `=`"),
    (BODY, "send 1 to 0", "RR954", "send 1 to 0", "`f` is local, and communicates here"),
    (BODY, "sends()", "RR954", "sends()", "`f` is local, and calls `sends`, which communicates, on line 6"),
    (BODY, "barrier()", "RR954", "barrier()", "`f` is local, and calls `barrier`, which is collective"),
    (OUTSIDE, "expect contract plain verified", "RR957", "plain", "the function `plain` has no contract"),
    (OUTSIDE, "expect contract add verified", "RR902", "add", "there is no function `add` with a contract"),
    (OUTSIDE, "expect contract adds violated ITX", "RR957", "ITX", "there is no class `ITX`"),
    (OUTSIDE, "expect contract adds violated DL from 0", "RR957", None, "there is always a process"),
    (OUTSIDE, "expect contract adds verified under any", "RR957", "any", None),
    (OUTSIDE, "expect contract adds verified, contract adds verified", "RR921", "contract adds verified", None),
]  # fmt: skip

HINTS = {
    "assigns tabel[0];": "did you mean `table`?",
    "requires rot == 0;": "did you mean `root`?",
    "ensures result == 0;": "write `\\result`",
    "ensures on(0, x) == x;": "keywords of contracts have a backslash: `\\on(...)`",
    "quiet from 0 on dat;": "did you mean `data`?",
    "ensures \\foral t in 0..1 : t;": "did you mean `\\forall`?",
    "ensure x == 1;": "did you mean `ensures`?",
    "requires x == 1 ensures x == 1;": "`;` ends a clause",
    "requires x = 1;": "`==` compares; `=` assigns and is a statement of its own",
    "expect contract add verified": "did you mean `adds`?",
}


def errors_of(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(ProgramError) as raised:
        load_contracts(text, "t.mp")
    return raised.value.diagnostics


@pytest.mark.parametrize(("frame", "clause", "code", "place", "message"), ERRORS, ids=[each[1] for each in ERRORS])
def test_an_error(frame: str, clause: str, code: str, place: str | None, message: str | None) -> None:
    text = frame.replace("CLAUSE", clause)
    (error,) = errors_of(text)
    assert error.code == code
    assert place is None or text[error.span.start : error.span.end] == place
    assert message is None or error.message == message
    assert error.span.file == "t.mp" and text.splitlines()[error.span.line - 1].find(clause) >= 0
    assert clause not in HINTS or error.hint == HINTS[clause]


@pytest.mark.parametrize(
    "clause",
    [
        "\\no \\exit(0) \\after \\enter(PID) \\until \\enter(0)",
        "x || \\no \\exit(PID) \\after \\enter(PID) \\until \\enter(0)",
    ],
)
def test_the_three_forms_are_shown(clause: str) -> None:
    (error,) = errors_of(COLLECTIVE.replace("CLAUSE", f"ensures {clause};"))
    for form in ("\\until \\enter(S)`", "`ensures \\no \\send(PID, S)", "`requires \\no \\send(S, PID)"):
        assert form in error.hint


def test_all_errors_of_a_file_are_said_at_once() -> None:
    text = """
fun f(x) contract collective { assigns y; ensures \\result == z; waitsfor \\on(0, x) }
{ send x too 1 }
fun g(x) contract local { waitsfor 0; assigns \\nothing; } { assert y == 1; barrier() }
expect contract h verified
"""
    found = [(each.span.line, each.code) for each in errors_of(text)]
    first = [(2, "RR952"), (2, "RR901"), (2, "RR101"), (3, "RR101")]
    assert found == [*first, (4, "RR954"), (4, "RR901"), (4, "RR954"), (5, "RR902")]


WARNINGS = [
    ("fun f() contract local { } { }", "RR751", "f"),
    ("fun f(x) contract local { assigns \\nothing; ensures x == x; } { }", "RR752", "ensures x == x"),
    ("reg u\nfun f() contract local { assigns u; ensures \\pre(u) == 1; } { u = 1 }", "RR752", "ensures \\pre(u) == 1"),
    ("fun f(x) contract local { assigns \\nothing; requires 1 == 2 && x; } { }", "RR753", "requires 1 == 2 && x"),
    ("fun f(x) contract local { assigns \\nothing; bounds x in 3..2; } { }", "RR754", "bounds x in 3..2"),
    ("fun f(x) contract local { assigns \\nothing; bounds x len 3..2 in 0..1; } { }", "RR754", "len 3..2"),
    ("fun f(x) contract local { assigns \\nothing; bounds x len -2..-1 in 0..1; } { }", "RR754", "len -2..-1"),
    ("fun f(x) contract local { assigns \\nothing; requires \\sum t in 1..0 : x; } { }", "RR754", "\\sum t in 1..0 : x"),
    ("proc P { skip }", "RR755", ""),
    ("", "RR755", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "place"), WARNINGS, ids=[f"{code}-{place}" for _, code, place in WARNINGS])
def test_a_warning_and_how_it_is_ignored(text: str, code: str, place: str) -> None:
    (warning,) = load_contracts(text, "t.mp").warnings
    assert (warning.code, text[warning.span.start : warning.span.end]) == (code, place)
    assert load_contracts(f"// rdma-robust: ignore-file {code}\n{text}", "t.mp").warnings == ()


def test_contracts_are_ignored_where_programs_run() -> None:
    """Their names count as used, and what is wrong in them is left to who checks them."""
    text = "reg u\nconst K = 1\nfun f(x) contract local { requires K == x; ensures u == \\oops(1); } { }\n"
    with pytest.raises(ProgramError):
        load_messages(text, "t.mp")
    assert load_messages(text.replace("\\oops(1)", "oops(1)"), "t.mp").warnings == ()


def test_editors_show_what_is_wrong_with_contracts_and_with_programs() -> None:
    text = "fun f() contract local { } { }\nproc P { f(); send 1 to Q }\nproc Q { reg r; recv r }\n"
    assert [each.code for each in diagnostics_of(text, "t.mp")] == ["RR751"]
    assert [each.code for each in diagnostics_of(text.replace("{ } {", "{ waitsfor 0; } {"), "t.mp")] == ["RR954"]
    assert [each.code for each in diagnostics_of(text.replace("to Q", "to R"), "t.mp")] == ["RR901"]
    assert diagnostics_of(text.replace("contract local { } ", ""), "t.mp") == ()
