"""Formatting keeps comments and meaning, and formatting twice is formatting once."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.errors import ProgramError
from rdma_robust.language.load import parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_source, format_tree
from tests.unit.language.language_support import BODIES, program
from tests.unit.language.test_example import EXAMPLE

LITMUS = sorted((Path(__file__).parents[3] / "litmus").glob("*.rdma"))


def check(source: str) -> str:
    """Format, and check all that holds for any program."""
    result = format_source(source, "f")
    assert parse_program(result, "f") == parse_program(source, "f")
    assert format_source(result, "f") == result
    assert "\n\n\n" not in result
    assert result == "" or (result.endswith("\n") and not result.startswith("\n"))
    return result


LAYOUTS = [
    ("", ""),
    ("\n\n// only\n\n\n/* comments */\n", "// only\n\n/* comments */\n"),
    ("node A{x=1,y;z}", "node A { x = 1, y, z }\n"),
    ("node A { x, // first\n y }", "node A {\n  x  // first\n  y\n}\n"),
    ("node A { // open\n // own\n x /* a */ /* b */\n\n\n // end\n} // after", None),
    ("thread T on A { x = 1 }", "thread T on A { x = 1 }\n"),
    (
        "thread T on A {\n\n x = 1; y = 2 // both\n\n\n z=3\n\n}",
        "thread T on A {\n  x = 1\n  y = 2  // both\n\n  z = 3\n}\n",
    ),
    ("thread T on A { if r==((1)) {skip} else {x=2} }", "thread T on A {\n  if r == 1 { skip } else { x = 2 }\n}\n"),
    (
        "thread T on A { if r { x = 1; y = 2 } else if q { x = 3 } else { loop { skip } } }",
        "thread T on A {\n  if r {\n    x = 1\n    y = 2\n  } else if q { x = 3 } else {\n    loop { skip }\n  }\n}\n",
    ),
    ("thread T on A { while x { } }", "thread T on A {\n  while x { }\n}\n"),
    ("thread T on A { choose { } or { x = 1 } or { } }", "thread T on A {\n  choose { } or { x = 1 } or { }\n}\n"),
    ("thread T on A {\n if a { } // then\n // else\n else { x = 1 } }", None),
    ("thread T on A { r = 1 + // why\n 2 }", "thread T on A {\n  // why\n  r = 1 + 2\n}\n"),
    ("thread T on A { r = a || b && c; r = (a || b) && c; r = a-(b-c)-d; r = -(-a); r = !(a == b) }", None),
    ("const N=1,M=(N+1)*2", "const N = 1, M = (N + 1) * 2\n"),
    ("outcome ((A.x))==1&&B.y[0]!=2 : allowed   under sc", "outcome A.x == 1 && B.y[0] != 2 : allowed under sc\n"),
    (
        "expect   not robust\nallow\tloopback\nprogram  p\ndomain 0 .. N",
        "expect not robust\nallow loopback\nprogram p\ndomain 0..N\n",
    ),
    ("thread T on A { await x; assume y; assert z; cas(x,0,1) }", None),
    ("node A { x }\r\n// c\r\n", "node A { x }\n// c\n"),
]


@pytest.mark.parametrize(("source", "expected"), LAYOUTS)
def test_layout(source: str, expected: str | None) -> None:
    result = check(source)
    assert expected is None or result == expected


def test_comments_stay_where_they_belong() -> None:
    source = """\
node A { // odd
  x, y // pair
}
thread T on A { // head
  reg r // r
  // above
  if r { // then
    skip } // middle
  // before else
  else { /* e */ x = 1 }
  loop { /* nothing */ }
  x = 1      // in its column

  // last
}
"""
    assert (
        check(source)
        == """\
node A {  // odd
  x
  y  // pair
}
thread T on A {  // head
  reg r  // r
  // above
  if r {  // then
    skip
  } else {  /* e */
    // middle
    // before else
    x = 1
  }
  loop {  /* nothing */
  }
  x = 1      // in its column

  // last
}
"""
    )


def test_the_example_and_all_litmus_programs() -> None:
    assert len(LITMUS) > 0
    for source in [EXAMPLE, *(p.read_text() for p in LITMUS[::6])]:
        check(source)


def test_long_nodes_are_broken() -> None:
    result = check("node A { " + ", ".join(f"variable_{k} = {k}" for k in range(12)) + " }")
    assert result.startswith("node A {\n  variable_0 = 0\n  variable_1 = 1\n")


def test_syntax_errors_are_reported() -> None:
    with pytest.raises(ProgramError):
        format_source("node A {", "f")


def test_names_are_not_checked() -> None:
    assert format_source("thread T on Nowhere{x=y}", "f") == "thread T on Nowhere { x = y }\n"


@given(BODIES)
@settings(max_examples=80, deadline=None)
def test_print_parse_print(body: tuple[ast.Statement, ...]) -> None:
    tree = program(body)
    text = format_tree(tree)
    assert parse_program(text, "f") == tree
    assert format_tree(parse_program(text, "f")) == text
    assert format_source(text, "f") == text


IN_LINES = [" /* a */", " /**/ ", " /*b*/ /* a */", "   "]
AT_LINE_ENDS = ["// note\n", " /* two\n   lines */ // note\n", "\n\n\n", "\n // note\n// note\n\n", ";; /* a */\n", "//\n"]


def decorated(source: str, random: Random) -> str:
    """Return `source` with comments and empty lines where they mean nothing."""
    parts = re.split(r"(\s+)", source)
    for k in range(1, len(parts), 2):
        if random.random() < 0.3:
            parts[k] = random.choice(AT_LINE_ENDS if "\n" in parts[k] else IN_LINES)
    return "".join(parts)


@pytest.mark.ci
@given(BODIES, st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_comments_anywhere(body: tuple[ast.Statement, ...], seed: int) -> None:
    source = decorated(format_tree(program(body)), Random(seed)).replace(";;", ";" * (seed % 2))
    result = check(source)
    assert parse_program(result, "f") == program(body)
    for mark in ("// note", "/* a */", "/*b*/", "/**/", "/* two"):
        assert result.count(mark) == source.count(mark)
