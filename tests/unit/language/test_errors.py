"""Every error of a program, with its place and what to do: `bad/NAME.rdma` gives exactly `bad/NAME.txt`.

`RDMA_PROMOTE=1 pytest tests/unit/language/test_errors.py` rewrites the expected texts.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rdma_robust.diagnose import MAX_ERRORS
from rdma_robust.errors import Diagnostic, ProgramError
from rdma_robust.language.load import load_program
from tests.unit.language.language_support import HEADER, errors_of

BAD = Path(__file__).parent / "bad"
NAMES = sorted(p.stem for p in BAD.glob("*.rdma"))


def test_there_are_bad_programs() -> None:
    assert len(NAMES) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_errors_as_expected(name: str) -> None:
    source = (BAD / f"{name}.rdma").read_bytes().decode()
    with pytest.raises(ProgramError) as raised:
        load_program(source, f"{name}.rdma")
    text = raised.value.render() + "\n"
    golden = BAD / f"{name}.txt"
    if os.environ.get("RDMA_PROMOTE"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def diagnostics(statements: str) -> tuple[Diagnostic, ...]:
    error = errors_of(f"{HEADER}{statements}\n}}\n")
    return error.diagnostics if error is not None else ()


LINE = HEADER.count("\n") + 1


@pytest.mark.parametrize(
    ("statements", "column", "end", "message", "help_"),
    [
        ("  x = y", 7, 8, "a statement makes at most one shared access", "`reg tmp`, `tmp = y`, then `x = tmp`"),
        ("  x = x + 1", 7, 8, "a statement makes at most one shared access", "`tmp = x`, then `x = tmp + 1`"),
        ("  x = y + r", 7, 8, "a statement makes at most one shared access", "`tmp = y`, then `x = tmp + r`"),
        ("  x = y + r + q", 7, 8, "at most one shared", "`reg tmp`, `tmp = y`, then `x = tmp + r + q`"),
        ("  assume x == y", 15, 16, "a second shared variable", "`tmp = y`, then `assume x == tmp`"),
        ("  while x == y { }", 14, 15, "a second shared variable", "then `while x == tmp`"),
        ("  if ring[0] == ring[1] { }", 17, 24, "a second shared variable", "`tmp = ring[1]`"),
        ("  r = ring[x]", 12, 13, "an index is made of registers and constants", "`tmp = x`"),
        ("  r = 1 + cas(x, 0, 1)", 11, 23, "`cas` cannot be part of an expression", "r = cas(...)"),
        ("  x = cas(y, 0, 1)", 3, 4, "the old value goes to a register", "`reg tmp`, `tmp = cas(...)`, then `x = tmp`"),
        ("  r = cas(B.z, 0, 1)", 11, 14, "`cas` works on a variable of this node", ""),
        ("  B.z = 1", 3, 6, "`B.z` is on another node", "`put B.z = 1`"),
        ("  B.z = x", 3, 6, "thread T writes only variables of A directly", "`put B.z = x`"),
        ("  z = r", 3, 4, "`B.z` is on another node", "new variable of this node: `sent = r`, then `put B.z = sent`"),
        ("  r = B.buf[1]", 7, 15, "thread T reads only", "`get got = B.buf[1]`, `poll B`, then read `got`"),
        ("  put x = B.z", 7, 8, "needs a variable of another node", "did you mean `get x = B.z`?"),
        ("  get B.z = x", 13, 14, "needs a variable of another node", "did you mean `put B.z = x`?"),
        ("  put A.x = y", 7, 10, "`A.x` is on this one", "`tmp = y`, then `x = tmp`"),
        ("  put B.z = r", 13, 14, "the NIC cannot see registers", "`sent = r`, then `put B.z = sent`"),
        ("  poll A", 8, 9, "the node thread T itself runs on", "`allow loopback`"),
        ("  rfence A", 10, 11, "the node thread T itself runs on", "`allow loopback`"),
        ("  poll C", 8, 9, "unknown node `C`", "the nodes are `A` and `B`"),
        ("  rr = 1", 3, 5, "unknown name `rr`", "did you mean `r`?"),
        ("  r = B.buff[0]", 9, 13, "no variable `buff`", "did you mean `buf`?"),
        ("  ring = 1", 3, 7, "`ring` is an array", "`ring[0]`"),
        ("  x[0] = 1", 3, 7, "`x` is not an array", "write `x`"),
        ("  ring[2] = 1", 8, 9, "index 2 is outside the array `ring`", "0 to 1"),
        ("  r = ring[N - 3]", 12, 17, "index -1 is outside the array `ring`", "0 to 1"),
        ("  N = 1", 3, 4, "`N` is a constant", ""),
        ("  r = q % 0", 7, 12, "division by zero", ""),
        ("  reg x", 7, 8, "has the name of a variable of node A", ""),
        ("  reg N", 7, 8, "has the name of a constant", ""),
        ("  reg r", 7, 8, "was declared before, on line 6", ""),
        ("  if r { reg k }", 10, 15, "declared for the whole thread", "move this line up"),
        ("  if x = 1 { }", 8, 9, "unexpected `=`", "`==` compares"),
        ("  asume x == 1", 3, 8, "`asume` begins no statement", "did you mean `assume`?"),
        ("  whle r { }", 3, 7, "`whle` begins no statement", "did you mean `while`?"),
        ("  loop = 1", 3, 7, "`loop` is a keyword", ""),
        ("  r = 9999999999999999999", 7, 26, "too large", ""),
        ("  r = 7up", 7, 10, "neither a number nor a name", "decimal"),
        ("  x := 1", 5, 6, "unexpected `:`", "`=` assigns"),
        ("  r = 1 +;", 10, 11, "unexpected `;`", "an expression"),
        ("  r = 1 2", 9, 10, "unexpected `2`", "an operator or the end of the line"),
        ("  r = true", 7, 11, "unknown name `true`", "write `1`"),
    ],
)
def test_one_error(statements: str, column: int, end: int, message: str, help_: str) -> None:
    found = diagnostics(statements)
    assert len(found) == 1, [d.message for d in found]
    (error,) = found
    assert message in error.message
    assert help_ in f"{error.expected} {error.hint}"
    assert (error.severity, error.span.line, error.span.column, error.span.end_column) == ("error", LINE, column, end)


def test_all_errors_of_a_file_are_found() -> None:
    found = diagnostics("dta = 1\nr = = 1\nputt B.z = x\nif r { xx = 1 }\nwhile r { loop { yy = 1 } }\nhalt\nzz = 1")
    assert [d.span.line - LINE for d in found] == [0, 1, 2, 3, 4, 6]


def test_errors_come_in_source_order_and_once() -> None:
    error = errors_of("thread T on A { }\nnode A { x, x }\n$ $\nconst N = M")
    assert error is not None
    places = [(d.span.start, d.message) for d in error.diagnostics]
    assert places == sorted(set(places))


def test_names_in_skipped_text_are_not_reported_again() -> None:
    found = diagnostics("reg k = = 1\nk = 1\nr = k")
    assert [d.message for d in found] == ["unexpected `=`"]
    error = errors_of(
        "node A { x = , y }\nthread T on A { x = 1; y = 1 }\nthread U onn A { reg r }\noutcome U.r == 1: allowed under sc"
    )
    assert error is not None
    assert [d.span.line for d in error.diagnostics] == [1, 3]


def test_a_forgotten_brace_costs_one_error() -> None:
    error = errors_of("node A { x }\nthread T on A {\n  if 1 {\n  x = 1\nthread U on A { x = 2 }\nexpect robust")
    assert error is not None
    assert [(d.span.line, d.hint) for d in error.diagnostics] == [(5, "the `{` of line 3 is still open")]


def test_errors_are_capped() -> None:
    found = diagnostics("rr = 1\n" * 250)
    assert len(found) == MAX_ERRORS + 1
    assert found[-1].message == f"and 150 more errors; only the first {MAX_ERRORS} are shown"


def test_a_name_declared_later() -> None:
    error = errors_of("thread T on A { poll B }\nnode A { x[N] }\nconst N = 1\nnode B { }")
    assert error is not None
    assert [d.hint for d in error.diagnostics] == [
        "the node `A` is declared later, on line 2; move that line up",
        "the node `B` is declared later, on line 4; move that line up",
        "the constant `N` is declared later, on line 3; move that line up",
    ]


def test_arithmetic_needs_a_domain_once() -> None:
    source = "node A { x }\nthread T on A { reg r\n r = x + 1\n r = r - 1 }"
    error = errors_of(source)
    assert error is not None
    assert [(d.span.line, d.message) for d in error.diagnostics] == [(3, "arithmetic (`+`) in a program without a domain")]
    assert errors_of(f"domain 0..3\n{source}") is None
    assert errors_of("node A { x }\nconst N = 2\nthread T on A { reg r\n r = N + 1\n r = !(x < 2 && 1 == r) }") is None


def test_loopback() -> None:
    source = "node A { x, y }\nthread T on A { put A.x = y\n get x = A.y\n rfence A\n poll A }"
    assert errors_of(source) is not None
    assert errors_of(f"allow loopback\n{source}") is None
    assert errors_of(f"{source}\nallow loopback") is None


def test_a_hint_with_what_a_copy_has_says_so() -> None:
    error = errors_of("domain 0..3\nnode A { ring[2] }\nthread T on A {\n  for i in 1..1 { ring[i] += 1 }\n}\n")
    assert error is not None
    (found,) = error.diagnostics
    assert found.hint.startswith("for this copy: read it into a new register first: `reg tmp`, `tmp = ring[1]`")
