"""`for` and macros are what they are written out: the same graphs, but for names of registers and for places."""

from __future__ import annotations

import re
from random import Random

import pytest

from rdma_robust import Verdict, check
from rdma_robust.analyses.lints.lint import linted
from rdma_robust.errors import ProgramError
from rdma_robust.language.check.expansion import MAX_EXPANDED
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from tests.support.folding import folded
from tests.support.random_programs import LARGER, SMALL, random_program
from tests.support.shares import share

NODES = """\
const N = 2
domain 0..3
node A { x, y, ring[3], lock }
node B { z, buf[2], flag }
"""


def thread(body: str, macros: str = "", registers: str = "reg r, s") -> str:
    return f"{NODES}{macros}\nthread T on A {{\n{registers}\n{body}\n}}\n"


PAIRS = [
    ("for i in 0..2 { ring[i] = i }", "ring[0] = 0; ring[1] = 1; ring[2] = 2"),
    ("for i in -1..N - 1 { x = i + 1 }", "x = 0; x = 1; x = 2"),
    ("for i in 0..1 { for j in i..N - 1 { put B.buf[j] = i; poll B } }",
     "put B.buf[0] = 0; poll B; put B.buf[1] = 0; poll B; put B.buf[1] = 1; poll B"),
    ("x = 1; for i in 3..2 { x = 2 }; x = 3", "x = 1; x = 3"),
    ("for i in 0..1 { if x == i { y = i } else { while y != i { r = ring[i] } } }",
     "if x == 0 { y = 0 } else { while y != 0 { r = ring[0] } }; "
     "if x == 1 { y = 1 } else { while y != 1 { r = ring[1] } }"),
    ("for i in 0..1 { choose { r = cas(ring[i], i, i + 1) } or { loop { get x = B.buf[i] } } }",
     "choose { r = cas(ring[0], 0, 1) } or { loop { get x = B.buf[0] } }; "
     "choose { r = cas(ring[1], 1, 2) } or { loop { get x = B.buf[1] } }"),
    ("loop { for i in 0..1 { await x == i } }", "loop { await x == 0; await x == 1 }"),
    ("r += 1; r -= s; r *= 2; r /= s + 1; r %= x", "r = r + 1; r = r - s; r = r * 2; r = r / (s + 1); r = r % x"),
    ("for i in 1..2 { r += i * i }", "r = r + 1 * 1; r = r + 2 * 2"),
    ("for halted in 0..1 { r = halted; halt }; x = 1", "r = 0; halt"),
    ("for i in 0..0 { cas(lock, i, i + 1); assert r >= i; assume s == i; rfence B; skip }",
     "cas(lock, 0, 0 + 1); assert r >= 0; assume s == 0; rfence B"),
]  # fmt: skip

MACROS = [
    ("macro m(v) { x = v }", "m(1); m(r); m(N)", "x = 1; x = r; x = N"),
    ("macro m(v) { r = v }", "m(x); m(A.y); m(ring[1]); m(ring[s])", "r = x; r = A.y; r = ring[1]; r = ring[s]"),
    ("macro send(n, v, a) { put n.v = a; poll n }", "send(B, z, x); send(B, flag, 2)",
     "put B.z = x; poll B; put B.flag = 2; poll B"),
    ("macro send(to, n) { put to = 1; rfence n }", "send(B.buf[1], B)", "put B.buf[1] = 1; rfence B"),
    ("macro fill(a, v) { for i in 0..1 { a[i] = v } }", "fill(ring, 3)", "ring[0] = 3; ring[1] = 3"),
    ("macro fill(a, v) { for i in 0..1 { put B.a[i] = v } }", "fill(buf, x)", "put B.buf[0] = x; put B.buf[1] = x"),
    # An argument means what it means where the call stands, whatever it is called there.
    ("macro fill(a, v) { for i in 0..1 { a[i] = v } }", "for i in 2..3 { fill(ring, i) }",
     "ring[0] = 2; ring[1] = 2; ring[0] = 3; ring[1] = 3"),
    ("macro two(a, b) { a = b }\nmacro one(b, a) { two(a, b) }", "one(r, x)", "x = r"),
    ("macro m(a) { loop { a = cas(lock, 0, N) } }", "m(s)", "loop { s = cas(lock, 0, N) }"),
    ("macro m(a, b) { if a == b { halt } else if a { skip } else { x = 1 } }", "m(r, s); m(y, 1)",
     "if r == s { halt } else if r { skip } else { x = 1 }; if y == 1 { halt } else if y { skip } else { x = 1 }"),
    ("macro none() { x = 1 }", "none(); none()", "x = 1; x = 1"),
    ("macro nothing() { }", "x = 1; nothing(); loop { nothing() }; x = 2", "x = 1; loop { }; x = 2"),
    ("macro m(old) { r = cas(lock, old, 1) }", "m(0)", "r = cas(lock, 0, 1)"),
    ("macro end() { halt }", "x = 1; end(); x = 2", "x = 1; halt"),
    ("macro lo(a, b) { for i in a..b { x = i } }", "lo(1, N); lo(N - 1, -1 + N)", "x = 1; x = 2; x = 1"),
]  # fmt: skip


