"""The layout of `for`, macros, calls and compound assignments: kept as written, comments too, and the same a second time."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from rdma_robust.language.load import parse_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.language.syntax.grammar import load_grammar
from tests.support.folding import folded
from tests.support.random_programs import LARGER, random_program

LAYOUTS = [
    ("macro f( a,b ){x=a;y=b}", "macro f(a, b) {\n  x = a\n  y = b\n}\n"),
    ("macro f(){}", "macro f() { }\n"),
    ("macro f(a){ x=a } // why", "macro f(a) { x = a }  // why\n"),
    ("thread T on A{for i in 0 ..N-1{x=i}}", "thread T on A {\n  for i in 0..N - 1 { x = i }\n}\n"),
    (
        "thread T on A{\nfor  i in 0..1 // copies\n{ // first\n x=i // last\n}\nf( x ,1,-2 )\nr+=1;r  -=  x*2}",
        "thread T on A {\n  // copies\n  for i in 0..1 {  // first\n    x = i  // last\n  }\n"
        "  f(x, 1, -2)\n  r += 1\n  r -= x * 2\n}\n",
    ),
    ("thread T on A { f(\n  // one\n  x,\n  y) }", None),
    ("macro m(a, // first\n b) { x = a }\n\n\n// end", None),
    ("thread T on A { for /* i */ i in /* low */ 0..1 { } }", None),
    ("thread T on A { r %= /* r */ 2; for = 1; in += 2; macro[0] *= 3; macro(for, in) }", None),
]


def check(source: str) -> str:
    """Format, and check all that holds for any program."""
    result = format_source(source, "f")
    assert parse_program(result, "f") == parse_program(source, "f")
    assert format_source(result, "f") == result
    assert comments(result) == comments(source)
    return result


def comments(text: str) -> Counter[str]:
    return Counter(str(token).rstrip() for token in load_grammar().lex(text) if token.type == "COMMENT")


@pytest.mark.parametrize(("source", "expected"), LAYOUTS)
def test_layouts(source: str, expected: str | None) -> None:
    result = check(source)
    assert expected is None or result == expected


@pytest.mark.ci
def test_random_programs_with_comments_anywhere() -> None:
    for seed in range(60):
        random = Random(seed)
        text = folded(random_program(random, LARGER, loops=True), random)
        tokens = [token for token in load_grammar().lex(text) if token.type != "NEWLINE"]
        places = sorted(random.sample([token.end_pos for token in tokens], min(5, len(tokens))), reverse=True)
        for number, at in enumerate(places):
            comment = f" // c{number}\n" if random.random() < 0.3 and text[at : at + 1] == "\n" else f" /* c{number} */ "
            text = text[:at] + comment + text[at:]
        check(text)
