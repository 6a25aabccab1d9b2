"""No input makes the language room raise anything but ProgramError, or take long."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.diagnose import MAX_ERRORS
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.language.syntax.grammar import load_grammar
from tests.support.shares import share
from tests.unit.language.language_support import BODIES, HEADER, program
from tests.unit.language.test_example import EXAMPLE

LITMUS = sorted((Path(__file__).parents[3] / "litmus").glob("*.rdma"))
PROVEN = """\
macro lock(l, w) { w: await l == 0 }
node A { n, s, q[2] }
node B { y }
thread T on A {
  reg t, u = 1
  loop { t = faa(n, 1); await s == t; cs: skip; s = t + 1 }
  u = nondet(0, t); q[u] = nondet(); r: if swap(s, 2) == 0 { mfence } else { flush B }
  lock(s, w); get n = cas(B.y, t, u * 2); get s = faa(B.y, 1)
}
thread U on B { x: while y != 1 { in: halt } }
invariant !(T at cs && U at x) || T ended || A.n >= T.t / 2
outcome A.n == 0 : forbidden under tso, allowed under rma
expect safe under sc, unsafe under pso
"""
MANY = """\
const N = 3
node H { x, a[N] }
node P[i in 0..N - 1] { w = i, s[i + 1] }
macro tell(n) { put n.w = w; poll n }
thread T[i in 0..N - 1] on P[i] {
  reg r = i
  put H.a[i] = w; tell(P[(i + 1) % N]); for k in 0..i { s[k] = k }
}
node M[*] { m = 1, g }
thread C[*] on M[*] { reg r; L: get g = cas(H.x, 0, 1); poll H; r = g; if r { put H.x = m } }
thread W[* in 1..2] on H { x = N }
outcome T[N - 1].r == 2 && P[1].w == 1 && C[1].r == 0 : allowed under sc when N >= 3 && C >= 1 && W == 2
invariant !(T[0] ended) || W[1] ended || some C: r == 0 when N > 1 // c
expect robust, no hang under sc when W == 2
"""
REAL = [EXAMPLE, PROVEN, MANY, MANY, *(p.read_text() for p in LITMUS[::7])]
CPU_SECONDS = 4
"""Twice what is promised for 100 kB, since test machines are busy."""

WORDS = [*load_grammar().literals.values(), "x", "A", "B", "r", "0", "1", "\n", "A.x", "/*", "*/", "//", "$", "é", "\0"]


def attempt(source: str) -> str:
    """Load and format; return how that ended, after checking what the errors say about their places."""
    outcomes = []
    for action in (load_program, format_source):
        try:
            action(source, "fuzz.rdma")
            outcomes.append("fine")
        except ProgramError as error:
            outcomes.append("error")
            assert 0 < len(error.diagnostics) <= MAX_ERRORS + 1
            lines = source.split("\n")
            for d in error.diagnostics:
                assert d.message
                assert 0 <= d.span.start <= d.span.end <= len(source)
                assert 1 <= d.span.line <= len(lines)
                assert 1 <= d.span.column <= len(lines[d.span.line - 1]) + 1
    return " ".join(outcomes)


@pytest.mark.ci
@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text(text: str) -> None:
    attempt(text)


@given(st.text(alphabet=st.characters(codec=None, categories=("Cs", "Cc", "Lu", "Ll", "Po", "Sm", "Zs")), max_size=100))
@settings(max_examples=50, deadline=None)
def test_text_with_surrogates_and_controls(text: str) -> None:
    attempt(text)


@given(st.lists(st.sampled_from(WORDS), max_size=60))
@settings(max_examples=100, deadline=None)
def test_words_of_the_language(words: list[str]) -> None:
    attempt(" ".join(words))
    attempt(f"{HEADER}{' '.join(words)}\n}}\n")


def mutated(source: str, random: Random) -> str:
    """Return `source` with one kind of damage."""
    at = random.randrange(len(source))
    match random.randrange(7):
        case 0:
            return source[:at]
        case 1:
            return source[at:]
        case 2:
            return source[:at] + chr(ord(source[at]) ^ (1 << random.randrange(8))) + source[at + 1 :]
        case 3:
            return source[:at] + source[at + random.randint(1, 12) :]
        case 4:
            return source[:at] + random.choice(WORDS) + source[at:]
        case 5:
            other = random.randrange(len(source))
            return source[:at] + source[other : other + 30] + source[at:]
        case _:
            lines = source.split("\n")
            random.shuffle(lines)
            return "\n".join(lines)


@pytest.mark.ci
@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_damaged_programs(seed: int) -> None:
    random = Random(seed)
    source = random.choice(REAL)
    for _ in range(random.choice((1, 1, 2, 5))):
        source = mutated(source or " ", random)
    attempt(source)


@given(BODIES)
@settings(max_examples=50, deadline=None)
def test_random_programs_have_no_syntax_errors(body: tuple[object, ...]) -> None:
    from rdma_robust.language.syntax.formatter import format_tree  # noqa: PLC0415

    assert attempt(format_tree(program(body))).endswith("fine")  # type: ignore[arg-type]


DEEP = {
    "braces": HEADER + "loop {" * 10_000 + "}" * 10_000 + "\n}",
    "open braces": "{" * 10_000,
    "parentheses": HEADER + "r = " + "(" * 10_000 + "1" + ")" * 10_000 + "\n}",
    "indices": HEADER + "r = " + "ring[" * 10_000 + "0" + "]" * 10_000 + "\n}",
    "minus": HEADER + "r = " + "-" * 10_000 + "1\n}",
    "not in parentheses": HEADER + "r = " + "!(" * 10_000 + "1" + ")" * 10_000 + "\n}",
    "many nots in parentheses": HEADER + "r = " + ("!" * 60 + "(") * 90 + "1" + ")" * 90 + "\n}",
    "nested else": HEADER + "if r { } else { " * 10_000 + "}" * 10_000 + "\n}",
    "long sum": HEADER + "r = 1" + " + r" * 50_000 + "\n}",
}


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.ci
def test_deep_nesting_is_an_error(name: str) -> None:
    with pytest.raises(ProgramError) as raised:
        load_program(DEEP[name], "deep.rdma")
    (first, *_) = raised.value.diagnostics
    assert "nested more than 100 deep" in first.message or "too long" in first.message


@pytest.mark.parametrize(
    "statement",
    [
        "if r { " * 90 + "x = 1" + " }" * 90,
        "r = " + "(" * 90 + "r" + ")" * 90,
        "r = " + "!" * 90 + "r",
        "r = r" + " + 1" * 95,
        "r = 1" + " / (r" * 90 + ")" * 90,
        "r = " + "r / (1 && r || " * 45 + "x" + ")" * 45,
        "assume " + " && ".join(f"r / {k} == ring[q]" for k in range(1, 50)),
        "if r { }" + " else if x { }" * 95,
    ],
)
def test_nesting_within_the_limit_is_fine(statement: str) -> None:
    assert attempt(f"{HEADER}{statement}\n}}\n") == "fine fine"


HUGE = {
    "statements": HEADER + "r=q\n" * 14_900 + "}",
    "realistic": HEADER + "  put B.z = x // a comment here\n  if r == 0 { r = x }\n" * 1_700 + "}",
    "syntax errors": HEADER + "r=q x\n" * 11_000 + "}",
    "unknown names in one line": HEADER + "rr=qq;" * 14_000 + "}",
    "near names": HEADER + "reg " + ",".join(f"abc{k}" for k in range(6_000)) + "\n" + "abcx = 1\n" * 3_000 + "}",
    "long names": HEADER + ("a" * 1000 + "=1\n") * 99 + "}",
    "one long name": "a" * 100_000,
    "bad characters": "$@" * 50_000,
    "nul": "\0" * 100_000,
    "line ends": "\n" * 100_000,
    "semicolons": HEADER + ";" * 50_000 + "}",
    "closing braces": "}\n" * 50_000,
    "comments": "/**/" * 25_000,
    "stars": "/*" + "*a" * 50_000,
    "digits": "const N = " + "9" * 100_000,
    "doubling constants": "const c0 = 9\n" + "".join(f"const c{k + 1} = c{k} * c{k}\n" for k in range(3_000)),
    "variables": "node A {" + ",".join(f"v{k}" for k in range(14_000)) + "}",
    "choices": HEADER + "choose { r = x }" + " or { r = x }" * 8_000 + "\n}",
    "members": "node A[i in 0..4095] { x = i }\nthread T[i in 0..4095] on A[i] { reg r; r = x; x = 1 }",
    "families": "".join(f"node A{k}[i in 0..4095] {{ }}\n" for k in range(1000)),
    "long members": "node A { x }\nthread T[* in 1..4096] on A { " + "skip;" * 10_000 + "}",
    "mistakes in members": "node A[i in 0..199] { x }\nthread T[i in 0..199] on A[i] { reg ab\n" + "ab = abc\n" * 20 + "}",
    "indexed accesses": "node A { a[4000] }\nthread T on A { reg i, j\n" + "i = a[j]\n" * 90 + "}",
}


@pytest.mark.ci
@pytest.mark.parametrize("name", share(HUGE, 9))
def test_huge_programs_take_little_time(name: str) -> None:
    start = time.process_time()
    try:
        load_program(HUGE[name], "huge.rdma")
    except ProgramError as error:
        assert len(error.diagnostics) <= MAX_ERRORS + 1
    assert time.process_time() - start < CPU_SECONDS