def same(text: str, plain: str, registers: dict[str, str] | None = None) -> None:
    """Assert that two texts are one program, if registers of the first are called as `registers` says."""
    waiting = [[s.aside for t in load_program(each, "t").threads for _, _, s in cfg.steps(t)] for each in (text, plain)]
    assert waiting[0] == waiting[1]
    found = canonical_text(load_program(text, "t"))
    for old, new in (registers or {}).items():
        found = re.sub(rf"\b{old}\b", new, found)
    assert found == canonical_text(load_program(plain, "t"))
    assert format_source(format_source(text, "t"), "t") == format_source(text, "t")
    assert canonical_text(load_program(format_source(text, "t"), "t")) == canonical_text(load_program(text, "t"))


@pytest.mark.parametrize(("short", "plain"), PAIRS)
def test_statements_are_what_they_stand_for(short: str, plain: str) -> None:
    same(thread(short), thread(plain))


@pytest.mark.parametrize(("macros", "short", "plain"), MACROS)
def test_macros_are_what_they_stand_for(macros: str, short: str, plain: str) -> None:
    same(thread(short, macros), thread(plain))
    before, after = macros.split("\n", 1) if "\n" in macros else (macros, "")
    same(f"{thread(short, after)}{before}\n", thread(plain))  # a macro may stand below


ACQUIRE = "macro acquire(l) { reg got = 1; while got { got = cas(l, 0, 1) } }"


def test_every_expansion_has_registers_of_its_own() -> None:
    names = {"acquire_got": "a", "acquire_got_2": "b"}
    same(
        thread("acquire(lock); x = 1; acquire(y)", ACQUIRE),
        thread("while a { a = cas(lock, 0, 1) }; x = 1; while b { b = cas(y, 0, 1) }", registers="reg r, s, a = 1, b = 1"),
        names,
    )
    # Names that the file uses are left alone, wherever and for whatever.
    text = thread("acquire(lock)", ACQUIRE).replace("flag", "acquire_got")
    assert ("acquire_got_2", 1) in load_program(text, "t").threads[0].registers


def test_a_register_of_an_expansion_in_a_loop_begins_anew() -> None:
    names = {"acquire_got": "a"}
    same(
        thread("loop { acquire(lock); lock = 0 }", ACQUIRE),
        thread("loop { a = 1; while a { a = cas(lock, 0, 1) }; lock = 0 }", registers="reg r, s, a = 1"),
        names,
    )
    # What is assigned before it is used needs no new beginning.
    same(
        thread("loop { m() }", "macro m() { reg q = 2; y = 1; q = x; y = q }"),
        thread("loop { y = 1; q = x; y = q }", registers="reg r, s, q = 2"),
        {"m_q": "q"},
    )
    for body in (
        "y = q; q = x",
        "q = q + 1",
        "q += 1",
        "if x { q = 1 } y = q",
        "q = ring[q]",
        "two(q)",
        "x = 2; ring[q] = 1",
    ):
        macros = "macro two(v) { y = v }\nmacro m() { reg q = 2; " + body + " }"
        plain = body.replace("two(q)", "y = q")
        same(
            thread("while r != 3 { m() }", macros),
            thread(f"while r != 3 {{ q = 2; {plain} }}", registers="reg r, s, q = 2"),
            {"m_q": "q"},
        )


def test_macros_hide_nothing_of_their_callers() -> None:
    same(
        thread("m(r)", "macro m(v) { reg r = 1; x = v; y = r }"),
        thread("x = r; y = q", registers="reg r, s, q = 1"),
        {"m_r": "q"},
    )
    # What a macro does not declare is what it is where the call stands.
    same(thread("m()", "macro m() { r = x }"), thread("r = x"))


def test_steps_name_both_places() -> None:
    text = thread("x = 1\nfor i in 0..1 {\nouter(i)\n}", "macro inner(v) {\nx = v\n}\nmacro outer(v) {\ninner(v)\n}")
    lines = dict(enumerate(text.split("\n"), 1))
    found = [
        (step.text, [lines[at.line] for at in (step.span, *step.span.chain())])
        for _, _, step in cfg.steps(load_program(text, "t").threads[0])
    ]
    assert found == [
        ("x = 1", ["x = 1"]),
        ("x = 0", ["x = v", "inner(v)", "outer(i)", "for i in 0..1 {"]),
        ("x = 1", ["x = v", "inner(v)", "outer(i)", "for i in 0..1 {"]),
    ]
    program = load_program(text, "t")
    assert {at.file for _, _, s in cfg.steps(program.threads[0]) for at in (s.span, *s.span.chain())} == {"t"}


@pytest.mark.parametrize("loops", share([True, False], 2))
def test_random_programs_folded_into_macros_and_for(loops: bool) -> None:
    """Runs of statements folded into `for` blocks and macros, also macros in macros, expand to what they were."""
    shapes = set[str]()
    verdicts = set[Verdict]()
    for seed in range(60):
        random = Random(seed)
        text = random_program(random, LARGER if seed % 2 else SMALL, loops=loops)
        short = folded(text, random)
        shapes |= {word for word in ("for ", "macro ") if word in short}
        plain = load_program(text, "p")
        expanded = load_program(short, "p")
        assert canonical_text(expanded) == canonical_text(plain), short
        assert [s.aside for t in expanded.threads for _, _, s in t.edges] == [
            s.aside for t in plain.threads for _, _, s in t.edges
        ]
        assert canonical_text(load_program(format_source(short, "p"), "p")) == canonical_text(load_program(text, "p"))
        if seed % 8 == 0:
            outcomes = [check(load_program(each, "p"), max_states=2_000) for each in (text, short)]
            assert outcomes[0].verdict is outcomes[1].verdict
            verdicts.add(outcomes[0].verdict)
    assert shapes == {"for ", "macro "}
    assert {Verdict.ROBUST, Verdict.NOT_ROBUST} <= verdicts


def warnings(text: str) -> list[str]:
    return [f"{w.span.line}: {w.message}" for w in load_program(text, "t").warnings]


def test_warnings() -> None:
    text = """\
node A { x }
macro unused(a) { x = a }
macro also() { unused(1) }
macro m(a, b) {
  reg q, w
  w = a
  x = w
  for i in 2..1 { x = i }
}
thread T on A {
  reg r
  for i in 0..1 { m(r, i) }
  m(1, 2)
}
"""
    assert warnings(text) == [
        "2: macro `unused` is never used",
        "3: macro `also` is never used",
        "4: parameter `m.b` is never used",
        "5: register `m.q` is never used",
        "8: this `for` makes no copies: 2 is more than 1",
    ]


def test_what_one_copy_does_not_reach_is_reached_by_another() -> None:
    text = "node A { x }\nmacro m(c) { if c { halt } else { x = 1 } }\nthread T on A { m(0); await x == 1; m(1) }\n"
    assert [w.code for w in linted(text, "t").found] == []
    text = text.replace("m(0); await x == 1; m(1)", "await x == 0; m(1)")
    assert [(w.span.line, w.code) for w in linted(text, "t").found] == [(2, "RR703")]
    text = "node A { x }\nthread T on A { for i in 0..1 { await x == i; halt } }\n"
    assert [w.code for w in linted(text, "t").found] == []


@pytest.mark.parametrize(
    ("body", "macros"),
    [
        ("for i in 0..1000000000 { x = i }", ""),
        ("for i in 0..1000000000 { }", ""),
        ("for i in 0..200 { for j in 0..200 { x = 1 } }", ""),
        ("m0()", "".join(f"macro m{k}() {{ m{k + 1}(); m{k + 1}() }}\n" for k in range(30)) + "macro m30() { x = 1 }"),
        ("m0()", "".join(f"macro m{k}() {{ m{k + 1}(); m{k + 1}() }}\n" for k in range(30)) + "macro m30() { }"),
    ],
)
def test_expansions_are_limited(body: str, macros: str) -> None:
    text = thread(body, macros)
    with pytest.raises(ProgramError) as raised:
        load_program(text, "t")
    (error,) = raised.value.diagnostics
    assert f"more than {MAX_EXPANDED:,} statements" in error.message
    assert text.split("\n")[error.span.line - 1] == body  # the place in the thread, not one inside


@pytest.mark.parametrize("block", ["m{}()", "if x {{ m{}() }}"])
def test_expansions_are_not_too_deep(block: str) -> None:
    macros = "".join(f"macro m{k}() {{ {block.format(k + 1)} }}\n" for k in range(200)) + "macro m200() { x = 1 }"
    with pytest.raises(ProgramError, match="nested more than 100 deep when it is expanded"):
        load_program(thread("m0()", macros), "t")


def test_an_error_in_all_copies_is_one_error() -> None:
    with pytest.raises(ProgramError) as raised:
        load_program(thread("for i in 0..2 { m(i) }; m(1)", "macro m(v) { x = v + nothing }"), "t")
    (error,) = raised.value.diagnostics
    assert error.span.origin is not None
    assert raised.value.render().count("expanded from") == 2


def test_a_statement_is_the_users_macro_if_there_is_one() -> None:
    """A macro hides what the language has under its name, as a statement; in an expression it has no value to give."""
    same(thread("m(x)", "macro cas(v) { v = 1 }\nmacro m(v) { if x { cas(v) } }"), thread("if x { x = 1 }"))
    same(
        thread("cas(x); r = cas(lock, 0, 1)", "macro cas(v) { v = 1 }"),
        thread("x = 1; r = cas(lock, 0, 1)"),
    )
